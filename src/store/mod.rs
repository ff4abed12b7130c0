//! The second and third statement: this event is new, and its action is done.
//!
//! A store keeps one [`Receipt`] per event under a unique key. [`claim`](IdempotencyStore::claim)
//! is first-writer-wins; whoever wins holds a [`Lease`] and settles it with a [`Verdict`] once the
//! action's real result is known. Nothing else decides who acts.
//!
//! | stored state | claim with the same content | with other content |
//! |---|---|---|
//! | none | `New` (attempt 1, first fence) | – |
//! | `Received`, `Failed` and due, `InProgress` with its lease over | `New` (attempt n+1, fence+1) | `Conflict` |
//! | `Failed`, not yet due | `InProgress { retry_after }` | `Conflict` |
//! | `InProgress`, lease running | `InProgress { retry_after ≤ lease }` | `Conflict` |
//! | `Processed` | `Duplicate` with the stored result | `Conflict` |
//! | `Dead` | `Dead` | `Conflict` |
//!
//! The table is [`Receipt::ruling`], a pure function that every backend of this crate is tested
//! against, and that a backend of your own can call.

mod claim;
mod effect;
mod error;
mod lease;
mod ledger;
mod memory;
mod receipt;
mod row;
#[cfg(any(feature = "rusqlite", feature = "sqlx-postgres"))]
pub mod sql;
mod verdict;

use std::{future::Future, pin::Pin, sync::Arc, time::Duration};

pub use claim::{
    Claim, Claiming, Conflict, DEFAULT_LEASE, DEFAULT_MAX_ATTEMPTS, DEFAULT_RETENTION,
};
pub use effect::{Effect, EffectResult, EffectSlot, Holder, MAX_EFFECT_NAME_BYTES, MAX_EFFECTS};
pub use error::{SettleError, SettleFault, StoreError, StoreErrorKind};
pub use lease::{Abandoned, Lease, OnAbandoned, Stderr};
pub use ledger::{EffectError, EffectLedger, RecordError, RecordFault};
pub use memory::{MemoryStore, MemoryStoreBuilder};
pub use receipt::{Fence, Receipt, Ruling};
pub use row::StoredRow;
pub use verdict::{MAX_RESULT_BYTES, State, Verdict};

use crate::event::EventKey;

/// What a store's verbs return: boxed, so that `dyn IdempotencyStore` works, and `Send`, so that
/// any runtime can run it.
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Keeps one receipt per event and decides who acts.
///
/// Each verb is one atomic step of the engine below: no verb reads first and writes later without
/// holding what it read. There are no default methods, because a default could only be weaker.
/// The conformance suite ([`testing::conformance`](crate::testing), feature `testing`) is this
/// contract, executed; run it over a store of your own.
///
/// A store that cannot answer returns an error. It never assumes that an event is new, nor that it
/// was seen.
pub trait IdempotencyStore: Send + Sync {
    /// Tries to become the one who acts on an event.
    fn claim(&self, claiming: Claiming) -> StoreFuture<'_, Result<Claim, StoreError>>;

    /// Writes what became of the claimed event, if the lease still stands: nobody has claimed the
    /// event since. A lease that ran out unclaimed may still settle. Returns the written receipt.
    fn settle(
        &self,
        lease: Lease,
        verdict: Verdict,
    ) -> StoreFuture<'_, Result<Receipt, SettleError>>;

    /// Extends a lease that still stands to `length` from now.
    fn renew(&self, lease: Lease, length: Duration) -> StoreFuture<'_, Result<Lease, SettleError>>;

    /// Gives a claim back untried: the event can be claimed again at once. Returns the receipt.
    fn release(&self, lease: Lease) -> StoreFuture<'_, Result<Receipt, SettleError>>;

    /// The receipt of an event, if one is kept.
    fn get<'a>(&'a self, key: &'a EventKey)
    -> StoreFuture<'a, Result<Option<Receipt>, StoreError>>;

    /// Forgets an event, so that it counts as new again: for an operator who redelivers on purpose.
    /// Returns the receipt that was kept. A lease on it is lost.
    fn forget<'a>(
        &'a self,
        key: &'a EventKey,
    ) -> StoreFuture<'a, Result<Option<Receipt>, StoreError>>;

    /// Deletes up to `at_most` receipts whose retention is over (`expires_at <= now`), but none
    /// with a running lease, and returns how many. Fewer than `at_most` means there are no more.
    /// Runs beside traffic; several at once do no harm.
    fn purge(&self, at_most: usize) -> StoreFuture<'_, Result<usize, StoreError>>;
}

macro_rules! forward {
    ($($pointer:ty),*) => {$(
        impl<S: IdempotencyStore + ?Sized> IdempotencyStore for $pointer {
            fn claim(&self, claiming: Claiming) -> StoreFuture<'_, Result<Claim, StoreError>> {
                (**self).claim(claiming)
            }

            fn settle(
                &self,
                lease: Lease,
                verdict: Verdict,
            ) -> StoreFuture<'_, Result<Receipt, SettleError>> {
                (**self).settle(lease, verdict)
            }

            fn renew(
                &self,
                lease: Lease,
                length: Duration,
            ) -> StoreFuture<'_, Result<Lease, SettleError>> {
                (**self).renew(lease, length)
            }

            fn release(&self, lease: Lease) -> StoreFuture<'_, Result<Receipt, SettleError>> {
                (**self).release(lease)
            }

            fn get<'a>(
                &'a self,
                key: &'a EventKey,
            ) -> StoreFuture<'a, Result<Option<Receipt>, StoreError>> {
                (**self).get(key)
            }

            fn forget<'a>(
                &'a self,
                key: &'a EventKey,
            ) -> StoreFuture<'a, Result<Option<Receipt>, StoreError>> {
                (**self).forget(key)
            }

            fn purge(&self, at_most: usize) -> StoreFuture<'_, Result<usize, StoreError>> {
                (**self).purge(at_most)
            }
        }
    )*};
}

forward!(&S, Arc<S>, Box<S>);
