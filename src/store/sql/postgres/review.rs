//! Reviews, on the pool: each statement is a transaction of its own.

use sqlx::{PgConnection, Row, postgres::PgRow};

use crate::{
    clock::{from_micros, micros_after},
    event::EventKey,
    inbox::{Accepted, ParkedRow},
    review::{
        Admission, Case, Discarding, Kept, Review, ReviewId, ReviewListing, ReviewPurge, ReviewRow,
        ReviewStatus, ReviewStore, WithDelivery,
    },
    store::{
        Claim, Claiming, Receipt, Ruling, State, StoreError, StoreErrorKind, StoreFuture,
        sql::{
            review::FoundReview,
            server::{Alone, Session, TRIES, again, corrupt},
        },
    },
};

use super::{
    PostgresStore,
    driver::stored,
    inbox::{busy, digest},
    statements::review as sql,
};

/// What came of a statement that admits an open review.
struct Tried {
    /// Whether nobody else is at the event.
    free: bool,
    /// When it was resolved, and the event's receipt.
    written: Option<(time::OffsetDateTime, Receipt)>,
}

impl PostgresStore {
    async fn put_aside(&self, case: Case) -> Result<Kept, StoreError> {
        let id = case.id();
        let mut connection = self.pool.acquire().await?;
        let connection = &mut *connection;
        if let Some(known) = find(connection, &id).await? {
            return Ok(Kept::Known(known));
        }
        // The time is the server's, and comes with the statement.
        let (review, parked) = case.open(time::OffsetDateTime::UNIX_EPOCH);
        let row = ReviewRow::of(&review, parked);
        for _ in 0..TRIES {
            if let Some(kept_at) = keep(connection, &review, &row, self.verbs.now()).await? {
                let kept_at = from_micros(kept_at).ok_or_else(corrupt)?;
                return Ok(Kept::New(Review { kept_at, ..review }));
            }
            // It may have been purged since.
            if let Some(known) = find(connection, &id).await? {
                return Ok(Kept::Known(known));
            }
        }
        Err(StoreError::new(StoreErrorKind::Busy))
    }

    async fn let_in(&self, id: &ReviewId) -> Result<Admission, StoreError> {
        let mut connection = self.pool.acquire().await?;
        let connection = &mut *connection;
        for _ in 0..TRIES {
            let Some(review) = find(connection, id).await? else {
                return Ok(Admission::Unknown);
            };
            if !review.status.is_open() {
                return Ok(Admission::Resolved(review));
            }
            let claiming = review.claiming();
            let mut session = Alone(&mut *connection);
            let look = session.find(&claiming.key, self.verbs.now()).await?;
            let now = from_micros(look.now).ok_or_else(corrupt)?;
            let Some(known) = look.stored else {
                match admit_new(connection, id, &claiming, self.verbs.now()).await? {
                    Some(Tried {
                        written: Some((at, receipt)),
                        ..
                    }) => return Ok(Admission::of(&review, Accepted::New(receipt), at)),
                    Some(Tried { free: false, .. }) => {
                        return Ok(Admission::of(&review, busy(&claiming, None, now), now));
                    }
                    // Somebody has resolved it, or inserted the event, meanwhile.
                    Some(_) | None => continue,
                }
            };
            if let Ruling::Answer(Claim::Conflict(conflict)) = known.ruling(&claiming, now) {
                return Ok(Admission::of(&review, Accepted::Conflict(conflict), now));
            }
            if known.state == State::Dead {
                return Ok(Admission::of(&review, Accepted::Dead(known), now));
            }
            match admit_known(connection, id, &claiming, self.verbs.now()).await? {
                Some(Some((at, receipt))) => {
                    return Ok(Admission::of(&review, Accepted::Pending(receipt), at));
                }
                // Its row is locked, or has changed since.
                Some(None) => {
                    return Ok(Admission::of(
                        &review,
                        busy(&claiming, Some(known), now),
                        now,
                    ));
                }
                None => {}
            }
        }
        Err(StoreError::new(StoreErrorKind::Busy))
    }

