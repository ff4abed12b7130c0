//! Receipts in memory, for one process.

mod effects;
mod entry;
#[cfg(feature = "inbox")]
mod inbox;
mod index;
mod objects;
#[cfg(feature = "inbox")]
mod reviews;
mod shard;
mod shards;
mod side;
mod slab;
mod table;

use std::{fmt, sync::Arc, time::Duration};

use crate::{
    clock::{Clock, SystemClock, after},
    event::EventKey,
};

use super::{
    BatchStore, Claim, Claiming, IdempotencyStore, Lease, OnAbandoned, Receipt, SettleError, State,
    StatsStore, Stderr, StoreError, StoreFuture, StoreStats, Verdict, bounded,
};

use index::Hasher;
use objects::Objects;
use shard::Shared;
use shards::Shards;

/// Receipts in memory: for one process, and gone with it.
///
/// It suits a service that runs once and whose actions bear repeating after a restart, tests, and
/// trying things out. Where an event must be acted on once whatever happens, keep the receipts in
/// a database, best in the one that the action writes to.
///
/// ```
/// use hookproof::{Claim, Claiming, EventKey, IdempotencyStore, MemoryStore, Verdict};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let store = MemoryStore::builder().capacity(100_000).build();
/// let order = EventKey::business("tenant-a", "order-paid", "o1")?;
///
/// let Claim::New(lease) = store.claim(Claiming::business(order.clone())).await? else {
///     return Err("somebody else acts, or has acted".into());
/// };
/// // … the action …
/// store.settle(lease, Verdict::done("invoice 123")).await?;
///
/// match store.claim(Claiming::business(order)).await? {
///     Claim::Duplicate(receipt) => assert_eq!(receipt.result, b"invoice 123"),
///     other => unreachable!("{other:?}"),
/// }
/// # Ok(())
/// # }
/// # use std::{future::Future, pin::pin, task::{Context, Poll, Waker}};
/// # let polled = pin!(example()).poll(&mut Context::from_waker(Waker::noop()));
/// # assert!(matches!(polled, Poll::Ready(Ok(()))));
/// ```
///
/// # Bound
///
/// It keeps [`capacity`](MemoryStoreBuilder::capacity) receipts at most, 1,000,000 unless you set
/// it. A full store purges a few receipts whose retention is over to make room for a new one. If
/// there are none, the claim fails with [`StoreErrorKind::Full`](super::StoreErrorKind::Full): no
/// receipt is ever dropped to make room, since that would let its event be acted on again. So
/// capacity must be more than the events of one retention, unless many of them are the same.
///
/// A settled receipt without a result takes no more than 64 bytes of heap, once a tenth of the
/// capacity is used; the default capacity comes to 64 MB. A result or reason takes its own length
/// and up to 60 bytes more. Up to 130 bytes more are taken by a lease that was renewed or is not
/// the event's first, a failed attempt that waits, more than 255 attempts, and a retention that is
/// not in whole seconds or beyond 136 years.
/// Room is used again and not given back.
///
/// Steps of an event ([`EffectLedger`](crate::EffectLedger)) take their names and results and about
/// 80 bytes each, and go with its receipt. Versions of objects ([`OrderGuard`](crate::OrderGuard))
/// have a [bound of their own](MemoryStoreBuilder::object_capacity).
///
/// The tenant, provider and id of a key are not kept, only its digest, 128 bits of SHA-256. The
/// receipts that come back carry the key that was asked for. Times are kept to the microsecond.
///
/// # Behaviour
///
/// Its futures are done when first polled and do nothing before. Receipts lie in shards, each behind
/// a lock that is never held while your clock or your [`OnAbandoned`] is called. A purge lets others
/// in after each hundred receipts or so and passes over what cannot have expired. But it counts
/// until `at_most` or the end of the store, without a pause for other futures of its thread.
///
/// A lease that is dropped unsettled makes its event claimable at once, and is then reported.
///
/// [`stats`](StatsStore::stats) reads all receipts, one shard after the other under its lock.
pub struct MemoryStore {
    shards: Shards,
    objects: Objects,
    #[cfg(feature = "inbox")]
    reviews: reviews::Reviews,
}

/// Builds a [`MemoryStore`].
pub struct MemoryStoreBuilder {
    capacity: usize,
    object_capacity: usize,
    #[cfg(feature = "inbox")]
    review_capacity: usize,
    clock: Arc<dyn Clock>,
    on_abandoned: Arc<dyn OnAbandoned>,
}

impl MemoryStore {
    /// An empty store with the default capacity, clock and report.
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// To choose capacity, clock or report.
    pub fn builder() -> MemoryStoreBuilder {
        MemoryStoreBuilder {
            capacity: 1_000_000,
            object_capacity: 1_000_000,
            #[cfg(feature = "inbox")]
            review_capacity: 10_000,
            clock: Arc::new(SystemClock),
            on_abandoned: Arc::new(Stderr),
        }
    }

    /// Changes the receipt that the lease still stands for.
    fn change(&self, lease: &Lease, change: impl FnOnce(&mut Receipt)) -> Option<Receipt> {
        let (shard, hash) = self.shards.of(lease.key());
        shard.change(hash, lease.key(), lease.fence(), change)
    }

