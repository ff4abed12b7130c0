//! A review as a SQL engine gives it, with the names it was stored under.

use crate::{
    event::EventKey,
    inbox::Parked,
    review::{Review, ReviewId, ReviewRow, WithDelivery},
    store::{StoreError, StoreErrorKind},
};

/// A row that was found under an id, not yet believed.
#[derive(Debug)]
pub(super) struct FoundReview {
    pub(super) id: Vec<u8>,
    pub(super) tenant: String,
    pub(super) provider: String,
    pub(super) event_id: String,
    pub(super) row: ReviewRow,
}

impl FoundReview {
    /// The review, whose id must be that of its names and content; and the delivery, as far as the
    /// row has it.
    pub(super) fn believed(self) -> Result<(Review, Parked), StoreError> {
        let corrupt = |error| StoreError::with_source(StoreErrorKind::Corrupt, error);
        let key = EventKey::make(&self.tenant, &self.provider, &self.event_id).map_err(corrupt)?;
        let id = self.id.try_into();
        let id = id.map_err(|_| StoreError::new(StoreErrorKind::Corrupt))?;
        self.row.into_review(ReviewId::from_bytes(id), key)
    }

    /// The same, with the delivery only while the review is open.
    pub(super) fn with_delivery(self) -> Result<WithDelivery, StoreError> {
        let (review, parked) = self.believed()?;
        let is_open = review.status.is_open();
        Ok((review, is_open.then_some(parked)))
    }
}
