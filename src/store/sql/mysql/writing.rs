//! The statements that write a whole row, or over one that is as it was read.

use sqlx::{MySql, MySqlConnection, mysql::MySqlArguments, query::Query};

use crate::store::{Receipt, State, StoreError, StoredRow};

use super::{
    driver::{number, slot},
    statements as sql,
};

/// What came of an insert on the pool.
#[derive(Debug)]
pub(super) enum Inserted {
    Yes,
    Known,
    /// Somebody is at an event of this slot, or has deleted one since the look.
    SlotTaken,
}

pub(super) async fn insert(
    connection: &mut MySqlConnection,
    receipt: &Receipt,
    mark: i64,
    deleted: i64,
) -> Result<Inserted, StoreError> {
    insert_by(connection, receipt, mark, slot(&receipt.key), deleted).await
}

/// For a slot that there is not, this is as good as the insert, except that it does nothing.
pub(super) async fn insert_by(
    connection: &mut MySqlConnection,
    receipt: &Receipt,
    mark: i64,
    slot: i64,
    deleted: i64,
) -> Result<Inserted, StoreError> {
    let inserted = row(sql::INSERT, receipt, mark)
        .bind(slot)
        .bind(deleted)
        .execute(connection)
        .await;
    match inserted {
        Ok(done) if done.rows_affected() == 0 => Ok(Inserted::SlotTaken),
        Ok(_) => Ok(Inserted::Yes),
        // ER_DUP_ENTRY. There is no transaction that could keep a lock from it.
        Err(error) if number(&error) == Some(1062) => Ok(Inserted::Known),
        Err(error) => Err(error.into()),
    }
}

pub(super) async fn ensure(
    connection: &mut MySqlConnection,
    receipt: &Receipt,
    mark: i64,
) -> Result<(), StoreError> {
    row(sql::ENSURE, receipt, mark).execute(connection).await?;
    Ok(())
}

/// Binds a whole row.
fn row(
    statement: &'static str,
    receipt: &Receipt,
    mark: i64,
) -> Query<'static, MySql, MySqlArguments> {
    bind_row(sqlx::query(statement), receipt, mark)
}

pub(super) fn bind_row(
    query: Query<'static, MySql, MySqlArguments>,
    receipt: &Receipt,
    mark: i64,
) -> Query<'static, MySql, MySqlArguments> {
    let (key, row) = (&receipt.key, StoredRow::of(receipt));
    query
        .bind(mark)
        .bind(key.digest().to_vec())
        .bind(slot(key))
        .bind(key.tenant().as_bytes().to_vec())
        .bind(key.provider().as_bytes().to_vec())
        .bind(key.id().as_bytes().to_vec())
        .bind(row.fingerprint)
        .bind(row.state)
        .bind(row.attempts)
        .bind(row.fence)
        .bind(row.until)
        .bind(row.received_at)
        .bind(row.changed_at)
        .bind(row.expires_at)
        .bind(row.result)
}

/// Writes over the row that was read with the mark `old`, if nobody has it locked.
pub(super) async fn take(
    connection: &mut MySqlConnection,
    receipt: &Receipt,
    mark: i64,
    old: i64,
) -> Result<bool, StoreError> {
    let row = StoredRow::of(receipt);
    let done = sqlx::query(sql::TAKE)
        .bind(receipt.key.digest().to_vec())
        .bind(old)
        .bind(mark)
        .bind(row.state)
        .bind(row.attempts)
        .bind(row.fence)
        .bind(row.until)
        .bind(row.changed_at)
        .bind(row.result)
        .execute(connection)
        .await?;
    Ok(done.rows_affected() == 1)
}

/// Writes over the row that was read with the mark `old`.
pub(super) async fn write(
    connection: &mut MySqlConnection,
    receipt: &Receipt,
    mark: i64,
    old: i64,
) -> Result<bool, StoreError> {
    let row = StoredRow::of(receipt);
    let done = sqlx::query(sql::WRITE)
        .bind(mark)
        .bind(row.state)
        .bind(row.attempts)
        .bind(row.fence)
        .bind(row.until)
        .bind(row.changed_at)
        .bind(row.result)
        .bind(receipt.key.digest().to_vec())
        .bind(old)
        .execute(connection)
        .await?;
    Ok(done.rows_affected() == 1)
}

/// What the holder of a lease writes, over the row that was read with the mark `old`. If the event is
/// in the inbox's queue, the queue follows: in the same statement as long as the event is not done.
pub(super) async fn change(
    connection: &mut MySqlConnection,
    receipt: &Receipt,
    old: i64,
    is_queued: bool,
    lasting: bool,
) -> Result<bool, StoreError> {
    let mark = super::driver::mark(Some(old));
    let ends = matches!(receipt.state, State::Processed | State::Dead);
    if is_queued && !ends {
        return write_queued(connection, receipt, mark, old).await;
    }
    if !write(connection, receipt, mark, old).await? {
        return Ok(false);
    }
    if is_queued {
        match unqueue(connection, receipt, mark).await {
            Err(error) if lasting => return Err(error),
            // It has ended, whatever comes of this. A row of the queue that is left over leaves it
            // when a worker looks.
            Ok(()) | Err(_) => {}
        }
    }
    Ok(true)
}

async fn write_queued(
    connection: &mut MySqlConnection,
    receipt: &Receipt,
    mark: i64,
    old: i64,
) -> Result<bool, StoreError> {
    let row = StoredRow::of(receipt);
    let done = sqlx::query(sql::WRITE_QUEUED)
        .bind(mark)
        .bind(row.state)
        .bind(row.attempts)
        .bind(row.fence)
        .bind(row.until)
        .bind(row.changed_at)
        .bind(row.result)
        .bind(row.until.unwrap_or(row.changed_at))
        .bind(receipt.key.digest().to_vec())
        .bind(old)
        .execute(connection)
        .await?;
    // The mark is another in any case, the time not, so it is one row or two.
    Ok(done.rows_affected() > 0)
}

/// Takes an event that has ended, and is as it was written with this mark, out of the queue.
pub(super) async fn unqueue(
    connection: &mut MySqlConnection,
    receipt: &Receipt,
    mark: i64,
) -> Result<(), StoreError> {
    sqlx::query(sql::UNQUEUE)
        .bind(receipt.key.digest().to_vec())
        .bind(mark)
        .execute(connection)
        .await?;
    Ok(())
}
