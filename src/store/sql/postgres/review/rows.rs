//! The statements of reviews on one connection: values in, rows out. Each is a transaction of its own.

use sqlx::{PgConnection, Row, postgres::PgRow};

use crate::{
    clock::{from_micros, micros_after},
    event::EventKey,
    inbox::ParkedRow,
    review::{Review, ReviewId, ReviewListing, ReviewPurge, ReviewRow, ReviewStatus, WithDelivery},
    store::{
        Claiming, Receipt, StoreError,
        sql::{
            review::FoundReview,
            server::{again, corrupt},
        },
    },
};

use super::super::{driver::stored, inbox::digest, statements::review as sql};

/// What came of a statement that admits an open review.
pub(super) struct Tried {
    /// Whether nobody else is at the event.
    pub(super) free: bool,
    /// When it was resolved, and the event's receipt.
    pub(super) written: Option<(time::OffsetDateTime, Receipt)>,
}

pub(super) async fn find(
    connection: &mut PgConnection,
    id: &ReviewId,
) -> Result<Option<Review>, StoreError> {
    again!(async {
        let row = sqlx::query(sql::FIND)
            .bind(id.to_string())
            .fetch_optional(&mut *connection)
            .await?;
        match row {
            Some(row) => found(&row)?.believed().map(|(review, _)| Some(review)),
            None => Ok(None),
        }
    })
}

pub(super) async fn find_whole(
    connection: &mut PgConnection,
    id: &ReviewId,
) -> Result<Option<WithDelivery>, StoreError> {
    again!(async {
        let row = sqlx::query(sql::FIND_WHOLE)
            .bind(id.to_string())
            .fetch_optional(&mut *connection)
            .await?;
        let Some(row) = row else { return Ok(None) };
        let mut found = found(&row)?;
        let delivery = &mut found.row.delivery;
        delivery.headers = row.try_get::<Option<_>, _>(19)?.unwrap_or_default();
        delivery.body = row.try_get::<Option<_>, _>(20)?.unwrap_or_default();
        found.with_delivery().map(Some)
    })
}

pub(super) async fn keep(
    connection: &mut PgConnection,
    review: &Review,
    row: &ReviewRow,
    now: Option<i64>,
) -> Result<Option<i64>, StoreError> {
    again!(async {
        let delivery = &row.delivery;
        let kept = sqlx::query(sql::KEEP)
            .bind(review.id.to_string())
            .bind(review.key.tenant())
            .bind(review.key.provider())
            .bind(review.key.id())
            .bind(row.reason)
            .bind(now)
            .bind(row.stored.as_deref())
            .bind(&*row.presented)
            .bind(row.retention)
            .bind(row.body_bytes)
            .bind(delivery.received_at)
            .bind(delivery.sent_at)
            .bind(delivery.coverage)
            .bind(&*delivery.scheme)
            .bind(delivery.event_type.as_deref())
            .bind(delivery.key_id.as_deref())
            .bind(delivery.delivery_id.as_deref())
            .bind(&*delivery.headers)
            .bind(&*delivery.body)
            .fetch_optional(&mut *connection)
            .await?;
        Ok(kept.map(|row| row.try_get(0)).transpose()?)
    })
}

type Query<'q> = sqlx::query::Query<'q, sqlx::Postgres, sqlx::postgres::PgArguments>;

/// The values that both ways of admitting have in common.
fn admission<'q>(
    statement: &'static str,
    id: &ReviewId,
    claiming: &'q Claiming,
    now: Option<i64>,
) -> Query<'q> {
    let key = &claiming.key;
    sqlx::query(statement)
        .bind(hex::encode(key.digest()))
        .bind(key.tenant())
        .bind(key.provider())
        .bind(key.id())
        .bind(claiming.fingerprint.as_bytes().as_slice())
        .bind(id.to_string())
        .bind(now)
}

pub(super) async fn admit_new(
    connection: &mut PgConnection,
    id: &ReviewId,
    claiming: &Claiming,
    now: Option<i64>,
) -> Result<Option<Tried>, StoreError> {
    again!(async {
        let row = admission(sql::ADMIT_NEW, id, claiming, now)
            .bind(micros_after(0, claiming.retention))
            .fetch_optional(&mut *connection)
            .await?;
        let Some(row) = row else { return Ok(None) };
        Ok(Some(Tried {
            free: row.try_get(0)?,
            written: written(&row, 1, &claiming.key)?,
        }))
    })
}

