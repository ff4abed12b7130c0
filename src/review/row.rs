//! A review as databases keep it.

use std::{fmt, time::Duration};

use crate::{
    clock::{from_micros, micros, micros_after},
    event::{EventKey, Fingerprint},
    inbox::{Parked, ParkedRow},
    store::{StoreError, StoreErrorKind},
};

use super::{Reason, Review, ReviewId, ReviewStatus};

/// A review as databases keep it, and as they give it: not yet believed.
#[derive(Clone, Default)]
pub struct ReviewRow {
    /// See [`Reason::code`].
    pub reason: i64,
    /// See [`ReviewStatus::code`].
    pub status: i64,
    /// 16 bytes, for a conflict.
    pub stored: Option<Vec<u8>>,
    /// 16 bytes.
    pub presented: Vec<u8>,
    /// In microseconds.
    pub retention: i64,
    /// The length of the body, which is there only while the review is open.
    pub body_bytes: i64,
    /// Microseconds since 1970.
    pub resolved_at: Option<i64>,
    /// The delivery; its `accepted_at` is when it was kept.
    pub delivery: ParkedRow,
}

impl fmt::Debug for ReviewRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReviewRow")
            .field("reason", &self.reason)
            .field("status", &self.status)
            .field("body_bytes", &self.body_bytes)
            .finish_non_exhaustive()
    }
}

impl ReviewRow {
    /// The row that an open review is stored as.
    pub fn of(review: &Review, parked: Parked) -> Self {
        Self {
            reason: review.reason.code(),
            status: review.status.code(),
            stored: review.stored.map(|stored| stored.as_bytes().to_vec()),
            presented: review.presented.as_bytes().to_vec(),
            retention: micros_after(0, review.retention),
            body_bytes: i64::try_from(review.body_bytes).unwrap_or(i64::MAX),
            resolved_at: review.resolved_at.map(micros),
            delivery: ParkedRow::of(parked),
        }
    }

    /// The review under this id that the row stands for, delivered for `key`, and the delivery as
    /// far as the row has it.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::Corrupt`] if it is no row of this crate, or another review's.
    pub fn into_review(self, id: ReviewId, key: EventKey) -> Result<(Review, Parked), StoreError> {
        let corrupt = || StoreError::new(StoreErrorKind::Corrupt);
        let fingerprint = |bytes: Vec<u8>| {
            let bytes = bytes.try_into().map_err(|_| corrupt())?;
            Ok::<_, StoreError>(Fingerprint::from_bytes(bytes))
        };
        let at = |micros| from_micros(micros).ok_or_else(corrupt);
        let reason = Reason::from_code(self.reason).ok_or_else(corrupt)?;
        let status = ReviewStatus::from_code(self.status).ok_or_else(corrupt)?;
        let presented = fingerprint(self.presented)?;
        let is_consistent = status.is_open() == self.resolved_at.is_none()
            && ReviewId::of(reason, &key, presented) == id;
        if !is_consistent {
            return Err(corrupt());
        }
        let retention = u64::try_from(self.retention).map_err(|_| corrupt())?;
        let parked = self.delivery.into_parked(key.clone())?;
        let review = Review {
            id,
            reason,
            status,
            key,
            stored: self.stored.map(fingerprint).transpose()?,
            presented,
            retention: Duration::from_micros(retention),
            facts: parked.facts.clone(),
            body_bytes: usize::try_from(self.body_bytes).map_err(|_| corrupt())?,
            kept_at: parked.accepted_at,
            resolved_at: self.resolved_at.map(at).transpose()?,
        };
        Ok((review, parked))
    }
}