    /// Ends the lease with a change to its receipt.
    fn end(&self, lease: Lease, change: impl FnOnce(&mut Receipt)) -> Result<Receipt, SettleError> {
        match self.change(&lease, change) {
            Some(receipt) => {
                lease.settled();
                Ok(receipt)
            }
            None => Err(SettleError::lost(lease)),
        }
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let capacity = self.shards.shared().capacity;
        let receipts = capacity.saturating_sub(self.shards.room());
        f.debug_struct("MemoryStore")
            .field("receipts", &receipts)
            .field("capacity", &capacity)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for MemoryStoreBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStoreBuilder")
            .field("capacity", &self.capacity)
            .finish_non_exhaustive()
    }
}

impl MemoryStoreBuilder {
    /// Most receipts kept, 1,000,000 unless set: more than the events of one retention. With none,
    /// every claim of a new event is refused.
    #[must_use]
    pub fn capacity(mut self, receipts: usize) -> Self {
        self.capacity = receipts;
        self
    }

    /// Most objects whose versions are kept ([`OrderGuard`](crate::OrderGuard)), 1,000,000 unless
    /// set. None is dropped to make room: when it is full, the first version of another object is
    /// refused with [`StoreErrorKind::Full`](super::StoreErrorKind::Full).
    #[must_use]
    pub fn object_capacity(mut self, objects: usize) -> Self {
        self.object_capacity = objects;
        self
    }

    /// Most deliveries kept for review ([`review`](crate::review)), resolved ones included; 10,000
    /// unless set. None is dropped to make room: when it is full, the next is refused with
    /// [`StoreErrorKind::Full`](super::StoreErrorKind::Full).
    #[cfg(feature = "inbox")]
    #[must_use]
    pub fn review_capacity(mut self, reviews: usize) -> Self {
        self.review_capacity = reviews;
        self
    }

    /// The clock for leases, retries and retention; the operating system's unless set.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Who is told of a lease dropped unsettled; standard error unless set. By the time of the
    /// report the event can be claimed again, and the report may call the store.
    #[must_use]
    pub fn on_abandoned(mut self, report: impl OnAbandoned + 'static) -> Self {
        self.on_abandoned = Arc::new(report);
        self
    }

    /// The store.
    pub fn build(self) -> MemoryStore {
        MemoryStore {
            shards: Shards::new(Shared {
                clock: self.clock,
                on_abandoned: self.on_abandoned,
                hasher: Hasher::random(),
                capacity: self.capacity,
                #[cfg(feature = "inbox")]
                inbox: inbox::Bodies::default(),
            }),
            objects: Objects::new(self.object_capacity),
            #[cfg(feature = "inbox")]
            reviews: reviews::Reviews::new(self.review_capacity),
        }
    }
}

impl IdempotencyStore for MemoryStore {
    fn claim(&self, claiming: Claiming) -> StoreFuture<'_, Result<Claim, StoreError>> {
        Box::pin(async move { self.shards.claim(claiming) })
    }

    fn settle(
        &self,
        lease: Lease,
        verdict: Verdict,
    ) -> StoreFuture<'_, Result<Receipt, SettleError>> {
        Box::pin(async move {
            if !verdict.fits() {
                return Err(SettleError::too_long(lease));
            }
            let now = self.shards.shared().now();
            let most = lease.max_attempts();
            self.end(lease, |row| {
                row.changed_at = now;
                (row.state, row.until, row.result) = verdict.outcome(row.attempts, most, now);
            })
        })
    }

    fn renew(&self, lease: Lease, length: Duration) -> StoreFuture<'_, Result<Lease, SettleError>> {
        Box::pin(async move {
            let now = self.shards.shared().now();
            let until = after(now, length);
            let renewed = self.change(&lease, |row| {
                row.changed_at = now;
                row.until = Some(until);
            });
            match renewed {
                Some(receipt) => Ok(lease.renewed(receipt.until.unwrap_or(until))),
                None => Err(SettleError::lost(lease)),
            }
        })
    }

    fn release(&self, lease: Lease) -> StoreFuture<'_, Result<Receipt, SettleError>> {
        Box::pin(async move {
            let now = self.shards.shared().now();
            self.end(lease, |row| {
                row.changed_at = now;
                row.state = State::Failed;
                row.until = None;
            })
        })
    }

    fn get<'a>(
        &'a self,
        key: &'a EventKey,
    ) -> StoreFuture<'a, Result<Option<Receipt>, StoreError>> {
        Box::pin(async move {
            let (shard, hash) = self.shards.of(key);
            Ok(shard.get(hash, key))
        })
    }

    fn forget<'a>(
        &'a self,
        key: &'a EventKey,
    ) -> StoreFuture<'a, Result<Option<Receipt>, StoreError>> {
        Box::pin(async move {
            let (shard, hash) = self.shards.of(key);
            Ok(shard.forget(hash, key))
        })
    }

    fn purge(&self, at_most: usize) -> StoreFuture<'_, Result<usize, StoreError>> {
        Box::pin(async move { Ok(self.shards.purge(at_most)) })
    }
}

impl BatchStore for MemoryStore {
    /// Nothing is shared here but the call: each event has its own lock and its own moment.
    fn claim_many(
        &self,
        claimings: Vec<Claiming>,
    ) -> StoreFuture<'_, Result<Vec<Result<Claim, StoreError>>, StoreError>> {
        Box::pin(async move {
            let claim = |claiming| self.shards.claim(claiming);
            Ok(bounded(claimings)?.into_iter().map(claim).collect())
        })
    }
}

impl StatsStore for MemoryStore {
    /// Reads every receipt, shard by shard, so the numbers are exact but not of one instant.
    fn stats(&self) -> StoreFuture<'_, Result<StoreStats, StoreError>> {
        Box::pin(async move { Ok(self.shards.stats()) })
    }
}
