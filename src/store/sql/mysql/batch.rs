//! Many claims by few statements.

use std::hash::{BuildHasher, RandomState};

use sqlx::{MySqlConnection, Row};

use crate::{
    event::EventKey,
    store::{
        BatchStore, Claim, Claiming, Fence, Receipt, Ruling, StoreError, StoreErrorKind,
        StoreFuture, StoredRow, bounded,
        sql::{
            server::{Alone, Attempt, BatchAsk, BatchLook, BatchSession, Looks},
            tx::TxMark,
        },
    },
};

use super::{
    MySqlStore,
    driver::{self, number, slot, stored},
    rows::Rows,
    session::{at, no_slot, not_autocommit},
    statements as sql,
};

impl BatchStore for MySqlStore {
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

/// What is seen of one event in a look beside its receipt.
#[derive(Debug)]
pub(in crate::store::sql) struct Mark {
    /// The highest fence of the rows that were deleted from its slot; nothing if that is missing.
    deleted: Option<i64>,
    /// The row's, if there is one.
    row: Option<i64>,
}

/// A row that is to be written, and its place in the answer.
pub(super) struct Wanted<'k> {
    pub(super) place: usize,
    pub(super) key: &'k EventKey,
    pub(super) receipt: Receipt,
    pub(super) is_new: bool,
    pub(super) mark: i64,
    /// The mark of the row that it is written over; for a new row, its slot's highest deleted fence.
    pub(super) old: i64,
}

/// How much of what was to be written was written.
enum Written {
    All,
    /// Not all, since somebody else was at some of them.
    Some,
    /// Nothing, since somebody else was faster.
    None,
}

impl BatchSession for MySqlConnection {
    type Mark = Mark;

    async fn find_many(
        &mut self,
        keys: &[&EventKey],
        now: Option<i64>,
    ) -> Result<Looks<Mark>, StoreError> {
        let rows = sqlx::query(sql::FIND_MANY)
            .bind(now)
            .bind(keys_text(keys.iter().copied()))
            .fetch_all(&mut *self)
            .await?;
        let mut looks = Looks {
            now: rows.first().ok_or_else(missing)?.try_get(0)?,
            each: keys.iter().map(|_| Err(missing())).collect(),
        };
        for row in &rows {
            if row.try_get::<i64, _>(2)? == 0 {
                return Err(not_autocommit());
            }
            driver::is_committed(row, 3)?;
            let place: i64 = row.try_get(1)?;
            let place = usize::try_from(place.saturating_sub(1)).map_err(|_| missing())?;
            let key = keys.get(place).ok_or_else(missing)?;
            let deleted = row.try_get(4)?;
            let look = stored(row, 5, key).map(|found| {
                let (row, stored) = found.unzip();
                let mark = Mark { deleted, row };
                BatchLook { stored, mark }
            });
            *looks.each.get_mut(place).ok_or_else(missing)? = look;
        }
        Ok(looks)
    }

    async fn claim_many(
        &mut self,
        asks: &[BatchAsk<'_, Mark>],
        now: Option<i64>,
    ) -> Result<Vec<Result<Attempt, StoreError>>, StoreError> {
        let mut attempts: Vec<_> = asks.iter().map(|_| Ok(Attempt::Refused)).collect();
        let (mut new, mut taken) = (Vec::new(), Vec::new());
        for (place, ask) in asks.iter().enumerate() {
            match wanted(place, ask, now) {
                Ok(Some(wanted)) if wanted.is_new => new.push(wanted),
                Ok(Some(wanted)) => taken.push(wanted),
                Ok(None) => {}
                Err(error) => answer(&mut attempts, place, Err(error)),
            }
        }
        for (statement, mut rows) in [(sql::CLAIM_NEW, new), (sql::TAKE_MANY, taken)] {
            // So that two of these take their locks in the same order.
            rows.sort_unstable_by_key(|wanted| *wanted.key.digest());
            write_all(self, statement, rows, &mut attempts).await;
        }
        Ok(attempts)
    }
}

/// The row that a claim would write, if it is to write one.
fn wanted<'k>(
    place: usize,
    ask: &BatchAsk<'k, Mark>,
    now: Option<i64>,
) -> Result<Option<Wanted<'k>>, StoreError> {
    let now = at(now.unwrap_or(ask.looked_at))?;
    let claiming = ask.claiming;
    let (receipt, old) = match (&ask.look.stored, ask.look.mark.row) {
        (Some(stored), Some(old)) => match stored.ruling(claiming, now) {
            Ruling::Take(row) | Ruling::Bury(row) => (driver::as_kept(&row)?, old),
            Ruling::Answer(_) => return Ok(None),
        },
        _ => {
            let deleted = ask.look.mark.deleted.ok_or_else(no_slot)?;
            (Receipt::first(claiming, now, Fence(deleted)), deleted)
        }
    };
    Ok(Some(Wanted {
        place,
        key: &claiming.key,
        receipt,
        is_new: ask.look.mark.row.is_none(),
        mark: driver::mark(ask.look.mark.row),
        old,
    }))
}

/// One of the two statements, and an answer for each of its rows. Errors are answers too: by the
/// time of the second statement the first one's rows are committed.
async fn write_all(
    connection: &mut MySqlConnection,
    statement: &'static str,
    rows: Vec<Wanted<'_>>,
    attempts: &mut [Result<Attempt, StoreError>],
) {
    if rows.is_empty() {
        return;
    }
    let left = match write(connection, statement, &rows).await {
        Ok(Written::All) => {
            wrote(rows, attempts);
            return;
        }
        Ok(Written::None) => return,
        Ok(Written::Some) => match sift(connection, rows).await {
            Ok((mine, left)) => {
                wrote(mine, attempts);
                left
            }
            Err((rows, error)) => return fail(&rows, error, attempts),
        },
        Err(error) => return fail(&rows, error, attempts),
    };
    if let Err(error) = hold(connection, &left, attempts).await {
        fail(&left, error, attempts);
    }
}

