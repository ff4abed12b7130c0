//! Batches on SQLite: what they write, and what fails alone.

use hookproof::{
    Claim, Claiming, IdempotencyStore, Lease, SqliteStore,
    store::{BatchStore, StatsStore, StoreErrorKind},
};

use super::{
    Bench, LEASE, ask, begin, block_on, count, flush, key, settle, transactions_in_log, win,
};

fn asks(events: std::ops::Range<usize>) -> Vec<Claiming> {
    events.map(|n| ask(&format!("e{n}"))).collect()
}

fn claim_many(store: &SqliteStore, events: std::ops::Range<usize>) -> Vec<Lease> {
    let claims = block_on(store.claim_many(asks(events))).unwrap();
    let lease = |claim| match claim {
        Ok(Claim::New(lease)) => lease,
        other => panic!("{other:?}"),
    };
    claims.into_iter().map(lease).collect()
}

fn log(bench: &Bench) -> Vec<u8> {
    std::fs::read(bench.path().with_extension("sqlite-wal")).unwrap()
}

/// However many events are new, and nothing at all if none is.
#[test]
fn a_batch_is_one_transaction_or_none() {
    let bench = Bench::new();
    let store = bench.open();
    let other = bench.beside();
    other
        .execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")
        .unwrap();
    claim_many(&store, 0..500)
        .into_iter()
        .for_each(super::crash);
    assert_eq!(transactions_in_log(&bench.path()), 1);
    let before = log(&bench);
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    for claim in block_on(store.claim_many(asks(0..500))).unwrap() {
        assert!(matches!(claim, Ok(Claim::InProgress { .. })));
    }
    assert_eq!(block_on(store.stats()).unwrap().in_progress, 500);
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(log(&bench), before);
    bench.clock.advance(LEASE);
    // Half of them are taken over, the others are new.
    claim_many(&store, 250..750)
        .into_iter()
        .for_each(super::crash);
    assert_eq!(transactions_in_log(&bench.path()), 2);
}

#[test]
fn a_corrupt_row_fails_alone() {
    let bench = Bench::new();
    let store = bench.open();
    super::crash(win(&store, "e1"));
    let other = "UPDATE webhook_receipt SET event_id = 'of another event'";
    bench.beside().execute_batch(other).unwrap();
    let mut claims = block_on(store.claim_many(asks(0..3))).unwrap();
    let error = claims.remove(1).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Corrupt);
    for claim in claims {
        match claim {
            Ok(Claim::New(lease)) => drop(settle(&store, lease, "done")),
            other => panic!("{other:?}"),
        }
    }
}

/// A row that is damaged between the look and the transaction.
#[test]
fn a_row_that_cannot_be_taken_over_fails_alone() {
    let bench = Bench::new();
    let store = bench.open_with_one_reader();
    let gate = bench.beside();
    gate.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut call = store.claim_many(asks(0..3));
    begin(call.as_mut());
    // Once this is answered, so is the look that the batch begins with.
    block_on(store.get(&key("no such event"))).unwrap();
    begin(call.as_mut());
    let digest: String = key("e1")
        .digest()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    gate.execute_batch(&format!(
        "INSERT INTO webhook_receipt VALUES (x'{digest}', 'other', 'names', 'here', zeroblob(16), \
         1, 1, 1, 0, 0, 0, 0, NULL); COMMIT"
    ))
    .unwrap();
    let mut claims = block_on(call).unwrap();
    let error = claims.remove(1).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Corrupt);
    for claim in claims {
        match claim {
            Ok(Claim::New(lease)) => drop(settle(&store, lease, "done")),
            other => panic!("{other:?}"),
        }
    }
}

/// Nobody waits for the answer any more: the leases are given back, each by itself.
#[test]
fn leases_of_a_batch_that_nobody_takes_are_given_back() {
    let bench = Bench::new();
    let store = bench.open_with_one_reader();
    let gate = bench.beside();
    gate.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut call = store.claim_many(asks(0..3));
    begin(call.as_mut());
    block_on(store.get(&key("no such event"))).unwrap();
    begin(call.as_mut());
    drop(call);
    gate.execute_batch("COMMIT").unwrap();
    flush(&store);
    flush(&store);
    assert_eq!(
        count(
            &gate,
            "SELECT count(*) FROM webhook_receipt WHERE lease_until > changed_at"
        ),
        0
    );
    claim_many(&store, 0..3).into_iter().for_each(super::crash);
}
