//! The store contract over a store whose answers take a while, and which gives dropped leases back
//! in the background: what a database behind a network is like, without one.
//!
//! Every verb waits before and after it acts, so that a call can be cancelled on both sides.
#![cfg(feature = "testing")]
#![allow(
    clippy::expect_used,
    reason = "a mutex of a test is not poisoned but by a failed test"
)]

mod own_store;

use std::{
    future::poll_fn,
    sync::{Arc, OnceLock, Weak},
    task::Poll,
    thread,
    time::Duration,
};

use hookproof::{
    Claim, Claiming, EventKey, IdempotencyStore, Lease, Receipt, StoreError, Verdict,
    store::{Abandoned, OnAbandoned, SettleError, StoreFuture},
    testing::{
        ManualClock,
        conformance::{Backend, DroppedLease, Witness},
    },
};
use own_store::OwnStore;

struct Remote(Arc<OwnStore>);

/// Gives a dropped lease back from another thread.
struct InBackground {
    own: Arc<OnceLock<Weak<OwnStore>>>,
    witness: Witness,
}

impl OnAbandoned for InBackground {
    fn abandoned(&self, lease: &Abandoned<'_>) {
        self.witness.abandoned(lease);
        let (own, key, fence) = (self.own.clone(), lease.key.clone(), lease.fence);
        thread::spawn(move || {
            let Some(own) = own.get().and_then(Weak::upgrade) else {
                return;
            };
            let now = own.now();
            if let Some(row) = own.table().rows.get_mut(key.digest())
                && row.stands(fence)
            {
                row.until = Some(now);
            }
        });
    }
}

/// Is not ready until another thread says so.
async fn a_while() {
    let mut asked = false;
    poll_fn(|context| {
        if std::mem::replace(&mut asked, true) {
            return Poll::Ready(());
        }
        let waker = context.waker().clone();
        thread::spawn(|| waker.wake());
        Poll::Pending
    })
    .await;
}

impl Remote {
    fn call<'a, T: Send + 'a>(&'a self, verb: StoreFuture<'a, T>) -> StoreFuture<'a, T> {
        Box::pin(async {
            a_while().await;
            let answer = verb.await;
            a_while().await;
            answer
        })
    }
}

impl IdempotencyStore for Remote {
    fn claim(&self, claiming: Claiming) -> StoreFuture<'_, Result<Claim, StoreError>> {
        self.call(self.0.claim(claiming))
    }

    fn settle(
        &self,
        lease: Lease,
        verdict: Verdict,
    ) -> StoreFuture<'_, Result<Receipt, SettleError>> {
        self.call(self.0.settle(lease, verdict))
    }

    fn renew(&self, lease: Lease, length: Duration) -> StoreFuture<'_, Result<Lease, SettleError>> {
        self.call(self.0.renew(lease, length))
    }

    fn release(&self, lease: Lease) -> StoreFuture<'_, Result<Receipt, SettleError>> {
        self.call(self.0.release(lease))
    }

    fn get<'a>(
        &'a self,
        key: &'a EventKey,
    ) -> StoreFuture<'a, Result<Option<Receipt>, StoreError>> {
        self.call(self.0.get(key))
    }

    fn forget<'a>(
        &'a self,
        key: &'a EventKey,
    ) -> StoreFuture<'a, Result<Option<Receipt>, StoreError>> {
        self.call(self.0.forget(key))
    }

    fn purge(&self, at_most: usize) -> StoreFuture<'_, Result<usize, StoreError>> {
        self.call(self.0.purge(at_most))
    }
}

struct Behind;

impl Backend for Behind {
    type Store = Remote;

    fn open(&self, clock: ManualClock, witness: Witness) -> Remote {
        let own = Arc::new(OnceLock::new());
        let report = InBackground {
            own: own.clone(),
            witness,
        };
        let store = Arc::new(OwnStore::new(clock, report));
        own.get_or_init(|| Arc::downgrade(&store));
        Remote(store)
    }

    fn dropped_lease(&self) -> DroppedLease {
        DroppedLease::Soon
    }

    fn race_rounds(&self) -> usize {
        10
    }

    fn many_keys(&self) -> usize {
        200
    }
}

hookproof::store_conformance! { remote: Behind }
