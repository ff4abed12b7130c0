//! The statements of reviews on one connection: values in, rows out.

use sqlx::{MySqlConnection, Row, mysql::MySqlRow};

use crate::{
    clock::micros_after,
    event::EventKey,
    inbox::ParkedRow,
    review::{Review, ReviewId, ReviewListing, ReviewPurge, ReviewRow, ReviewStatus, WithDelivery},
    store::{
        StoreError,
        sql::{review::FoundReview, server::corrupt},
    },
};

use super::super::{driver, session::not_autocommit, statements::review as sql};

/// The columns of a session, before those of a review.
const AFTER_SESSION: usize = 3;

/// The time, on a session that can be believed and whose statements are transactions of their own.
fn time_of(row: &MySqlRow) -> Result<i64, StoreError> {
    driver::is_committed(row, 2)?;
    if row.try_get::<i64, _>(1)? == 0 {
        return Err(not_autocommit());
    }
    Ok(row.try_get(0)?)
}

pub(super) async fn session(
    connection: &mut MySqlConnection,
    now: Option<i64>,
) -> Result<i64, StoreError> {
    let row = sqlx::query(sql::SESSION)
        .bind(now)
        .fetch_one(connection)
        .await?;
    time_of(&row)
}

/// The time, and the review if there is one.
pub(super) async fn find(
    connection: &mut MySqlConnection,
    id: &ReviewId,
    now: Option<i64>,
) -> Result<(i64, Option<Review>), StoreError> {
    let row = sqlx::query(sql::FIND)
        .bind(now)
        .bind(id.as_bytes().as_slice())
        .fetch_one(connection)
        .await?;
    let found = found(&row, AFTER_SESSION)?;
    let review = found.map(FoundReview::believed).transpose()?;
    Ok((time_of(&row)?, review.map(|(review, _)| review)))
}

/// A row in any case, of whatever session.
pub(super) async fn whole(
    connection: &mut MySqlConnection,
    id: &ReviewId,
) -> Result<MySqlRow, StoreError> {
    let row = sqlx::query(sql::FIND_WHOLE)
        .bind(None::<i64>)
        .bind(id.as_bytes().as_slice())
        .fetch_one(connection)
        .await?;
    Ok(row)
}

pub(super) async fn find_whole(
    connection: &mut MySqlConnection,
    id: &ReviewId,
) -> Result<Option<WithDelivery>, StoreError> {
    let row = whole(connection, id).await?;
    time_of(&row)?;
    let Some(mut found) = found(&row, AFTER_SESSION)? else {
        return Ok(None);
    };
    let delivery = &mut found.row.delivery;
    delivery.headers = row.try_get::<Option<_>, _>(22)?.unwrap_or_default();
    delivery.body = row.try_get::<Option<_>, _>(23)?.unwrap_or_default();
    found.with_delivery().map(Some)
}

