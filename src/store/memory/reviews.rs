//! Reviews in memory: for tests, as the inbox.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use time::OffsetDateTime;

use crate::{
    clock::after,
    inbox::{Parcel, Parked},
    review::{
        Admission, Case, Discarding, Kept, Review, ReviewId, ReviewListing, ReviewPurge,
        ReviewStatus, ReviewStore, WithDelivery,
    },
    store::{StoreError, StoreErrorKind, StoreFuture},
};

use super::MemoryStore;

/// By their ids. Locked before a shard, never within one.
pub(super) struct Reviews {
    rows: Mutex<Rows>,
    capacity: usize,
}

type Rows = BTreeMap<ReviewId, Row>;

struct Row {
    review: Review,
    /// While it is open.
    parked: Option<Parked>,
}

impl Row {
    fn resolve(&mut self, review: Review) {
        self.review = review;
        self.parked = None;
    }
}

impl Reviews {
    pub(super) fn new(capacity: usize) -> Self {
        let rows = Mutex::default();
        Self { rows, capacity }
    }

    /// A panic cannot leave a row half written: nothing that panics runs under the lock.
    fn rows(&self) -> MutexGuard<'_, Rows> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, case: Case, now: OffsetDateTime) -> Result<Kept, StoreError> {
        let mut rows = self.rows();
        if let Some(row) = rows.get(&case.id()) {
            return Ok(Kept::Known(row.review.clone()));
        }
        if rows.len() >= self.capacity {
            return Err(StoreError::new(StoreErrorKind::Full));
        }
        let (review, parked) = case.open(now);
        let row = Row {
            review: review.clone(),
            parked: Some(parked),
        };
        rows.insert(review.id, row);
        Ok(Kept::New(review))
    }

    fn purge(&self, purge: &ReviewPurge, now: OffsetDateTime) -> usize {
        let mut left = purge.most();
        self.rows().retain(|_, row| {
            let since = purge.since(&row.review);
            let is_old = since.is_some_and(|since| after(since, purge.age()) <= now);
            let goes = left > 0 && is_old;
            left = left.saturating_sub(usize::from(goes));
            !goes
        });
        purge.most().saturating_sub(left)
    }
}

impl MemoryStore {
    fn let_in(&self, id: &ReviewId) -> Result<Admission, StoreError> {
        let now = self.shards.shared().now();
        let mut rows = self.reviews.rows();
        let Some(row) = rows.get_mut(id) else {
            return Ok(Admission::Unknown);
        };
        let (true, Some(parked)) = (row.review.status.is_open(), row.parked.clone()) else {
            return Ok(Admission::Resolved(row.review.clone()));
        };
        let parcel = Parcel::again(parked, row.review.claiming());
        let accepted = self.receive(parcel, now)?;
        let admission = Admission::of(&row.review, accepted, now);
        if let Some(review) = admission.admitted() {
            row.resolve(review.clone());
        }
        Ok(admission)
    }

    fn turn_away(&self, id: &ReviewId) -> Discarding {
        let now = self.shards.shared().now();
        match self.reviews.rows().get_mut(id) {
            None => Discarding::Unknown,
            Some(row) if row.review.status.is_open() => {
                let review = row.review.resolved(ReviewStatus::Discarded, now);
                row.resolve(review.clone());
                Discarding::Discarded(review)
            }
            Some(row) => Discarding::Resolved(row.review.clone()),
        }
    }

    fn page_of_reviews(&self, listing: &ReviewListing) -> Vec<Review> {
        let rows = self.reviews.rows();
        let reviews = rows.values().map(|row| &row.review);
        let page = reviews.filter(|review| listing.takes(review));
        page.take(listing.most()).cloned().collect()
    }
}

/// Not durable: what was kept is gone with the process.
impl ReviewStore for MemoryStore {
    fn keep(&self, case: Case) -> StoreFuture<'_, Result<Kept, StoreError>> {
        Box::pin(async move { self.reviews.keep(case, self.shards.shared().now()) })
    }

    fn reviews(&self, listing: ReviewListing) -> StoreFuture<'_, Result<Vec<Review>, StoreError>> {
        Box::pin(async move { Ok(self.page_of_reviews(&listing)) })
    }

    fn review<'a>(
        &'a self,
        id: &'a ReviewId,
    ) -> StoreFuture<'a, Result<Option<WithDelivery>, StoreError>> {
        Box::pin(async move {
            let rows = self.reviews.rows();
            let row = rows.get(id);
            Ok(row.map(|row| (row.review.clone(), row.parked.clone())))
        })
    }

    fn admit<'a>(&'a self, id: &'a ReviewId) -> StoreFuture<'a, Result<Admission, StoreError>> {
        Box::pin(async move { self.let_in(id) })
    }

    fn discard<'a>(&'a self, id: &'a ReviewId) -> StoreFuture<'a, Result<Discarding, StoreError>> {
        Box::pin(async move { Ok(self.turn_away(id)) })
    }

    fn purge_reviews(&self, purge: ReviewPurge) -> StoreFuture<'_, Result<usize, StoreError>> {
        Box::pin(async move {
            let now = self.shards.shared().now();
            Ok(self.reviews.purge(&purge, now))
        })
    }
}
