//! A bench whose store keeps reviews, and the verbs as cases speak them.

use std::{ops::Deref, sync::Arc};

use super::super::{
    bench::{HOUR, key},
    inbox::bench::Inbox,
    post,
    racing::patiently,
};
use crate::{
    Receipt, StaleDelivery,
    inbox::{Accepted, Parcel, Parked},
    review::{
        Admission, Case, Discarding, Kept, Review, ReviewId, ReviewListing, ReviewPurge,
        ReviewStatus, ReviewStore, WithDelivery,
    },
    testing::Signed,
};

pub(super) struct Desk<'b> {
    pub(super) inbox: Inbox<'b>,
    pub(super) store: Arc<dyn ReviewStore>,
}

impl<'b> Deref for Desk<'b> {
    type Target = Inbox<'b>;

    fn deref(&self) -> &Inbox<'b> {
        &self.inbox
    }
}

impl Desk<'_> {
    /// A case of other content for an event that is known.
    #[track_caller]
    pub(super) fn conflict_case(&self, id: &str, body: &str) -> Case {
        self.conflict_of(self.parcel_of(id, body))
    }

    #[track_caller]
    pub(super) fn conflict_of(&self, parcel: Parcel) -> Case {
        match self.accept(parcel.clone()) {
            Accepted::Conflict(conflict) => Case::conflict(parcel, &conflict),
            other => panic!("expected Conflict, got {other:?}"),
        }
    }

    /// A case of a delivery that comes an hour late.
    pub(super) fn stale_case(&self, id: &str, body: &str) -> Case {
        let signed = post::attempt(self.now() - HOUR, id, "a1", body);
        Case::stale(&self.late(&signed), key(id))
    }

    pub(super) fn late(&self, signed: &Signed) -> StaleDelivery {
        let secrets = post::secrets(&post::ATTEMPTS);
        let rejection = crate::verify(&signed.body, signed, &secrets, self.now())
            .expect_err("the delivery is stale");
        rejection.into_stale().expect("it is authentic")
    }

    pub(super) fn keep(&self, case: Case) -> Kept {
        patiently(|| self.wait(async { self.store.keep(case.clone()).await }))
    }

    #[track_caller]
    pub(super) fn kept(&self, case: Case) -> Review {
        match self.keep(case) {
            Kept::New(review) => review,
            other => panic!("expected New, got {other:?}"),
        }
    }

    #[track_caller]
    pub(super) fn known(&self, case: Case) -> Review {
        match self.keep(case) {
            Kept::Known(review) => review,
            other => panic!("expected Known, got {other:?}"),
        }
    }

    pub(super) fn review(&self, id: &ReviewId) -> Option<WithDelivery> {
        self.wait(async { self.store.review(id).await })
            .expect("cannot read a review")
    }

    /// A review that is there, without its delivery.
    #[track_caller]
    pub(super) fn bare(&self, id: &ReviewId) -> Review {
        let (review, parked) = self.review(id).expect("the review is there");
        assert_eq!(parked, None, "a resolved review has a body");
        review
    }

    /// The delivery of an open review.
    #[track_caller]
    pub(super) fn delivery(&self, id: &ReviewId) -> Parked {
        let (review, parked) = self.review(id).expect("the review is there");
        assert_eq!(review.status, ReviewStatus::Open);
        parked.expect("an open review has a body")
    }

    pub(super) fn reviews(&self, listing: ReviewListing) -> Vec<Review> {
        self.wait(async { self.store.reviews(listing).await })
            .expect("cannot list reviews")
    }

    pub(super) fn open(&self) -> Vec<Review> {
        self.reviews(ReviewListing::open())
    }

    /// Admits, as often as the engine says that it is too busy, or somebody is at the event.
    pub(super) fn admit(&self, id: &ReviewId) -> Admission {
        patiently(|| self.wait(async { self.store.admit(id).await }))
    }

    #[track_caller]
    pub(super) fn admitted(&self, id: &ReviewId) -> (Review, Receipt) {
        match self.admit(id) {
            Admission::Accepted(review, receipt) => (review, receipt),
            other => panic!("expected Accepted, got {other:?}"),
        }
    }

    pub(super) fn discard(&self, id: &ReviewId) -> Discarding {
        patiently(|| self.wait(async { self.store.discard(id).await }))
    }

    #[track_caller]
    pub(super) fn discarded(&self, id: &ReviewId) -> Review {
        match self.discard(id) {
            Discarding::Discarded(review) => review,
            other => panic!("expected Discarded, got {other:?}"),
        }
    }

    pub(super) fn purge_reviews(&self, purge: ReviewPurge) -> usize {
        self.wait(async { self.store.purge_reviews(purge).await })
            .expect("cannot purge reviews")
    }
}
