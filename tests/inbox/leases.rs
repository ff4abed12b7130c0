//! Leases that are renewed, lost, or given up.

use std::{
    future::{Future, pending, poll_fn, ready},
    pin::pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    task::Poll,
    time::Duration,
};

use hookproof::{
    IdempotencyStore, MemoryStore, Verdict,
    inbox::{InboxStore, Job, Leasing, Tally, Worker},
    testing::block_on,
};

use super::rig::*;

#[test]
fn a_long_handler_keeps_its_lease() {
    let rig = Rig::new();
    rig.fill(0..1);
    let worker = rig.worker(|_| async {
        // Ten turns of the beat, of twenty seconds each: more than three leases.
        while rig.store.fails.renewals.load(SeqCst) < 10 {
            let mut polled = false;
            poll_fn(|context| {
                context.waker().wake_by_ref();
                match std::mem::replace(&mut polled, true) {
                    true => Poll::Ready(()),
                    false => Poll::Pending,
                }
            })
            .await;
        }
        Ok(Verdict::done("at last"))
    });
    let tally = rig.work(&worker);
    assert_eq!((tally.processed, tally.lost), (1, 0));
    assert_eq!(rig.row(0).attempts, 1);
    assert!(rig.clock_moved() > LEASE * 3);
    assert!(rig.naps.lock().unwrap().contains(&(LEASE / 3)));
}

#[test]
fn a_renewal_that_fails_is_repeated() {
    let rig = Rig::new();
    rig.fill(0..1);
    rig.store.fails.renewing.store(2, SeqCst);
    let worker = rig.worker(|_| async {
        poll_fn(|context| {
            context.waker().wake_by_ref();
            match rig.store.fails.renewals.load(SeqCst) {
                0..=3 => Poll::Pending,
                _ => Poll::Ready(()),
            }
        })
        .await;
        Ok(Verdict::done(""))
    });
    assert_eq!(rig.work(&worker).processed, 1);
    let notices = rig.notices();
    assert_eq!(
        notices,
        ["store Renew: the receipt store is unavailable"; 2]
    );
}

#[test]
fn a_lost_lease_stops_its_handler_and_writes_nothing() {
    struct OnDrop<'a>(&'a AtomicBool);
    impl Drop for OnDrop<'_> {
        fn drop(&mut self) {
            self.0.store(true, SeqCst);
        }
    }
    let rig = Rig::new();
    rig.fill(0..1);
    let stopped = AtomicBool::new(false);
    let taken = Mutex::new(Vec::new());
    let worker = rig.worker(|_| {
        // Somebody else comes after the lease's end, before the first beat.
        rig.clock.advance(LEASE);
        let other = block_on(rig.store.lease_due(Leasing::up_to(1))).unwrap();
        taken.lock().unwrap().extend(other.events);
        async {
            let _guard = OnDrop(&stopped);
            pending::<Done>().await
        }
    });
    let lost = poll_fn(|context| {
        context.waker().wake_by_ref();
        match stopped.load(SeqCst) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    });
    let tally = block_on(worker.run(lost, rig.sleep()));
    assert_eq!((tally.lost, tally.processed), (1, 0));
    let notices = rig.notices();
    assert_eq!(notices.len(), 1);
    assert!(
        notices[0].starts_with("lease lost EventKey("),
        "{notices:?}"
    );
    let (lease, _) = taken.into_inner().unwrap().remove(0);
    assert_eq!((rig.row(0).fence, rig.row(0).attempts), (lease.fence(), 2));
    block_on(rig.store.settle(lease, Verdict::done("theirs"))).unwrap();
}

