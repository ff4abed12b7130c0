//! The statements on one connection: values in, rows out, nothing in between.

use sqlx::{
    Connection, PgConnection, Postgres, Row,
    postgres::{PgArguments, PgRow},
    query::Query,
};

use crate::{
    clock::micros_after,
    event::EventKey,
    store::{
        Claiming, Receipt, State, StoreError, StoredRow,
        sql::{
            found::Found,
            server::{Ask, Attempt, Change, Changed, Look, Session},
            tx::TxMark,
        },
        verdict::TOO_MANY_ATTEMPTS,
    },
};

use super::statements as sql;

impl Session for PgConnection {
    /// When the transaction began, by the server's clock: tells one from the next. Nothing where that
    /// need not be asked.
    type Seen = Option<i64>;

    fn knows(mark: &TxMark) -> bool {
        mark.number().is_some()
    }

    fn is_alone(_: &Option<i64>) -> Result<(), StoreError> {
        Ok(())
    }

    /// `sqlx` counts those that it has begun.
    fn is_lasting(&self) -> bool {
        self.is_in_transaction()
    }

    async fn find(
        &mut self,
        key: &EventKey,
        now: Option<i64>,
    ) -> Result<Look<Option<i64>>, StoreError> {
        let row = sqlx::query(sql::FIND)
            .bind(hex::encode(key.digest()))
            .bind(now)
            .fetch_one(&mut *self)
            .await?;
        Ok(Look {
            now: row.try_get(0)?,
            seen: row.try_get(1)?,
            stored: stored(&row, 2, key)?,
        })
    }

    async fn find_or_insert(
        &mut self,
        claiming: &Claiming,
        now: Option<i64>,
    ) -> Result<(Look<Option<i64>>, Option<Attempt>), StoreError> {
        let row = match first(sql::CLAIM_NEW, claiming, now)
            .fetch_one(&mut *self)
            .await
        {
            Ok(row) => row,
            // What is known can be told all the same, unless a transaction has failed with this.
            Err(error) if is_reader(&error) && !self.is_in_transaction() => {
                return Ok((self.find(&claiming.key, now).await?, None));
            }
            Err(error) => return Err(error.into()),
        };
        let mut look = Look {
            now: row.try_get(1)?,
            stored: None,
            seen: None,
        };
        let receipt = stored(&row, 3, &claiming.key)?;
        let attempt = match (receipt, row.try_get::<Option<bool>, _>(0)?) {
            (Some(receipt), _) => match row.try_get(2)? {
                Some(tx) => Some(Attempt::Wrote(receipt, TxMark::Number(tx))),
                None => {
                    look.stored = Some(receipt);
                    None
                }
            },
            (None, Some(true)) => Some(Attempt::Refused),
            (None, _) => Some(Attempt::Held),
        };
        Ok((look, attempt))
    }

    async fn claim(&mut self, ask: &Ask<'_, Option<i64>>) -> Result<Attempt, StoreError> {
        let claiming = ask.claiming;
        let key = &claiming.key;
        let row = first(sql::CLAIM, claiming, ask.now)
            .bind(i64::from(claiming.max_attempts))
            .bind(TOO_MANY_ATTEMPTS)
            .bind(ask.look.seen.filter(|_| ask.lasting))
            .fetch_one(&mut *self)
            .await?;
        let Some(free) = row.try_get::<Option<bool>, _>(0)? else {
            return Ok(Attempt::NoTransaction);
        };
        Ok(match stored(&row, 2, key)? {
            Some(receipt) => Attempt::Wrote(receipt, TxMark::Number(row.try_get(1)?)),
            None if free => Attempt::Refused,
            None => Attempt::Held,
        })
    }

    async fn change(&mut self, change: &Change<'_>) -> Result<Changed, StoreError> {
        let statement = match change.state {
            State::Processed | State::Dead => sql::END,
            State::Received | State::InProgress | State::Failed => sql::CHANGE,
        };
        let row = sqlx::query(statement)
            .bind(hex::encode(change.key.digest()))
            .bind(change.fence)
            .bind(change.state.code())
            .bind(change.wait)
            .bind((!change.result.is_empty()).then_some(&*change.result))
            .bind(change.now)
            .bind(change.transaction.and_then(TxMark::number))
            .fetch_one(&mut *self)
            .await?;
        Ok(Changed {
            here: row.try_get(0)?,
            written: stored(&row, 1, change.key)?,
        })
    }

    async fn forget(&mut self, key: &EventKey) -> Result<Option<Receipt>, StoreError> {
        let row = sqlx::query(sql::FORGET)
            .bind(hex::encode(key.digest()))
            .fetch_optional(&mut *self)
            .await?;
        match row {
            Some(row) => stored(&row, 1, key),
            None => Ok(None),
        }
    }

    async fn purge(&mut self, now: Option<i64>, at_most: i64) -> Result<i64, StoreError> {
        let row = sqlx::query(sql::PURGE)
            .bind(now)
            .bind(at_most)
            .fetch_one(&mut *self)
            .await?;
        Ok(row.try_get(0)?)
    }
}

/// Whether this was refused because the session may only read: by its rights, or on a standby.
fn is_reader(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|error| error.code());
    matches!(code.as_deref(), Some("42501" | "25006"))
}

/// Binds what a new row is made of.
fn first<'q>(
    statement: &'static str,
    claiming: &'q Claiming,
    now: Option<i64>,
) -> Query<'q, Postgres, PgArguments> {
    let key = &claiming.key;
    sqlx::query(statement)
        .bind(hex::encode(key.digest()))
        .bind(key.tenant())
        .bind(key.provider())
        .bind(key.id())
        .bind(claiming.fingerprint.as_bytes().as_slice())
        .bind(now)
        .bind(micros_after(0, claiming.lease))
        .bind(micros_after(0, claiming.retention))
}

/// The receipt in the columns from `at` on, in the order of the statements; nothing if they are
/// all null.
pub(super) fn stored(
    row: &PgRow,
    at: usize,
    key: &EventKey,
) -> Result<Option<Receipt>, StoreError> {
    let found = found(row, at)?;
    found.map(|found| found.receipt_of(key)).transpose()
}

pub(super) fn found(row: &PgRow, at: usize) -> Result<Option<Found>, StoreError> {
    let column = |number: usize| at.saturating_add(number);
    let Some(tenant) = row.try_get::<Option<String>, _>(column(0))? else {
        return Ok(None);
    };
    Ok(Some(Found {
        tenant,
        provider: row.try_get(column(1))?,
        event_id: row.try_get(column(2))?,
        row: StoredRow {
            fingerprint: row.try_get(column(3))?,
            state: row.try_get(column(4))?,
            attempts: row.try_get(column(5))?,
            fence: row.try_get(column(6))?,
            until: row.try_get(column(7))?,
            received_at: row.try_get(column(8))?,
            changed_at: row.try_get(column(9))?,
            expires_at: row.try_get(column(10))?,
            result: row.try_get(column(11))?,
        },
    }))
}
