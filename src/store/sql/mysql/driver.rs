//! The statements on one connection: values in, rows out.

use std::hash::{BuildHasher, RandomState};

use sqlx::{Executor, MySqlConnection, Row, mysql::MySqlRow};

use crate::{
    event::EventKey,
    store::{Receipt, StoreError, StoreErrorKind, StoredRow, sql::found::Found},
};

use super::statements as sql;

/// What is seen in a look beside the receipt.
#[derive(Debug)]
pub(in crate::store::sql) struct Seen {
    /// The server's number for the connection.
    pub(in crate::store::sql) connection: i64,
    /// Whether statements outside of transactions are transactions of their own.
    pub(in crate::store::sql) autocommit: bool,
    /// The highest fence of the rows that were deleted from the key's slot; nothing if the slot is
    /// missing.
    pub(in crate::store::sql) deleted: Option<i64>,
    /// Whether the event is in the inbox's queue.
    pub(in crate::store::sql) queued: bool,
    /// The row's, if there is one.
    pub(in crate::store::sql) mark: Option<i64>,
}

/// What a row says of one key, with its mark.
pub(super) type Marked = (i64, Receipt);

/// Stands for the caller's transaction, which has no number in MySQL.
pub(super) const LASTING: i64 = 0;

/// The slot of a key: its first two bytes.
pub(super) fn slot(key: &EventKey) -> i64 {
    let [high, low, ..] = *key.digest();
    u16::from_be_bytes([high, low]).into()
}

/// A mark that is not `old`.
pub(super) fn mark(old: Option<i64>) -> i64 {
    // The keys of each are random, and none comes twice.
    let mark = RandomState::new().hash_one(old).cast_signed();
    if Some(mark) == old {
        mark.wrapping_add(1)
    } else {
        mark
    }
}

/// The receipt as it is kept, in whole microseconds.
pub(super) fn as_kept(receipt: &Receipt) -> Result<Receipt, StoreError> {
    StoredRow::of(receipt).into_receipt(receipt.key.clone())
}

pub(super) fn misuse(what: &'static str) -> StoreError {
    StoreError::with_source(StoreErrorKind::Misuse, what)
}

pub(super) async fn find(
    connection: &mut MySqlConnection,
    key: &EventKey,
    now: Option<i64>,
) -> Result<(i64, Option<Receipt>, Seen), StoreError> {
    let row = sqlx::query(sql::FIND)
        .bind(now)
        .bind(slot(key))
        .bind(key.digest().as_slice())
        .fetch_one(connection)
        .await?;
    is_committed(&row, 3)?;
    let (mark, stored) = stored(&row, 6, key)?.unzip();
    let seen = Seen {
        connection: row.try_get(1)?,
        autocommit: row.try_get::<i64, _>(2)? != 0,
        deleted: row.try_get(4)?,
        queued: row.try_get::<i64, _>(5)? != 0,
        mark,
    };
    Ok((row.try_get(0)?, stored, seen))
}

/// Whether nobody has the row locked, on the pool.
pub(super) async fn is_free(
    connection: &mut MySqlConnection,
    key: &EventKey,
) -> Result<bool, StoreError> {
    let looked = sqlx::query(sql::IS_FREE)
        .bind(key.digest().as_slice())
        .execute(connection)
        .await;
    is_not_locked(looked)
}

