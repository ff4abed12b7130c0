//! The inbox, on the pool: each statement is a transaction of its own.

use sqlx::{PgConnection, Row, postgres::PgRow};

use crate::{
    clock::{from_micros, micros_after},
    event::EventKey,
    inbox::{
        Accepted, Dropping, InboxStore, Leased, Leasing, Listing, Parcel, Parked, ParkedRow,
        Requeued,
    },
    store::{
        Claim, Claiming, Lease, Receipt, Ruling, State, StoreError, StoreErrorKind, StoreFuture,
        sql::server::{Alone, Session, TRIES, again, corrupt, held},
        verdict::{NO_BODY, TOO_MANY_ATTEMPTS},
    },
};

use super::{
    PostgresStore,
    driver::{found, stored},
    statements::inbox as sql,
};

impl PostgresStore {
    async fn receive(&self, parcel: Parcel) -> Result<Accepted, StoreError> {
        let mut connection = self.pool.acquire().await?;
        let connection = &mut *connection;
        let claiming = parcel.claiming().clone();
        // The time of acceptance is the server's, and comes with the statement.
        let row = ParkedRow::of(parcel.park(time::OffsetDateTime::UNIX_EPOCH));
        for _ in 0..TRIES {
            let mut session = Alone(&mut *connection);
            let look = session.find(&claiming.key, self.verbs.now()).await?;
            let now = from_micros(look.now).ok_or_else(corrupt)?;
            let Some(stored) = look.stored else {
                let (free, new) = self.insert(connection, &claiming, &row).await?;
                match new {
                    Some(receipt) => return Ok(Accepted::New(receipt)),
                    None if free => continue,
                    None => return Ok(busy(&claiming, None, now)),
                }
            };
            if let Ruling::Answer(Claim::Conflict(conflict)) = stored.ruling(&claiming, now) {
                return Ok(Accepted::Conflict(conflict));
            }
            match stored.state {
                State::Processed => return Ok(Accepted::Duplicate(stored)),
                State::Dead => return Ok(Accepted::Dead(stored)),
                State::Received | State::InProgress | State::Failed => {}
            }
            if is_queued(connection, &claiming.key).await? {
                return Ok(Accepted::Pending(stored));
            }
            return Ok(match self.adopt(connection, &claiming, &row).await? {
                Some(receipt) => Accepted::Pending(receipt),
                None => busy(&claiming, Some(stored), now),
            });
        }
        Err(StoreError::new(StoreErrorKind::Busy))
    }

    async fn insert(
        &self,
        connection: &mut PgConnection,
        claiming: &Claiming,
        row: &ParkedRow,
    ) -> Result<(bool, Option<Receipt>), StoreError> {
        again!(async {
            let row = delivery(sql::ACCEPT, claiming, self.verbs.now(), row)
                .bind(micros_after(0, claiming.retention))
                .fetch_one(&mut *connection)
                .await?;
            Ok((row.try_get(0)?, stored(&row, 1, &claiming.key)?))
        })
    }

    async fn adopt(
        &self,
        connection: &mut PgConnection,
        claiming: &Claiming,
        row: &ParkedRow,
    ) -> Result<Option<Receipt>, StoreError> {
        again!(async {
            let row = delivery(sql::ADOPT, claiming, self.verbs.now(), row)
                .fetch_optional(&mut *connection)
                .await?;
            match row {
                Some(row) => stored(&row, 0, &claiming.key),
                None => Ok(None),
            }
        })
    }

    async fn lease(&self, leasing: Leasing) -> Result<Leased, StoreError> {
        let limit = i64::try_from(leasing.limit()).unwrap_or(i64::MAX);
        let mut connection = self.pool.acquire().await?;
        let rows = lease_due(&mut connection, &leasing, limit, self.verbs.now()).await?;
        drop(connection);
        let mut leased = Leased::default();
        for row in &rows {
            leased.more = row.try_get::<i64, _>(0)? == limit && limit > 0;
            match read(row) {
                Ok(None) => {}
                Ok(Some((receipt, _))) if receipt.state == State::Dead => {
                    leased.buried.push(receipt);
                }
                Ok(Some((receipt, Some(parked)))) => {
                    let claiming = leasing.claiming(&receipt);
                    let lease = Lease::issue(claiming, &receipt, self.verbs.on_abandoned.clone());
                    leased.events.push((lease, parked));
                }
                // It is leased and comes again by the lease's end, until its attempts are over.
                Ok(Some((_, None))) | Err(_) => {
                    leased.unreadable = leased.unreadable.saturating_add(1);
                }
            }
        }
        leased.events.sort_by_key(|(_, parked)| parked.accepted_at);
        Ok(leased)
    }