    async fn turn_away(&self, id: &ReviewId) -> Result<Discarding, StoreError> {
        let mut connection = self.pool.acquire().await?;
        let connection = &mut *connection;
        for _ in 0..TRIES {
            let Some(review) = find(connection, id).await? else {
                return Ok(Discarding::Unknown);
            };
            if !review.status.is_open() {
                return Ok(Discarding::Resolved(review));
            }
            if let Some(at) = discard(connection, id, self.verbs.now()).await? {
                let at = from_micros(at).ok_or_else(corrupt)?;
                let discarded = review.resolved(ReviewStatus::Discarded, at);
                return Ok(Discarding::Discarded(discarded));
            }
        }
        Err(StoreError::new(StoreErrorKind::Busy))
    }

    async fn page_of_reviews(&self, listing: ReviewListing) -> Result<Vec<Review>, StoreError> {
        let mut connection = self.pool.acquire().await?;
        let rows = list(&mut connection, &listing).await?;
        let review = |row: &PgRow| Ok(found(row)?.believed()?.0);
        rows.iter().map(review).collect()
    }

    async fn find_whole(&self, id: &ReviewId) -> Result<Option<WithDelivery>, StoreError> {
        let mut connection = self.pool.acquire().await?;
        let Some(row) = find_whole(&mut connection, id).await? else {
            return Ok(None);
        };
        let mut found = found(&row)?;
        let delivery = &mut found.row.delivery;
        delivery.headers = row.try_get::<Option<_>, _>(19)?.unwrap_or_default();
        delivery.body = row.try_get::<Option<_>, _>(20)?.unwrap_or_default();
        found.with_delivery().map(Some)
    }

    async fn purge_some(&self, purge: ReviewPurge) -> Result<usize, StoreError> {
        let mut connection = self.pool.acquire().await?;
        let gone = purge_some(&mut connection, &purge, self.verbs.now()).await?;
        Ok(usize::try_from(gone).unwrap_or_default())
    }
}

async fn find(connection: &mut PgConnection, id: &ReviewId) -> Result<Option<Review>, StoreError> {
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

async fn find_whole(
    connection: &mut PgConnection,
    id: &ReviewId,
) -> Result<Option<PgRow>, StoreError> {
    again!(async {
        Ok(sqlx::query(sql::FIND_WHOLE)
            .bind(id.to_string())
            .fetch_optional(&mut *connection)
            .await?)
    })
}

async fn keep(
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

async fn admit_new(
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
async fn admit_known(
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

async fn discard(
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

async fn list(
    connection: &mut PgConnection,
    listing: &ReviewListing,
) -> Result<Vec<PgRow>, StoreError> {
    let statement = match listing.status {
        ReviewStatus::Open => sql::LIST_OPEN,
        ReviewStatus::Admitted | ReviewStatus::Discarded => sql::LIST,
    };
    again!(async {
        Ok(sqlx::query(statement)
            .bind(listing.status.code())
            .bind(listing.after.map(|after| after.to_string()))
            .bind(i64::try_from(listing.limit).unwrap_or(i64::MAX))
            .fetch_all(&mut *connection)
            .await?)
    })
}

async fn purge_some(
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

/// A table that is not this one shows here, and not in the first delivery.
pub(super) async fn probe(connection: &mut PgConnection) -> Result<(), StoreError> {
    find_whole(connection, &ReviewId::from_bytes([0; 16])).await?;
    Ok(())
}

impl ReviewStore for PostgresStore {
    fn keep(&self, case: Case) -> StoreFuture<'_, Result<Kept, StoreError>> {
        Box::pin(self.put_aside(case))
    }

    fn reviews(&self, listing: ReviewListing) -> StoreFuture<'_, Result<Vec<Review>, StoreError>> {
        Box::pin(self.page_of_reviews(listing))
    }

    fn review<'a>(
        &'a self,
        id: &'a ReviewId,
    ) -> StoreFuture<'a, Result<Option<WithDelivery>, StoreError>> {
        Box::pin(self.find_whole(id))
    }

    fn admit<'a>(&'a self, id: &'a ReviewId) -> StoreFuture<'a, Result<Admission, StoreError>> {
        Box::pin(self.let_in(id))
    }

    fn discard<'a>(&'a self, id: &'a ReviewId) -> StoreFuture<'a, Result<Discarding, StoreError>> {
        Box::pin(self.turn_away(id))
    }

    fn purge_reviews(&self, purge: ReviewPurge) -> StoreFuture<'_, Result<usize, StoreError>> {
        Box::pin(self.purge_some(purge))
    }
}
