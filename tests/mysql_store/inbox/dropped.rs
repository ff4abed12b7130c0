//! Calls that are dropped at each of their awaits in turn, as frameworks do with a request whose
//! client has gone.

use std::{future::poll_fn, pin::pin, task::Poll, time::Instant};

use hookproof::{
    IdempotencyStore, MySqlStore, State, Verdict,
    inbox::{Accepted, InboxStore, Leasing, Requeued},
};

use super::{LEASE, accept, key, listed, parcel, work_off};
use crate::{Bench, PATIENCE, batch, number, run, url};

/// Polls a call so often, and drops it without waiting for what it has asked of the server. Returns
/// whether it was done by then.
pub(in super::super) async fn dropped_after(polls: usize, call: impl Future) -> bool {
    let mut call = pin!(call);
    let mut left = polls;
    poll_fn(|context| {
        if left == 0 {
            return Poll::Ready(false);
        }
        left -= 1;
        match call.as_mut().poll(context) {
            Poll::Ready(_) => Poll::Ready(true),
            Poll::Pending if left == 0 => Poll::Ready(false),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}

/// Accepts a delivery until it is stored: what was dropped may still be at it.
async fn insist(store: &MySqlStore, id: &str) {
    let since = Instant::now();
    loop {
        match store.accept(parcel(id)).await.unwrap() {
            Accepted::New(_) | Accepted::Pending(_) => return,
            Accepted::InProgress { .. } => assert!(since.elapsed() < PATIENCE),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn accepting_is_all_or_nothing() {
    let bench = Bench::with(url(), &[], 2);
    let store = bench.store();
    run(async {
        let mut beside = bench.beside().await;
        // An event without an inbox's row, to be adopted, and one that is not there.
        for adopted in [false, true] {
            let mut polls = 0;
            loop {
                let id = format!("e{polls}_{adopted}");
                if adopted {
                    let claim = store.claim(parcel(&id).claiming().clone()).await.unwrap();
                    store.release(crate::won(claim)).await.unwrap();
                }
                let is_done = dropped_after(polls, store.accept(parcel(&id))).await;
                bench.calm(&mut beside).await;
                // Only what was claimed, and not accepted, has a receipt without the rest.
                let half = "SELECT count(*) FROM webhook_receipt r \
                            LEFT JOIN webhook_inbox i ON i.`key` = r.`key` \
                            LEFT JOIN webhook_inbox_due q ON q.`key` = r.`key` \
                            WHERE r.state IN (0, 1, 3) AND ((i.`key` IS NULL) <> (q.`key` IS NULL) \
                            OR (r.state = 0 AND q.`key` IS NULL))";
                assert_eq!(number(&mut beside, half).await, 0, "after {polls} polls");
                insist(&store, &id).await;
                if is_done {
                    break;
                }
                polls += 1;
            }
            assert!(polls > 0);
            let runs = work_off(&store, polls + 1).await;
            let attempt = if adopted { 2 } else { 1 };
            assert!(runs.values().all(|runs| runs == &[attempt]), "{runs:?}");
        }
        bench.calm(&mut beside).await;
    });
}

/// With receipt and delivery written, and held up by somebody who has locked the queue.
#[test]
fn what_is_dropped_before_its_commit_was_never_there() {
    let bench = Bench::with(url(), &[], 1);
    let store = bench.store();
    run(async {
        let mut beside = bench.beside().await;
        let mut other = bench.beside().await;
        batch(&mut other, "LOCK TABLES webhook_inbox_due READ").await;
        {
            let mut call = pin!(store.accept(parcel("e1")));
            let mut waiting = pin!(bench.waiting(1));
            poll_fn(|context| {
                assert!(call.as_mut().poll(context).is_pending());
                waiting.as_mut().poll(context).map(drop)
            })
            .await;
        }
        // The pool's only connection has gone with it, and there is another at once, which sees
        // nothing of it.
        assert!(store.get(&key("e1")).await.unwrap().is_none());
        batch(&mut other, "UNLOCK TABLES").await;
        bench.calm(&mut beside).await;
        let all = "SELECT (SELECT count(*) FROM webhook_receipt) + \
                   (SELECT count(*) FROM webhook_inbox) + (SELECT count(*) FROM webhook_inbox_due)";
        assert_eq!(number(&mut beside, all).await, 0);
        accept(&store, "e1").await;
        work_off(&store, 1).await;
    });
}

#[test]
fn sending_back_is_all_or_nothing() {
    let bench = Bench::with(url(), &[], 2);
    let store = bench.store();
    run(async {
        let mut beside = bench.beside().await;
        let mut polls = 0;
        loop {
            let id = format!("e{polls}");
            accept(&store, &id).await;
            let mut leased = store.lease_due(Leasing::up_to(9)).await.unwrap().events;
            leased.retain(|(lease, _)| lease.key() == &key(&id));
            let (lease, _) = leased.remove(0);
            store.settle(lease, Verdict::dead("no")).await.unwrap();
            let is_done = dropped_after(polls, store.requeue(&key(&id))).await;
            bench.calm(&mut beside).await;
            let half = "SELECT count(*) FROM webhook_receipt r \
                        LEFT JOIN webhook_inbox_due q ON q.`key` = r.`key` \
                        WHERE (r.state IN (2, 4)) = (q.`key` IS NOT NULL)";
            assert_eq!(number(&mut beside, half).await, 0, "after {polls} polls");
            match store.requeue(&key(&id)).await.unwrap() {
                Requeued::Waiting(_) | Requeued::NotFailed(_) => {}
                other => panic!("{other:?}"),
            }
            assert_eq!(listed(&store, State::Received).await, 1);
            work_off(&store, 1).await;
            if is_done {
                break;
            }
            polls += 1;
        }
        assert!(polls > 0);
        assert_eq!(listed(&store, State::Processed).await, polls + 1);
    });
}

/// What was leased for nobody comes again with the lease's end.
#[test]
fn leasing_loses_nothing() {
    let bench = Bench::with(url(), &[], 2);
    let store = bench.store();
    run(async {
        let mut beside = bench.beside().await;
        let mut polls = 0;
        loop {
            accept(&store, &format!("e{polls}")).await;
            let leasing = Leasing::up_to(9).lease(LEASE);
            let is_done = dropped_after(polls, store.lease_due(leasing)).await;
            bench.calm(&mut beside).await;
            bench.clock.advance(LEASE);
            work_off(&store, 1).await;
            if is_done {
                break;
            }
            polls += 1;
        }
        assert!(polls > 0);
    });
}
