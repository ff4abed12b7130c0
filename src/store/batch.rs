//! Many claims in one call.

use std::sync::Arc;

use super::{Claim, Claiming, IdempotencyStore, StoreError, StoreErrorKind, StoreFuture};

/// Most events that one batch may claim. A larger one is refused with
/// [`StoreErrorKind::BatchTooLarge`] before anything is claimed: it bounds how long one call holds
/// an engine, and how many of a server's locks.
pub const MAX_BATCH: usize = 1000;

/// A store that can claim many events in one step, for senders and queues that deliver in bulk:
/// one commit is shared, which is what a claim mostly costs.
///
/// There is no default method, since a loop over [`claim`](IdempotencyStore::claim) would be the
/// same only in its answers. The cases of [`batch_conformance!`](crate::batch_conformance) (feature
/// `testing`) are this contract, executed.
///
/// ```
/// # use hookproof::{Claim, Claiming, EventKey, IdempotencyStore, MemoryStore, Verdict};
/// use hookproof::store::BatchStore;
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// # let store = MemoryStore::new();
/// # let orders = ["o1", "o2"];
/// let claimings = orders.iter().map(|id| {
///     EventKey::business("acme", "order-paid", id).map(Claiming::business)
/// });
/// for claim in store.claim_many(claimings.collect::<Result<_, _>>()?).await? {
///     if let Claim::New(lease) = claim? {
///         store.settle(lease, Verdict::done("booked")).await?;
///     }
/// }
/// # Ok(())
/// # }
/// # hookproof::testing::block_on(example()).unwrap();
/// ```
pub trait BatchStore: IdempotencyStore {
    /// Claims events as if one after the other, in the order given, and answers in that order. Each
    /// won claim has a lease of its own. If an event is asked for twice, the first claim wins, and
    /// the next is told so: `InProgress`, or `Conflict` if it came with other content.
    ///
    /// A claim that could not be answered does not undo the others: its place holds the error.
    ///
    /// # Errors
    ///
    /// Then nothing was claimed: [`StoreErrorKind::BatchTooLarge`] above [`MAX_BATCH`], or the
    /// engine could not answer at all.
    fn claim_many(
        &self,
        claimings: Vec<Claiming>,
    ) -> StoreFuture<'_, Result<Vec<Result<Claim, StoreError>>, StoreError>>;
}

/// The batch, if it is not too large.
///
/// # Errors
///
/// [`StoreErrorKind::BatchTooLarge`].
pub fn bounded(claimings: Vec<Claiming>) -> Result<Vec<Claiming>, StoreError> {
    if claimings.len() > MAX_BATCH {
        return Err(StoreError::new(StoreErrorKind::BatchTooLarge));
    }
    Ok(claimings)
}

macro_rules! forward {
    ($($pointer:ty),*) => {$(
        impl<S: BatchStore + ?Sized> BatchStore for $pointer {
            fn claim_many(
                &self,
                claimings: Vec<Claiming>,
            ) -> StoreFuture<'_, Result<Vec<Result<Claim, StoreError>>, StoreError>> {
                (**self).claim_many(claimings)
            }
        }
    )*};
}

forward!(&S, Arc<S>, Box<S>);
