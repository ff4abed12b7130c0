//! Reviews, on the pool. Who admits one has a transaction of the store's own; all else is one
//! statement that writes, and a look before it.

use sqlx::MySqlConnection;

use crate::{
    clock::from_micros,
    inbox::Accepted,
    review::{
        Admission, Case, Discarding, Kept, Review, ReviewId, ReviewListing, ReviewPurge, ReviewRow,
        ReviewStatus, ReviewStore, WithDelivery,
    },
    store::{
        Claim, Claiming, Fence, Receipt, Ruling, State, StoreError, StoreErrorKind, StoreFuture,
        sql::server::{Alone, Look, Session, TRIES, again, corrupt},
    },
};

use super::{
    MySqlStore,
    driver::{self, Seen},
    inbox::{Inserting, Steps, Tried, not_held, rows as inbox, slot_taken},
    own::{End, Own},
    session::no_slot,
    writing::{self, Inserted},
};

mod rows;

impl MySqlStore {
    async fn put_aside(&self, case: Case) -> Result<Kept, StoreError> {
        let id = case.id();
        let mut connection = self.pool.acquire().await?;
        let (now, known) = find(&mut connection, &id, self.verbs.now()).await?;
        if let Some(known) = known {
            return Ok(Kept::Known(known));
        }
        let (review, parked) = case.open(from_micros(now).ok_or_else(corrupt)?);
        let row = ReviewRow::of(&review, parked);
        for _ in 0..TRIES {
            if keep(&mut connection, &review, &row).await? {
                return Ok(Kept::New(review));
            }
            // It may have been purged since.
            if let (_, Some(known)) = find(&mut connection, &id, Some(now)).await? {
                return Ok(Kept::Known(known));
            }
        }
        Err(StoreError::new(StoreErrorKind::Busy))
    }

    async fn let_in(&self, id: &ReviewId) -> Result<Admission, StoreError> {
        for _ in 0..TRIES {
            let tried = self.try_to_let_in(id).await;
            if let Some(admission) = self.next_try(tried).await? {
                return Ok(admission);
            }
        }
        Err(StoreError::new(StoreErrorKind::Busy))
    }

    async fn try_to_let_in(&self, id: &ReviewId) -> Tried<Admission> {
        let mut connection = self.pool.acquire().await?;
        let review = match find(&mut connection, id, self.verbs.now()).await? {
            (_, None) => return Ok(Some(Admission::Unknown)),
            (_, Some(review)) if !review.status.is_open() => {
                return Ok(Some(Admission::Resolved(review)));
            }
            (_, Some(review)) => review,
        };
        let claiming = review.claiming();
        let look = Alone(&mut *connection)
            .find(&claiming.key, self.verbs.now())
            .await?;
        let now = from_micros(look.now).ok_or_else(corrupt)?;
        let Some(stored) = &look.stored else {
            let mut own = Own::begin(connection).await?;
            let steps = admit_new(own.connection()?, &review, &claiming, &look).await;
            let accepted = match own.end(steps).await? {
                (Inserting::Inserted(receipt), _) => Some(Accepted::New(receipt)),
                (Inserting::Known, _) => None,
                (Inserting::SlotTaken, connection) => {
                    slot_taken(connection, &claiming, now).await?
                }
            };
            return Ok(accepted.map(|accepted| Admission::of(&review, accepted, now)));
        };
        if let Ruling::Answer(Claim::Conflict(conflict)) = stored.ruling(&claiming, now) {
            let conflict = Accepted::Conflict(conflict);
            return Ok(Some(Admission::of(&review, conflict, now)));
        }
        if stored.state == State::Dead {
            let dead = Accepted::Dead(stored.clone());
            return Ok(Some(Admission::of(&review, dead, now)));
        }
        let mut own = Own::begin(connection).await?;
        let steps = admit_known(own.connection()?, &review, stored, &look).await;
        let accepted = match own.end(steps).await? {
            (Admitting::Admitted, _) => Some(Accepted::Pending(stored.clone())),
            (Admitting::Resolved, _) => None,
            (Admitting::NotHeld, connection) => {
                not_held(connection, &claiming, stored, now).await?
            }
        };
        Ok(accepted.map(|accepted| Admission::of(&review, accepted, now)))
    }

    async fn turn_away(&self, id: &ReviewId) -> Result<Discarding, StoreError> {
        let mut connection = self.pool.acquire().await?;
        for _ in 0..TRIES {
            let (now, review) = find(&mut connection, id, self.verbs.now()).await?;
            let Some(review) = review else {
                return Ok(Discarding::Unknown);
            };
            if !review.status.is_open() {
                return Ok(Discarding::Resolved(review));
            }
            if discard(&mut connection, id, now).await? {
                let at = from_micros(now).ok_or_else(corrupt)?;
                let discarded = review.resolved(ReviewStatus::Discarded, at);
                return Ok(Discarding::Discarded(discarded));
            }
        }
        Err(StoreError::new(StoreErrorKind::Busy))
    }

    async fn page_of_reviews(&self, listing: ReviewListing) -> Result<Vec<Review>, StoreError> {
        let mut connection = self.pool.acquire().await?;
        rows::session(&mut connection, None).await?;
        again!(rows::list(&mut connection, &listing))
    }

