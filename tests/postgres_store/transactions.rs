//! The caller's own transaction.

use hookproof::{
    Fingerprint, IdempotencyStore, Lease, PostgresStore, Verdict,
    store::{MAX_RESULT_BYTES, SettleFault, StoreErrorKind, sql::TxClaim},
};
use sqlx::PgConnection;

use super::{
    Bench, LEASE, ask, batch, busy, duplicate, key, number, run, settle, statement, win, win_in,
};

/// A shop whose invoices are in the same database.
pub(crate) fn shop() -> (Bench, PostgresStore) {
    let bench = Bench::new();
    run(async {
        let mut connection = bench.pool.acquire().await.unwrap();
        batch(&mut connection, "CREATE TABLE invoice (event text)").await;
    });
    let store = bench.store();
    (bench, store)
}

pub(crate) async fn invoice(tx: &mut PgConnection, id: &str) {
    sqlx::query("INSERT INTO invoice VALUES ($1)")
        .bind(id)
        .execute(tx)
        .await
        .unwrap();
}

pub(crate) const INVOICES: &str = "SELECT count(*) FROM invoice";

#[test]
fn receipt_and_rows_are_one_commit() {
    let (bench, store) = shop();
    run(async {
        let mut other = bench.beside().await;
        let mut tx = bench.pool.begin().await.unwrap();
        let lease = win_in(&store, &mut tx, "e1").await;
        assert_eq!((lease.attempt(), lease.key()), (1, &key("e1")));
        invoice(&mut tx, "e1").await;
        let done = Verdict::done("no. 1");
        let receipt = store.settle_in(&mut tx, lease, done).await.unwrap();
        // Nobody sees it yet.
        assert_eq!(store.get(&key("e1")).await.unwrap(), None);
        assert_eq!(number(&mut other, INVOICES).await, 0);
        tx.commit().await.unwrap();

        assert_eq!(number(&mut other, INVOICES).await, 1);
        assert_eq!(duplicate(&store, "e1").await, receipt);
        let mut tx = bench.pool.begin().await.unwrap();
        match store.claim_in(&mut tx, ask("e1")).await.unwrap() {
            TxClaim::Duplicate(again) => assert_eq!(again, receipt),
            other => panic!("{other:?}"),
        }
    });
    assert_eq!(bench.abandoned.count(), 0);
}

#[test]
fn a_rollback_takes_both_back() {
    let (bench, store) = shop();
    run(async {
        for rolled_back_by_hand in [true, false] {
            let mut tx = bench.pool.begin().await.unwrap();
            let lease = win_in(&store, &mut tx, "e1").await;
            invoice(&mut tx, "e1").await;
            let done = Verdict::done("");
            store.settle_in(&mut tx, lease, done).await.unwrap();
            if rolled_back_by_hand {
                tx.rollback().await.unwrap();
            } else {
                // The pool rolls it back when the connection comes back to it.
                drop(tx);
            }
            assert_eq!(number(&mut bench.beside().await, INVOICES).await, 0);
            assert_eq!(store.get(&key("e1")).await.unwrap(), None);
        }
    });
    run(async {
        // Once the rollback has come through, the lock is free as well.
        bench.calm(&mut bench.beside().await).await;
        let lease = win(&store, "e1").await;
        assert_eq!(lease.attempt(), 1);
        settle(&store, lease, "").await;
    });
}

#[test]
fn a_failed_attempt_is_tried_again_in_a_transaction() {
    let (bench, store) = shop();
    run(async {
        let mut tx = bench.pool.begin().await.unwrap();
        let lease = win_in(&store, &mut tx, "e1").await;
        let retry = Verdict::retry(LEASE);
        store.settle_in(&mut tx, lease, retry).await.unwrap();
        match store.claim_in(&mut tx, ask("e1")).await.unwrap() {
            TxClaim::InProgress { retry_after, .. } => assert_eq!(retry_after, LEASE),
            other => panic!("{other:?}"),
        }
        tx.commit().await.unwrap();
        busy(&store, "e1").await;
        bench.clock.advance(LEASE);
        let mut tx = bench.pool.begin().await.unwrap();
        let lease = win_in(&store, &mut tx, "e1").await;
        assert_eq!(lease.attempt(), 2);
        let no = Verdict::dead("no");
        store.settle_in(&mut tx, lease, no).await.unwrap();
        let again = store.claim_in(&mut tx, ask("e1")).await.unwrap();
        assert!(matches!(again, TxClaim::Dead(_)));
        let changed = ask("e1").fingerprint(Fingerprint::of(b"other"));
        let other = store.claim_in(&mut tx, changed).await.unwrap();
        assert!(matches!(other, TxClaim::Conflict(_)));
    });
}

