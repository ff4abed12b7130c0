//! What the suite needs to know of a store before it can try it.

use std::{
    future::Future,
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
};

use crate::{
    EventKey, Fence, IdempotencyStore,
    store::{Abandoned, OnAbandoned},
    testing::ManualClock,
};

/// A kind of store that the suite can open and wait for. `Sync`, because races call it from many
/// threads at once.
pub trait Backend: Sync {
    /// The store.
    type Store: IdempotencyStore + 'static;

    /// Opens a fresh, empty store whose leases, waits and retention are judged by `clock`, and
    /// whose leases report to `witness` when they are dropped unsettled. Called once per case.
    fn open(&self, clock: ManualClock, witness: Witness) -> Self::Store;

    /// Runs one of the store's futures to its end on this thread. The default needs no runtime; a
    /// store that lives in one overrides it, for instance by tokio's `Runtime::block_on`. Called
    /// from many threads at once.
    fn block_on<F: Future>(&self, future: F) -> F::Output {
        block_on(future)
    }

    /// When a lease that was dropped unsettled can be claimed again. The default is the least that
    /// the contract asks for.
    fn dropped_lease(&self) -> DroppedLease {
        DroppedLease::ByLeaseEnd
    }

    /// How often each race is run, each time with a new key and 50 claimants. An engine that syncs
    /// each write to a disk may ask for fewer rounds.
    fn race_rounds(&self) -> usize {
        200
    }

    /// How many events the case with many keys claims and settles.
    fn many_keys(&self) -> usize {
        10_000
    }
}

/// When a lease that was dropped unsettled can be claimed again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DroppedLease {
    /// Before the drop returns.
    AtOnce,
    /// Shortly after, without the clock being moved: something in the background sees to it.
    Soon,
    /// When the lease would have run out anyway.
    ByLeaseEnd,
}

/// Takes down which leases were dropped unsettled. Clones share one list.
///
/// Hand it to the store as its [`OnAbandoned`], or call it from the store's own.
#[derive(Debug, Clone, Default)]
pub struct Witness(Arc<Mutex<Vec<(EventKey, Fence)>>>);

impl Witness {
    fn list(&self) -> MutexGuard<'_, Vec<(EventKey, Fence)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many leases were dropped unsettled so far.
    pub fn count(&self) -> usize {
        self.list().len()
    }

    /// Whether the lease on `key` with this fencing token was dropped unsettled.
    pub fn saw(&self, key: &EventKey, fence: Fence) -> bool {
        self.list().iter().any(|seen| *seen == (key.clone(), fence))
    }
}

impl OnAbandoned for Witness {
    fn abandoned(&self, lease: &Abandoned<'_>) {
        self.list().push((lease.key.clone(), lease.fence));
    }
}

/// Runs a future to its end on this thread, which sleeps while there is nothing to do.
///
/// Enough for futures that are woken from other threads; those that need a runtime's timers or
/// sockets must be run by that runtime.
pub fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);

    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            // A wake before this line makes `park` return at once, so none is missed.
            Poll::Pending => thread::park(),
        }
    }
}
