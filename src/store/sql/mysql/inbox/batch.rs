//! Many deliveries in few transactions of the store's own.

use sqlx::{MySqlConnection, MySqlPool, Row};

use crate::{
    clock::from_micros,
    event::EventKey,
    inbox::{Accepted, BatchInbox, Parcel, bounded},
    store::{
        Fence, Receipt, StoreError, StoreErrorKind, StoreFuture,
        sql::server::{Asked, InboxLook, InboxLooks, InboxSession, Took, again, corrupt},
    },
};

use super::{
    super::{
        MySqlStore,
        batch::{Wanted, keys_text, pause},
        driver::{self, number, slot, stored},
        own::Own,
        rows::Rows,
        session::{no_slot, not_autocommit},
        statements::{self as receipts, inbox_batch as sql},
        writing,
    },
    rows,
};

/// Most bytes of bodies and headers in one statement, unless a single delivery is longer: 1 MiB. So
/// a batch needs no larger `max_allowed_packet` than its deliveries would alone.
const MOST_BYTES: usize = 1024 * 1024;

impl BatchInbox for MySqlStore {
    fn accept_many(
        &self,
        parcels: Vec<Parcel>,
    ) -> StoreFuture<'_, Result<Vec<Result<Accepted, StoreError>>, StoreError>> {
        Box::pin(async move {
            let parcels = bounded(parcels)?;
            self.verbs
                .accept_many(&mut Pooled(&self.pool), parcels)
                .await
        })
    }
}

/// The pool, since a connection with a transaction on it may have to be closed.
struct Pooled<'p>(&'p MySqlPool);

/// What is seen of one event in a look beside its receipt.
#[derive(Debug, Clone, Copy)]
struct Mark {
    /// The highest fence of the rows that were deleted from its slot; nothing if that is missing.
    deleted: Option<i64>,
    /// The row's, if there is one.
    row: Option<i64>,
}

type Ask = Asked<Mark>;

/// What came of those of one transaction, in their order.
type Done = Result<Vec<Result<Took, StoreError>>, StoreError>;

