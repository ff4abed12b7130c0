//! What a human should look at: conflicts, and deliveries that are authentic but late.
//!
//! Neither is acted on. A *conflict* (a known id with other content) changes nothing of what came
//! first; a *stale* delivery (genuine, outside the allowed age) is answered as any other rejection.
//! But either may hold an event that would be lost: a sender that uses an id twice, one that was
//! down for an hour, a clock that was wrong. So both are kept, with why, when, both fingerprints and
//! the body, until somebody has looked: admitted (a worker acts on it as on any event) or discarded.
//!
//! ```
//! # #[cfg(all(feature = "testing", feature = "json"))] {
//! # use hookproof::testing;
//! use hookproof::{Gate, MemoryStore, Secrets, scheme};
//! use hookproof::review::{Admission, Kept, ReviewListing, ReviewStore};
//! # use time::macros::datetime;
//! # let now = datetime!(2027-01-15 08:00 UTC);
//!
//! # testing::block_on(async {
//! let secrets = Secrets::new(&scheme::STRIPE, ["whsec_T3st0nlyAlphaKey4711xyz"])?;
//! let gate = Gate::new(secrets, MemoryStore::new()); // for this page; a real inbox is on a disk
//!
//! # let sign = |body: &str| testing::sign(&scheme::STRIPE, "whsec_T3st0nlyAlphaKey4711xyz", body.as_bytes(), now);
//! # let (first, second) = (sign(r#"{"id":"evt_1","sum":5}"#)?, sign(r#"{"id":"evt_1","sum":500}"#)?);
//! // one id, two contents: the second is kept and reported, and the sender is told 202
//! assert_eq!(gate.accept(&first.body, &first.headers, now).await.status(), 200);
//! let outcome = gate.accept(&second.body, &second.headers, now).await;
//! assert_eq!(outcome.status(), 202);
//! assert!(matches!(outcome.review(), Some(Ok(Kept::New(_)))));
//!
//! // an operator, later
//! let open = gate.store().reviews(ReviewListing::open()).await?;
//! let (review, delivery) = gate.store().review(&open[0].id).await?.expect("it is listed");
//! assert_eq!(delivery.expect("it is open").body, second.body);
//! match gate.store().admit(&review.id).await? {
//!     // `gate.store().discard(&review.id)` is the other way to end it
//!     Admission::Accepted(_, receipt) => assert!(receipt.key.id().starts_with("evt_1#")),
//!     other => panic!("{other:?}"),
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # }).unwrap();
//! # }
//! ```
//!
//! # What is promised
//!
//! * Only what [`verify`](crate::verify) found authentic is kept, so a stranger fills nothing.
//!   Whoever captured requests can have each kept once; how many those can be is the sender's doing.
//! * The same delivery again is the same review ([`ReviewId`]), whatever became of it: it writes
//!   nothing and is not reported again.
//! * A stale delivery is never [`Verified`](crate::Verified): the only ways on are
//!   [`admit`](ReviewStore::admit) and
//!   [`danger_accept_late`](crate::StaleDelivery::danger_accept_late).
//! * The first record of a conflict is never changed. What is admitted of one is an event of its own
//!   ([`Review::admitted_key`]).
//! * The body goes when the review is resolved: into the inbox, or nowhere. The rest stays until it
//!   is [purged](ReviewStore::purge_reviews).

mod case;
mod id;
mod row;
mod verbs;

use std::sync::Arc;

pub use case::{Case, Kept, OnKept, Reason, Review, ReviewStatus};
pub use id::{BadReviewId, ReviewId};
pub use row::ReviewRow;
pub use verbs::{Admission, Discarding, ReviewListing, ReviewPurge};

use crate::{
    inbox::{InboxStore, Parked},
    store::{StoreError, StoreFuture},
};

/// A review, and the delivery while it is open.
pub type WithDelivery = (Review, Option<Parked>);

/// An inbox that also keeps what a human should look at.
///
/// Each verb is one atomic step of the engine below, as with
/// [`IdempotencyStore`](crate::IdempotencyStore), and there are no default methods for the same
/// reason.
pub trait ReviewStore: InboxStore {
    /// Keeps a delivery for review unless it is kept already, and says which. Writes nothing in the
    /// second case, whether the review is open or resolved.
    fn keep(&self, case: Case) -> StoreFuture<'_, Result<Kept, StoreError>>;

    /// The reviews of one status, in the order of their ids, a page at a time.
    fn reviews(&self, listing: ReviewListing) -> StoreFuture<'_, Result<Vec<Review>, StoreError>>;

    /// A review, and the delivery while it is open.
    fn review<'a>(
        &'a self,
        id: &'a ReviewId,
    ) -> StoreFuture<'a, Result<Option<WithDelivery>, StoreError>>;

    /// Takes the delivery of an open review into the inbox, as a new event for a worker to act on
    /// ([`Review::admitted_key`]), and marks the review. Both or neither is done, and only once,
    /// however often it is asked for.
    ///
    /// Where the event is known it is never acted on a second time: [`Admission`] says how it
    /// stands.
    fn admit<'a>(&'a self, id: &'a ReviewId) -> StoreFuture<'a, Result<Admission, StoreError>>;

    /// Marks an open review as not to be acted on, and drops its body and headers. The rest stays,
    /// so that the same delivery is known when it comes again.
    fn discard<'a>(&'a self, id: &'a ReviewId) -> StoreFuture<'a, Result<Discarding, StoreError>>;

    /// Deletes reviews. Returns how many; fewer than asked for means that there are no more. The
    /// same delivery is new to the reviews when it comes after that.
    fn purge_reviews(&self, purge: ReviewPurge) -> StoreFuture<'_, Result<usize, StoreError>>;
}

macro_rules! forward {
    ($($pointer:ty),*) => {$(
        impl<S: ReviewStore + ?Sized> ReviewStore for $pointer {
            fn keep(&self, case: Case) -> StoreFuture<'_, Result<Kept, StoreError>> {
                (**self).keep(case)
            }

            fn reviews(
                &self,
                listing: ReviewListing,
            ) -> StoreFuture<'_, Result<Vec<Review>, StoreError>> {
                (**self).reviews(listing)
            }

            fn review<'a>(
                &'a self,
                id: &'a ReviewId,
            ) -> StoreFuture<'a, Result<Option<WithDelivery>, StoreError>> {
                (**self).review(id)
            }

            fn admit<'a>(
                &'a self,
                id: &'a ReviewId,
            ) -> StoreFuture<'a, Result<Admission, StoreError>> {
                (**self).admit(id)
            }

            fn discard<'a>(
                &'a self,
                id: &'a ReviewId,
            ) -> StoreFuture<'a, Result<Discarding, StoreError>> {
                (**self).discard(id)
            }

            fn purge_reviews(
                &self,
                purge: ReviewPurge,
            ) -> StoreFuture<'_, Result<usize, StoreError>> {
                (**self).purge_reviews(purge)
            }
        }
    )*};
}

forward!(&S, Arc<S>, Box<S>);