/// What came of a look that waits for nobody.
pub(super) fn is_not_locked<T>(looked: Result<T, sqlx::Error>) -> Result<bool, StoreError> {
    match looked {
        Ok(_) => Ok(true),
        // ER_LOCK_NOWAIT in MySQL, ER_LOCK_WAIT_TIMEOUT in MariaDB.
        Err(error) if matches!(number(&error), Some(3572 | 1205)) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

pub(super) async fn pause(connection: &mut MySqlConnection) -> Result<(), StoreError> {
    sqlx::query(sql::PAUSE).execute(connection).await?;
    Ok(())
}

pub(super) async fn is_in_transaction(
    connection: &mut MySqlConnection,
) -> Result<bool, StoreError> {
    // Not `RawSql::execute`, whose future cannot be sent between threads.
    match connection.execute(sqlx::raw_sql(sql::IN_TRANSACTION)).await {
        Ok(_) => Ok(true),
        // ER_SP_DOES_NOT_EXIST.
        Err(error) if number(&error) == Some(1305) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Locks the key's slot until the transaction ends, if it is free, and tells the highest fence that
/// was deleted from it.
pub(super) async fn lock_slot(
    connection: &mut MySqlConnection,
    key: &EventKey,
) -> Result<Option<i64>, StoreError> {
    let row = sqlx::query(sql::SLOT)
        .bind(slot(key))
        .fetch_optional(connection)
        .await?;
    Ok(row.map(|row| row.try_get(0)).transpose()?)
}

/// The row as it is now, which must be there.
pub(super) async fn read(
    connection: &mut MySqlConnection,
    key: &EventKey,
) -> Result<Marked, StoreError> {
    let row = sqlx::query(sql::READ)
        .bind(key.digest().as_slice())
        .fetch_one(connection)
        .await?;
    stored(&row, 0, key)?.ok_or_else(|| StoreError::new(StoreErrorKind::Corrupt))
}

pub(super) async fn remember(
    connection: &mut MySqlConnection,
    receipt: &Receipt,
) -> Result<(), StoreError> {
    sqlx::query(sql::REMEMBER)
        .bind(receipt.fence.0)
        .bind(slot(&receipt.key))
        .bind(receipt.fence.0)
        .execute(connection)
        .await?;
    Ok(())
}

pub(super) async fn delete(
    connection: &mut MySqlConnection,
    key: &EventKey,
    old: i64,
) -> Result<bool, StoreError> {
    let done = sqlx::query(sql::FORGET)
        .bind(key.digest().as_slice())
        .bind(old)
        .execute(connection)
        .await?;
    // The queue's row may count as well.
    Ok(done.rows_affected() > 0)
}

/// The time, and what the session is like.
#[derive(Debug)]
pub(super) struct Clock {
    pub(super) now: i64,
    /// Whether statements outside of transactions are transactions of their own.
    pub(super) autocommit: bool,
    /// Whether what belongs to a row goes with it.
    pub(super) cascades: bool,
}

pub(super) async fn clock(
    connection: &mut MySqlConnection,
    now: Option<i64>,
) -> Result<Clock, StoreError> {
    let row = sqlx::query(sql::CLOCK)
        .bind(now)
        .fetch_one(connection)
        .await?;
    Ok(Clock {
        now: row.try_get(0)?,
        autocommit: row.try_get::<i64, _>(1)? != 0,
        cascades: row.try_get::<i64, _>(2)? != 0,
    })
}

/// Refuses what was read from under somebody's open transaction.
pub(super) fn is_committed(row: &MySqlRow, column: usize) -> Result<(), StoreError> {
    if row.try_get::<i64, _>(column)? == 0 {
        return Ok(());
    }
    Err(misuse(
        "under READ UNCOMMITTED a claim may be seen that never was",
    ))
}

/// How many rows it says that it has written or deleted.
pub(super) async fn sweep(
    connection: &mut MySqlConnection,
    statement: &'static str,
    now: i64,
    at_most: i64,
) -> Result<i64, StoreError> {
    let done = sqlx::query(statement)
        .bind(now)
        .bind(now)
        .bind(now)
        .bind(at_most)
        .execute(connection)
        .await?;
    Ok(i64::try_from(done.rows_affected()).unwrap_or(i64::MAX))
}

/// The receipt in the columns from `at` on, in the order of the statements; nothing if they are
/// all null.
pub(super) fn stored(
    row: &MySqlRow,
    at: usize,
    key: &EventKey,
) -> Result<Option<Marked>, StoreError> {
    let Some((mark, found)) = found(row, at)? else {
        return Ok(None);
    };
    found.receipt_of(key).map(|receipt| Some((mark, receipt)))
}

/// The same, not yet believed.
pub(super) fn found(row: &MySqlRow, at: usize) -> Result<Option<(i64, Found)>, StoreError> {
    let column = |number: usize| at.saturating_add(number);
    let Some(mark) = row.try_get::<Option<i64>, _>(column(0))? else {
        return Ok(None);
    };
    let found = Found {
        tenant: text(row, column(1))?,
        provider: text(row, column(2))?,
        event_id: text(row, column(3))?,
        row: StoredRow {
            fingerprint: row.try_get(column(4))?,
            state: row.try_get(column(5))?,
            attempts: row.try_get(column(6))?,
            fence: row.try_get(column(7))?,
            until: row.try_get(column(8))?,
            received_at: row.try_get(column(9))?,
            changed_at: row.try_get(column(10))?,
            expires_at: row.try_get(column(11))?,
            result: row.try_get(column(12))?,
        },
    };
    Ok(Some((mark, found)))
}

pub(super) fn text(row: &MySqlRow, column: usize) -> Result<String, StoreError> {
    String::from_utf8(row.try_get(column)?)
        .map_err(|error| StoreError::with_source(StoreErrorKind::Corrupt, error.utf8_error()))
}

/// MySQL's number for an error.
pub(super) fn number(error: &sqlx::Error) -> Option<u16> {
    let error = error.as_database_error()?;
    let error = error.try_downcast_ref::<sqlx::mysql::MySqlDatabaseError>()?;
    Some(error.number())
}
