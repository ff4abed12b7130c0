//! A store that fails when told so, and counts.

use std::{
    future::ready,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use hookproof::{
    Claim, Claiming, EventKey, IdempotencyStore, Lease, MemoryStore, Receipt, StoreError, Verdict,
    inbox::{Accepted, Dropping, InboxStore, Leased, Leasing, Listing, Parcel, Parked, Requeued},
    review::{
        Admission, Case, Discarding, Kept, Review, ReviewId, ReviewListing, ReviewPurge,
        ReviewStore, WithDelivery,
    },
    store::{SettleError, StoreErrorKind, StoreFuture},
};

/// A store that fails when told so, and counts.
#[derive(Clone)]
pub(super) struct Store {
    pub(super) inner: Arc<MemoryStore>,
    pub(super) fails: Arc<Fails>,
}

#[derive(Default)]
pub(super) struct Fails {
    pub(super) accepting: AtomicBool,
    pub(super) leasing: AtomicUsize,
    pub(super) settling: AtomicUsize,
    pub(super) renewing: AtomicUsize,
    pub(super) fetches: AtomicUsize,
    pub(super) renewals: AtomicUsize,
    pub(super) most_asked: AtomicUsize,
}

pub(super) fn down() -> StoreError {
    StoreError::new(StoreErrorKind::Unavailable)
}

/// Counts down: whether this call is one of those that fail.
pub(super) fn fails(left: &AtomicUsize) -> bool {
    left.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1))
        .is_ok()
}

impl IdempotencyStore for Store {
    fn claim(&self, claiming: Claiming) -> StoreFuture<'_, Result<Claim, StoreError>> {
        self.inner.claim(claiming)
    }

    fn settle(
        &self,
        lease: Lease,
        verdict: Verdict,
    ) -> StoreFuture<'_, Result<Receipt, SettleError>> {
        if fails(&self.fails.settling) {
            return Box::pin(ready(Err(SettleError::store(lease, down()))));
        }
        self.inner.settle(lease, verdict)
    }

    fn renew(&self, lease: Lease, length: Duration) -> StoreFuture<'_, Result<Lease, SettleError>> {
        self.fails.renewals.fetch_add(1, SeqCst);
        if fails(&self.fails.renewing) {
            return Box::pin(ready(Err(SettleError::store(lease, down()))));
        }
        self.inner.renew(lease, length)
    }

    fn release(&self, lease: Lease) -> StoreFuture<'_, Result<Receipt, SettleError>> {
        self.inner.release(lease)
    }

    fn get<'a>(
        &'a self,
        key: &'a EventKey,
    ) -> StoreFuture<'a, Result<Option<Receipt>, StoreError>> {
        self.inner.get(key)
    }

    fn forget<'a>(
        &'a self,
        key: &'a EventKey,
    ) -> StoreFuture<'a, Result<Option<Receipt>, StoreError>> {
        self.inner.forget(key)
    }

    fn purge(&self, at_most: usize) -> StoreFuture<'_, Result<usize, StoreError>> {
        self.inner.purge(at_most)
    }
}

impl InboxStore for Store {
    fn accept(&self, parcel: Parcel) -> StoreFuture<'_, Result<Accepted, StoreError>> {
        if self.fails.accepting.load(SeqCst) {
            return Box::pin(ready(Err(down())));
        }
        self.inner.accept(parcel)
    }

    fn lease_due(&self, leasing: Leasing) -> StoreFuture<'_, Result<Leased, StoreError>> {
        self.fails.fetches.fetch_add(1, SeqCst);
        self.fails.most_asked.fetch_max(leasing.limit(), SeqCst);
        if fails(&self.fails.leasing) {
            return Box::pin(ready(Err(down())));
        }
        self.inner.lease_due(leasing)
    }

    fn requeue<'a>(&'a self, key: &'a EventKey) -> StoreFuture<'a, Result<Requeued, StoreError>> {
        self.inner.requeue(key)
    }

    fn list(&self, listing: Listing) -> StoreFuture<'_, Result<Vec<Receipt>, StoreError>> {
        self.inner.list(listing)
    }

    fn parked<'a>(
        &'a self,
        key: &'a EventKey,
    ) -> StoreFuture<'a, Result<Option<Parked>, StoreError>> {
        self.inner.parked(key)
    }

    fn drop_bodies(&self, dropping: Dropping) -> StoreFuture<'_, Result<usize, StoreError>> {
        self.inner.drop_bodies(dropping)
    }
}

impl ReviewStore for Store {
    fn keep(&self, case: Case) -> StoreFuture<'_, Result<Kept, StoreError>> {
        self.inner.keep(case)
    }

    fn reviews(&self, listing: ReviewListing) -> StoreFuture<'_, Result<Vec<Review>, StoreError>> {
        self.inner.reviews(listing)
    }

    fn review<'a>(
        &'a self,
        id: &'a ReviewId,
    ) -> StoreFuture<'a, Result<Option<WithDelivery>, StoreError>> {
        self.inner.review(id)
    }

    fn admit<'a>(&'a self, id: &'a ReviewId) -> StoreFuture<'a, Result<Admission, StoreError>> {
        self.inner.admit(id)
    }

    fn discard<'a>(&'a self, id: &'a ReviewId) -> StoreFuture<'a, Result<Discarding, StoreError>> {
        self.inner.discard(id)
    }

    fn purge_reviews(&self, purge: ReviewPurge) -> StoreFuture<'_, Result<usize, StoreError>> {
        self.inner.purge_reviews(purge)
    }
}
