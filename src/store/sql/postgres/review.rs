//! Reviews, on the pool: each statement is a transaction of its own.

use sqlx::PgConnection;

use crate::{
    clock::from_micros,
    inbox::Accepted,
    review::{
        Admission, Case, Discarding, Kept, Review, ReviewId, ReviewListing, ReviewPurge, ReviewRow,
        ReviewStatus, ReviewStore, WithDelivery,
    },
    store::{
        Claim, Ruling, State, StoreError, StoreErrorKind, StoreFuture,
        sql::server::{Alone, Session, TRIES, corrupt},
    },
};

use super::{PostgresStore, inbox::busy};

mod rows;

impl PostgresStore {
    async fn put_aside(&self, case: Case) -> Result<Kept, StoreError> {
        let id = case.id();
        let mut connection = self.pool.acquire().await?;
        let connection = &mut *connection;
        if let Some(known) = rows::find(connection, &id).await? {
            return Ok(Kept::Known(known));
        }
        // The time is the server's, and comes with the statement.
        let (review, parked) = case.open(time::OffsetDateTime::UNIX_EPOCH);
        let row = ReviewRow::of(&review, parked);
        for _ in 0..TRIES {
            if let Some(kept_at) = rows::keep(connection, &review, &row, self.verbs.now()).await? {
                let kept_at = from_micros(kept_at).ok_or_else(corrupt)?;
                return Ok(Kept::New(Review { kept_at, ..review }));
            }
            // It may have been purged since.
            if let Some(known) = rows::find(connection, &id).await? {
                return Ok(Kept::Known(known));
            }
        }
        Err(StoreError::new(StoreErrorKind::Busy))
    }

    async fn let_in(&self, id: &ReviewId) -> Result<Admission, StoreError> {
        let mut connection = self.pool.acquire().await?;
        let connection = &mut *connection;
        for _ in 0..TRIES {
            let Some(review) = rows::find(connection, id).await? else {
                return Ok(Admission::Unknown);
            };
            if !review.status.is_open() {
                return Ok(Admission::Resolved(review));
            }
            let claiming = review.claiming();
            let mut session = Alone(&mut *connection);
            let look = session.find(&claiming.key, self.verbs.now()).await?;
            let now = from_micros(look.now).ok_or_else(corrupt)?;
            let Some(known) = look.stored else {
                match rows::admit_new(connection, id, &claiming, self.verbs.now()).await? {
                    Some(rows::Tried {
                        written: Some((at, receipt)),
                        ..
                    }) => return Ok(Admission::of(&review, Accepted::New(receipt), at)),
                    Some(rows::Tried { free: false, .. }) => {
                        return Ok(Admission::of(&review, busy(&claiming, None, now), now));
                    }
                    // Somebody has resolved it, or inserted the event, meanwhile.
                    Some(_) | None => continue,
                }
            };
            if let Ruling::Answer(Claim::Conflict(conflict)) = known.ruling(&claiming, now) {
                return Ok(Admission::of(&review, Accepted::Conflict(conflict), now));
            }
            if known.state == State::Dead {
                return Ok(Admission::of(&review, Accepted::Dead(known), now));
            }
            match rows::admit_known(connection, id, &claiming, self.verbs.now()).await? {
                Some(Some((at, receipt))) => {
                    return Ok(Admission::of(&review, Accepted::Pending(receipt), at));
                }
                // Its row is locked, or has changed since.
                Some(None) => {
                    return Ok(Admission::of(
                        &review,
                        busy(&claiming, Some(known), now),
                        now,
                    ));
                }
                None => {}
            }
        }
        Err(StoreError::new(StoreErrorKind::Busy))
    }

    async fn turn_away(&self, id: &ReviewId) -> Result<Discarding, StoreError> {
        let mut connection = self.pool.acquire().await?;
        let connection = &mut *connection;
        for _ in 0..TRIES {
            let Some(review) = rows::find(connection, id).await? else {
                return Ok(Discarding::Unknown);
            };
            if !review.status.is_open() {
                return Ok(Discarding::Resolved(review));
            }
            if let Some(at) = rows::discard(connection, id, self.verbs.now()).await? {
                let at = from_micros(at).ok_or_else(corrupt)?;
                let discarded = review.resolved(ReviewStatus::Discarded, at);
                return Ok(Discarding::Discarded(discarded));
            }
        }
        Err(StoreError::new(StoreErrorKind::Busy))
    }

    async fn page_of_reviews(&self, listing: ReviewListing) -> Result<Vec<Review>, StoreError> {
        let mut connection = self.pool.acquire().await?;
        rows::list(&mut connection, &listing).await
    }

    async fn find_whole(&self, id: &ReviewId) -> Result<Option<WithDelivery>, StoreError> {
        let mut connection = self.pool.acquire().await?;
        rows::find_whole(&mut connection, id).await
    }

    async fn purge_some(&self, purge: ReviewPurge) -> Result<usize, StoreError> {
        let mut connection = self.pool.acquire().await?;
        let gone = rows::purge_some(&mut connection, &purge, self.verbs.now()).await?;
        Ok(usize::try_from(gone).unwrap_or_default())
    }
}

/// A table that is not this one shows here, and not in the first delivery.
pub(super) async fn probe(connection: &mut PgConnection) -> Result<(), StoreError> {
    rows::find_whole(connection, &ReviewId::from_bytes([0; 16])).await?;
    Ok(())
}

impl ReviewStore for PostgresStore {
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
        Box::pin(self.find_whole(id))
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
