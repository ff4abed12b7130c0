//! What a store holds, in numbers to watch.

use std::{sync::Arc, time::Duration};

use time::OffsetDateTime;

use crate::clock::between;

use super::{IdempotencyStore, Receipt, State, StoreError, StoreFuture};

/// A store that can say what it holds.
pub trait StatsStore: IdempotencyStore {
    /// Counts the receipts by state, and finds the oldest of those that should have moved on.
    /// For a metric that is read about once a minute, not for each delivery: each backend's type
    /// says what it reads for it, and whether the numbers may be estimates
    /// ([`StoreStats::exact`]). It writes nothing and locks no row.
    fn stats(&self) -> StoreFuture<'_, Result<StoreStats, StoreError>>;
}

/// What a store holds. Begin one with [`StoreStats::at`], and [`add`](StoreStats::add) receipts:
/// this is the rule that every backend is tested against.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreStats {
    /// When it was counted, on the store's clock.
    pub at: OffsetDateTime,
    /// Whether every receipt was counted. If not, a sample was, and the counts are scaled up from
    /// it; the moments are those of the oldest in the sample, so the true ones may be older.
    pub exact: bool,
    /// Receipts in state `Received`.
    pub received: u64,
    /// In state `InProgress`, whether their lease is running or over.
    pub in_progress: u64,
    /// In state `Processed`.
    pub processed: u64,
    /// In state `Failed`, whether due or not.
    pub failed: u64,
    /// In state `Dead`. Each one waits for a human.
    pub dead: u64,
    /// When the oldest receipt was first claimed.
    pub oldest_received: Option<OffsetDateTime>,
    /// Receipts that the next claim would take over: a lease that is over, a retry that is due. If
    /// the sender has given up, nobody will.
    pub overdue: u64,
    /// Since when the one that has waited longest could have been taken over.
    pub overdue_since: Option<OffsetDateTime>,
    /// Receipts whose retention is over and that a purge would delete.
    pub expired: u64,
    /// Since when the oldest of them could have been deleted.
    pub expired_since: Option<OffsetDateTime>,
}

impl StoreStats {
    /// Of an empty store.
    pub const fn at(now: OffsetDateTime) -> Self {
        Self {
            at: now,
            exact: true,
            received: 0,
            in_progress: 0,
            processed: 0,
            failed: 0,
            dead: 0,
            oldest_received: None,
            overdue: 0,
            overdue_since: None,
            expired: 0,
            expired_since: None,
        }
    }

    /// Counts a receipt.
    pub fn add(&mut self, receipt: &Receipt) {
        let count = match receipt.state {
            State::Received => &mut self.received,
            State::InProgress => &mut self.in_progress,
            State::Processed => &mut self.processed,
            State::Failed => &mut self.failed,
            State::Dead => &mut self.dead,
        };
        *count = count.saturating_add(1);
        self.oldest_received = older(self.oldest_received, receipt.received_at);
        let overdue = match receipt.state {
            State::Received => true,
            State::InProgress | State::Failed => !receipt.is_waiting(self.at),
            State::Processed | State::Dead => false,
        };
        if overdue {
            let since = receipt.until.unwrap_or(receipt.changed_at);
            self.overdue = self.overdue.saturating_add(1);
            self.overdue_since = older(self.overdue_since, since.min(self.at));
        }
        if receipt.is_purgeable(self.at) {
            self.expired = self.expired.saturating_add(1);
            self.expired_since = older(self.expired_since, receipt.expires_at);
        }
    }

    /// All receipts.
    pub fn total(&self) -> u64 {
        [
            self.received,
            self.in_progress,
            self.processed,
            self.failed,
            self.dead,
        ]
        .into_iter()
        .fold(0, u64::saturating_add)
    }

    /// The age of the oldest receipt: how far back duplicates are still known. Zero if there is
    /// none.
    pub fn oldest_age(&self) -> Duration {
        self.since(self.oldest_received)
    }

    /// How long the longest overdue event has waited. Zero if there is none.
    pub fn lag(&self) -> Duration {
        self.since(self.overdue_since)
    }

    /// How far purges lag behind. Zero if nothing is to be purged.
    pub fn purge_lag(&self) -> Duration {
        self.since(self.expired_since)
    }

    fn since(&self, then: Option<OffsetDateTime>) -> Duration {
        then.map_or(Duration::ZERO, |then| between(then, self.at))
    }
}

fn older(known: Option<OffsetDateTime>, other: OffsetDateTime) -> Option<OffsetDateTime> {
    Some(known.map_or(other, |known| known.min(other)))
}

macro_rules! forward {
    ($($pointer:ty),*) => {$(
        impl<S: StatsStore + ?Sized> StatsStore for $pointer {
            fn stats(&self) -> StoreFuture<'_, Result<StoreStats, StoreError>> {
                (**self).stats()
            }
        }
    )*};
}

forward!(&S, Arc<S>, Box<S>);
