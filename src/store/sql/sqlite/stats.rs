//! What is stored, in numbers.

use rusqlite::Row;
use time::OffsetDateTime;

use crate::{
    clock::{from_micros, micros},
    store::{StatsStore, StoreError, StoreErrorKind, StoreFuture, StoreStats},
};

use super::{
    SqliteStore, closed,
    lane::Unwanted,
    verbs::{Verbs, moment},
};

impl StatsStore for SqliteStore {
    fn stats(&self) -> StoreFuture<'_, Result<StoreStats, StoreError>> {
        Box::pin(async move {
            let count = |verbs: &mut Verbs<'_>| verbs.stats();
            let answer = self.read.submit(Unwanted::Skip, count, |stats| stats);
            answer.await.unwrap_or_else(|| Err(closed()))
        })
    }
}

impl Verbs<'_> {
    fn stats(&mut self) -> Result<StoreStats, StoreError> {
        let now = moment(self.clock);
        let mut rows = self.stats.on(self.connection)?.query([micros(now)])?;
        let corrupt = || StoreError::new(StoreErrorKind::Corrupt);
        let row = rows.next()?.ok_or_else(corrupt)?;
        Ok(StoreStats {
            received: count(row, 0)?,
            in_progress: count(row, 1)?,
            processed: count(row, 2)?,
            failed: count(row, 3)?,
            dead: count(row, 4)?,
            oldest_received: oldest(row, 5)?,
            overdue: count(row, 6)?,
            overdue_since: oldest(row, 7)?,
            expired: count(row, 8)?,
            expired_since: oldest(row, 9)?,
            ..StoreStats::at(now)
        })
    }
}

fn count(row: &Row<'_>, column: usize) -> Result<u64, StoreError> {
    Ok(u64::try_from(row.get::<_, i64>(column)?).unwrap_or_default())
}

fn oldest(row: &Row<'_>, column: usize) -> Result<Option<OffsetDateTime>, StoreError> {
    let corrupt = || StoreError::new(StoreErrorKind::Corrupt);
    let micros = row.get::<_, Option<i64>>(column)?;
    micros
        .map(|micros| from_micros(micros).ok_or_else(corrupt))
        .transpose()
}
