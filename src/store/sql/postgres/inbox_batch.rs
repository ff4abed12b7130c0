//! Many deliveries by few statements.

use sqlx::{PgConnection, Postgres, Row, pool::PoolConnection, postgres::PgRow};

use crate::{
    clock::micros_after,
    event::EventKey,
    inbox::{Accepted, BatchInbox, Parcel, bounded},
    store::{
        StoreError, StoreFuture,
        sql::server::{Asked, InboxLook, InboxLooks, InboxSession, Took, again, corrupt},
    },
};

use super::{PostgresStore, batch::place, driver::stored, statements::inbox_batch as sql};

impl BatchInbox for PostgresStore {
    fn accept_many(
        &self,
        parcels: Vec<Parcel>,
    ) -> StoreFuture<'_, Result<Vec<Result<Accepted, StoreError>>, StoreError>> {
        Box::pin(async move {
            let parcels = bounded(parcels)?;
            let mut session = Pooled(self.pool.acquire().await?);
            self.verbs.accept_many(&mut session, parcels).await
        })
    }
}

/// A connection on which each statement is a transaction of its own.
struct Pooled(PoolConnection<Postgres>);

impl InboxSession for Pooled {
    /// The statements look again.
    type Mark = ();

    async fn look_at(
        &mut self,
        keys: &[&EventKey],
        now: Option<i64>,
    ) -> Result<InboxLooks<()>, StoreError> {
        again!(look_at(&mut self.0, keys, now))
    }

    async fn store_all(
        &mut self,
        asked: &[Asked<()>],
        now: Option<i64>,
    ) -> Result<Vec<Result<Took, StoreError>>, StoreError> {
        let mut took: Vec<_> = asked.iter().map(|_| Ok(Took::Refused)).collect();
        let is_new = |at: &usize| asked.get(*at).is_some_and(|one| one.look.stored.is_none());
        let (new, old): (Vec<_>, Vec<_>) = (0..asked.len()).partition(is_new);
        let mut is_committed = false;
        for (statement, places) in [(sql::ACCEPT_MANY, new), (sql::ADOPT_MANY, old)] {
            if places.is_empty() {
                continue;
            }
            let some: Vec<_> = places.iter().filter_map(|at| asked.get(*at)).collect();
            let done = match store(&mut self.0, statement, &some, now).await {
                Ok(done) => done,
                Err(error) if is_committed => fail(&some, error),
                Err(error) => return Err(error),
            };
            is_committed = true;
            for (at, one) in places.into_iter().zip(done) {
                if let Some(place) = took.get_mut(at) {
                    *place = one;
                }
            }
        }
        Ok(took)
    }
}

async fn look_at(
    connection: &mut PgConnection,
    keys: &[&EventKey],
    now: Option<i64>,
) -> Result<InboxLooks<()>, StoreError> {
    let digests: Vec<_> = keys.iter().map(|key| hex::encode(key.digest())).collect();
    let rows = sqlx::query(sql::LOOK_AT)
        .bind(digests)
        .bind(now)
        .fetch_all(connection)
        .await?;
    let mut looks = InboxLooks {
        now: rows.first().ok_or_else(corrupt)?.try_get(0)?,
        each: keys.iter().map(|_| Err(corrupt())).collect(),
    };
    for row in &rows {
        let (place, key) = place(row.try_get(1)?, keys, &mut looks.each)?;
        let is_queued = row.try_get(2)?;
        *place = stored(row, 3, key).map(|stored| InboxLook {
            stored,
            is_queued,
            mark: (),
        });
    }
    Ok(looks)
}

/// One of the two statements, and an answer for each event.
async fn store(
    connection: &mut PgConnection,
    statement: &'static str,
    asked: &[&Asked<()>],
    now: Option<i64>,
) -> Result<Vec<Result<Took, StoreError>>, StoreError> {
    let keys: Vec<_> = asked.iter().map(|one| &one.claiming.key).collect();
    let rows: Vec<PgRow> = run(connection, statement, asked, now).await?;
    // What has no row could not be locked.
    let mut took: Vec<_> = keys.iter().map(|_| Ok(Took::Held)).collect();
    for row in &rows {
        let (place, key) = place(row.try_get(0)?, &keys, &mut took)?;
        if statement == sql::ADOPT_MANY {
            *place =
                stored(row, 1, key).and_then(|old| Ok(Took::Adopted(old.ok_or_else(corrupt)?)));
            continue;
        }
        let free: bool = row.try_get(1)?;
        *place = stored(row, 2, key).map(|new| match new {
            Some(receipt) => Took::New(receipt),
            None if free => Took::Refused,
            None => Took::Held,
        });
    }
    Ok(took)
}

/// The numbers of both statements.
async fn run(
    connection: &mut PgConnection,
    statement: &'static str,
    asked: &[&Asked<()>],
    now: Option<i64>,
) -> Result<Vec<PgRow>, StoreError> {
    fn all<'a, T>(asked: &[&'a Asked<()>], value: fn(&'a Asked<()>) -> T) -> Vec<T> {
        asked.iter().map(|one| value(one)).collect()
    }
    again!(async {
        Ok(sqlx::query(statement)
            .bind(all(asked, |one| hex::encode(one.claiming.key.digest())))
            .bind(all(asked, |one| one.claiming.key.tenant()))
            .bind(all(asked, |one| one.claiming.key.provider()))
            .bind(all(asked, |one| one.claiming.key.id()))
            .bind(all(asked, |one| &one.claiming.fingerprint.as_bytes()[..]))
            .bind(now)
            .bind(all(asked, |one| one.row.received_at))
            .bind(all(asked, |one| one.row.sent_at))
            .bind(all(asked, |one| one.row.coverage))
            .bind(all(asked, |one| &*one.row.scheme))
            .bind(all(asked, |one| one.row.event_type.as_deref()))
            .bind(all(asked, |one| one.row.key_id.as_deref()))
            .bind(all(asked, |one| one.row.delivery_id.as_deref()))
            .bind(all(asked, |one| &*one.row.headers))
            .bind(all(asked, |one| &*one.row.body))
            .bind(all(asked, |one| micros_after(0, one.claiming.retention)))
            .fetch_all(&mut *connection)
            .await?)
    })
}

/// The error for each of them.
fn fail(asked: &[&Asked<()>], error: StoreError) -> Vec<Result<Took, StoreError>> {
    let kind = error.kind();
    let mut error = Some(error);
    let mut next = || error.take().unwrap_or_else(|| StoreError::new(kind));
    asked.iter().map(|_| Err(next())).collect()
}
