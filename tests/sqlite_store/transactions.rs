//! The caller's own transaction.

use std::{
    sync::{Arc, Barrier},
    time::Duration,
};

use hookproof::{
    IdempotencyStore, Lease, SqliteStore, Verdict,
    store::{
        MAX_RESULT_BYTES, SettleFault, StoreErrorKind,
        sql::{ImmediateTx, TxClaim, TxLease},
    },
};
use rusqlite::Connection;

use super::{Bench, LEASE, ask, block_on, busy, count, duplicate, key, settle, win};

/// A shop whose invoices are in the same file.
pub(crate) fn shop(bench: &Bench) -> (SqliteStore, Connection) {
    let store = bench.open();
    let connection = Connection::open(bench.path()).unwrap();
    connection
        .execute_batch("CREATE TABLE IF NOT EXISTS invoice (event TEXT)")
        .unwrap();
    (store, connection)
}

#[track_caller]
pub(crate) fn win_in(store: &SqliteStore, tx: &ImmediateTx<'_>, id: &str) -> TxLease {
    match store.claim_in(tx, ask(id)).unwrap() {
        TxClaim::New(lease) => lease,
        other => panic!("expected New, got {other:?}"),
    }
}

fn invoice(tx: &ImmediateTx<'_>, id: &str) {
    tx.execute("INSERT INTO invoice VALUES (?1)", [id]).unwrap();
}

pub(crate) const INVOICES: &str = "SELECT count(*) FROM invoice";

#[test]
fn receipt_and_rows_are_one_commit() {
    let bench = Bench::new();
    let (store, mut connection) = shop(&bench);
    let other = bench.beside();

    let tx = ImmediateTx::begin(&mut connection).unwrap();
    let lease = win_in(&store, &tx, "e1");
    assert_eq!((lease.attempt(), lease.key()), (1, &key("e1")));
    invoice(&tx, "e1");
    let receipt = store.settle_in(&tx, lease, Verdict::done("no. 1")).unwrap();
    // Nobody sees it yet.
    assert_eq!(block_on(store.get(&key("e1"))).unwrap(), None);
    assert_eq!(count(&other, INVOICES), 0);
    tx.commit().unwrap();

    assert_eq!(count(&other, INVOICES), 1);
    assert_eq!(duplicate(&store, "e1"), receipt);
    let tx = ImmediateTx::begin(&mut connection).unwrap();
    match store.claim_in(&tx, ask("e1")).unwrap() {
        TxClaim::Duplicate(again) => assert_eq!(again, receipt),
        other => panic!("{other:?}"),
    }
    assert_eq!(bench.abandoned.count(), 0);
}

#[test]
fn a_rollback_takes_both_back() {
    let bench = Bench::new();
    let (store, mut connection) = shop(&bench);
    for rolled_back_by_hand in [true, false] {
        let tx = ImmediateTx::begin(&mut connection).unwrap();
        let lease = win_in(&store, &tx, "e1");
        invoice(&tx, "e1");
        store.settle_in(&tx, lease, Verdict::done("")).unwrap();
        match rolled_back_by_hand {
            true => tx.rollback().unwrap(),
            false => drop(tx),
        }
        assert_eq!(count(&connection, INVOICES), 0);
        assert_eq!(block_on(store.get(&key("e1"))).unwrap(), None);
    }
    let lease = win(&store, "e1");
    assert_eq!(lease.attempt(), 1);
    settle(&store, lease, "");
}

#[test]
fn a_failed_attempt_is_tried_again_in_a_transaction() {
    let bench = Bench::new();
    let (store, mut connection) = shop(&bench);
    let tx = ImmediateTx::begin(&mut connection).unwrap();
    let lease = win_in(&store, &tx, "e1");
    store.settle_in(&tx, lease, Verdict::retry(LEASE)).unwrap();
    match store.claim_in(&tx, ask("e1")).unwrap() {
        TxClaim::InProgress { retry_after, .. } => assert_eq!(retry_after, LEASE),
        other => panic!("{other:?}"),
    }
    tx.commit().unwrap();
    busy(&store, "e1");
    bench.clock.advance(LEASE);
    let tx = ImmediateTx::begin(&mut connection).unwrap();
    let lease = win_in(&store, &tx, "e1");
    assert_eq!(lease.attempt(), 2);
    store.settle_in(&tx, lease, Verdict::dead("no")).unwrap();
    assert!(matches!(
        store.claim_in(&tx, ask("e1")).unwrap(),
        TxClaim::Dead(_)
    ));
    let changed = ask("e1").fingerprint(hookproof::Fingerprint::of(b"other"));
    assert!(matches!(
        store.claim_in(&tx, changed).unwrap(),
        TxClaim::Conflict(_)
    ));
}

