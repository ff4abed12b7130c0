//! The versions of objects, in memory.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use crate::{
    clock::{micros, micros_after},
    order::{Advance, ObjectKey, OrderGuard, Version},
    store::{StoreError, StoreErrorKind, StoreFuture},
};

use super::MemoryStore;

/// By the digest of the object's key.
pub(super) struct Objects {
    rows: Mutex<HashMap<[u8; 16], Row>>,
    capacity: usize,
}

struct Row {
    version: Version,
    /// For deletions, in microseconds since 1970.
    deleted_at: Option<i64>,
}

impl Objects {
    pub(super) fn new(capacity: usize) -> Self {
        let rows = Mutex::default();
        Self { rows, capacity }
    }

    /// A panic cannot leave a row half written: nothing that panics runs under the lock.
    fn rows(&self) -> MutexGuard<'_, HashMap<[u8; 16], Row>> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn advance(
        &self,
        object: &ObjectKey,
        version: Version,
        now: i64,
    ) -> Result<Advance, StoreError> {
        let mut rows = self.rows();
        let stored = rows.get(object.digest()).map(|row| row.version.clone());
        let is_full = stored.is_none() && rows.len() >= self.capacity;
        let advance = version.judge(stored)?;
        if is_full {
            return Err(StoreError::new(StoreErrorKind::Full));
        }
        if let Advance::Applied { .. } = advance {
            let deleted_at = version.is_deletion().then_some(now);
            let row = Row {
                version,
                deleted_at,
            };
            rows.insert(*object.digest(), row);
        }
        Ok(advance)
    }

    fn purge(&self, retention: Duration, at_most: usize, now: i64) -> usize {
        let mut left = at_most;
        self.rows().retain(|_, row| {
            let is_over = |at| micros_after(at, retention) <= now;
            let goes = left > 0 && row.deleted_at.is_some_and(is_over);
            left = left.saturating_sub(usize::from(goes));
            !goes
        });
        at_most.saturating_sub(left)
    }
}

impl OrderGuard for MemoryStore {
    fn advance<'a>(
        &'a self,
        object: &'a ObjectKey,
        version: Version,
    ) -> StoreFuture<'a, Result<Advance, StoreError>> {
        Box::pin(async move {
            let now = micros(self.shards.shared().now());
            self.objects.advance(object, version, now)
        })
    }

    fn current<'a>(
        &'a self,
        object: &'a ObjectKey,
    ) -> StoreFuture<'a, Result<Option<Version>, StoreError>> {
        Box::pin(async move {
            let rows = self.objects.rows();
            Ok(rows.get(object.digest()).map(|row| row.version.clone()))
        })
    }

    fn forget_object<'a>(
        &'a self,
        object: &'a ObjectKey,
    ) -> StoreFuture<'a, Result<Option<Version>, StoreError>> {
        Box::pin(async move {
            let gone = self.objects.rows().remove(object.digest());
            Ok(gone.map(|row| row.version))
        })
    }

    fn purge_deleted(
        &self,
        retention: Duration,
        at_most: usize,
    ) -> StoreFuture<'_, Result<usize, StoreError>> {
        Box::pin(async move {
            let now = micros(self.shards.shared().now());
            Ok(self.objects.purge(retention, at_most, now))
        })
    }
}