    async fn whole_review(&self, id: &ReviewId) -> Result<Option<WithDelivery>, StoreError> {
        let mut connection = self.pool.acquire().await?;
        again!(rows::find_whole(&mut connection, id))
    }

    async fn purge_some(&self, purge: ReviewPurge) -> Result<usize, StoreError> {
        let mut connection = self.pool.acquire().await?;
        let now = rows::session(&mut connection, self.verbs.now()).await?;
        again!(rows::purge(&mut connection, &purge, now))
    }
}

async fn find(
    connection: &mut MySqlConnection,
    id: &ReviewId,
    now: Option<i64>,
) -> Result<(i64, Option<Review>), StoreError> {
    again!(rows::find(connection, id, now))
}

async fn keep(
    connection: &mut MySqlConnection,
    review: &Review,
    row: &ReviewRow,
) -> Result<bool, StoreError> {
    again!(rows::keep(connection, review, row))
}

async fn discard(
    connection: &mut MySqlConnection,
    id: &ReviewId,
    now: i64,
) -> Result<bool, StoreError> {
    again!(rows::resolve(connection, id, ReviewStatus::Discarded, now))
}

/// An event that is not there: its receipt, its delivery, and its place in the queue.
///
/// Who finds the review resolved by somebody else, like who finds the event, looks again.
async fn admit_new(
    open: &mut MySqlConnection,
    review: &Review,
    claiming: &Claiming,
    look: &Look<Seen>,
) -> Steps<Inserting> {
    let now = from_micros(look.now).ok_or_else(corrupt)?;
    let deleted = look.seen.deleted.ok_or_else(no_slot)?;
    let received = Receipt::received(claiming, now, Fence(deleted));
    match writing::insert(open, &received, driver::mark(None), deleted).await? {
        Inserted::Yes => {
            if !rows::park(open, &review.id, &claiming.key, look.now).await? {
                return Ok(End::Rollback(Inserting::Known));
            }
            inbox::enqueue(open, &claiming.key, look.now).await?;
            if !rows::resolve(open, &review.id, ReviewStatus::Admitted, look.now).await? {
                return Ok(End::Rollback(Inserting::Known));
            }
            driver::as_kept(&received).map(|receipt| End::Commit(Inserting::Inserted(receipt)))
        }
        Inserted::Known => Ok(End::Rollback(Inserting::Known)),
        Inserted::SlotTaken => Ok(End::Rollback(Inserting::SlotTaken)),
    }
}

/// What came of admitting a delivery of an event that is known.
enum Admitting {
    Admitted,
    /// By somebody else, meanwhile. The next look says by whom.
    Resolved,
    NotHeld,
}

/// An event that is known with this content. Its receipt is locked, and stays as it is. A delivery,
/// and a place in the queue, that are there stay too.
async fn admit_known(
    open: &mut MySqlConnection,
    review: &Review,
    stored: &Receipt,
    look: &Look<Seen>,
) -> Steps<Admitting> {
    let (key, id) = (&stored.key, &review.id);
    let mark = look.seen.mark.ok_or_else(corrupt)?;
    if !inbox::hold(open, key, mark).await? {
        return Ok(End::Rollback(Admitting::NotHeld));
    }
    if stored.state != State::Processed {
        if !inbox::has_body(open, key).await? && !rows::park(open, id, key, look.now).await? {
            return Ok(End::Rollback(Admitting::Resolved));
        }
        if !look.seen.queued {
            inbox::enqueue(open, key, look.now).await?;
        }
    }
    Ok(
        match rows::resolve(open, id, ReviewStatus::Admitted, look.now).await? {
            true => End::Commit(Admitting::Admitted),
            false => End::Rollback(Admitting::Resolved),
        },
    )
}

/// A table that is not this one shows here, and not in the first delivery.
pub(super) async fn probe(connection: &mut MySqlConnection) -> Result<(), StoreError> {
    rows::whole(connection, &ReviewId::from_bytes([0; 16])).await?;
    Ok(())
}

impl ReviewStore for MySqlStore {
    fn keep(&self, case: Case) -> StoreFuture<'_, Result<Kept, StoreError>> {
        Box::pin(self.put_aside(case))
    }

    fn reviews(&self, listing: ReviewListing) -> StoreFuture<'_, Result<Vec<Review>, StoreError>> {
        Box::pin(self.page_of_reviews(listing))
    }

    fn review<'a>(
        &'a self,
        id: &'a ReviewId,
    ) -> StoreFuture<'a, Result<Option<WithDelivery>, StoreError>> {
        Box::pin(self.whole_review(id))
    }

    fn admit<'a>(&'a self, id: &'a ReviewId) -> StoreFuture<'a, Result<Admission, StoreError>> {
        Box::pin(self.let_in(id))
    }

    fn discard<'a>(&'a self, id: &'a ReviewId) -> StoreFuture<'a, Result<Discarding, StoreError>> {
        Box::pin(self.turn_away(id))
    }

    fn purge_reviews(&self, purge: ReviewPurge) -> StoreFuture<'_, Result<usize, StoreError>> {
        Box::pin(self.purge_some(purge))
    }
}