    async fn send_back(&self, key: &EventKey) -> Result<Requeued, StoreError> {
        let mut connection = self.pool.acquire().await?;
        let connection = &mut *connection;
        let (has_body, written) = send_back(connection, key, self.verbs.now()).await?;
        if let Some(receipt) = written {
            return Ok(Requeued::Waiting(receipt));
        }
        let look = Alone(connection).find(key, self.verbs.now()).await?;
        Ok(match look.stored {
            None => Requeued::Unknown,
            Some(receipt) if matches!(receipt.state, State::Failed | State::Dead) && !has_body => {
                Requeued::NoBody(receipt)
            }
            Some(receipt) => Requeued::NotFailed(receipt),
        })
    }

    async fn page(&self, listing: Listing) -> Result<Vec<Receipt>, StoreError> {
        let mut connection = self.pool.acquire().await?;
        let rows = list(&mut connection, &listing).await?;
        let receipt = |row: &PgRow| {
            let found = found(row, 0)?.ok_or_else(corrupt)?;
            found.receipt_under(&digest(row, 12)?)
        };
        rows.iter().map(receipt).collect()
    }

    async fn find_parked(&self, key: &EventKey) -> Result<Option<Parked>, StoreError> {
        let mut connection = self.pool.acquire().await?;
        let Some(row) = find_parked(&mut connection, key).await? else {
            return Ok(None);
        };
        stored(&row, 0, key)?;
        let parked = parked(&row, 12)?.ok_or_else(corrupt)?;
        parked.into_parked(key.clone()).map(Some)
    }

    async fn drop_some(&self, dropping: Dropping) -> Result<usize, StoreError> {
        let mut connection = self.pool.acquire().await?;
        let gone = drop_bodies(&mut connection, &dropping, self.verbs.now()).await?;
        Ok(usize::try_from(gone).unwrap_or_default())
    }
}

type Query<'q> = sqlx::query::Query<'q, sqlx::Postgres, sqlx::postgres::PgArguments>;

/// The values that both ways into the inbox have in common.
fn delivery<'q>(
    statement: &'static str,
    claiming: &'q Claiming,
    now: Option<i64>,
    row: &'q ParkedRow,
) -> Query<'q> {
    let key = &claiming.key;
    sqlx::query(statement)
        .bind(hex::encode(key.digest()))
        .bind(key.tenant())
        .bind(key.provider())
        .bind(key.id())
        .bind(claiming.fingerprint.as_bytes().as_slice())
        .bind(now)
        .bind(row.received_at)
        .bind(row.sent_at)
        .bind(row.coverage)
        .bind(&*row.scheme)
        .bind(row.event_type.as_deref())
        .bind(row.key_id.as_deref())
        .bind(row.delivery_id.as_deref())
        .bind(&*row.headers)
        .bind(&*row.body)
}

async fn is_queued(connection: &mut PgConnection, key: &EventKey) -> Result<bool, StoreError> {
    again!(async {
        let row = sqlx::query(sql::IS_QUEUED)
            .bind(hex::encode(key.digest()))
            .fetch_one(&mut *connection)
            .await?;
        Ok(row.try_get(0)?)
    })
}

async fn lease_due(
    connection: &mut PgConnection,
    leasing: &Leasing,
    limit: i64,
    now: Option<i64>,
) -> Result<Vec<PgRow>, StoreError> {
    again!(async {
        Ok(sqlx::query(sql::LEASE_DUE)
            .bind(now)
            .bind(limit)
            .bind(micros_after(0, leasing.lease))
            .bind(i64::from(leasing.max_attempts))
            .bind(TOO_MANY_ATTEMPTS)
            .bind(NO_BODY)
            .fetch_all(&mut *connection)
            .await?)
    })
}

async fn send_back(
    connection: &mut PgConnection,
    key: &EventKey,
    now: Option<i64>,
) -> Result<(bool, Option<Receipt>), StoreError> {
    again!(async {
        let row = sqlx::query(sql::REQUEUE)
            .bind(hex::encode(key.digest()))
            .bind(now)
            .fetch_one(&mut *connection)
            .await?;
        Ok((row.try_get(0)?, stored(&row, 1, key)?))
    })
}

async fn list(connection: &mut PgConnection, listing: &Listing) -> Result<Vec<PgRow>, StoreError> {
    let statement = match listing.state {
        State::Processed | State::Dead => sql::LIST,
        State::Received | State::InProgress | State::Failed => sql::LIST_QUEUED,
    };
    again!(async {
        Ok(sqlx::query(statement)
            .bind(listing.state.code())
            .bind((!listing.is_first).then(|| hex::encode(listing.after)))
            .bind(i64::try_from(listing.limit).unwrap_or(i64::MAX))
            .fetch_all(&mut *connection)
            .await?)
    })
}

