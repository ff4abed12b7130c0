//! One opened store with its clock, and the verbs as cases speak them.

use std::{
    fmt::Debug,
    future::Future,
    pin::{Pin, pin},
    sync::{Arc, Mutex, PoisonError, atomic::AtomicUsize},
    time::Duration,
};

use time::OffsetDateTime;

use super::{Backend, DroppedLease, Witness};
use crate::{
    Claim, Claiming, EventKey, Fingerprint, IdempotencyStore, Lease, Receipt, Verdict,
    clock::Clock as _,
    store::{Conflict, SettleError, SettleFault},
    testing::ManualClock,
};

pub(super) const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

pub(super) const TICK: Duration = Duration::from_micros(1);
pub(super) const HOUR: Duration = secs(60 * 60);
pub(super) const DAY: Duration = secs(24 * 60 * 60);

/// The lease that [`ask`] asks for.
pub(super) const LEASE: Duration = secs(60);

/// When every case begins: 2027-01-15 08:00 UTC. Whole seconds, which every engine can keep.
pub(super) fn start() -> OffsetDateTime {
    OffsetDateTime::from_unix_timestamp(1_800_000_000).unwrap()
}

pub(super) fn key(id: &str) -> EventKey {
    EventKey::business("tenant", "suite", id).unwrap()
}

/// Asks for event `id` with its usual content, for a lease of [`LEASE`].
pub(super) fn ask(id: &str) -> Claiming {
    ask_for(key(id))
}

pub(super) fn ask_for(key: EventKey) -> Claiming {
    Claiming::business(key)
        .fingerprint(Fingerprint::of(b"first content"))
        .lease(LEASE)
}

/// Asks for the same event with other content.
pub(super) fn ask_otherwise(id: &str) -> Claiming {
    ask(id).fingerprint(other_content())
}

pub(super) fn other_content() -> Fingerprint {
    Fingerprint::of(b"other content")
}

pub(super) type Drive<'b> =
    &'b (dyn for<'f, 'g> Fn(Pin<&'f mut (dyn Future<Output = ()> + 'g)>) + Sync);

/// One opened store with its clock. Cases see the store as a trait object, so that they are
/// compiled once, not once per backend.
pub(super) struct Bench<'b> {
    pub(super) store: Arc<dyn IdempotencyStore>,
    pub(super) clock: ManualClock,
    pub(super) witness: Witness,
    pub(super) dropped: DroppedLease,
    pub(super) rounds: usize,
    pub(super) many: usize,
    drive: Drive<'b>,
    stalled: Mutex<Vec<Lease>>,
    pub(super) races: AtomicUsize,
}

