//! The statements on one connection: values in, rows out.

use sqlx::{
    MySql, MySqlConnection, Row,
    mysql::{MySqlArguments, MySqlRow},
    query::Query,
};

use crate::{
    clock::micros_after,
    event::EventKey,
    inbox::{Dropping, Listing, Parked, ParkedRow},
    store::{Receipt, State, StoreError, sql::server::corrupt},
};

use super::super::{
    driver::{self, Marked},
    statements::inbox as sql,
};

/// Locks the receipt that was read with this mark, if it still is that and is free.
pub(in super::super) async fn hold(
    connection: &mut MySqlConnection,
    key: &EventKey,
    mark: i64,
) -> Result<bool, StoreError> {
    let row = sqlx::query(sql::HOLD)
        .bind(key.digest().as_slice())
        .bind(mark)
        .fetch_optional(connection)
        .await?;
    Ok(row.is_some())
}

/// Locks the receipt, and waits for it.
pub(super) async fn wait_for(
    connection: &mut MySqlConnection,
    key: &EventKey,
) -> Result<Option<Marked>, StoreError> {
    let row = sqlx::query(sql::WAIT_FOR)
        .bind(key.digest().as_slice())
        .fetch_optional(connection)
        .await?;
    match row {
        Some(row) => driver::stored(&row, 0, key),
        None => Ok(None),
    }
}

pub(in super::super) async fn has_body(
    connection: &mut MySqlConnection,
    key: &EventKey,
) -> Result<bool, StoreError> {
    let row = sqlx::query(sql::HAS_BODY)
        .bind(key.digest().as_slice())
        .fetch_one(connection)
        .await?;
    Ok(row.try_get::<i64, _>(0)? != 0)
}

pub(super) async fn park(
    connection: &mut MySqlConnection,
    key: &EventKey,
    row: &ParkedRow,
) -> Result<(), StoreError> {
    bind_delivery(sqlx::query(sql::PARK), key, row, row.accepted_at)
        .execute(connection)
        .await?;
    Ok(())
}

/// The columns of a delivery.
pub(super) fn bind_delivery<'q>(
    query: Query<'q, MySql, MySqlArguments>,
    key: &'q EventKey,
    row: &'q ParkedRow,
    accepted_at: i64,
) -> Query<'q, MySql, MySqlArguments> {
    query
        .bind(key.digest().as_slice())
        .bind(accepted_at)
        .bind(row.received_at)
        .bind(row.sent_at)
        .bind(row.coverage)
        .bind(key.tenant().as_bytes())
        .bind(row.scheme.as_bytes())
        .bind(row.event_type.as_deref().map(str::as_bytes))
        .bind(row.key_id.as_deref().map(str::as_bytes))
        .bind(row.delivery_id.as_deref().map(str::as_bytes))
        .bind(&*row.headers)
        .bind(&*row.body)
}

pub(in super::super) async fn enqueue(
    connection: &mut MySqlConnection,
    key: &EventKey,
    due: i64,
) -> Result<(), StoreError> {
    let inserted = sqlx::query(sql::ENQUEUE)
        .bind(key.digest().as_slice())
        .bind(due)
        .bind(key.tenant().as_bytes())
        .execute(&mut *connection)
        .await;
    match inserted {
        Ok(_) => Ok(()),
        // ER_DUP_ENTRY. Who else would write it has to have the receipt's lock.
        Err(error) if driver::number(&error) == Some(1062) => {
            sqlx::query(sql::REQUEUE)
                .bind(due)
                .bind(key.digest().as_slice())
                .execute(connection)
                .await?;
            Ok(())
        }
        Err(error) => Err(error.into()),
    }
}

pub(super) async fn list(
    connection: &mut MySqlConnection,
    listing: &Listing,
) -> Result<Vec<Receipt>, StoreError> {
    let statement = match listing.state {
        State::Processed | State::Dead => sql::LIST,
        State::Received | State::InProgress | State::Failed => sql::LIST_QUEUED,
    };
    // Nothing sorts before every key.
    let after = if listing.is_first {
        &[][..]
    } else {
        &listing.after
    };
    let rows = sqlx::query(statement)
        .bind(listing.state.code())
        .bind(after)
        .bind(i64::try_from(listing.limit).unwrap_or(i64::MAX))
        .fetch_all(connection)
        .await?;
    let receipt = |row: &MySqlRow| {
        let (_, found) = driver::found(row, 1)?.ok_or_else(corrupt)?;
        found.receipt_under(row.try_get(0)?)
    };
    rows.iter().map(receipt).collect()
}

pub(super) async fn find_parked(
    connection: &mut MySqlConnection,
    key: &EventKey,
) -> Result<Option<Parked>, StoreError> {
    let row = sqlx::query(sql::PARKED)
        .bind(key.digest().as_slice())
        .fetch_optional(connection)
        .await?;
    let Some(row) = row else {
        return Ok(None);
    };
    driver::stored(&row, 10, key)?;
    let parked = parked(&row, 0)?.ok_or_else(corrupt)?;
    parked.into_parked(key.clone()).map(Some)
}

pub(super) async fn drop_bodies(
    connection: &mut MySqlConnection,
    dropping: &Dropping,
    now: i64,
) -> Result<usize, StoreError> {
    let age = micros_after(0, dropping.age);
    let done = sqlx::query(sql::DROP_BODIES)
        .bind(now.saturating_sub(age))
        .bind(i64::from(dropping.dead_too))
        .bind(i64::try_from(dropping.limit).unwrap_or(i64::MAX))
        .execute(connection)
        .await?;
    Ok(usize::try_from(done.rows_affected()).unwrap_or_default())
}

/// The delivery in the columns from `at` on; nothing if they are all null.
pub(super) fn parked(row: &MySqlRow, at: usize) -> Result<Option<ParkedRow>, StoreError> {
    let column = |number: usize| at.saturating_add(number);
    let Some(accepted_at) = row.try_get::<Option<i64>, _>(column(0))? else {
        return Ok(None);
    };
    let maybe = |number: usize| match row.try_get::<Option<Vec<u8>>, _>(column(number))? {
        Some(_) => driver::text(row, column(number)).map(Some),
        None => Ok(None),
    };
    Ok(Some(ParkedRow {
        accepted_at,
        received_at: row.try_get(column(1))?,
        sent_at: row.try_get(column(2))?,
        coverage: row.try_get(column(3))?,
        scheme: driver::text(row, column(4))?,
        event_type: maybe(5)?,
        key_id: maybe(6)?,
        delivery_id: maybe(7)?,
        headers: row.try_get(column(8))?,
        body: row.try_get(column(9))?,
    }))
}
