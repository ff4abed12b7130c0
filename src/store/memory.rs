//! Receipts in memory, for one process.

use std::{
    collections::HashMap,
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use crate::{
    clock::{Clock, SystemClock, after},
    event::EventKey,
};

use super::{
    Abandoned, Claim, Claiming, Fence, IdempotencyStore, Lease, OnAbandoned, Receipt, Ruling,
    SettleError, State, Stderr, StoreError, StoreErrorKind, StoreFuture, Verdict,
};

/// Receipts in memory: one process, gone with it.
pub struct MemoryStore {
    inner: Arc<Inner>,
}

/// Builds a [`MemoryStore`].
pub struct MemoryStoreBuilder {
    capacity: usize,
    clock: Arc<dyn Clock>,
    on_abandoned: Arc<dyn OnAbandoned>,
}

struct Inner {
    rows: Mutex<HashMap<[u8; 16], Receipt>>,
    /// The highest fence among the rows that are gone; read and raised under the lock of `rows`.
    used: AtomicI64,
    capacity: usize,
    clock: Arc<dyn Clock>,
    on_abandoned: Arc<dyn OnAbandoned>,
}

impl MemoryStore {
    /// An empty store with the default capacity.
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// To choose capacity, clock or report.
    pub fn builder() -> MemoryStoreBuilder {
        MemoryStoreBuilder {
            capacity: 1_000_000,
            clock: Arc::new(SystemClock),
            on_abandoned: Arc::new(Stderr),
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
        f.debug_struct("MemoryStore").finish_non_exhaustive()
    }
}

impl fmt::Debug for MemoryStoreBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStoreBuilder").finish_non_exhaustive()
    }
}

impl MemoryStoreBuilder {
    /// Most receipts kept.
    #[must_use]
    pub fn capacity(mut self, receipts: usize) -> Self {
        self.capacity = receipts;
        self
    }

    /// The clock for leases, retries and retention.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Who is told of a lease dropped unsettled; standard error if not set.
    #[must_use]
    pub fn on_abandoned(mut self, report: impl OnAbandoned + 'static) -> Self {
        self.on_abandoned = Arc::new(report);
        self
    }

    /// The store.
    pub fn build(self) -> MemoryStore {
        let Self {
            capacity,
            clock,
            on_abandoned,
        } = self;
        let rows = Mutex::default();
        MemoryStore {
            inner: Arc::new(Inner {
                rows,
                used: AtomicI64::new(0),
                capacity,
                clock,
                on_abandoned,
            }),
        }
    }
}

impl Inner {
    fn rows(&self) -> MutexGuard<'_, HashMap<[u8; 16], Receipt>> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn claim(self: &Arc<Self>, claiming: Claiming) -> Result<Claim, StoreError> {
        let now = self.clock.now();
        let mut rows = self.rows();
        let ruling = match rows.get(claiming.key.digest()) {
            Some(stored) => stored.ruling(&claiming, now),
            None if rows.len() >= self.capacity => {
                return Err(StoreError::new(StoreErrorKind::Full));
            }
            None => {
                let used = Fence(self.used.load(Ordering::Relaxed));
                Ruling::Take(Receipt::first(&claiming, now, used))
            }
        };
        Ok(match ruling {
            Ruling::Answer(claim) => claim,
            Ruling::Bury(row) => {
                rows.insert(*row.key.digest(), row.clone());
                Claim::Dead(row)
            }
            Ruling::Take(row) => {
                let lease = Lease::issue(claiming, &row, self.clone());
                rows.insert(*row.key.digest(), row);
                Claim::New(lease)
            }
        })
    }

    fn remove(&self, rows: &mut HashMap<[u8; 16], Receipt>, key: &[u8; 16]) -> Option<Receipt> {
        let row = rows.remove(key)?;
        self.used.fetch_max(row.fence.0, Ordering::Relaxed);
        Some(row)
    }

    fn change(&self, lease: &Lease, change: impl FnOnce(&mut Receipt)) -> Option<Receipt> {
        let mut rows = self.rows();
        let row = rows
            .get_mut(lease.key().digest())
            .filter(|row| row.stands(lease.fence()))?;
        row.changed_at = self.clock.now();
        change(row);
        Some(row.clone())
    }
}

impl OnAbandoned for Inner {
    fn abandoned(&self, lease: &Abandoned<'_>) {
        if let Some(row) = self.rows().get_mut(lease.key.digest())
            && row.stands(lease.fence)
        {
            row.until = Some(self.clock.now());
        }
        self.on_abandoned.abandoned(lease);
    }
}

fn ready<'a, T: Send + 'a>(value: T) -> StoreFuture<'a, T> {
    Box::pin(std::future::ready(value))
}

impl IdempotencyStore for MemoryStore {
    fn claim(&self, claiming: Claiming) -> StoreFuture<'_, Result<Claim, StoreError>> {
        ready(self.inner.claim(claiming))
    }

    fn settle(
        &self,
        lease: Lease,
        verdict: Verdict,
    ) -> StoreFuture<'_, Result<Receipt, SettleError>> {
        if !verdict.fits() {
            return ready(Err(SettleError::too_long(lease)));
        }
        let most = lease.max_attempts();
        let now = self.inner.clock.now();
        let written = self.inner.change(&lease, |row| {
            (row.state, row.until, row.result) = verdict.outcome(row.attempts, most, now);
        });
        ready(match written {
            Some(receipt) => {
                lease.settled();
                Ok(receipt)
            }
            None => Err(SettleError::lost(lease)),
        })
    }

    fn renew(&self, lease: Lease, length: Duration) -> StoreFuture<'_, Result<Lease, SettleError>> {
        let until = after(self.inner.clock.now(), length);
        ready(
            match self.inner.change(&lease, |row| row.until = Some(until)) {
                Some(_) => Ok(lease.renewed(until)),
                None => Err(SettleError::lost(lease)),
            },
        )
    }

    fn release(&self, lease: Lease) -> StoreFuture<'_, Result<Receipt, SettleError>> {
        let written = self.inner.change(&lease, |row| {
            row.state = State::Failed;
            row.until = None;
        });
        ready(match written {
            Some(receipt) => {
                lease.settled();
                Ok(receipt)
            }
            None => Err(SettleError::lost(lease)),
        })
    }

    fn get<'a>(
        &'a self,
        key: &'a EventKey,
    ) -> StoreFuture<'a, Result<Option<Receipt>, StoreError>> {
        ready(Ok(self.inner.rows().get(key.digest()).cloned()))
    }

    fn forget<'a>(
        &'a self,
        key: &'a EventKey,
    ) -> StoreFuture<'a, Result<Option<Receipt>, StoreError>> {
        let mut rows = self.inner.rows();
        ready(Ok(self.inner.remove(&mut rows, key.digest())))
    }

    fn purge(&self, at_most: usize) -> StoreFuture<'_, Result<usize, StoreError>> {
        let now = self.inner.clock.now();
        let mut rows = self.inner.rows();
        let old: Vec<_> = rows
            .values()
            .filter(|row| row.is_purgeable(now))
            .take(at_most)
            .map(|row| *row.key.digest())
            .collect();
        for key in &old {
            self.inner.remove(&mut rows, key);
        }
        ready(Ok(old.len()))
    }
}
