//! Many tasks at once, counted.

use std::{
    future::Future,
    sync::atomic::{AtomicUsize, Ordering::SeqCst},
};

use hookproof::{Claim, IdempotencyStore, Verdict, store::sql::TxClaim};

use super::{Bench, ask, duplicate, run, won};

/// Runs all of them at once on this thread; what they wait for is done by the server's processes.
pub(crate) async fn all<T>(work: impl IntoIterator<Item = impl Future<Output = T>>) -> Vec<T> {
    let mut running: Vec<_> = work
        .into_iter()
        .map(|work| (Box::pin(work), None))
        .collect();
    std::future::poll_fn(|context| {
        let mut pending = false;
        for (work, done) in &mut running {
            if done.is_none() {
                match work.as_mut().poll(context) {
                    std::task::Poll::Ready(value) => *done = Some(value),
                    std::task::Poll::Pending => pending = true,
                }
            }
        }
        if pending {
            std::task::Poll::Pending
        } else {
            std::task::Poll::Ready(())
        }
    })
    .await;
    running.into_iter().filter_map(|(_, done)| done).collect()
}

/// By the server's clock, on more connections than there are processors.
#[test]
fn exactly_one_task_is_new() {
    const TASKS: usize = 64;
    let bench = Bench::with(super::url(), &[], 16);
    let store = bench.builder().build();
    run(async {
        for round in 0..40 {
            let id = format!("e{round}");
            let claims = all((0..TASKS).map(|_| store.claim(ask(&id)))).await;
            let mut leases = Vec::new();
            for claim in claims {
                match claim.unwrap() {
                    Claim::New(lease) => leases.push(lease),
                    Claim::InProgress { retry_after, .. } => assert!(!retry_after.is_zero()),
                    other => panic!("{other:?}"),
                }
            }
            assert_eq!(leases.len(), 1);
            let lease = leases.remove(0);
            store.settle(lease, Verdict::done("once")).await.unwrap();
            assert_eq!(duplicate(&store, &id).await.result, b"once");
        }
    });
}

/// Tasks on the pool and in transactions, some of which are rolled back, want the same events.
#[test]
fn pool_and_transactions_take_turns() {
    const TASKS: usize = 16;
    const EVENTS: usize = 25;
    let bench = Bench::with(super::url(), &[], 16);
    let store = bench.builder().build();
    let acted: Vec<_> = (0..EVENTS).map(|_| AtomicUsize::new(0)).collect();
    run(async {
        let work = (0..TASKS).map(|task| {
            let (store, pool, acted) = (&store, bench.pool.clone(), &acted);
            async move {
                for step in 0..EVENTS {
                    // In different orders.
                    let event = if task % 2 == 0 {
                        step
                    } else {
                        EVENTS - 1 - step
                    };
                    let id = format!("e{event}");
                    if task % 4 < 2 {
                        if let Claim::New(lease) = store.claim(ask(&id)).await.unwrap() {
                            store.settle(lease, Verdict::done("pool")).await.unwrap();
                            acted[event].fetch_add(1, SeqCst);
                        }
                        continue;
                    }
                    let mut tx = pool.begin().await.unwrap();
                    let claim = store.claim_in(&mut tx, ask(&id)).await.unwrap();
                    let TxClaim::New(lease) = claim else {
                        continue;
                    };
                    let done = Verdict::done("transaction");
                    store.settle_in(&mut tx, lease, done).await.unwrap();
                    if task % 8 == 2 {
                        tx.rollback().await.unwrap();
                    } else {
                        tx.commit().await.unwrap();
                        acted[event].fetch_add(1, SeqCst);
                    }
                }
            }
        });
        all(work).await;
        for (event, acted) in acted.iter().enumerate() {
            let claim = store.claim(ask(&format!("e{event}"))).await.unwrap();
            match acted.load(SeqCst) {
                // Only a transaction that was rolled back had it.
                0 => drop(
                    store
                        .settle(won(claim), Verdict::done("late"))
                        .await
                        .unwrap(),
                ),
                1 => assert!(matches!(claim, Claim::Duplicate(_)), "{claim:?}"),
                more => panic!("{more} acted on one event"),
            }
        }
    });
}
