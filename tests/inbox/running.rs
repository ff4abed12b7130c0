//! How many handlers run, and what a shutdown does.

use std::{
    future::{pending, poll_fn, ready},
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    task::Poll,
    time::Duration,
};

use hookproof::{
    Claim, Claiming, EventKey, IdempotencyStore, Lease, Receipt, State, StoreError, Verdict,
    inbox::{
        Accepted, Dropping, InboxStore, Leased, Leasing, Listing, Parcel, Parked, Requeued, Worker,
    },
    store::{SettleError, StoreFuture},
    testing::block_on,
};

use super::{rig::*, store::Store};

#[test]
fn no_more_handlers_run_than_allowed() {
    let rig = Rig::new();
    rig.fill(0..20);
    let (running, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let worker = rig
        .worker(|_| async {
            most.fetch_max(running.fetch_add(1, SeqCst) + 1, SeqCst);
            // Lets the others in.
            let mut turns = 0;
            poll_fn(|context| {
                turns += 1;
                context.waker().wake_by_ref();
                if turns > 3 {
                    Poll::Ready(())
                } else {
                    Poll::Pending
                }
            })
            .await;
            running.fetch_sub(1, SeqCst);
            Ok(Verdict::done(""))
        })
        .concurrency(3);
    assert_eq!(rig.work(&worker).processed, 20);
    assert_eq!(most.load(SeqCst), 3);
    assert_eq!(rig.store.fails.most_asked.load(SeqCst), 3);
}

#[test]
fn shutdown_finishes_what_runs_and_leases_nothing_new() {
    let rig = Rig::new();
    rig.fill(0..4);
    let (stop, finish) = (Signal::default(), Signal::default());
    let worker = rig
        .worker(|_| async {
            finish.wait().await;
            Ok(Verdict::done("finished"))
        })
        .concurrency(2);
    let mut run = pin!(worker.run(stop.wait(), |_| pending::<()>()));
    assert!(poll_once(run.as_mut()).is_pending());
    let count = |state| block_on(rig.store.list(Listing::of(state))).unwrap().len();
    assert_eq!((count(State::InProgress), count(State::Received)), (2, 2));
    stop.give();
    assert!(poll_once(run.as_mut()).is_pending());
    let fetches = rig.store.fails.fetches.load(SeqCst);
    finish.give();
    let tally = block_on(run);
    assert_eq!((tally.processed, tally.released), (2, 0));
    assert_eq!((count(State::Processed), count(State::Received)), (2, 2));
    assert_eq!(rig.store.fails.fetches.load(SeqCst), fetches);
    assert_eq!(rig.dropped.count(), 0);
}

/// The store's answer comes when the shutdown has come already.
#[test]
fn shutdown_gives_back_what_was_leased_and_not_begun() {
    struct Slow(Store, Signal);
    impl Slow {
        fn of(rig: &Rig, signal: &Signal) -> Arc<Self> {
            Arc::new(Self(rig.store.clone(), signal.clone()))
        }
    }
    impl IdempotencyStore for Slow {
        fn claim(&self, claiming: Claiming) -> StoreFuture<'_, Result<Claim, StoreError>> {
            self.0.claim(claiming)
        }
        fn settle(
            &self,
            lease: Lease,
            verdict: Verdict,
        ) -> StoreFuture<'_, Result<Receipt, SettleError>> {
            self.0.settle(lease, verdict)
        }
        fn renew(
            &self,
            lease: Lease,
            length: Duration,
        ) -> StoreFuture<'_, Result<Lease, SettleError>> {
            self.0.renew(lease, length)
        }
        fn release(&self, lease: Lease) -> StoreFuture<'_, Result<Receipt, SettleError>> {
            self.0.release(lease)
        }
        fn get<'a>(
            &'a self,
            key: &'a EventKey,
        ) -> StoreFuture<'a, Result<Option<Receipt>, StoreError>> {
            self.0.get(key)
        }
        fn forget<'a>(
            &'a self,
            key: &'a EventKey,
        ) -> StoreFuture<'a, Result<Option<Receipt>, StoreError>> {
            self.0.forget(key)
        }
        fn purge(&self, at_most: usize) -> StoreFuture<'_, Result<usize, StoreError>> {
            self.0.purge(at_most)
        }
    }
    impl InboxStore for Slow {
        fn accept(&self, parcel: Parcel) -> StoreFuture<'_, Result<Accepted, StoreError>> {
            self.0.accept(parcel)
        }
        fn lease_due(&self, leasing: Leasing) -> StoreFuture<'_, Result<Leased, StoreError>> {
            Box::pin(async move {
                let leased = self.0.lease_due(leasing).await;
                self.1.wait().await;
                leased
            })
        }
        fn requeue<'a>(
            &'a self,
            key: &'a EventKey,
        ) -> StoreFuture<'a, Result<Requeued, StoreError>> {
            self.0.requeue(key)
        }
        fn list(&self, listing: Listing) -> StoreFuture<'_, Result<Vec<Receipt>, StoreError>> {
            self.0.list(listing)
        }
        fn parked<'a>(
            &'a self,
            key: &'a EventKey,
        ) -> StoreFuture<'a, Result<Option<Parked>, StoreError>> {
            self.0.parked(key)
        }
        fn drop_bodies(&self, dropping: Dropping) -> StoreFuture<'_, Result<usize, StoreError>> {
            self.0.drop_bodies(dropping)
        }
    }
    let rig = Rig::new();
    rig.fill(0..3);
    let (stop, answer) = (Signal::default(), Signal::default());
    let ran = AtomicBool::new(false);
    let worker = Worker::new(Slow::of(&rig, &answer), |_| {
        ran.store(true, SeqCst);
        ready(Ok(Verdict::done("")))
    });
    let mut run = pin!(worker.run(stop.wait(), |_| pending::<()>()));
    assert!(poll_once(run.as_mut()).is_pending());
    assert_eq!(rig.row(0).state, State::InProgress);
    stop.give();
    assert!(
        poll_once(run.as_mut()).is_pending(),
        "the answer is awaited"
    );
    answer.give();
    let tally = block_on(run);
    assert_eq!((tally.processed, tally.released), (0, 3));
    assert!(!ran.load(SeqCst));
    assert_eq!(rig.dropped.count(), 0);
    // Given back: due at once.
    let leased = block_on(rig.store.lease_due(Leasing::up_to(9))).unwrap();
    assert_eq!(leased.events.len(), 3);
}