#[test]
fn effects_happen_exactly_once() {
    const WORKERS: usize = 6;
    const EVENTS: usize = 60;
    let bench = Bench::new();
    let (store, connection) = shop(&bench);
    let (store, start) = (Arc::new(store), Arc::new(Barrier::new(WORKERS)));
    let workers: Vec<_> = (0..WORKERS)
        .map(|worker| {
            let (store, start, path) = (store.clone(), start.clone(), bench.path());
            std::thread::spawn(move || {
                let mut connection = Connection::open(path).unwrap();
                connection.busy_timeout(Duration::from_secs(60)).unwrap();
                start.wait();
                for n in 0..EVENTS {
                    let id = format!("e{n}");
                    let tx = ImmediateTx::begin(&mut connection).unwrap();
                    if let TxClaim::New(lease) = store.claim_in(&tx, ask(&id)).unwrap() {
                        invoice(&tx, &id);
                        store.settle_in(&tx, lease, Verdict::done(&*id)).unwrap();
                        // Some fail at the last moment; the sender comes again, to the others.
                        if (n + worker) % WORKERS < 2 {
                            tx.rollback().unwrap();
                            continue;
                        }
                    }
                    tx.commit().unwrap();
                }
            })
        })
        .collect();
    workers.into_iter().for_each(|w| w.join().unwrap());
    assert_eq!(count(&connection, INVOICES), 60);
    assert_eq!(
        count(&connection, "SELECT count(DISTINCT event) FROM invoice"),
        60
    );
    for n in 0..EVENTS {
        duplicate(&store, &format!("e{n}"));
    }
}

#[test]
fn a_lease_committed_unsettled_runs_out() {
    let bench = Bench::new();
    let (store, mut connection) = shop(&bench);
    let tx = ImmediateTx::begin(&mut connection).unwrap();
    let lease = win_in(&store, &tx, "e1");
    drop(lease);
    assert_eq!(bench.abandoned.count(), 1);
    tx.commit().unwrap();
    busy(&store, "e1");
    bench.clock.advance(LEASE);
    assert_eq!(win(&store, "e1").attempt(), 2);
}

/// After a rollback the fence may be given to someone else, so the old lease must fit nowhere.
#[test]
fn a_lease_fits_its_own_transaction_only() {
    let bench = Bench::new();
    let (store, mut connection) = shop(&bench);
    let tx = ImmediateTx::begin(&mut connection).unwrap();
    let stale = win_in(&store, &tx, "e1");
    let fence = stale.fence();
    tx.rollback().unwrap();
    let lease = win(&store, "e1");
    assert_eq!(lease.fence(), fence);

    let tx = ImmediateTx::begin(&mut connection).unwrap();
    let error = store
        .settle_in(&tx, stale, Verdict::done("stale"))
        .unwrap_err();
    assert!(matches!(&error.fault, SettleFault::Store(e) if e.kind() == StoreErrorKind::Misuse));
    assert_eq!(error.lease.fence(), fence);
    tx.commit().unwrap();
    assert_eq!(settle(&store, lease, "right").result, b"right");
}

#[test]
fn a_lease_whose_savepoint_is_gone_is_lost() {
    let bench = Bench::new();
    let (store, mut connection) = shop(&bench);
    let tx = ImmediateTx::begin(&mut connection).unwrap();
    tx.execute_batch("SAVEPOINT mine").unwrap();
    let lease = win_in(&store, &tx, "e1");
    tx.execute_batch("ROLLBACK TO mine").unwrap();
    let error = store.settle_in(&tx, lease, Verdict::done("")).unwrap_err();
    assert!(matches!(error.fault, SettleFault::LeaseLost));
    drop(error);
    assert_eq!(bench.abandoned.count(), 0);
}

#[test]
fn a_result_too_long_hands_the_lease_back() {
    let bench = Bench::new();
    let (store, mut connection) = shop(&bench);
    let tx = ImmediateTx::begin(&mut connection).unwrap();
    let lease = win_in(&store, &tx, "e1");
    let long = Verdict::done(vec![0; MAX_RESULT_BYTES + 1]);
    let error = store.settle_in(&tx, lease, long).unwrap_err();
    assert!(matches!(error.fault, SettleFault::ResultTooLong));
    let just = Verdict::done(vec![0; MAX_RESULT_BYTES]);
    store.settle_in(&tx, *error.lease, just).unwrap();
    tx.commit().unwrap();
    assert_eq!(duplicate(&store, "e1").result.len(), MAX_RESULT_BYTES);
}

/// Code that takes a pool lease takes a lease of a transaction too, to read from.
#[test]
fn a_tx_lease_reads_like_a_lease() {
    fn charge(lease: &Lease) -> String {
        lease.effect_key("charge")
    }
    let bench = Bench::new();
    let (store, mut connection) = shop(&bench);
    let tx = ImmediateTx::begin(&mut connection).unwrap();
    let lease = win_in(&store, &tx, "e1");
    assert_eq!(charge(&lease), key("e1").effect_key("charge"));
}
