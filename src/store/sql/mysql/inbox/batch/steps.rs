//! What a batch of deliveries does on one connection, step by step.

use sqlx::{MySqlConnection, Row};

use crate::{
    clock::from_micros,
    event::EventKey,
    store::{
        Fence, Receipt, StoreError,
        sql::server::{InboxLook, InboxLooks, Took, corrupt},
    },
};

use super::{
    super::super::{
        batch::{Wanted, keys_text, pause},
        driver::{self, number, slot, stored},
        inbox::rows,
        rows::Rows,
        session::{no_slot, not_autocommit},
        statements::{self as receipts, inbox_batch as sql},
        writing,
    },
    Ask, Mark,
};

/// Most bytes of bodies and headers in one statement, unless a single delivery is longer: 1 MiB. So
/// a batch needs no larger `max_allowed_packet` than its deliveries would alone.
const MOST_BYTES: usize = 1024 * 1024;

pub(super) async fn look_at(
    connection: &mut MySqlConnection,
    keys: &[&EventKey],
    now: Option<i64>,
) -> Result<InboxLooks<Mark>, StoreError> {
    let rows = sqlx::query(sql::LOOK_AT)
        .bind(now)
        .bind(keys_text(keys.iter().copied()))
        .fetch_all(connection)
        .await?;
    let mut looks = InboxLooks {
        now: rows.first().ok_or_else(corrupt)?.try_get(0)?,
        each: keys.iter().map(|_| Err(corrupt())).collect(),
    };
    for row in &rows {
        if row.try_get::<i64, _>(2)? == 0 {
            return Err(not_autocommit());
        }
        driver::is_committed(row, 3)?;
        let place = place(row.try_get(1)?)?;
        let key = keys.get(place).ok_or_else(corrupt)?;
        let deleted = row.try_get(4)?;
        let is_queued = row.try_get::<i64, _>(5)? != 0;
        let look = stored(row, 6, key).map(|found| {
            let (row, stored) = found.unzip();
            InboxLook {
                stored,
                is_queued,
                mark: Mark { deleted, row },
            }
        });
        *looks.each.get_mut(place).ok_or_else(corrupt)? = look;
    }
    Ok(looks)
}

/// The receipt of a new event.
pub(super) fn received<'k>(
    place: usize,
    one: &'k Ask,
    now: Option<i64>,
) -> Result<Wanted<'k>, StoreError> {
    let now = from_micros(now.unwrap_or(one.looked_at)).ok_or_else(corrupt)?;
    let deleted = one.look.mark.deleted.ok_or_else(no_slot)?;
    Ok(Wanted {
        place,
        key: &one.claiming.key,
        receipt: Receipt::received(&one.claiming, now, Fence(deleted)),
        is_new: true,
        mark: driver::mark(None),
        old: deleted,
    })
}

/// For each whether its slot is locked now, by this transaction.
pub(super) async fn lock_slots(
    connection: &mut MySqlConnection,
    wanted: &[Wanted<'_>],
) -> Result<Vec<bool>, StoreError> {
    let mut text = Rows::default();
    for one in wanted {
        text.begin();
        text.number(slot(one.key));
        text.number(one.old);
        text.end();
    }
    let rows = sqlx::query(sql::LOCK_SLOTS)
        .bind(text.finish())
        .fetch_all(connection)
        .await?;
    let mut is_mine = vec![false; wanted.len()];
    for row in rows {
        let place = place(row.try_get(0)?)?;
        *is_mine.get_mut(place).ok_or_else(corrupt)? = true;
    }
    Ok(is_mine)
}

/// Takes off the front what goes into one statement: which of the three it is, and its rows.
fn next<'r, T>(left: &mut &'r [T], bytes: impl Fn(&T) -> usize) -> Option<(usize, &'r [T])> {
    let fits = |some: &[T]| some.iter().map(&bytes).fold(0, usize::saturating_add) <= MOST_BYTES;
    for (which, rows) in sql::AT_ONCE.into_iter().enumerate() {
        if let Some((some, rest)) = left.split_at_checked(rows)
            && fits(some)
        {
            *left = rest;
            return Some((which, some));
        }
    }
    let (some, rest) = left.split_at_checked(1)?;
    *left = rest;
    Some((sql::AT_ONCE.len(), some))
}