#[test]
fn a_lease_that_is_lost_at_the_end_is_reported() {
    let rig = Rig::new();
    rig.fill(0..1);
    let worker = rig.worker(|job: Job| {
        if job.attempt() == 1 {
            rig.clock.advance(LEASE);
            let other = block_on(rig.store.lease_due(Leasing::up_to(1))).unwrap();
            for (lease, _) in other.events {
                block_on(rig.store.settle(lease, Verdict::done("theirs"))).unwrap();
            }
        }
        ready(Ok(Verdict::done("ours")))
    });
    let tally = rig.work(&worker);
    assert_eq!((tally.lost, tally.processed), (1, 0));
    assert_eq!(rig.row(0).result, b"theirs");
}

#[test]
fn a_store_that_fails_is_asked_again() {
    let rig = Rig::new();
    rig.fill(0..3);
    rig.store.fails.leasing.store(6, SeqCst);
    rig.store.fails.settling.store(4, SeqCst);
    let worker = rig.worker(|_| ready(Ok(Verdict::done("")))).concurrency(1);
    let tally = rig.work(&worker);
    assert_eq!((tally.processed, tally.unsettled), (3, 0));
    let notices = rig.notices();
    let count = |start| {
        notices
            .iter()
            .filter(|line| line.starts_with(start))
            .count()
    };
    assert_eq!((count("store Lease"), count("store Settle")), (6, 4));
    // It backs off: within bounds that grow.
    let naps = rig.naps.lock().unwrap();
    let bounds = [100, 200, 400, 800, 1600, 3200].map(Duration::from_millis);
    assert!(
        naps.iter().zip(bounds).all(|(nap, bound)| *nap <= bound),
        "{naps:?}"
    );
    assert!(naps[..6].iter().all(|nap| *nap >= Duration::from_millis(1)));
}

#[test]
fn a_verdict_that_cannot_be_written_leaves_the_event_to_the_next() {
    let rig = Rig::new();
    rig.fill(0..1);
    rig.store.fails.settling.store(5, SeqCst);
    let worker = rig
        .worker(|job: Job| async move { Ok(Verdict::done(format!("attempt {}", job.attempt()))) });
    let tally = rig.work(&worker);
    assert_eq!((tally.unsettled, tally.processed), (1, 1));
    assert_eq!(rig.row(0).result, b"attempt 2");
    assert_eq!(rig.dropped.count(), 1, "the lease was dropped, loudly");
}

#[test]
fn a_dropped_worker_lets_go_of_its_leases() {
    let rig = Rig::new();
    rig.fill(0..2);
    let worker = rig.worker(|_| pending::<Done>());
    {
        let mut run = pin!(worker.run(pending::<()>(), |_| pending::<()>()));
        assert!(poll_once(run.as_mut()).is_pending());
    }
    assert_eq!(rig.dropped.count(), 2);
    let leased = block_on(rig.store.lease_due(Leasing::up_to(9))).unwrap();
    assert_eq!(leased.events.len(), 2);
}

#[test]
fn a_worker_with_nothing_to_do_looks_once_per_poll() {
    let rig = Rig::new();
    let worker = rig
        .worker(|_| ready(Ok(Verdict::done(""))))
        .poll(Duration::from_secs(5));
    let turns = AtomicUsize::new(0);
    let stop = poll_fn(|_| match turns.fetch_add(1, SeqCst) {
        0..20 => Poll::Pending,
        _ => Poll::Ready(()),
    });
    let tally = block_on(worker.run(stop, rig.sleep()));
    assert_eq!(tally, Tally::default());
    let naps = rig.naps.lock().unwrap();
    assert!(naps.len() >= 5 && naps.iter().all(|nap| *nap == Duration::from_secs(5)));
    assert!(rig.store.fails.fetches.load(SeqCst) <= naps.len() + 1);
}

/// A run may be spawned on any runtime.
#[test]
fn a_run_is_send() {
    fn send<F: Future + Send>(future: F) -> F {
        future
    }
    let store = Arc::new(MemoryStore::new());
    let worker = Worker::new(store, |job: Job| async move {
        Ok(Verdict::done(job.body().to_vec()))
    });
    let run = send(worker.run(ready(()), |_| pending::<()>()));
    assert_eq!(block_on(run), Tally::default());
}
