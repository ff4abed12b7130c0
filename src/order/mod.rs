//! Deliveries out of order: an older state of an object must not be written over a newer one.
//!
//! Senders retry, and deliver in parallel, so "updated" may come before "created", and the update
//! of a minute ago after that of now. Each is an event of its own, is new, and must be acted on
//! once: a store of receipts does not hide one because another came first. What keeps the older
//! one from undoing the newer one is a [`Version`] per object, and one question, answered in one
//! atomic step by [`OrderGuard::advance`]: is this version newer than what stands?
//!
//! | stands | asked with | answer | stands afterwards |
//! |---|---|---|---|
//! | nothing | any version | `Applied`, nothing before it | the version asked with |
//! | an older one | a newer one | `Applied`, with the one before it | the version asked with |
//! | a newer one | an older one, such as a "created" that comes after an update | `Older` | unchanged |
//! | the same | the same | `Same`: a duplicate, or two changes that the versions cannot tell apart | unchanged |
//! | a deletion | a later version | `Applied`: the object is there again | the version asked with |
//! | one of the other kind | a number after times, or a time after numbers | an error, [`StoreErrorKind::Misuse`](crate::store::StoreErrorKind::Misuse) | unchanged |
//!
//! The table is [`Version::judge`], a pure function.
//!
//! # Where to ask
//!
//! **In the transaction that writes the object**: `SqliteStore::advance_in`,
//! `PostgresStore::advance_in`, `MySqlStore::advance_in`. There the version and your rows are one commit, and a second
//! transaction on the same object waits for the first, so what is written last is what is newest.
//! Whoever advances several objects in one transaction does so in the order of their
//! [digests](ObjectKey::digest), so that no two wait for each other.
//!
//! On the store by itself ([`OrderGuard`]) the answer is right, but your write comes after it, and
//! two things may come between. A crash: the retry is then told `Same`, and should write all the
//! same if it is not the event's first attempt. And a newer version, written by somebody else
//! before you write yours: so your own write must be conditional, or must fetch the object's state
//! anew from the provider.
//!
//! Versions come from the signed content, like ids: who can choose a version can lock an object.

mod key;
mod version;

use std::{sync::Arc, time::Duration};

pub use key::{ObjectKey, ObjectKeyError};
pub use version::{MAX_TIE_BREAK_BYTES, Version, VersionError};

use crate::store::{StoreError, StoreFuture};

/// How long a deletion should stay at least: a sender that repeats for longer than this could bring
/// the object back. As long as receipts are kept by default, 30 days.
pub const DELETION_RETENTION: Duration = crate::store::DEFAULT_RETENTION;

/// What became of an attempt to advance an object.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "only `Applied` may be written"]
pub enum Advance {
    /// The version is newer than all before it, and stands now: write the object.
    Applied {
        /// What stood before, if anything did.
        previous: Option<Version>,
    },
    /// Something newer stands, and nothing was changed: do not write the object. Its event is
    /// done all the same.
    Older {
        /// What stands.
        current: Version,
    },
    /// This very version stands, and nothing was changed. A duplicate, or another change that the
    /// sender gave the same version: where versions are times in seconds and nothing breaks the
    /// tie, fetch the object's state from the provider.
    Same {
        /// What stands: what was asked with.
        current: Version,
    },
}

/// Keeps the newest version of each object.
///
/// Each verb is one atomic step. The conformance suite
/// ([`testing::conformance`](crate::testing), feature `testing`) is this contract, executed.
///
/// ```
/// use hookproof::{Advance, MemoryStore, ObjectKey, OrderGuard, Version};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let store = MemoryStore::new();
/// let order = ObjectKey::new("tenant-a", "order", "o1")?;
///
/// // "updated" comes first, "created" after it, and then "updated" once more:
/// let updated = store.advance(&order, Version::number(2)).await?;
/// assert_eq!(updated, Advance::Applied { previous: None });
/// let created = store.advance(&order, Version::number(1)).await?;
/// assert_eq!(created, Advance::Older { current: Version::number(2) });
/// let again = store.advance(&order, Version::number(2)).await?;
/// assert_eq!(again, Advance::Same { current: Version::number(2) });
///
/// // A deletion stays, so that a late update does not bring the order back.
/// let deleted = Version::number(4).deletion();
/// let previous = Some(Version::number(2));
/// assert_eq!(store.advance(&order, deleted.clone()).await?, Advance::Applied { previous });
/// let late = store.advance(&order, Version::number(3)).await?;
/// assert_eq!(late, Advance::Older { current: deleted });
/// # Ok(())
/// # }
/// # use std::{future::Future, pin::pin, task::{Context, Poll, Waker}};
/// # let polled = pin!(example()).poll(&mut Context::from_waker(Waker::noop()));
/// # assert!(matches!(polled, Poll::Ready(Ok(()))));
/// ```
pub trait OrderGuard: Send + Sync {
    /// Makes `version` the one that stands, if it is newer than what does.
    ///
    /// A version of the other kind than what stands is refused with
    /// [`StoreErrorKind::Misuse`](crate::store::StoreErrorKind::Misuse): a number and a time cannot
    /// be compared. Nothing is changed. [`forget_object`](OrderGuard::forget_object) begins anew.
    fn advance<'a>(
        &'a self,
        object: &'a ObjectKey,
        version: Version,
    ) -> StoreFuture<'a, Result<Advance, StoreError>>;

    /// The version that stands, if any does.
    fn current<'a>(
        &'a self,
        object: &'a ObjectKey,
    ) -> StoreFuture<'a, Result<Option<Version>, StoreError>>;

    /// Forgets an object, so that any version is new for it. Returns what stood.
    fn forget_object<'a>(
        &'a self,
        object: &'a ObjectKey,
    ) -> StoreFuture<'a, Result<Option<Version>, StoreError>>;

    /// Forgets up to `at_most` objects whose deletion was applied `retention` ago or earlier, and
    /// returns how many. Fewer than `at_most` means there are no more. Objects that were not deleted
    /// stay. Keep deletions for as long as the sender may repeat an older change; see
    /// [`DELETION_RETENTION`].
    fn purge_deleted(
        &self,
        retention: Duration,
        at_most: usize,
    ) -> StoreFuture<'_, Result<usize, StoreError>>;
}

macro_rules! forward {
    ($($pointer:ty),*) => {$(
        impl<S: OrderGuard + ?Sized> OrderGuard for $pointer {
            fn advance<'a>(
                &'a self,
                object: &'a ObjectKey,
                version: Version,
            ) -> StoreFuture<'a, Result<Advance, StoreError>> {
                (**self).advance(object, version)
            }

            fn current<'a>(
                &'a self,
                object: &'a ObjectKey,
            ) -> StoreFuture<'a, Result<Option<Version>, StoreError>> {
                (**self).current(object)
            }

            fn forget_object<'a>(
                &'a self,
                object: &'a ObjectKey,
            ) -> StoreFuture<'a, Result<Option<Version>, StoreError>> {
                (**self).forget_object(object)
            }

            fn purge_deleted(
                &self,
                retention: Duration,
                at_most: usize,
            ) -> StoreFuture<'_, Result<usize, StoreError>> {
                (**self).purge_deleted(retention, at_most)
            }
        }
    )*};
}

forward!(&S, Arc<S>, Box<S>);
