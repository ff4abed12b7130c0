//! The traps of waiting, each with a test named after it: open transactions, and locks that stay.

use std::{
    pin::Pin,
    time::{Duration, Instant},
};

use hookproof::{Claim, Fence, IdempotencyStore, Verdict, store::sql::TxClaim};

use super::{
    Bench, LEASE, ask, batch, busy, crash, duplicate, key, number, run, settle, win, win_in,
};

/// A second claimer would queue behind the first one's open transaction, with a connection each,
/// until the pool is empty.
#[test]
fn a_claim_does_not_wait_for_an_open_transaction() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        let old = win(&store, "known").await;
        bench.clock.advance(LEASE);
        let known = store.get(&key("known")).await.unwrap().unwrap();

        let mut tx = bench.pool.begin().await.unwrap();
        for id in ["unknown", "known"] {
            let lease = win_in(&store, &mut tx, id).await;
            for _ in 0..2 {
                // On the pool …
                let seen = busy(&store, id).await;
                // … and in a transaction, which goes on.
                let mut other = bench.pool.begin().await.unwrap();
                match store.claim_in(&mut other, ask(id)).await.unwrap() {
                    TxClaim::InProgress {
                        retry_after,
                        receipt,
                    } => {
                        assert!(retry_after > Duration::ZERO && retry_after <= LEASE);
                        assert_eq!(receipt, seen);
                    }
                    other => panic!("{other:?}"),
                }
                assert_eq!(number(&mut other, "SELECT 1::bigint").await, 1);
                if id == "known" {
                    assert_eq!(seen, known);
                } else {
                    assert_eq!((seen.fence, seen.attempts), (Fence(0), 1));
                }
            }
            let done = Verdict::done("");
            store.settle_in(&mut tx, lease, done).await.unwrap();
            // Settled, and still nobody can know.
            busy(&store, id).await;
        }
        tx.commit().await.unwrap();
        for id in ["unknown", "known"] {
            duplicate(&store, id).await;
        }
        store.settle(old, Verdict::done("")).await.unwrap_err();
    });
}

/// The last attempt's lease ran out, and somebody with more patience is at it in a transaction.
#[test]
fn a_burial_does_not_wait_for_an_open_transaction() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        crash(win(&store, "e1").await);
        bench.clock.advance(LEASE);
        let mut tx = bench.pool.begin().await.unwrap();
        let lease = win_in(&store, &mut tx, "e1").await;
        let impatient = ask("e1").max_attempts(1);
        let claim = store.claim(impatient.clone()).await.unwrap();
        assert!(matches!(claim, Claim::InProgress { .. }), "{claim:?}");
        drop(lease);
        tx.rollback().await.unwrap();
        let claim = store.claim(impatient).await.unwrap();
        assert!(matches!(claim, Claim::Dead(_)), "{claim:?}");
    });
}

/// Two transactions that claim two events in opposite orders deadlock if they wait for each other.
#[test]
fn opposite_orders_do_not_deadlock() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        let mut first = bench.pool.begin().await.unwrap();
        let mut second = bench.pool.begin().await.unwrap();
        let one = win_in(&store, &mut first, "one").await;
        let two = win_in(&store, &mut second, "two").await;
        let crossed = store.claim_in(&mut first, ask("two")).await.unwrap();
        assert!(matches!(crossed, TxClaim::InProgress { .. }));
        let crossed = store.claim_in(&mut second, ask("one")).await.unwrap();
        assert!(matches!(crossed, TxClaim::InProgress { .. }));
        for (mut tx, lease) in [(first, one), (second, two)] {
            let done = Verdict::done("");
            store.settle_in(&mut tx, lease, done).await.unwrap();
            tx.commit().await.unwrap();
        }
        duplicate(&store, "one").await;
        duplicate(&store, "two").await;
    });
}

/// A future that is dropped between statements of one transaction leaves it open on a connection
/// that the pool hands to somebody else.
#[test]
fn a_cancelled_call_leaves_no_transaction_open() {
    let bench = Bench::with(super::url(), &[], 1);
    let store = bench.store();
    run(async {
        let mut other = bench.beside().await;
        let key = key("e1");
        for turn in ["claim", "settle", "forget"] {
            let lease = win(&store, "e1").await;
            let lease = store.renew(lease, Duration::ZERO).await.unwrap();
            batch(
                &mut other,
                "BEGIN; SELECT 1 FROM webhook_receipt FOR UPDATE",
            )
            .await;
            let call: Pin<Box<dyn Future<Output = ()> + Send + '_>> = match turn {
                "claim" => Box::pin(async { drop(store.claim(ask("e1")).await) }),
                "settle" => Box::pin(async { drop(store.settle(lease, Verdict::done("")).await) }),
                _ => Box::pin(async { drop(store.forget(&key).await) }),
            };
            // Dropped when the server is in the middle of it.
            tokio::select! {
                () = call => panic!("nothing held it up"),
                () = bench.waiting(1, "transactionid") => {}
            }
            batch(&mut other, "COMMIT").await;
            let state = |state: &str| {
                format!(
                    "SELECT count(*) FROM pg_stat_activity WHERE application_name = '{}' \
                     AND state {state}",
                    bench.schema
                )
            };
            let since = Instant::now();
            while number(&mut other, &state("= 'active'")).await > 0 {
                assert!(since.elapsed() < super::PATIENCE, "it does not end");
            }
            let open = number(&mut other, &state("<> 'idle'")).await;
            assert_eq!(open, 0, "{turn}: a transaction is open");
            // The connection serves the next one.
            store.forget(&key).await.unwrap();
        }
    });
}

/// Session locks would stay with a connection of the pool, and poolers mix sessions up.
#[test]
fn no_lock_outlives_its_transaction() {
    let bench = Bench::with(super::url(), &[], 1);
    let store = bench.store();
    run(async {
        let lease = win(&store, "e1").await;
        busy(&store, "e1").await;
        settle(&store, lease, "").await;
        store.forget(&key("e1")).await.unwrap();
        drop(win(&store, "e2").await);
        bench.clock.advance(LEASE * 60 * 24 * 365);
        assert_eq!(store.purge(10).await.unwrap(), 1);
        let mut connection = bench.pool.acquire().await.unwrap();
        let locks = "SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() \
                     AND locktype = 'advisory'";
        assert_eq!(number(&mut connection, locks).await, 0);
    });
}

/// Receipts in two schemas of one database are two stores, though their locks share one space.
#[test]
fn schemas_do_not_share_locks() {
    let (bench, other) = (Bench::new(), Bench::new());
    let (store, beside) = (bench.store(), other.store());
    run(async {
        let mut tx = bench.pool.begin().await.unwrap();
        let lease = win_in(&store, &mut tx, "e1").await;
        let lease_beside = win(&beside, "e1").await;
        settle(&beside, lease_beside, "").await;
        drop(lease);
        tx.rollback().await.unwrap();
    });
}
