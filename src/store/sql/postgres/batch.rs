//! Many claims by one statement.

use sqlx::{PgConnection, Row};

use crate::{
    clock::micros_after,
    event::EventKey,
    store::{
        BatchStore, Claim, Claiming, StoreError, StoreErrorKind, StoreFuture, bounded,
        sql::{
            server::{Alone, Attempt, BatchAsk, BatchLook, BatchSession, Looks},
            tx::TxMark,
        },
        verdict::TOO_MANY_ATTEMPTS,
    },
};

use super::{PostgresStore, driver::stored, statements as sql};

impl BatchStore for PostgresStore {
    fn claim_many(
        &self,
        claimings: Vec<Claiming>,
    ) -> StoreFuture<'_, Result<Vec<Result<Claim, StoreError>>, StoreError>> {
        Box::pin(async move {
            let claimings = bounded(claimings)?;
            let mut connection = self.pool.acquire().await?;
            let mut session = Alone(&mut *connection);
            self.verbs.claim_many(&mut session, claimings).await
        })
    }
}

impl BatchSession for PgConnection {
    /// The statement looks again.
    type Mark = ();

    async fn find_many(
        &mut self,
        keys: &[&EventKey],
        now: Option<i64>,
    ) -> Result<Looks<()>, StoreError> {
        let digests: Vec<_> = keys.iter().map(|key| hex::encode(key.digest())).collect();
        let rows = sqlx::query(sql::FIND_MANY)
            .bind(digests)
            .bind(now)
            .fetch_all(&mut *self)
            .await?;
        let mut looks = Looks {
            now: rows.first().ok_or_else(missing)?.try_get(0)?,
            each: keys.iter().map(|_| Err(missing())).collect(),
        };
        for row in &rows {
            let (place, key) = place(row.try_get(1)?, keys, &mut looks.each)?;
            *place = stored(row, 2, key).map(|stored| BatchLook { stored, mark: () });
        }
        Ok(looks)
    }

    async fn claim_many(
        &mut self,
        asks: &[BatchAsk<'_, ()>],
        now: Option<i64>,
    ) -> Result<Vec<Result<Attempt, StoreError>>, StoreError> {
        let each = |value: fn(&EventKey) -> String| -> Vec<String> {
            asks.iter().map(|ask| value(&ask.claiming.key)).collect()
        };
        let number = |value: fn(&Claiming) -> i64| -> Vec<i64> {
            asks.iter().map(|ask| value(ask.claiming)).collect()
        };
        let content = asks
            .iter()
            .map(|ask| ask.claiming.fingerprint.as_bytes().to_vec());
        let rows = sqlx::query(sql::CLAIM_MANY)
            .bind(each(|key| hex::encode(key.digest())))
            .bind(each(|key| key.tenant().to_owned()))
            .bind(each(|key| key.provider().to_owned()))
            .bind(each(|key| key.id().to_owned()))
            .bind(content.collect::<Vec<_>>())
            .bind(number(|asked| micros_after(0, asked.lease)))
            .bind(number(|asked| micros_after(0, asked.retention)))
            .bind(number(|asked| asked.max_attempts.into()))
            .bind(now)
            .bind(TOO_MANY_ATTEMPTS)
            .fetch_all(&mut *self)
            .await?;
        let keys: Vec<_> = asks.iter().map(|ask| &ask.claiming.key).collect();
        let mut attempts: Vec<_> = keys.iter().map(|_| Err(missing())).collect();
        for row in &rows {
            let (place, key) = place(row.try_get(0)?, &keys, &mut attempts)?;
            let free: bool = row.try_get(1)?;
            *place = stored(row, 2, key).map(|written| match written {
                Some(receipt) => Attempt::Wrote(receipt, TxMark::Nowhere),
                None if free => Attempt::Refused,
                None => Attempt::Held,
            });
        }
        Ok(attempts)
    }
}

/// The place of an answer and the key that it is about. Rows come in any order.
fn place<'a, T>(
    number: i64,
    keys: &[&'a EventKey],
    places: &'a mut [T],
) -> Result<(&'a mut T, &'a EventKey), StoreError> {
    let at = usize::try_from(number.saturating_sub(1)).map_err(|_| missing())?;
    let place = places.get_mut(at).ok_or_else(missing)?;
    Ok((place, keys.get(at).ok_or_else(missing)?))
}

fn missing() -> StoreError {
    StoreError::new(StoreErrorKind::Corrupt)
}