async fn write(
    connection: &mut MySqlConnection,
    statement: &'static str,
    rows: &[Wanted<'_>],
) -> Result<Written, StoreError> {
    let done = sqlx::query(statement)
        .bind(text(rows))
        .execute(&mut *connection)
        .await;
    match done {
        Ok(done) if usize::try_from(done.rows_affected()) == Ok(rows.len()) => Ok(Written::All),
        Ok(_) => Ok(Written::Some),
        // ER_DUP_ENTRY.
        Err(error) if number(&error) == Some(1062) => Ok(Written::None),
        Err(error) => {
            let error = StoreError::from(error);
            if error.kind() != StoreErrorKind::Serialization {
                return Err(error);
            }
            // Whoever it was has got on. The others are tried again, with what is there then.
            pause(connection).await?;
            Ok(Written::None)
        }
    }
}

/// The values of both statements. The first ones are the same.
fn text(rows: &[Wanted<'_>]) -> String {
    let mut text = Rows::default();
    for wanted in rows {
        let (key, row) = (wanted.key, StoredRow::of(&wanted.receipt));
        text.begin();
        text.bytes(key.digest());
        text.number(wanted.mark);
        text.bytes_or_null(row.result.as_deref());
        for number in [row.state, row.attempts, row.fence] {
            text.number(number);
        }
        text.number_or_null(row.until);
        text.number(row.changed_at);
        if wanted.is_new {
            text.number(slot(key));
            text.number(wanted.old);
            for name in [key.tenant(), key.provider(), key.id()] {
                text.bytes(name.as_bytes());
            }
            text.bytes(&row.fingerprint);
            text.number(row.received_at);
            text.number(row.expires_at);
        } else {
            text.number(wanted.old);
        }
        text.end();
    }
    text.finish()
}

pub(super) fn keys_text<'k>(keys: impl IntoIterator<Item = &'k EventKey>) -> String {
    let mut text = Rows::default();
    for key in keys {
        text.begin();
        text.bytes(key.digest());
        text.number(slot(key));
        text.end();
    }
    text.finish()
}

/// Those that were written, and the others.
type Sifted<'k> = (Vec<Wanted<'k>>, Vec<Wanted<'k>>);

/// Each write has a mark of its own, so that it can be told afterwards.
async fn sift<'k>(
    connection: &mut MySqlConnection,
    rows: Vec<Wanted<'k>>,
) -> Result<Sifted<'k>, (Vec<Wanted<'k>>, StoreError)> {
    let keys: Vec<_> = rows.iter().map(|wanted| wanted.key).collect();
    let looks = match connection.find_many(&keys, None).await {
        Ok(looks) => looks,
        Err(error) => return Err((rows, error)),
    };
    let (mut mine, mut left) = (Vec::new(), Vec::new());
    for (wanted, look) in rows.into_iter().zip(looks.each) {
        match look {
            Ok(look) if look.mark.row == Some(wanted.mark) => mine.push(wanted),
            _ => left.push(wanted),
        }
    }
    Ok((mine, left))
}

/// Tells whose transaction is in the way: that of somebody who is at the event, or at another one of
/// the same slot, or one that is over by now. The last two are tried again.
async fn hold(
    connection: &mut MySqlConnection,
    rows: &[Wanted<'_>],
    attempts: &mut [Result<Attempt, StoreError>],
) -> Result<(), StoreError> {
    let all = sqlx::query(sql::IS_FREE_MANY)
        .bind(keys_text(rows.iter().map(|wanted| wanted.key)))
        .execute(&mut *connection)
        .await;
    pause(connection).await?;
    if driver::is_not_locked(all)? {
        return Ok(());
    }
    for wanted in rows {
        if !driver::is_free(connection, wanted.key).await? {
            answer(attempts, wanted.place, Ok(Attempt::Held));
        }
    }
    Ok(())
}

/// A random while, so that those who got in each other's way do not do so again.
pub(super) async fn pause(connection: &mut MySqlConnection) -> Result<(), StoreError> {
    let random = RandomState::new().hash_one(()) & 0xf;
    sqlx::query(sql::PAUSE_FOR)
        .bind(random.cast_signed().saturating_add(3))
        .execute(connection)
        .await?;
    Ok(())
}

fn wrote(rows: Vec<Wanted<'_>>, attempts: &mut [Result<Attempt, StoreError>]) {
    for wanted in rows {
        let wrote = Attempt::Wrote(wanted.receipt, TxMark::Nowhere);
        answer(attempts, wanted.place, Ok(wrote));
    }
}

fn fail(rows: &[Wanted<'_>], error: StoreError, attempts: &mut [Result<Attempt, StoreError>]) {
    let kind = error.kind();
    let mut error = Some(error);
    for wanted in rows {
        let error = error.take().unwrap_or_else(|| StoreError::new(kind));
        answer(attempts, wanted.place, Err(error));
    }
}

fn answer(
    attempts: &mut [Result<Attempt, StoreError>],
    place: usize,
    answer: Result<Attempt, StoreError>,
) {
    if let Some(place) = attempts.get_mut(place) {
        *place = answer;
    }
}

fn missing() -> StoreError {
    StoreError::new(StoreErrorKind::Corrupt)
}
