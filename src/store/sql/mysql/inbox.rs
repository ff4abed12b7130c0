//! The inbox, on the pool.

use sqlx::{MySql, MySqlConnection, pool::PoolConnection};

use crate::{
    clock::{from_micros, micros},
    event::EventKey,
    inbox::{
        Accepted, Dropping, InboxStore, Leased, Leasing, Listing, Parcel, Parked, ParkedRow,
        Requeued,
    },
    store::{
        Claim, Claiming, Fence, Receipt, Ruling, State, StoreError, StoreErrorKind, StoreFuture,
        sql::server::{Alone, Look, Session, TRIES, again, busy, corrupt},
    },
};

use super::{
    MySqlStore,
    driver::{self, Seen},
    own::{End, Own},
    session::{no_slot, not_autocommit},
    statements::inbox as sql,
    writing::{self, Inserted},
};

mod batch;
mod leasing;
pub(super) mod rows;

/// What one try came to: an answer, or that somebody else has written since the look.
pub(super) type Tried<T> = Result<Option<T>, StoreError>;

/// What the steps of a transaction came to.
pub(super) type Steps<T> = Result<End<T>, StoreError>;

impl MySqlStore {
    async fn receive(&self, parcel: Parcel) -> Result<Accepted, StoreError> {
        let claiming = parcel.claiming().clone();
        // The time of acceptance is the look's.
        let mut row = ParkedRow::of(parcel.park(time::OffsetDateTime::UNIX_EPOCH));
        for _ in 0..TRIES {
            let tried = self.try_to_receive(&claiming, &mut row).await;
            if let Some(accepted) = self.next_try(tried).await? {
                return Ok(accepted);
            }
        }
        Err(StoreError::new(StoreErrorKind::Busy))
    }

    /// After a deadlock, which has written nothing, the next try has a pause before it that is
    /// another for each of those who were in it.
    pub(super) async fn next_try<T>(&self, tried: Tried<T>) -> Tried<T> {
        match tried {
            Err(error) if error.kind() == StoreErrorKind::Serialization => {
                let mut connection = self.pool.acquire().await?;
                let micros = driver::mark(None).rem_euclid(20_000);
                sqlx::query(sql::PAUSE)
                    .bind(micros)
                    .execute(&mut *connection)
                    .await?;
                Ok(None)
            }
            tried => tried,
        }
    }

    async fn try_to_receive(&self, claiming: &Claiming, row: &mut ParkedRow) -> Tried<Accepted> {
        let mut connection = self.pool.acquire().await?;
        let look = Alone(&mut *connection)
            .find(&claiming.key, self.verbs.now())
            .await?;
        let now = from_micros(look.now).ok_or_else(corrupt)?;
        row.accepted_at = look.now;
        let Some(stored) = &look.stored else {
            let mut own = Own::begin(connection).await?;
            let steps = insert(own.connection()?, claiming, row, &look).await;
            return match own.end(steps).await? {
                (Inserting::Inserted(receipt), _) => Ok(Some(Accepted::New(receipt))),
                (Inserting::Known, _) => Ok(None),
                (Inserting::SlotTaken, connection) => slot_taken(connection, claiming, now).await,
            };
        };
        if let Ruling::Answer(Claim::Conflict(conflict)) = stored.ruling(claiming, now) {
            return Ok(Some(Accepted::Conflict(conflict)));
        }
        match stored.state {
            State::Processed => return Ok(Some(Accepted::Duplicate(stored.clone()))),
            State::Dead => return Ok(Some(Accepted::Dead(stored.clone()))),
            State::Received | State::InProgress | State::Failed => {}
        }
        if look.seen.queued {
            return Ok(Some(Accepted::Pending(stored.clone())));
        }
        let mut own = Own::begin(connection).await?;
        let steps = adopt(own.connection()?, claiming, row, &look).await;
        match own.end(steps).await? {
            (true, _) => Ok(Some(Accepted::Pending(stored.clone()))),
            (false, connection) => not_held(connection, claiming, stored, now).await,
        }
    }

    async fn send_back(&self, key: &EventKey) -> Result<Requeued, StoreError> {
        for _ in 0..TRIES {
            let tried = self.try_to_send_back(key).await;
            if let Some(requeued) = self.next_try(tried.map(Some)).await? {
                return Ok(requeued);
            }
        }
        Err(StoreError::new(StoreErrorKind::Busy))
    }

    async fn try_to_send_back(&self, key: &EventKey) -> Result<Requeued, StoreError> {
        let mut connection = self.pool.acquire().await?;
        let look = Alone(&mut *connection).find(key, self.verbs.now()).await?;
        if look.stored.is_none() {
            return Ok(Requeued::Unknown);
        }
        let mut own = Own::begin(connection).await?;
        let steps = requeue(own.connection()?, key, look.now).await;
        let (requeued, _) = own.end(steps).await?;
        Ok(requeued)
    }

