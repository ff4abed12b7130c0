// A store as a user of the crate would write one: a map behind a mutex, with the crate's own rules
// as pure functions. No inner attributes, since the documentation includes this file.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use hookproof::{
    Claim, Claiming, EventKey, Fence, IdempotencyStore, Lease, Receipt, State, StoreError, Verdict,
    clock::Clock,
    store::{OnAbandoned, Ruling, SettleError, StoreFuture},
};
use time::OffsetDateTime;

/// Receipts by the digest of their key.
pub(crate) struct OwnStore {
    table: Mutex<Table>,
    clock: Box<dyn Clock>,
    report: Arc<dyn OnAbandoned>,
}

pub(crate) struct Table {
    pub(crate) rows: HashMap<[u8; 16], Receipt>,
    /// The highest fence among the rows that are gone.
    pub(crate) used: Fence,
}

impl OwnStore {
    pub(crate) fn new(clock: impl Clock + 'static, report: impl OnAbandoned + 'static) -> Self {
        let (rows, used) = (HashMap::new(), Fence(0));
        Self {
            table: Mutex::new(Table { rows, used }),
            clock: Box::new(clock),
            report: Arc::new(report),
        }
    }

    pub(crate) fn now(&self) -> OffsetDateTime {
        self.clock.now()
    }

    pub(crate) fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().expect("nothing panics under the lock")
    }

    /// Changes the row that a lease stands for, if it still stands.
    pub(crate) fn write(
        &self,
        lease: Lease,
        change: impl FnOnce(&mut Receipt),
    ) -> Result<(Lease, Receipt), SettleError> {
        let mut table = self.table();
        match table.rows.get_mut(lease.key().digest()) {
            Some(row) if row.stands(lease.fence()) => {
                row.changed_at = self.now();
                change(row);
                Ok((lease, row.clone()))
            }
            _ => Err(SettleError::lost(lease)),
        }
    }
}

impl Table {
    pub(crate) fn remove(&mut self, digest: &[u8; 16]) -> Option<Receipt> {
        let row = self.rows.remove(digest)?;
        self.used = self.used.max(row.fence);
        Some(row)
    }
}

/// So long after `now`, or as far ahead as dates go.
pub(crate) fn later(now: OffsetDateTime, wait: Duration) -> OffsetDateTime {
    now.saturating_add(time::Duration::try_from(wait).unwrap_or(time::Duration::MAX))
}

impl IdempotencyStore for OwnStore {
    fn claim(&self, claiming: Claiming) -> StoreFuture<'_, Result<Claim, StoreError>> {
        Box::pin(async move {
            let now = self.now();
            let mut table = self.table();
            let digest = *claiming.key().digest();
            let ruling = match table.rows.get(&digest) {
                Some(row) => row.ruling(&claiming, now),
                None => Ruling::Take(Receipt::first(&claiming, now, table.used)),
            };
            Ok(match ruling {
                Ruling::Answer(claim) => claim,
                Ruling::Bury(row) => {
                    table.rows.insert(digest, row.clone());
                    Claim::Dead(row)
                }
                Ruling::Take(row) => {
                    let lease = Lease::issue(claiming, &row, self.report.clone());
                    table.rows.insert(digest, row);
                    Claim::New(lease)
                }
            })
        })
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
            let (now, most) = (self.now(), lease.max_attempts());
            let (lease, row) = self.write(lease, |row| {
                (row.state, row.until, row.result) = verdict.outcome(row.attempts, most, now);
            })?;
            lease.settled();
            Ok(row)
        })
    }

    fn renew(&self, lease: Lease, length: Duration) -> StoreFuture<'_, Result<Lease, SettleError>> {
        Box::pin(async move {
            let until = later(self.now(), length);
            let (lease, _) = self.write(lease, |row| row.until = Some(until))?;
            Ok(lease.renewed(until))
        })
    }

    fn release(&self, lease: Lease) -> StoreFuture<'_, Result<Receipt, SettleError>> {
        Box::pin(async move {
            let (lease, row) =
                self.write(lease, |row| (row.state, row.until) = (State::Failed, None))?;
            lease.settled();
            Ok(row)
        })
    }

    fn get<'a>(
        &'a self,
        key: &'a EventKey,
    ) -> StoreFuture<'a, Result<Option<Receipt>, StoreError>> {
        Box::pin(async move { Ok(self.table().rows.get(key.digest()).cloned()) })
    }

    fn forget<'a>(
        &'a self,
        key: &'a EventKey,
    ) -> StoreFuture<'a, Result<Option<Receipt>, StoreError>> {
        Box::pin(async move { Ok(self.table().remove(key.digest())) })
    }

    fn purge(&self, at_most: usize) -> StoreFuture<'_, Result<usize, StoreError>> {
        Box::pin(async move {
            let now = self.now();
            let mut table = self.table();
            let old = table.rows.iter().filter(|(_, row)| row.is_purgeable(now));
            let old: Vec<_> = old.map(|(digest, _)| *digest).take(at_most).collect();
            for digest in &old {
                table.remove(digest);
            }
            Ok(old.len())
        })
    }
}