/// Opens a store of `backend` and runs one case on it.
pub(super) fn on<B: Backend>(backend: &B, case: fn(&Bench<'_>)) {
    opened(backend, |bench, _| case(bench));
}

/// The same, for a case that asks more of the store than the contract of all.
pub(super) fn opened<B: Backend>(backend: &B, case: impl FnOnce(&Bench<'_>, Arc<B::Store>)) {
    let clock = ManualClock::at(start());
    let witness = Witness::default();
    let store = Arc::new(backend.open(clock.clone(), witness.clone()));
    let bench = Bench {
        store: store.clone(),
        clock,
        witness,
        dropped: backend.dropped_lease(),
        rounds: backend.race_rounds().max(1),
        many: backend.many_keys().max(1),
        drive: &|future| backend.block_on(future),
        stalled: Mutex::default(),
        races: AtomicUsize::new(0),
    };
    case(&bench, store);
    let stalled = bench.stalled.into_inner();
    (bench.drive)(pin!(async { drop(stalled) }));
}

#[track_caller]
pub(super) fn unexpected(wanted: &str, claim: &Claim) -> ! {
    panic!("expected {wanted}, got {claim:?}")
}

impl Bench<'_> {
    /// Moves the clock to so long after the case's beginning, forwards or back.
    pub(super) fn at(&self, since_start: Duration) {
        self.clock.set(start() + since_start);
    }

    /// Moves the clock to so long before the case's beginning.
    pub(super) fn before_start(&self, by: Duration) {
        self.clock.set(start() - by);
    }

    pub(super) fn now(&self) -> OffsetDateTime {
        self.clock.now()
    }

    /// Runs a future as the backend runs its own.
    pub(super) fn wait<T>(&self, future: impl Future<Output = T>) -> T {
        let mut output = None;
        (self.drive)(pin!(async { output = Some(future.await) }));
        output.expect("block_on returned before the future was done")
    }

    pub(super) fn claim(&self, claiming: Claiming) -> Claim {
        self.wait(async { self.store.claim(claiming).await })
            .expect("the store could not answer a claim")
    }

    #[track_caller]
    pub(super) fn win(&self, claiming: Claiming) -> Lease {
        match self.claim(claiming) {
            Claim::New(lease) => lease,
            other => unexpected("New", &other),
        }
    }

    /// Wins an event, says which attempt it is, and leaves it at that.
    #[track_caller]
    pub(super) fn attempt(&self, claiming: Claiming) -> u32 {
        let lease = self.win(claiming);
        let attempt = lease.attempt();
        self.stall(lease);
        attempt
    }

    /// Expects `InProgress` with a wait that is longer than nothing and at most `longest`.
    #[track_caller]
    pub(super) fn busy(&self, claiming: Claiming, longest: Duration) -> (Duration, Receipt) {
        match self.claim(claiming) {
            Claim::InProgress {
                retry_after,
                receipt,
            } => {
                assert!(retry_after > Duration::ZERO, "a wait of nothing");
                assert!(retry_after <= longest, "{retry_after:?} > {longest:?}");
                (retry_after, receipt)
            }
            other => unexpected("InProgress", &other),
        }
    }

    #[track_caller]
    pub(super) fn duplicate(&self, claiming: Claiming) -> Receipt {
        match self.claim(claiming) {
            Claim::Duplicate(receipt) => receipt,
            other => unexpected("Duplicate", &other),
        }
    }

    #[track_caller]
    pub(super) fn dead(&self, claiming: Claiming) -> Receipt {
        match self.claim(claiming) {
            Claim::Dead(receipt) => receipt,
            other => unexpected("Dead", &other),
        }
    }

    #[track_caller]
    pub(super) fn conflict(&self, claiming: Claiming) -> Conflict {
        match self.claim(claiming) {
            Claim::Conflict(conflict) => conflict,
            other => unexpected("Conflict", &other),
        }
    }

    /// Settles, and expects to be told what is stored now.
    #[track_caller]
    pub(super) fn settle(&self, lease: Lease, verdict: Verdict) -> Receipt {
        let key = lease.key().clone();
        let written = self.try_settle(lease, verdict).expect("cannot settle");
        assert_eq!(Some(&written), self.get(&key).as_ref(), "stored otherwise");
        written
    }

    pub(super) fn try_settle(
        &self,
        lease: Lease,
        verdict: Verdict,
    ) -> Result<Receipt, SettleError> {
        self.wait(async { self.store.settle(lease, verdict).await })
    }

    #[track_caller]
    pub(super) fn renew(&self, lease: Lease, length: Duration) -> Lease {
        self.try_renew(lease, length).expect("cannot renew")
    }

    pub(super) fn try_renew(&self, lease: Lease, length: Duration) -> Result<Lease, SettleError> {
        self.wait(async { self.store.renew(lease, length).await })
    }

    /// Releases, and expects to be told what is stored now.
    #[track_caller]
    pub(super) fn release(&self, lease: Lease) -> Receipt {
        let key = lease.key().clone();
        let written = self
            .wait(async { self.store.release(lease).await })
            .expect("cannot release");
        assert_eq!(Some(&written), self.get(&key).as_ref(), "stored otherwise");
        written
    }

    pub(super) fn get(&self, key: &EventKey) -> Option<Receipt> {
        self.wait(async { self.store.get(key).await })
            .expect("cannot get")
    }

    /// The receipt of event `id`, which must be there.
    #[track_caller]
    pub(super) fn row(&self, id: &str) -> Receipt {
        self.get(&key(id)).expect("no receipt is kept")
    }

    pub(super) fn forget(&self, key: &EventKey) -> Option<Receipt> {
        self.wait(async { self.store.forget(key).await })
            .expect("cannot forget")
    }

    pub(super) fn purge(&self, at_most: usize) -> usize {
        self.wait(async { self.store.purge(at_most).await })
            .expect("cannot purge")
    }

    /// The holder hangs: its lease is neither settled nor dropped before the case is over.
    pub(super) fn stall(&self, lease: Lease) {
        self.stalled
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(lease);
    }

    /// Tries every verb with a lease that somebody else's claim, a purge or an operator has
    /// ended: each is refused as lost, hands the lease back and writes nothing, and the drop at
    /// the end is quiet.
    #[track_caller]
    pub(super) fn lost(&self, lease: Lease) {
        let (key, fence, stored) = (lease.key().clone(), lease.fence(), self.get(lease.key()));
        let reports = self.witness.count();
        let lease = handed_back(self.try_settle(lease, Verdict::done("too late")));
        let lease = handed_back(self.try_settle(lease, Verdict::retry(LEASE)));
        let lease = handed_back(self.try_settle(lease, Verdict::dead("too late")));
        let lease = handed_back(self.try_renew(lease, HOUR));
        let lease = handed_back(self.wait(async { self.store.release(lease).await }));
        assert_eq!((lease.key(), lease.fence()), (&key, fence));
        self.drop_lease(lease);
        assert_eq!(self.witness.count(), reports, "a lost lease drops quietly");
        assert_eq!(self.get(&key), stored, "a lost lease wrote");
    }

    /// Drops a lease where the backend's futures run, since the store may act on it there.
    pub(super) fn drop_lease(&self, lease: Lease) {
        self.wait(async { drop(lease) });
    }
}

/// The lease of a verb that must have been refused as lost.
#[track_caller]
pub(super) fn handed_back<T: Debug>(tried: Result<T, SettleError>) -> Lease {
    match tried {
        Err(SettleError {
            lease,
            fault: SettleFault::LeaseLost,
        }) => *lease,
        other => panic!("expected LeaseLost, got {other:?}"),
    }
}
