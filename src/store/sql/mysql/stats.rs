//! What is stored, in numbers.

use std::hash::{BuildHasher, RandomState};

use sqlx::{MySqlConnection, Row, mysql::MySqlRow};
use time::OffsetDateTime;

use crate::store::{StatsStore, StoreError, StoreFuture, StoreStats};

use super::{
    MySqlStore, driver,
    session::{at, not_autocommit},
    statements as sql,
};

/// Some 600,000 receipts.
pub(super) const DEFAULT_BYTES: u64 = 128 * 1024 * 1024;

/// How many slots there are: each holds the receipts whose keys begin with its two bytes.
const SLOTS: u64 = 1 << 16;

impl StatsStore for MySqlStore {
    fn stats(&self) -> StoreFuture<'_, Result<StoreStats, StoreError>> {
        Box::pin(async move {
            let mut connection = self.pool.acquire().await?;
            stats(&mut connection, self.verbs.now(), self.stats_bytes).await
        })
    }
}

async fn stats(
    connection: &mut MySqlConnection,
    now: Option<i64>,
    most: u64,
) -> Result<StoreStats, StoreError> {
    let row = sqlx::query(sql::SIZE)
        .bind(now)
        .fetch_one(&mut *connection)
        .await?;
    let now: i64 = row.try_get(0)?;
    if row.try_get::<i64, _>(1)? == 0 {
        return Err(not_autocommit());
    }
    driver::is_committed(&row, 2)?;
    let size = row.try_get::<Option<i64>, _>(3)?.unwrap_or_default();
    let slots = slots(u64::try_from(size).unwrap_or_default(), most);
    let (low, high) = range(slots, RandomState::new().hash_one(now));
    let row = sqlx::query(sql::STATS)
        .bind(now)
        .bind(low.as_slice())
        .bind(high.as_slice())
        .fetch_one(connection)
        .await?;
    let count = |column| count(&row, column, slots);
    Ok(StoreStats {
        exact: slots == SLOTS,
        received: count(0)?,
        in_progress: count(1)?,
        processed: count(2)?,
        failed: count(3)?,
        dead: count(4)?,
        oldest_received: oldest(&row, 5)?,
        overdue: count(6)?,
        overdue_since: oldest(&row, 7)?,
        expired: count(8)?,
        expired_since: oldest(&row, 9)?,
        ..StoreStats::at(at(now)?)
    })
}

/// How many slots hold about `most` of `size` bytes: keys are digests, so they are all alike.
fn slots(size: u64, most: u64) -> u64 {
    let share = u128::from(most)
        .saturating_mul(SLOTS.into())
        .checked_div(size.into())
        .unwrap_or(SLOTS.into());
    u64::try_from(share).unwrap_or(SLOTS).clamp(1, SLOTS)
}

/// The lowest and the highest key of so many slots, somewhere.
fn range(slots: u64, random: u64) -> ([u8; 16], [u8; 16]) {
    let choices = SLOTS.saturating_sub(slots).saturating_add(1);
    let first = random.checked_rem(choices).unwrap_or_default();
    let last = first.saturating_add(slots).saturating_sub(1);
    (edge(first, 0), edge(last, 0xff))
}

fn edge(slot: u64, rest: u8) -> [u8; 16] {
    let mut key = [rest; 16];
    let slot = u16::try_from(slot).unwrap_or(u16::MAX).to_be_bytes();
    for (to, from) in key.iter_mut().zip(slot) {
        *to = from;
    }
    key
}

/// Scaled up from the slots that were read.
fn count(row: &MySqlRow, column: usize, slots: u64) -> Result<u64, StoreError> {
    let read = u128::try_from(row.try_get::<i64, _>(column)?).unwrap_or_default();
    let all = read.saturating_mul(SLOTS.into()).checked_div(slots.into());
    Ok(u64::try_from(all.unwrap_or_default()).unwrap_or(u64::MAX))
}

fn oldest(row: &MySqlRow, column: usize) -> Result<Option<OffsetDateTime>, StoreError> {
    row.try_get::<Option<i64>, _>(column)?.map(at).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_or_so_many_slots_are_read() {
        for (size, most, expected) in [
            (0, 0, SLOTS),
            (0, 1, SLOTS),
            (100, 100, SLOTS),
            (100, 1000, SLOTS),
            (u64::MAX, u64::MAX, SLOTS),
            (1000, 500, SLOTS / 2),
            (u64::MAX, 1, 1),
            (1000, 0, 1),
        ] {
            assert_eq!(slots(size, most), expected, "{most} of {size}");
        }
    }

    #[test]
    fn a_range_is_of_whole_slots() {
        let all = ([0; 16], [0xff; 16]);
        for random in [0, 1, u64::MAX] {
            assert_eq!(range(SLOTS, random), all);
        }
        let (low, high) = range(1, 0x0102);
        assert_eq!(low[..3], [1, 2, 0]);
        assert_eq!((high[..2].to_vec(), high[15]), (vec![1, 2], 0xff));
        // The last one can be chosen too, and none beyond it.
        let (low, high) = range(2, SLOTS - 2);
        assert_eq!((low[..3].to_vec(), high), (vec![0xff, 0xfe, 0], [0xff; 16]));
        assert_eq!(range(2, SLOTS - 1).0, [0; 16]);
    }
}