    async fn page(&self, listing: Listing) -> Result<Vec<Receipt>, StoreError> {
        let mut connection = self.pool.acquire().await?;
        clock(&mut connection, None).await?;
        again!(rows::list(&mut connection, &listing))
    }

    async fn find_parked(&self, key: &EventKey) -> Result<Option<Parked>, StoreError> {
        let mut connection = self.pool.acquire().await?;
        clock(&mut connection, None).await?;
        again!(rows::find_parked(&mut connection, key))
    }

    async fn drop_some(&self, dropping: Dropping) -> Result<usize, StoreError> {
        let mut connection = self.pool.acquire().await?;
        let now = clock(&mut connection, self.verbs.now()).await?;
        again!(rows::drop_bodies(&mut connection, &dropping, now))
    }
}

/// The time, on a session whose statements are transactions of their own.
async fn clock(connection: &mut MySqlConnection, now: Option<i64>) -> Result<i64, StoreError> {
    let clock = driver::clock(connection, now).await?;
    if clock.autocommit {
        Ok(clock.now)
    } else {
        Err(not_autocommit())
    }
}

/// What came of inserting an event with what belongs to it.
pub(super) enum Inserting {
    Inserted(Receipt),
    Known,
    SlotTaken,
}

/// An event that is not there: its receipt, its delivery, and its place in the queue.
async fn insert(
    open: &mut MySqlConnection,
    claiming: &Claiming,
    row: &ParkedRow,
    look: &Look<Seen>,
) -> Steps<Inserting> {
    let now = from_micros(look.now).ok_or_else(corrupt)?;
    let deleted = look.seen.deleted.ok_or_else(no_slot)?;
    let received = Receipt::received(claiming, now, Fence(deleted));
    match writing::insert(open, &received, driver::mark(None), deleted).await? {
        Inserted::Yes => {
            rows::park(open, &claiming.key, row).await?;
            rows::enqueue(open, &claiming.key, look.now).await?;
            driver::as_kept(&received).map(|receipt| End::Commit(Inserting::Inserted(receipt)))
        }
        Inserted::Known => Ok(End::Rollback(Inserting::Known)),
        Inserted::SlotTaken => Ok(End::Rollback(Inserting::SlotTaken)),
    }
}

/// Somebody's open transaction has the event, or another one of the same slot.
pub(super) async fn slot_taken(
    mut connection: PoolConnection<MySql>,
    claiming: &Claiming,
    now: time::OffsetDateTime,
) -> Tried<Accepted> {
    if driver::is_free(&mut connection, &claiming.key).await? {
        driver::pause(&mut connection).await?;
        return Ok(None);
    }
    Ok(Some(busy(claiming, None, now)))
}

/// Stores the delivery of an event that was claimed elsewhere and is not done, so that the inbox
/// takes over whatever comes of that. Its receipt is locked, and stays as it is. Whether it could be.
async fn adopt(
    open: &mut MySqlConnection,
    claiming: &Claiming,
    row: &ParkedRow,
    look: &Look<Seen>,
) -> Steps<bool> {
    let key = &claiming.key;
    let mark = look.seen.mark.ok_or_else(corrupt)?;
    if !rows::hold(open, key, mark).await? {
        return Ok(End::Rollback(false));
    }
    if !rows::has_body(open, key).await? {
        rows::park(open, key, row).await?;
    }
    rows::enqueue(open, key, look.now).await?;
    Ok(End::Commit(true))
}

/// Somebody's open transaction has the event, or somebody has written it since the look.
pub(super) async fn not_held(
    mut connection: PoolConnection<MySql>,
    claiming: &Claiming,
    stored: &Receipt,
    now: time::OffsetDateTime,
) -> Tried<Accepted> {
    if driver::is_free(&mut connection, &claiming.key).await? {
        return Ok(None);
    }
    Ok(Some(busy(claiming, Some(stored.clone()), now)))
}

/// What has failed waits again, from its first attempt on, if its delivery is still there.
async fn requeue(open: &mut MySqlConnection, key: &EventKey, now: i64) -> Steps<Requeued> {
    Ok(match rows::wait_for(open, key).await? {
        None => End::Rollback(Requeued::Unknown),
        Some((_, stored)) if !matches!(stored.state, State::Failed | State::Dead) => {
            End::Rollback(Requeued::NotFailed(stored))
        }
        Some((_, stored)) if !rows::has_body(open, key).await? => {
            End::Rollback(Requeued::NoBody(stored))
        }
        Some((old, stored)) => {
            let waiting = stored.requeued(from_micros(now).ok_or_else(corrupt)?);
            if !writing::write(open, &waiting, driver::mark(Some(old)), old).await? {
                // The row is locked, so nobody else can have written it.
                return Err(corrupt());
            }
            rows::enqueue(open, key, now).await?;
            End::Commit(Requeued::Waiting(waiting))
        }
    })
}

/// When to look at a receipt that is as it was written: at the end of its lease or wait.
fn due(receipt: &Receipt) -> i64 {
    micros(receipt.until.unwrap_or(receipt.changed_at))
}

impl InboxStore for MySqlStore {
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