async fn find_parked(
    connection: &mut PgConnection,
    key: &EventKey,
) -> Result<Option<PgRow>, StoreError> {
    again!(async {
        Ok(sqlx::query(sql::PARKED)
            .bind(hex::encode(key.digest()))
            .fetch_optional(&mut *connection)
            .await?)
    })
}

async fn drop_bodies(
    connection: &mut PgConnection,
    dropping: &Dropping,
    now: Option<i64>,
) -> Result<i64, StoreError> {
    again!(async {
        let row = sqlx::query(sql::DROP_BODIES)
            .bind(now)
            .bind(micros_after(0, dropping.age))
            .bind(dropping.dead_too)
            .bind(i64::try_from(dropping.limit).unwrap_or(i64::MAX))
            .fetch_one(&mut *connection)
            .await?;
        Ok(row.try_get(0)?)
    })
}

/// A receipt that was written, if any, and its delivery.
fn read(row: &PgRow) -> Result<Option<(Receipt, Option<Parked>)>, StoreError> {
    let Some(found) = found(row, 1)? else {
        return Ok(None);
    };
    let receipt = found.receipt_under(&digest(row, 24)?)?;
    let parked = parked(row, 14)?
        .map(|parked| parked.into_parked(receipt.key.clone()))
        .transpose()?;
    Ok(Some((receipt, parked)))
}

/// The delivery in the columns from `at` on; nothing if they are all null.
fn parked(row: &PgRow, at: usize) -> Result<Option<ParkedRow>, StoreError> {
    let column = |number: usize| at.saturating_add(number);
    let Some(accepted_at) = row.try_get::<Option<i64>, _>(column(0))? else {
        return Ok(None);
    };
    Ok(Some(ParkedRow {
        accepted_at,
        received_at: row.try_get(column(1))?,
        sent_at: row.try_get(column(2))?,
        coverage: row.try_get(column(3))?,
        scheme: row.try_get(column(4))?,
        event_type: row.try_get(column(5))?,
        key_id: row.try_get(column(6))?,
        delivery_id: row.try_get(column(7))?,
        headers: row.try_get(column(8))?,
        body: row.try_get(column(9))?,
    }))
}

/// The bytes of a key that is given as text.
pub(super) fn digest(row: &PgRow, at: usize) -> Result<Vec<u8>, StoreError> {
    let text: String = row.try_get(at)?;
    hex::decode(text.replace('-', "")).map_err(|_| corrupt())
}

/// Somebody's open transaction has it.
pub(super) fn busy(
    claiming: &Claiming,
    stored: Option<Receipt>,
    now: time::OffsetDateTime,
) -> Accepted {
    match held(claiming, stored, now) {
        Claim::InProgress {
            retry_after,
            receipt,
        } => Accepted::InProgress {
            retry_after,
            receipt,
        },
        // What is held is in progress.
        Claim::New(_) | Claim::Duplicate(_) | Claim::Conflict(_) | Claim::Dead(_) => {
            Accepted::InProgress {
                retry_after: std::time::Duration::from_secs(1),
                receipt: Receipt::received(claiming, now, crate::store::Fence(0)),
            }
        }
    }
}

/// A table that is not this one shows here, and not in the first delivery.
pub(super) async fn probe(connection: &mut PgConnection) -> Result<(), StoreError> {
    let nobody = EventKey::nameless([0; 16]);
    let none = Leasing::up_to(0);
    find_parked(connection, &nobody).await?;
    lease_due(connection, &none, 0, None).await?;
    Ok(())
}

impl InboxStore for PostgresStore {
    fn accept(&self, parcel: Parcel) -> StoreFuture<'_, Result<Accepted, StoreError>> {
        Box::pin(self.receive(parcel))
    }

    fn lease_due(&self, leasing: Leasing) -> StoreFuture<'_, Result<Leased, StoreError>> {
        Box::pin(self.lease(leasing))
    }

    fn requeue<'a>(&'a self, key: &'a EventKey) -> StoreFuture<'a, Result<Requeued, StoreError>> {
        Box::pin(self.send_back(key))
    }

    fn list(&self, listing: Listing) -> StoreFuture<'_, Result<Vec<Receipt>, StoreError>> {
        Box::pin(self.page(listing))
    }

    fn parked<'a>(
        &'a self,
        key: &'a EventKey,
    ) -> StoreFuture<'a, Result<Option<Parked>, StoreError>> {
        Box::pin(self.find_parked(key))
    }

    fn drop_bodies(&self, dropping: Dropping) -> StoreFuture<'_, Result<usize, StoreError>> {
        Box::pin(self.drop_some(dropping))
    }
}
