//! Many deliveries in few transactions of the store's own.

mod steps;

use sqlx::{MySqlConnection, MySqlPool};

use crate::{
    event::EventKey,
    inbox::{Accepted, BatchInbox, Parcel, bounded},
    store::{
        StoreError, StoreErrorKind, StoreFuture,
        sql::server::{Asked, InboxLooks, InboxSession, Took, again, corrupt},
    },
};

use super::{
    super::{
        MySqlStore,
        batch::{Wanted, pause},
        driver,
        own::{End, Own},
    },
    Steps, rows,
};

use steps::{answer, enqueue, fail, hold, insert_receipts, lock_slots, look_at, park, received};

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
        let steps = insert(own.connection()?, asked, wanted, now).await;
        let (Inserting { mine, left }, mut connection) = own.end(steps).await?;
        let mut took: Vec<_> = asked.iter().map(|_| Ok(Took::Refused)).collect();
        let is_committed = !mine.is_empty();
        for one in mine {
            let receipt = driver::as_kept(&one.receipt);
            answer(&mut took, one.place, receipt.map(Took::New));
        }
        match hold(&mut connection, &left, &mut took).await {
            // The others are committed, so an error is an answer.
            Err(error) if is_committed => {
                let kind = error.kind();
                let mut error = Some(error);
                for one in &left {
                    let error = error.take().unwrap_or_else(|| StoreError::new(kind));
                    answer(&mut took, one.place, Err(error));
                }
            }
            held => held?,
        }
        Ok(took)
    }

    /// The deliveries of events that were claimed elsewhere and are not done. Their receipts are
    /// locked, those that are free, and stay as they are.
    async fn adopt(&self, asked: &[&Ask], now: Option<i64>) -> Done {
        let mut own = Own::begin(self.0.acquire().await?).await?;
        let steps = adopt(own.connection()?, asked, now).await;
        let (mut took, mut connection) = own.end(steps).await?;
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

/// Whose events are inserted, and whose slots somebody else has. Neither, if all are to be looked at
/// again.
#[derive(Default)]
struct Inserting<'k> {
    mine: Vec<Wanted<'k>>,
    left: Vec<Wanted<'k>>,
}

async fn insert<'k>(
    open: &mut MySqlConnection,
    asked: &[&Ask],
    wanted: Vec<Wanted<'k>>,
    now: Option<i64>,
) -> Steps<Inserting<'k>> {
    let is_mine = lock_slots(open, &wanted).await?;
    let (mine, left): (Vec<_>, Vec<_>) = wanted
        .into_iter()
        .partition(|one| is_mine.get(one.place) == Some(&true));
    if mine.is_empty() {
        return Ok(End::Rollback(Inserting { mine, left }));
    }
    if !insert_receipts(open, &mine).await? {
        return Ok(End::Rollback(Inserting::default()));
    }
    let its = |one: &Wanted<'_>| asked.get(one.place).copied();
    let parked: Vec<_> = mine.iter().filter_map(its).collect();
    park(open, &parked, now).await?;
    enqueue(open, &parked, now).await?;
    Ok(End::Commit(Inserting { mine, left }))
}

async fn adopt(
    open: &mut MySqlConnection,
    asked: &[&Ask],
    now: Option<i64>,
) -> Steps<Vec<Result<Took, StoreError>>> {
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
    Ok(End::Commit(took))
}