/// Whether it was not there.
pub(super) async fn keep(
    connection: &mut MySqlConnection,
    review: &Review,
    row: &ReviewRow,
) -> Result<bool, StoreError> {
    let (key, delivery) = (&review.key, &row.delivery);
    let inserted = sqlx::query(sql::KEEP)
        .bind(review.id.as_bytes().as_slice())
        .bind(key.tenant().as_bytes())
        .bind(key.provider().as_bytes())
        .bind(key.id().as_bytes())
        .bind(row.reason)
        .bind(row.stored.as_deref())
        .bind(&*row.presented)
        .bind(row.retention)
        .bind(row.body_bytes)
        .bind(delivery.accepted_at)
        .bind(delivery.received_at)
        .bind(delivery.sent_at)
        .bind(delivery.coverage)
        .bind(delivery.scheme.as_bytes())
        .bind(delivery.event_type.as_deref().map(str::as_bytes))
        .bind(delivery.key_id.as_deref().map(str::as_bytes))
        .bind(delivery.delivery_id.as_deref().map(str::as_bytes))
        .bind(&*delivery.headers)
        .bind(&*delivery.body)
        .execute(connection)
        .await;
    match inserted {
        Ok(_) => Ok(true),
        // ER_DUP_ENTRY. There is no transaction that could keep a lock from it.
        Err(error) if driver::number(&error) == Some(1062) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

pub(super) async fn list(
    connection: &mut MySqlConnection,
    listing: &ReviewListing,
) -> Result<Vec<Review>, StoreError> {
    // Nothing sorts before every id.
    let after = listing.after.as_ref().map(ReviewId::as_bytes);
    let rows = sqlx::query(sql::LIST)
        .bind(listing.status.code())
        .bind(after.map_or(&[][..], |after| after.as_slice()))
        .bind(i64::try_from(listing.limit).unwrap_or(i64::MAX))
        .fetch_all(connection)
        .await?;
    let review = |row: &MySqlRow| Ok(found(row, 0)?.ok_or_else(corrupt)?.believed()?.0);
    rows.iter().map(review).collect()
}

/// Whether the review is open, and now locked, with its delivery in the inbox.
pub(super) async fn park(
    connection: &mut MySqlConnection,
    id: &ReviewId,
    key: &EventKey,
    now: i64,
) -> Result<bool, StoreError> {
    let done = sqlx::query(sql::PARK)
        .bind(key.digest().as_slice())
        .bind(now)
        .bind(id.as_bytes().as_slice())
        .execute(connection)
        .await?;
    Ok(done.rows_affected() == 1)
}

/// Whether it was open.
pub(super) async fn resolve(
    connection: &mut MySqlConnection,
    id: &ReviewId,
    status: ReviewStatus,
    now: i64,
) -> Result<bool, StoreError> {
    let done = sqlx::query(sql::RESOLVE)
        .bind(status.code())
        .bind(now)
        .bind(id.as_bytes().as_slice())
        .execute(connection)
        .await?;
    // The status is another in any case.
    Ok(done.rows_affected() == 1)
}

pub(super) async fn purge(
    connection: &mut MySqlConnection,
    purge: &ReviewPurge,
    now: i64,
) -> Result<usize, StoreError> {
    let statement = match purge.open {
        false => sql::PURGE_RESOLVED,
        true => sql::PURGE_OPEN,
    };
    let done = sqlx::query(statement)
        .bind(now.saturating_sub(micros_after(0, purge.age)))
        .bind(i64::try_from(purge.limit).unwrap_or(i64::MAX))
        .execute(connection)
        .await?;
    Ok(usize::try_from(done.rows_affected()).unwrap_or_default())
}

/// The review in the columns from `at` on, in the order of the statements; nothing if they are all
/// null.
fn found(row: &MySqlRow, at: usize) -> Result<Option<FoundReview>, StoreError> {
    let column = |number: usize| at.saturating_add(number);
    let Some(id) = row.try_get::<Option<Vec<u8>>, _>(column(0))? else {
        return Ok(None);
    };
    let maybe = |number: usize| match row.try_get::<Option<Vec<u8>>, _>(column(number))? {
        Some(_) => driver::text(row, column(number)).map(Some),
        None => Ok(None),
    };
    Ok(Some(FoundReview {
        id,
        tenant: driver::text(row, column(1))?,
        provider: driver::text(row, column(2))?,
        event_id: driver::text(row, column(3))?,
        row: ReviewRow {
            reason: row.try_get(column(4))?,
            status: row.try_get(column(5))?,
            stored: row.try_get(column(6))?,
            presented: row.try_get(column(7))?,
            retention: row.try_get(column(8))?,
            body_bytes: row.try_get(column(9))?,
            resolved_at: row.try_get(column(10))?,
            delivery: ParkedRow {
                accepted_at: row.try_get(column(11))?,
                received_at: row.try_get(column(12))?,
                sent_at: row.try_get(column(13))?,
                coverage: row.try_get(column(14))?,
                scheme: driver::text(row, column(15))?,
                event_type: maybe(16)?,
                key_id: maybe(17)?,
                delivery_id: maybe(18)?,
                ..ParkedRow::default()
            },
        },
    }))
}