/// Nothing if the review is not open.
pub(super) async fn admit_known(
    connection: &mut PgConnection,
    id: &ReviewId,
    claiming: &Claiming,
    now: Option<i64>,
) -> Result<Option<Option<(time::OffsetDateTime, Receipt)>>, StoreError> {
    again!(async {
        let row = admission(sql::ADMIT_KNOWN, id, claiming, now)
            .fetch_optional(&mut *connection)
            .await?;
        row.map(|row| written(&row, 0, &claiming.key)).transpose()
    })
}

/// When the review was resolved, and the receipt behind that; nothing if it was not.
fn written(
    row: &PgRow,
    at: usize,
    key: &EventKey,
) -> Result<Option<(time::OffsetDateTime, Receipt)>, StoreError> {
    let receipt = stored(row, at.saturating_add(1), key)?;
    let resolved_at: Option<i64> = row.try_get(at)?;
    match (resolved_at, receipt) {
        (None, None) => Ok(None),
        (Some(at), Some(receipt)) => Ok(Some((from_micros(at).ok_or_else(corrupt)?, receipt))),
        _ => Err(corrupt()),
    }
}

pub(super) async fn discard(
    connection: &mut PgConnection,
    id: &ReviewId,
    now: Option<i64>,
) -> Result<Option<i64>, StoreError> {
    again!(async {
        let row = sqlx::query(sql::DISCARD)
            .bind(id.to_string())
            .bind(now)
            .fetch_optional(&mut *connection)
            .await?;
        Ok(row.map(|row| row.try_get(0)).transpose()?)
    })
}

pub(super) async fn list(
    connection: &mut PgConnection,
    listing: &ReviewListing,
) -> Result<Vec<Review>, StoreError> {
    let statement = match listing.status {
        ReviewStatus::Open => sql::LIST_OPEN,
        ReviewStatus::Admitted | ReviewStatus::Discarded => sql::LIST,
    };
    again!(async {
        let rows = sqlx::query(statement)
            .bind(listing.status.code())
            .bind(listing.after.map(|after| after.to_string()))
            .bind(i64::try_from(listing.limit).unwrap_or(i64::MAX))
            .fetch_all(&mut *connection)
            .await?;
        let review = |row: &PgRow| Ok(found(row)?.believed()?.0);
        rows.iter().map(review).collect()
    })
}

pub(super) async fn purge_some(
    connection: &mut PgConnection,
    purge: &ReviewPurge,
    now: Option<i64>,
) -> Result<i64, StoreError> {
    let statement = match purge.open {
        false => sql::PURGE_RESOLVED,
        true => sql::PURGE_OPEN,
    };
    again!(async {
        let row = sqlx::query(statement)
            .bind(now)
            .bind(micros_after(0, purge.age))
            .bind(i64::try_from(purge.limit).unwrap_or(i64::MAX))
            .fetch_one(&mut *connection)
            .await?;
        Ok(row.try_get(0)?)
    })
}

/// The review in the first columns, in the order of the statements.
fn found(row: &PgRow) -> Result<FoundReview, StoreError> {
    Ok(FoundReview {
        id: digest(row, 0)?,
        tenant: row.try_get(1)?,
        provider: row.try_get(2)?,
        event_id: row.try_get(3)?,
        row: ReviewRow {
            reason: row.try_get(4)?,
            status: row.try_get(5)?,
            stored: row.try_get(6)?,
            presented: row.try_get(7)?,
            retention: row.try_get(8)?,
            body_bytes: row.try_get(9)?,
            resolved_at: row.try_get(10)?,
            delivery: ParkedRow {
                accepted_at: row.try_get(11)?,
                received_at: row.try_get(12)?,
                sent_at: row.try_get(13)?,
                coverage: row.try_get(14)?,
                scheme: row.try_get(15)?,
                event_type: row.try_get(16)?,
                key_id: row.try_get(17)?,
                delivery_id: row.try_get(18)?,
                ..ParkedRow::default()
            },
        },
    })
}
