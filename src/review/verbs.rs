//! What is asked of reviews, and the answers.

use std::time::Duration;

use time::OffsetDateTime;

use crate::{
    inbox::Accepted,
    store::{Conflict, Receipt},
};

use super::{Review, ReviewId, ReviewStatus};

/// Most reviews that one call lists or deletes.
const MOST_ROWS: usize = 1000;

/// What is asked of [`ReviewStore::reviews`](super::ReviewStore::reviews).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReviewListing {
    pub(crate) status: ReviewStatus,
    pub(crate) after: Option<ReviewId>,
    pub(crate) limit: usize,
}

impl ReviewListing {
    /// The first page of what somebody has to look at, a hundred of them.
    pub fn open() -> Self {
        Self::of(ReviewStatus::Open)
    }

    /// The first page of the reviews of a status, a hundred of them.
    pub fn of(status: ReviewStatus) -> Self {
        Self {
            status,
            after: None,
            limit: 100,
        }
    }

    /// The page after this review.
    #[must_use]
    pub fn after(mut self, id: &ReviewId) -> Self {
        self.after = Some(*id);
        self
    }

    /// How many reviews a page has; 1000 at most.
    #[must_use]
    pub fn limit(mut self, reviews: usize) -> Self {
        self.limit = reviews.min(MOST_ROWS);
        self
    }

    /// For stores: whether this review is on the page or a later one.
    pub fn takes(&self, review: &Review) -> bool {
        review.status == self.status && self.after.is_none_or(|after| after < review.id)
    }

    /// For stores: how many at most.
    pub const fn most(&self) -> usize {
        self.limit
    }
}

/// The answer to [`ReviewStore::admit`](super::ReviewStore::admit).
#[derive(Debug)]
#[must_use = "it says whether the delivery is acted on"]
pub enum Admission {
    /// Admitted now: the delivery is in the inbox, as the event that the receipt is of.
    Accepted(Review, Receipt),
    /// Admitted now, and nothing is done a second time: the event is known with this very content.
    /// It is done, or it waits or runs; if its body was not in the inbox yet, it is now.
    Known(Review, Receipt),
    /// Still open: the event is known with this content, and was given up. Requeue it, or discard.
    Dead(Review, Receipt),
    /// Still open: the event of the stale delivery is known with other content. Look at both, and
    /// discard, or handle it by hand.
    Conflict(Review, Conflict),
    /// Still open: somebody's open transaction has the event.
    InProgress {
        /// When to ask again; never zero.
        retry_after: Duration,
        /// What is known of it; see [`Claim::InProgress`](crate::Claim::InProgress).
        receipt: Receipt,
    },
    /// It was admitted or discarded before; nothing was done.
    Resolved(Review),
    /// There is no such review.
    Unknown,
}

impl Admission {
    /// For stores: what the inbox's answer means for an open review. Resolved are those that the
    /// inbox has taken, or had: [`Accepted`](Admission::Accepted) and [`Known`](Admission::Known).
    pub fn of(review: &Review, accepted: Accepted, now: OffsetDateTime) -> Self {
        let admitted = || review.resolved(ReviewStatus::Admitted, now);
        match accepted {
            Accepted::New(receipt) => Admission::Accepted(admitted(), receipt),
            Accepted::Pending(receipt) | Accepted::Duplicate(receipt) => {
                Admission::Known(admitted(), receipt)
            }
            Accepted::Dead(receipt) => Admission::Dead(review.clone(), receipt),
            Accepted::Conflict(conflict) => Admission::Conflict(review.clone(), conflict),
            Accepted::InProgress {
                retry_after,
                receipt,
            } => Admission::InProgress {
                retry_after,
                receipt,
            },
        }
    }

    /// For stores: the review to be written, if it is resolved now.
    pub fn admitted(&self) -> Option<&Review> {
        match self {
            Admission::Accepted(review, _) | Admission::Known(review, _) => Some(review),
            Admission::Dead(..)
            | Admission::Conflict(..)
            | Admission::InProgress { .. }
            | Admission::Resolved(_)
            | Admission::Unknown => None,
        }
    }
}

/// The answer to [`ReviewStore::discard`](super::ReviewStore::discard).
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "it says whether the review was open"]
pub enum Discarding {
    /// Discarded now; its body is gone.
    Discarded(Review),
    /// It was admitted or discarded before; nothing was done.
    Resolved(Review),
    /// There is no such review.
    Unknown,
}

/// What is asked of [`ReviewStore::purge_reviews`](super::ReviewStore::purge_reviews).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReviewPurge {
    pub(crate) open: bool,
    pub(crate) age: Duration,
    pub(crate) limit: usize,
}

impl ReviewPurge {
    /// Reviews that were admitted or discarded at least so long ago; up to 1000 of them.
    pub fn resolved(age: Duration) -> Self {
        Self {
            open: false,
            age,
            limit: MOST_ROWS,
        }
    }

    /// Reviews that nobody has resolved, kept at least so long ago, **with their bodies**; up to
    /// 1000 of them.
    pub fn unresolved(age: Duration) -> Self {
        Self {
            open: true,
            ..Self::resolved(age)
        }
    }

    /// How many are deleted at most; 1000 at most.
    #[must_use]
    pub fn at_most(mut self, reviews: usize) -> Self {
        self.limit = reviews.min(MOST_ROWS);
        self
    }

    /// For stores: the time of those that may go, if there is one that this purge is about: it goes
    /// once that time and [`age`](ReviewPurge::age) are over.
    pub fn since(&self, review: &Review) -> Option<OffsetDateTime> {
        match self.open {
            true => review.status.is_open().then_some(review.kept_at),
            false => review.resolved_at,
        }
    }

    /// For stores.
    pub const fn age(&self) -> Duration {
        self.age
    }

    /// For stores: how many at most.
    pub const fn most(&self) -> usize {
        self.limit
    }
}
