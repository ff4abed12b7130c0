//! Many deliveries in few transactions of the store's own.

use sqlx::{MySqlConnection, MySqlPool, Row};

use crate::{
    clock::from_micros,
    event::EventKey,
    inbox::{Accepted, BatchInbox, Parcel, ParkedRow, bounded},
    store::{
        Fence, Receipt, StoreError, StoreErrorKind, StoreFuture,
        sql::server::{Asked, InboxLook, InboxLooks, InboxSession, Took, again, corrupt},
    },
};

use super::{
    super::{
        MySqlStore,
        batch::{Wanted, keys_text, pause, text},
        driver::{self, number, slot, stored},
        own::Own,
        rows::Rows,
        session::{no_slot, not_autocommit},
        statements::{self as receipts, inbox_batch as sql},
    },
    rows,
};

/// What goes into one statement of deliveries, in bytes of what is kept: so much at least, and a
/// delivery of this length or more has one of its own. The text of the statement is twice as long.
const AT_ONCE: usize = 256 * 1024;

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
        let of = |one: &Wanted<'_>| asked.get(one.place).copied();
        let parked: Vec<_> = mine.iter().filter_map(of).collect();
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

/// All of them, whose slots are locked; or none, if somebody else has inserted one since the look.
async fn insert_receipts(
    connection: &mut MySqlConnection,
    mine: &[Wanted<'_>],
) -> Result<bool, StoreError> {
    let done = sqlx::query(receipts::CLAIM_NEW)
        .bind(text(mine))
        .execute(connection)
        .await;
    match done {
        Ok(done) => Ok(usize::try_from(done.rows_affected()) == Ok(mine.len())),
        // ER_DUP_ENTRY.
        Err(error) if number(&error) == Some(1062) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// By as many statements as their length asks for. Long ones go as bytes, not as text, and so have
/// the same bound as they have alone.
async fn park(
    connection: &mut MySqlConnection,
    asked: &[&Ask],
    now: Option<i64>,
) -> Result<(), StoreError> {
    let (mut text, mut bytes) = (Rows::default(), 0_usize);
    for (at, one) in asked.iter().enumerate() {
        let (key, row) = (&one.claiming.key, &one.row);
        let accepted_at = now.unwrap_or(one.looked_at);
        let length = row.body.len().saturating_add(row.headers.len());
        if length >= AT_ONCE {
            let row = ParkedRow {
                accepted_at,
                ..row.clone()
            };
            rows::park(connection, key, &row).await?;
        } else {
            bytes = bytes.saturating_add(length);
            push(&mut text, key, row, accepted_at);
        }
        let is_last = at.saturating_add(1) == asked.len();
        if bytes >= AT_ONCE || (is_last && !text.is_empty()) {
            sqlx::query(sql::PARK_MANY)
                .bind(std::mem::take(&mut text).finish())
                .execute(&mut *connection)
                .await?;
            bytes = 0;
        }
    }
    Ok(())
}

fn push(text: &mut Rows, key: &EventKey, row: &ParkedRow, accepted_at: i64) {
    text.begin();
    text.bytes(key.digest());
    text.number(accepted_at);
    text.number(row.received_at);
    text.number_or_null(row.sent_at);
    text.number(row.coverage);
    text.bytes(key.tenant().as_bytes());
    text.bytes(row.scheme.as_bytes());
    for fact in [&row.event_type, &row.key_id, &row.delivery_id] {
        text.bytes_or_null(fact.as_deref().map(str::as_bytes));
    }
    text.bytes(&row.headers);
    text.bytes(&row.body);
    text.end();
}

async fn enqueue(
    connection: &mut MySqlConnection,
    asked: &[&Ask],
    now: Option<i64>,
) -> Result<(), StoreError> {
    let mut text = Rows::default();
    for one in asked {
        text.begin();
        text.bytes(one.claiming.key.digest());
        text.number(now.unwrap_or(one.looked_at));
        text.bytes(one.claiming.key.tenant().as_bytes());
        text.end();
    }
    let done = sqlx::query(sql::ENQUEUE_MANY)
        .bind(text.finish())
        .execute(&mut *connection)
        .await;
    match done {
        Ok(_) => Ok(()),
        // ER_DUP_ENTRY. A row was left over of a receipt that is gone; each by itself writes over it.
        Err(error) if number(&error) == Some(1062) => {
            for one in asked {
                let due = now.unwrap_or(one.looked_at);
                rows::enqueue(connection, &one.claiming.key, due).await?;
            }
            Ok(())
        }
        Err(error) => Err(error.into()),
    }
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
