//! Batches of deliveries on PostgreSQL: what holds them up, what they write, and what fails alone.

use hookproof::{
    Claiming, IdempotencyStore, PostgresStore,
    inbox::{Accepted, BatchInbox, InboxStore, Leasing, Parcel},
    store::{MAX_BATCH, StoreErrorKind},
};

use super::{
    Bench, LEASE, Postgres, batch, crash, inbox::verified, key, number, run, settle, win_in,
};

fn parcel(id: &str) -> Parcel {
    verified(id, |delivery| {
        Parcel::new(delivery, Claiming::new(delivery, key(id)).lease(LEASE))
    })
}

fn parcels(events: std::ops::Range<usize>) -> Vec<Parcel> {
    events.map(|n| parcel(&format!("e{n}"))).collect()
}

async fn accept_many(store: &PostgresStore, parcels: Vec<Parcel>) -> Vec<Accepted> {
    let answers = store.accept_many(parcels).await.unwrap();
    answers.into_iter().map(Result::unwrap).collect()
}

fn are_new(answers: &[Accepted]) -> bool {
    let is_new = |answer| matches!(answer, &Accepted::New(_));
    answers.iter().all(is_new)
}

async fn due(store: &PostgresStore) -> usize {
    let leased = store.lease_due(Leasing::up_to(1000)).await.unwrap();
    let events = leased.events.into_iter();
    events.map(|(lease, _)| crash(lease)).count()
}

/// An event that is new in it is in progress, whose delivery is not stored, and so is one whose receipt
/// it has locked. The others are accepted without waiting for it.
#[test]
fn a_transaction_that_lasts_does_not_hold_up_deliveries() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        let claimed = parcel("e3").claiming().clone();
        let hookproof::Claim::New(lease) = store.claim(claimed).await.unwrap() else {
            panic!("a new event");
        };
        crash(lease);
        let mut tx = bench.pool.begin().await.unwrap();
        let held = win_in(&store, &mut tx, "e2").await;
        let lock = "SELECT count(*) FROM (SELECT FROM webhook_receipt FOR UPDATE) r";
        assert_eq!(number(&mut tx, lock).await, 2);
        let mut answers = accept_many(&store, parcels(0..6)).await;
        for answer in answers.drain(2..4) {
            assert!(matches!(answer, Accepted::InProgress { .. }), "{answer:?}");
        }
        assert!(are_new(&answers));
        for id in ["e2", "e3"] {
            assert!(store.parked(&key(id)).await.unwrap().is_none());
        }
        drop(held);
        tx.rollback().await.unwrap();
        let answers = accept_many(&store, parcels(0..6)).await;
        assert!(matches!(answers[2], Accepted::New(_)));
        assert!(matches!(answers[3], Accepted::Pending(_)));
        assert!(store.parked(&key("e3")).await.unwrap().is_some());
        assert_eq!(due(&store).await, 5, "all but the one that is claimed");
    });
}

/// However many are new: receipts, deliveries and the queue. No lock is left of it.
#[test]
fn a_batch_of_deliveries_is_one_transaction() {
    let bench = Bench::with(super::url(), &[], 1);
    let store = bench.store();
    run(async {
        assert!(are_new(&accept_many(&store, parcels(0..MAX_BATCH)).await));
        let mut same = bench.pool.acquire().await.unwrap();
        let ids = "SELECT count(DISTINCT x) FROM (SELECT xmin::text AS x FROM webhook_receipt \
                   UNION ALL SELECT xmin::text FROM webhook_inbox \
                   UNION ALL SELECT xmin::text FROM webhook_inbox_due) w";
        assert_eq!(number(&mut same, ids).await, 1);
        let locks = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' \
                     AND pid = pg_backend_pid()";
        assert_eq!(number(&mut same, locks).await, 0);
    });
}

/// Known deliveries lock no row, add nothing to the log and use no transaction numbers up.
#[test]
fn known_deliveries_in_a_batch_write_nothing() {
    let quiet = [
        "autovacuum=off",
        "wal_level=minimal",
        "max_wal_senders=0",
        "checkpoint_timeout=1d",
    ];
    let server = run(Postgres::start(&quiet));
    let bench = Bench::with(&server.url(), &[], 2);
    let store = bench.store();
    run(async {
        assert!(are_new(&accept_many(&store, parcels(0..100)).await));
        let leased = store.lease_due(Leasing::up_to(40)).await.unwrap();
        for (n, (lease, _)) in leased.events.into_iter().enumerate() {
            match n % 2 {
                0 => drop(settle(&store, lease, "done").await),
                _ => crash(lease),
            }
        }
        let mut beside = bench.beside().await;
        let tidy = "VACUUM webhook_receipt; VACUUM webhook_inbox; VACUUM webhook_inbox_due";
        for statement in tidy.split(';') {
            batch(&mut beside, statement).await;
        }
        let known = async || {
            let answers = accept_many(&store, parcels(0..100)).await;
            let done = |answer: &&Accepted| matches!(answer, Accepted::Duplicate(_));
            let waits = |answer: &&Accepted| matches!(answer, Accepted::Pending(_));
            assert_eq!(answers.iter().filter(done).count(), 20);
            assert_eq!(answers.iter().filter(waits).count(), 80);
        };
        known().await;
        let state = "SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint \
                     + txid_snapshot_xmax(txid_current_snapshot())";
        let before = number(&mut beside, state).await;
        for _ in 0..20 {
            known().await;
        }
        assert_eq!(number(&mut beside, state).await, before);
    });
}

/// One row that cannot be read does not keep the other deliveries out.
#[test]
fn a_corrupt_row_fails_alone() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        assert!(are_new(&accept_many(&store, vec![parcel("e1")]).await));
        let other = "UPDATE webhook_receipt SET event_id = 'of another event'";
        batch(&mut bench.pool.acquire().await.unwrap(), other).await;
        let mut answers = store.accept_many(parcels(0..3)).await.unwrap();
        let error = answers.remove(1).unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Corrupt);
        let answers: Vec<_> = answers.into_iter().map(Result::unwrap).collect();
        assert!(are_new(&answers));
    });
}