impl InboxSession for Pooled<'_> {
    type Mark = Mark;

    async fn look_at(
        &mut self,
        keys: &[&EventKey],
        now: Option<i64>,
    ) -> Result<InboxLooks<Mark>, StoreError> {
        let mut connection = self.0.acquire().await?;
        again!(look_at(&mut connection, keys, now))
    }

    /// New events in one transaction, the others in a second. Each goes through its rows in the order
    /// of the keys.
    async fn store_all(
        &mut self,
        asked: &[Ask],
        now: Option<i64>,
    ) -> Result<Vec<Result<Took, StoreError>>, StoreError> {
        let mut took: Vec<_> = asked.iter().map(|_| Ok(Took::Refused)).collect();
        let mut all: Vec<_> = asked.iter().enumerate().collect();
        all.sort_unstable_by_key(|(_, one)| *one.claiming.key.digest());
        let (new, old): (Vec<_>, Vec<_>) = all
            .into_iter()
            .partition(|(_, one)| one.look.stored.is_none());
        let mut is_committed = false;
        for (is_new, part) in [(true, new), (false, old)] {
            if part.is_empty() {
                continue;
            }
            let (places, some): (Vec<_>, Vec<_>) = part.into_iter().unzip();
            let done = match is_new {
                true => self.insert(&some, now).await,
                false => self.adopt(&some, now).await,
            };
            let done = match done {
                Ok(done) => done,
                // It has written nothing, and is tried again after a pause.
                Err(error) if error.kind() == StoreErrorKind::Serialization => {
                    pause(&mut *self.0.acquire().await?).await?;
                    continue;
                }
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

impl Pooled<'_> {
    /// Receipt, delivery and place in the queue of each event whose slot is free.
    async fn insert(&self, asked: &[&Ask], now: Option<i64>) -> Done {
        let mut wanted = Vec::with_capacity(asked.len());
        for (place, one) in asked.iter().enumerate() {
            wanted.push(received(place, one, now)?);
        }
        let mut own = Own::begin(self.0.acquire().await?).await?;
        let open = own.connection()?;
        let is_mine = lock_slots(open, &wanted).await?;
        let (mine, left): (Vec<_>, Vec<_>) = wanted
            .into_iter()
            .partition(|one| is_mine.get(one.place) == Some(&true));
        if mine.is_empty() || !insert_receipts(open, &mine).await? {
            let mut connection = own.rollback().await?;
            let mut took: Vec<_> = asked.iter().map(|_| Ok(Took::Refused)).collect();
            if mine.is_empty() {
                hold(&mut connection, &left, &mut took).await?;
            }
            return Ok(took);
        }
        let its = |one: &Wanted<'_>| asked.get(one.place).copied();
        let parked: Vec<_> = mine.iter().filter_map(its).collect();
        park(open, &parked, now).await?;
        enqueue(open, &parked, now).await?;
        let mut connection = own.commit().await?;
        let mut took: Vec<_> = asked.iter().map(|_| Ok(Took::Refused)).collect();
        for one in mine {
            let receipt = driver::as_kept(&one.receipt);
            answer(&mut took, one.place, receipt.map(Took::New));
        }
        // The others are committed, so an error is an answer.
        if let Err(error) = hold(&mut connection, &left, &mut took).await {
            let kind = error.kind();
            let mut error = Some(error);
            for one in &left {
                let error = error.take().unwrap_or_else(|| StoreError::new(kind));
                answer(&mut took, one.place, Err(error));
            }
        }
        Ok(took)
    }

    /// The deliveries of events that were claimed elsewhere and are not done. Their receipts are
    /// locked, those that are free, and stay as they are.
    async fn adopt(&self, asked: &[&Ask], now: Option<i64>) -> Done {
        let mut own = Own::begin(self.0.acquire().await?).await?;
        let open = own.connection()?;
        let mut took = Vec::with_capacity(asked.len());
        let mut parked = Vec::new();
        for one in asked {
            let (Some(stored), Some(mark)) = (&one.look.stored, one.look.mark.row) else {
                return Err(corrupt());
            };
            let key = &one.claiming.key;
            if !rows::hold(open, key, mark).await? {
                took.push(Ok(Took::Refused));
                continue;
            }
            if !rows::has_body(open, key).await? {
                parked.push(*one);
            }
            rows::enqueue(open, key, now.unwrap_or(one.looked_at)).await?;
            took.push(Ok(Took::Adopted(stored.clone())));
        }
        park(open, &parked, now).await?;
        let mut connection = own.commit().await?;
        for (one, took) in asked.iter().zip(&mut took) {
            if matches!(took, Ok(Took::Refused)) {
                match driver::is_free(&mut connection, &one.claiming.key).await {
                    Ok(true) => {}
                    Ok(false) => *took = Ok(Took::Held),
                    Err(error) => *took = Err(error),
                }
            }
        }
        Ok(took)
    }
}

async fn look_at(
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
fn received<'k>(place: usize, one: &'k Ask, now: Option<i64>) -> Result<Wanted<'k>, StoreError> {
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
async fn lock_slots(
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
async fn insert_receipts(
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

async fn park(
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

async fn enqueue(
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
async fn hold(
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
fn fail(asked: &[&Ask], error: StoreError) -> Vec<Result<Took, StoreError>> {
    let kind = error.kind();
    let mut error = Some(error);
    let mut next = || error.take().unwrap_or_else(|| StoreError::new(kind));
    asked.iter().map(|_| Err(next())).collect()
}

fn answer(took: &mut [Result<Took, StoreError>], place: usize, answer: Result<Took, StoreError>) {
    if let Some(place) = took.get_mut(place) {
        *place = answer;
    }
}