fn of(statements: &[&'static str; 3], which: usize) -> Result<&'static str, StoreError> {
    statements.get(which).copied().ok_or_else(corrupt)
}

/// All of them, whose slots are locked; or not all, if somebody else has inserted one since the look.
pub(super) async fn insert_receipts(
    connection: &mut MySqlConnection,
    mine: &[Wanted<'_>],
) -> Result<bool, StoreError> {
    let mut left = mine;
    while let Some((which, some)) = next(&mut left, |_| 0) {
        let mut insert = sqlx::query(of(&sql::RECEIVE, which)?);
        for one in some {
            insert = writing::bind_row(insert, &one.receipt, one.mark);
        }
        match insert.execute(&mut *connection).await {
            Ok(_) => {}
            // ER_DUP_ENTRY.
            Err(error) if number(&error) == Some(1062) => return Ok(false),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(true)
}

pub(super) async fn park(
    connection: &mut MySqlConnection,
    asked: &[&Ask],
    now: Option<i64>,
) -> Result<(), StoreError> {
    let bytes = |one: &&Ask| one.row.body.len().saturating_add(one.row.headers.len());
    let mut left = asked;
    while let Some((which, some)) = next(&mut left, bytes) {
        let mut park = sqlx::query(of(&sql::PARK, which)?);
        for one in some {
            let accepted_at = now.unwrap_or(one.looked_at);
            park = rows::bind_delivery(park, &one.claiming.key, &one.row, accepted_at);
        }
        park.execute(&mut *connection).await?;
    }
    Ok(())
}

pub(super) async fn enqueue(
    connection: &mut MySqlConnection,
    asked: &[&Ask],
    now: Option<i64>,
) -> Result<(), StoreError> {
    let mut left = asked;
    while let Some((which, some)) = next(&mut left, |_| 0) {
        let mut enqueue = sqlx::query(of(&sql::ENQUEUE, which)?);
        for one in some {
            enqueue = enqueue
                .bind(one.claiming.key.digest().as_slice())
                .bind(now.unwrap_or(one.looked_at))
                .bind(one.claiming.key.tenant().as_bytes());
        }
        match enqueue.execute(&mut *connection).await {
            Ok(_) => {}
            // ER_DUP_ENTRY. A row was left over of a receipt that is gone; each by itself writes over
            // it.
            Err(error) if number(&error) == Some(1062) => {
                for one in some {
                    let due = now.unwrap_or(one.looked_at);
                    rows::enqueue(connection, &one.claiming.key, due).await?;
                }
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Tells whose transaction is in the way: that of somebody who is at the event, or at another one of
/// the same slot, or one that is over by now. The last two are tried again.
pub(super) async fn hold(
    connection: &mut MySqlConnection,
    left: &[Wanted<'_>],
    took: &mut [Result<Took, StoreError>],
) -> Result<(), StoreError> {
    if left.is_empty() {
        return Ok(());
    }
    let all = sqlx::query(receipts::IS_FREE_MANY)
        .bind(keys_text(left.iter().map(|one| one.key)))
        .execute(&mut *connection)
        .await;
    pause(connection).await?;
    if driver::is_not_locked(all)? {
        return Ok(());
    }
    for one in left {
        if !driver::is_free(connection, one.key).await? {
            answer(took, one.place, Ok(Took::Held));
        }
    }
    Ok(())
}

/// A place, counted from 1 by the server.
fn place(number: i64) -> Result<usize, StoreError> {
    usize::try_from(number.saturating_sub(1)).map_err(|_| corrupt())
}

/// The error for each of them.
pub(super) fn fail(asked: &[&Ask], error: StoreError) -> Vec<Result<Took, StoreError>> {
    let kind = error.kind();
    let mut error = Some(error);
    let mut next = || error.take().unwrap_or_else(|| StoreError::new(kind));
    asked.iter().map(|_| Err(next())).collect()
}

pub(super) fn answer(
    took: &mut [Result<Took, StoreError>],
    place: usize,
    answer: Result<Took, StoreError>,
) {
    if let Some(place) = took.get_mut(place) {
        *place = answer;
    }
}
