//! Many at once, and what may come of it.

use std::{
    panic::resume_unwind,
    sync::{Barrier, Mutex, atomic::Ordering::Relaxed},
    thread::{self, ScopedJoinHandle},
    time::Duration,
};

use super::bench::{Bench, secs, unexpected};
use crate::{
    Claim, Claiming, EventKey, Lease, Receipt, StoreError, Verdict,
    store::{SettleError, SettleFault},
};

/// How many claim at once in a race.
pub(super) const RACERS: usize = 50;

impl Bench<'_> {
    /// Lets many do the same at the same moment, and returns what they return in the order of
    /// their numbers.
    ///
    /// The thread that is started last tends to be the first to run, so every other race deals the
    /// numbers in reverse.
    pub(super) fn race<T: Send>(&self, racers: usize, run: impl Fn(usize) -> T + Sync) -> Vec<T> {
        let reversed = self.races.fetch_add(1, Relaxed) % 2 == 1;
        race(racers, reversed, run)
    }

    /// Claims, as often as the engine says that it is too busy.
    pub(super) fn insist(&self, claiming: &Claiming) -> Claim {
        patiently(|| self.wait(async { self.store.claim(claiming.clone()).await }))
    }

    /// Purges, as often as the engine says that it is too busy.
    pub(super) fn insist_on_purge(&self, at_most: usize) -> usize {
        patiently(|| self.wait(async { self.store.purge(at_most).await }))
    }

    /// Forgets, as often as the engine says that it is too busy.
    pub(super) fn insist_on_forgetting(&self, key: &EventKey) -> Option<Receipt> {
        patiently(|| self.wait(async { self.store.forget(key).await }))
    }

    /// Settles, as often as the engine says that it is too busy: whether the lease still stood.
    pub(super) fn insist_on_settling(&self, lease: Lease, verdict: &Verdict) -> bool {
        insist_with(lease, |lease| self.try_settle(lease, verdict.clone())).is_some()
    }

    /// Renews, as often as the engine says that it is too busy: the lease, if it still stood.
    pub(super) fn insist_on_renewing(&self, lease: Lease, length: Duration) -> Option<Lease> {
        insist_with(lease, |lease| self.try_renew(lease, length))
    }
}

/// See [`Bench::race`].
pub(super) fn race<T: Send>(
    racers: usize,
    reversed: bool,
    run: impl Fn(usize) -> T + Sync,
) -> Vec<T> {
    let (line, run) = (&Barrier::new(racers), &run);
    let mut results: Vec<T> = thread::scope(|scope| {
        let start = |place| {
            let number = if reversed { racers - 1 - place } else { place };
            scope.spawn(move || {
                line.wait();
                run(number)
            })
        };
        let racing: Vec<_> = (0..racers).map(start).collect();
        let finish = |racer: ScopedJoinHandle<'_, T>| {
            racer.join().unwrap_or_else(|panic| resume_unwind(panic))
        };
        racing.into_iter().map(finish).collect()
    });
    if reversed {
        results.reverse();
    }
    results
}

/// How often a call is repeated that the engine was too busy for, or still at the event that it is
/// about, a millisecond apart.
pub(super) const PATIENCE: usize = 5_000;

/// In a race an engine may refuse a call for being too busy, as long as it says so and gets over
/// it.
pub(super) fn patiently<T>(call: impl Fn() -> Result<T, StoreError>) -> T {
    for _ in 0..PATIENCE {
        match call() {
            Ok(answer) => return answer,
            Err(error) if error.kind().is_transient() => thread::sleep(secs(1) / 1000),
            Err(error) => panic!("the store could not answer: {error:?}"),
        }
    }
    panic!("the store stayed busy");
}

/// The same for what is done with a lease; nothing if that was lost.
fn insist_with<T>(mut lease: Lease, call: impl Fn(Lease) -> Result<T, SettleError>) -> Option<T> {
    for _ in 0..PATIENCE {
        let error = match call(lease) {
            Ok(answer) => return Some(answer),
            Err(error) => error,
        };
        match error.fault {
            SettleFault::LeaseLost => return None,
            SettleFault::Store(busy) if busy.kind().is_transient() => lease = *error.lease,
            fault => panic!("neither done nor lost: {fault:?}"),
        }
        thread::sleep(secs(1) / 1000);
    }
    panic!("the store stayed busy");
}

/// The leases among claims, of which the others must be `InProgress`.
#[track_caller]
pub(super) fn winners(claims: Vec<Claim>) -> Vec<Lease> {
    let lease = |claim| match claim {
        Claim::New(lease) => Some(lease),
        Claim::InProgress { .. } => None,
        other => unexpected("New or InProgress", &other),
    };
    claims.into_iter().filter_map(lease).collect()
}

/// The one lease among claims of an event that was in other hands as well, for a moment. If all of them
/// came in that moment, the next claim's.
#[track_caller]
pub(super) fn winner_or_next(claims: Vec<Claim>, next: impl FnOnce() -> Lease) -> Lease {
    let mut leases = winners(claims);
    assert!(leases.len() <= 1, "more than one may act");
    leases.pop().unwrap_or_else(next)
}

/// The one lease among claims.
#[track_caller]
pub(super) fn winner(claims: Vec<Claim>) -> Lease {
    let mut leases = winners(claims);
    assert_eq!(leases.len(), 1, "exactly one may act");
    leases.remove(0)
}

/// A lease that one of the racers takes along.
pub(super) struct Handed(Mutex<Option<Lease>>);

impl Handed {
    pub(super) fn new(lease: Lease) -> Self {
        Self(Mutex::new(Some(lease)))
    }

    pub(super) fn take(&self) -> Lease {
        self.0
            .lock()
            .unwrap()
            .take()
            .expect("it is handed out once")
    }
}