/// Each worker's connection is in use while it claims, and there are fewer than workers.
#[test]
fn effects_happen_exactly_once() {
    const WORKERS: usize = 12;
    const EVENTS: usize = 40;
    let (bench, store) = shop();
    let small = Bench::of(&bench.url, &bench.schema, &[], 4);
    run(async {
        let work = (0..WORKERS).map(|worker| {
            let (store, pool) = (&store, small.pool.clone());
            async move {
                for n in 0..EVENTS {
                    let id = format!("e{n}");
                    let mut tx = pool.begin().await.unwrap();
                    if let TxClaim::New(lease) = store.claim_in(&mut tx, ask(&id)).await.unwrap() {
                        invoice(&mut tx, &id).await;
                        let done = Verdict::done(&*id);
                        store.settle_in(&mut tx, lease, done).await.unwrap();
                        // Some fail at the last moment; the sender comes again, to the others.
                        if (n + worker) % WORKERS < 3 {
                            tx.rollback().await.unwrap();
                            continue;
                        }
                    }
                    tx.commit().await.unwrap();
                }
            }
        });
        super::races::all(work).await;
        // Those that were told `InProgress` by one that failed come again.
        for n in 0..EVENTS {
            let id = format!("e{n}");
            let mut tx = small.pool.begin().await.unwrap();
            if let TxClaim::New(lease) = store.claim_in(&mut tx, ask(&id)).await.unwrap() {
                invoice(&mut tx, &id).await;
                let done = Verdict::done(&*id);
                store.settle_in(&mut tx, lease, done).await.unwrap();
            }
            tx.commit().await.unwrap();
        }
        let mut beside = bench.beside().await;
        assert_eq!(number(&mut beside, INVOICES).await, 40);
        let distinct = "SELECT count(DISTINCT event) FROM invoice";
        assert_eq!(number(&mut beside, distinct).await, 40);
        for n in 0..EVENTS {
            duplicate(&store, &format!("e{n}")).await;
        }
    });
}

#[test]
fn a_lease_committed_unsettled_runs_out() {
    let (bench, store) = shop();
    run(async {
        let mut tx = bench.pool.begin().await.unwrap();
        drop(win_in(&store, &mut tx, "e1").await);
        assert_eq!(bench.abandoned.count(), 1);
        tx.commit().await.unwrap();
        busy(&store, "e1").await;
        bench.clock.advance(LEASE);
        let lease = win(&store, "e1").await;
        assert_eq!(lease.attempt(), 2);
        settle(&store, lease, "").await;
    });
}

/// After a rollback the fence may be given to someone else, so the old lease must fit nowhere.
#[test]
fn a_lease_fits_its_own_transaction_only() {
    let (bench, store) = shop();
    run(async {
        let mut tx = bench.pool.begin().await.unwrap();
        let stale = win_in(&store, &mut tx, "e1").await;
        let fence = stale.fence();
        tx.rollback().await.unwrap();
        let lease = win(&store, "e1").await;
        assert_eq!(lease.fence(), fence);

        let mut tx = bench.pool.begin().await.unwrap();
        let settled = store.settle_in(&mut tx, stale, Verdict::done("stale"));
        let error = settled.await.unwrap_err();
        assert!(
            matches!(&error.fault, SettleFault::Store(e) if e.kind() == StoreErrorKind::Misuse)
        );
        assert_eq!(error.lease.fence(), fence);
        // Nor one that has written, and so has a number.
        invoice(&mut tx, "e1").await;
        let settled = store.settle_in(&mut tx, *error.lease, Verdict::done("stale"));
        let error = settled.await.unwrap_err();
        assert!(
            matches!(&error.fault, SettleFault::Store(e) if e.kind() == StoreErrorKind::Misuse)
        );
        tx.commit().await.unwrap();
        assert_eq!(settle(&store, lease, "right").await.result, b"right");
    });
}

#[test]
fn a_claim_outside_a_transaction_is_refused_and_writes_nothing() {
    let (bench, store) = shop();
    run(async {
        let mut connection = bench.pool.acquire().await.unwrap();
        let claimed = store.claim_in(&mut connection, ask("e1")).await;
        assert_eq!(claimed.unwrap_err().kind(), StoreErrorKind::Misuse);
        assert_eq!(store.get(&key("e1")).await.unwrap(), None);
    });
}

