//! What is stored, in numbers.

use sqlx::{Row, postgres::PgRow};
use time::OffsetDateTime;

use crate::{
    clock::from_micros,
    store::{StatsStore, StoreError, StoreErrorKind, StoreFuture, StoreStats},
};

use super::{PostgresStore, statements as sql};

/// Some 600,000 receipts.
pub(super) const DEFAULT_BYTES: u64 = 128 * 1024 * 1024;

impl StatsStore for PostgresStore {
    fn stats(&self) -> StoreFuture<'_, Result<StoreStats, StoreError>> {
        Box::pin(async move {
            // Not to divide by it.
            let most = i64::try_from(self.stats_bytes.max(1)).unwrap_or(i64::MAX);
            let row = sqlx::query(sql::STATS)
                .bind(self.verbs.now())
                .bind(most)
                .fetch_one(&self.pool)
                .await?;
            let now = moment(row.try_get(0)?)?;
            Ok(StoreStats {
                exact: row.try_get(1)?,
                received: count(&row, 2)?,
                in_progress: count(&row, 3)?,
                processed: count(&row, 4)?,
                failed: count(&row, 5)?,
                dead: count(&row, 6)?,
                oldest_received: oldest(&row, 7)?,
                overdue: count(&row, 8)?,
                overdue_since: oldest(&row, 9)?,
                expired: count(&row, 10)?,
                expired_since: oldest(&row, 11)?,
                ..StoreStats::at(now)
            })
        })
    }
}

fn count(row: &PgRow, column: usize) -> Result<u64, StoreError> {
    Ok(u64::try_from(row.try_get::<i64, _>(column)?).unwrap_or_default())
}

fn oldest(row: &PgRow, column: usize) -> Result<Option<OffsetDateTime>, StoreError> {
    row.try_get::<Option<i64>, _>(column)?
        .map(moment)
        .transpose()
}

fn moment(micros: i64) -> Result<OffsetDateTime, StoreError> {
    from_micros(micros).ok_or_else(|| StoreError::new(StoreErrorKind::Corrupt))
}