/// The driver takes it for open. The claim is committed then, as each statement is, and its lease
/// settles nothing.
#[test]
fn a_transaction_that_was_ended_behind_the_drivers_back() {
    let (bench, store) = shop();
    run(async {
        let mut tx = bench.pool.begin().await.unwrap();
        batch(&mut tx, "COMMIT").await;
        let lease = win_in(&store, &mut tx, "e1").await;
        let settled = store.settle_in(&mut tx, lease, Verdict::done(""));
        let error = settled.await.unwrap_err();
        assert!(
            matches!(&error.fault, SettleFault::Store(e) if e.kind() == StoreErrorKind::Misuse)
        );
        busy(&store, "e1").await;
        drop(error);
        assert_eq!(bench.abandoned.count(), 1);
        bench.clock.advance(LEASE);
        let lease = win(&store, "e1").await;
        assert_eq!(lease.attempt(), 2);
        settle(&store, lease, "").await;
    });
}

#[test]
fn a_lease_whose_savepoint_is_gone_is_lost() {
    let (bench, store) = shop();
    run(async {
        let mut tx = bench.pool.begin().await.unwrap();
        batch(&mut tx, "SAVEPOINT mine").await;
        let lease = win_in(&store, &mut tx, "e1").await;
        batch(&mut tx, "ROLLBACK TO mine").await;
        let settled = store.settle_in(&mut tx, lease, Verdict::done(""));
        let error = settled.await.unwrap_err();
        assert!(matches!(error.fault, SettleFault::LeaseLost));
        drop(error);
        assert_eq!(bench.abandoned.count(), 0);
        // The locks went with it.
        let lease = win(&store, "e1").await;
        settle(&store, lease, "").await;
    });
}

/// Committed by then, the claim belongs to nobody's transaction any more.
#[test]
fn a_lease_of_a_committed_transaction_settles_nothing() {
    let (bench, store) = shop();
    run(async {
        let mut tx = bench.pool.begin().await.unwrap();
        let lease = win_in(&store, &mut tx, "e1").await;
        tx.commit().await.unwrap();
        let mut connection = bench.pool.acquire().await.unwrap();
        let settled = store.settle_in(&mut connection, lease, Verdict::done(""));
        let error = settled.await.unwrap_err();
        assert!(
            matches!(&error.fault, SettleFault::Store(e) if e.kind() == StoreErrorKind::Misuse)
        );
        drop(connection);
        busy(&store, "e1").await;
    });
}

#[test]
fn a_result_too_long_hands_the_lease_back() {
    let (bench, store) = shop();
    run(async {
        let mut tx = bench.pool.begin().await.unwrap();
        let lease = win_in(&store, &mut tx, "e1").await;
        let long = Verdict::done(vec![0; MAX_RESULT_BYTES + 1]);
        let error = store.settle_in(&mut tx, lease, long).await.unwrap_err();
        assert!(matches!(error.fault, SettleFault::ResultTooLong));
        let just = Verdict::done(vec![0; MAX_RESULT_BYTES]);
        store.settle_in(&mut tx, *error.lease, just).await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(duplicate(&store, "e1").await.result.len(), MAX_RESULT_BYTES);
    });
}

/// Many events in one transaction, which is how a queue is worked off.
#[test]
fn many_events_in_one_transaction() {
    let (bench, store) = shop();
    run(async {
        let mut tx = bench.pool.begin().await.unwrap();
        for n in 0..200 {
            let id = format!("e{n}");
            let lease = win_in(&store, &mut tx, &id).await;
            let done = Verdict::done(&*id);
            store.settle_in(&mut tx, lease, done).await.unwrap();
        }
        tx.commit().await.unwrap();
        let done = "SELECT count(*) FROM webhook_receipt WHERE state = 2";
        assert_eq!(
            number(&mut bench.beside().await, statement(done)).await,
            200
        );
    });
}

/// Code that takes a pool lease takes a lease of a transaction too, to read from.
#[test]
fn a_tx_lease_reads_like_a_lease() {
    fn charge(lease: &Lease) -> String {
        lease.effect_key("charge")
    }
    let (bench, store) = shop();
    run(async {
        let mut tx = bench.pool.begin().await.unwrap();
        let lease = win_in(&store, &mut tx, "e1").await;
        assert_eq!(charge(&lease), key("e1").effect_key("charge"));
    });
}

/// Handlers run on executors that move them between threads.
#[test]
fn every_call_can_be_spawned() {
    fn sent<T: Send>(call: T) -> T {
        call
    }
    let (bench, store) = shop();
    run(async {
        sent(store.migrate()).await.unwrap();
        let mut tx = bench.pool.begin().await.unwrap();
        let TxClaim::New(lease) = sent(store.claim_in(&mut tx, ask("e1"))).await.unwrap() else {
            panic!("the event is known");
        };
        let settle = store.settle_in(&mut tx, lease, Verdict::done(""));
        sent(settle).await.unwrap();
        tx.commit().await.unwrap();
        duplicate(&store, "e1").await;
    });
}
