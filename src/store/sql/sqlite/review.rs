//! Reviews, on the writer and the readers.

use rusqlite::{Connection, Row, params};

use crate::{
    clock::micros,
    inbox::{Parcel, ParkedRow},
    review::{
        Admission, Case, Discarding, Kept, Review, ReviewId, ReviewListing, ReviewPurge, ReviewRow,
        ReviewStatus, ReviewStore, WithDelivery,
    },
    store::{StoreError, StoreErrorKind, StoreFuture, sql::review::FoundReview},
};

use super::{
    SqliteStore,
    lane::Unwanted,
    prepared::Prepared,
    statements::review as sql,
    verbs::{Verbs, moment},
};

/// The reviews' prepared statements.
pub(super) struct Statements<'c> {
    keep: Prepared<'c>,
    find: Prepared<'c>,
    find_whole: Prepared<'c>,
    list: Prepared<'c>,
    list_open: Prepared<'c>,
    resolve: Prepared<'c>,
    purge_resolved: Prepared<'c>,
    purge_open: Prepared<'c>,
}

impl Statements<'_> {
    pub(super) fn new() -> Self {
        let prepared = Prepared::new;
        Self {
            keep: prepared(sql::KEEP),
            find: prepared(sql::FIND),
            find_whole: prepared(sql::FIND_WHOLE),
            list: prepared(sql::LIST),
            list_open: prepared(sql::LIST_OPEN),
            resolve: prepared(sql::RESOLVE),
            purge_resolved: prepared(sql::PURGE_RESOLVED),
            purge_open: prepared(sql::PURGE_OPEN),
        }
    }
}

fn found(row: &Row<'_>) -> rusqlite::Result<FoundReview> {
    Ok(FoundReview {
        id: row.get(0)?,
        tenant: row.get(1)?,
        provider: row.get(2)?,
        event_id: row.get(3)?,
        row: ReviewRow {
            reason: row.get(4)?,
            status: row.get(5)?,
            stored: row.get(6)?,
            presented: row.get(7)?,
            retention: row.get(8)?,
            body_bytes: row.get(9)?,
            resolved_at: row.get(10)?,
            delivery: ParkedRow {
                accepted_at: row.get(11)?,
                received_at: row.get(12)?,
                sent_at: row.get(13)?,
                coverage: row.get(14)?,
                scheme: row.get(15)?,
                event_type: row.get(16)?,
                key_id: row.get(17)?,
                delivery_id: row.get(18)?,
                ..ParkedRow::default()
            },
        },
    })
}

/// With headers and body, where they still are.
fn whole(row: &Row<'_>) -> rusqlite::Result<FoundReview> {
    let mut found = found(row)?;
    let delivery = &mut found.row.delivery;
    delivery.headers = row.get::<_, Option<_>>(19)?.unwrap_or_default();
    delivery.body = row.get::<_, Option<_>>(20)?.unwrap_or_default();
    Ok(found)
}

impl Verbs<'_> {
    fn find_review(&mut self, id: &ReviewId) -> Result<Option<Review>, StoreError> {
        let find = self.review.find.on(self.connection)?;
        let mut rows = find.query_map([id.as_bytes().as_slice()], found)?;
        let found = rows.next().transpose()?;
        let found = found.map(FoundReview::believed).transpose()?;
        Ok(found.map(|(review, _)| review))
    }

    fn whole_review(&mut self, id: &ReviewId) -> Result<Option<WithDelivery>, StoreError> {
        let find = self.review.find_whole.on(self.connection)?;
        let mut rows = find.query_map([id.as_bytes().as_slice()], whole)?;
        let found = rows.next().transpose()?;
        found.map(FoundReview::with_delivery).transpose()
    }

    fn keep_review(&mut self, case: Case) -> Result<Kept, StoreError> {
        if let Some(known) = self.find_review(&case.id())? {
            return Ok(Kept::Known(known));
        }
        let (review, parked) = case.open(moment(self.clock));
        let row = ReviewRow::of(&review, parked);
        let keep = self.review.keep.on(self.connection)?;
        let kept = keep.execute(params![
            review.id.as_bytes().as_slice(),
            review.key.tenant(),
            review.key.provider(),
            review.key.id(),
            row.reason,
            row.stored,
            row.presented,
            row.retention,
            row.body_bytes,
            row.delivery.accepted_at,
            row.delivery.received_at,
            row.delivery.sent_at,
            row.delivery.coverage,
            row.delivery.scheme,
            row.delivery.event_type,
            row.delivery.key_id,
            row.delivery.delivery_id,
            row.delivery.headers,
            row.delivery.body,
        ])?;
        match kept {
            1 => Ok(Kept::New(review)),
            // The write lock is held, so it is not there.
            _ => Err(StoreError::new(StoreErrorKind::Corrupt)),
        }
    }

    fn list_reviews(&mut self, listing: &ReviewListing) -> Result<Vec<Review>, StoreError> {
        let list = match listing.status {
            ReviewStatus::Open => &mut self.review.list_open,
            ReviewStatus::Admitted | ReviewStatus::Discarded => &mut self.review.list,
        };
        // Nothing sorts before every id.
        let after = listing.after.as_ref().map(ReviewId::as_bytes);
        let after = after.map_or(&[][..], |after| after.as_slice());
        let limit = i64::try_from(listing.limit).unwrap_or(i64::MAX);
        let list = list.on(self.connection)?;
        let rows = list.query_map(params![listing.status.code(), after, limit], found)?;
        let review = |row: rusqlite::Result<FoundReview>| Ok(row?.believed()?.0);
        rows.map(review).collect()
    }

    fn admit_review(&mut self, id: &ReviewId) -> Result<Admission, StoreError> {
        let (review, parked) = match self.whole_review(id)? {
            None => return Ok(Admission::Unknown),
            Some((review, None)) => return Ok(Admission::Resolved(review)),
            Some((review, Some(parked))) => (review, parked),
        };
        let accepted = self.accept(Parcel::again(parked, review.claiming()))?;
        let admission = Admission::of(&review, accepted, moment(self.clock));
        if let Some(admitted) = admission.admitted() {
            self.resolve(admitted)?;
        }
        Ok(admission)
    }

    fn discard_review(&mut self, id: &ReviewId) -> Result<Discarding, StoreError> {
        Ok(match self.find_review(id)? {
            None => Discarding::Unknown,
            Some(review) if review.status.is_open() => {
                let discarded = review.resolved(ReviewStatus::Discarded, moment(self.clock));
                self.resolve(&discarded)?;
                Discarding::Discarded(discarded)
            }
            Some(review) => Discarding::Resolved(review),
        })
    }

    /// Resolves what was read under the lock that is still held.
    fn resolve(&mut self, review: &Review) -> Result<(), StoreError> {
        let resolve = self.review.resolve.on(self.connection)?;
        resolve.execute(params![
            review.id.as_bytes().as_slice(),
            review.status.code(),
            review.resolved_at.map(micros),
        ])?;
        Ok(())
    }

    fn purge_some_reviews(&mut self, purge: &ReviewPurge) -> Result<usize, StoreError> {
        let statement = match purge.open {
            false => &mut self.review.purge_resolved,
            true => &mut self.review.purge_open,
        };
        let now = micros(moment(self.clock));
        let age = i64::try_from(purge.age.as_micros()).unwrap_or(i64::MAX);
        let limit = i64::try_from(purge.limit).unwrap_or(i64::MAX);
        let statement = statement.on(self.connection)?;
        Ok(statement.execute(params![now.saturating_sub(age), limit])?)
    }
}

/// Prepares every statement, so that a table that is not this one shows when a store is opened.
pub(super) fn probe(connection: &Connection) -> rusqlite::Result<()> {
    for statement in [sql::KEEP, sql::FIND_WHOLE, sql::LIST_OPEN, sql::RESOLVE] {
        connection.prepare(statement)?;
    }
    Ok(())
}

impl ReviewStore for SqliteStore {
    fn keep(&self, case: Case) -> StoreFuture<'_, Result<Kept, StoreError>> {
        Box::pin(async move {
            // A delivery that comes again costs a read, and no turn at the writer.
            let id = case.id();
            if let Some(known) = self.read(move |verbs| verbs.find_review(&id)).await? {
                return Ok(Kept::Known(known));
            }
            self.write(Unwanted::Run, move |verbs| verbs.keep_review(case))
                .await
        })
    }

    fn reviews(&self, listing: ReviewListing) -> StoreFuture<'_, Result<Vec<Review>, StoreError>> {
        Box::pin(self.read(move |verbs| verbs.list_reviews(&listing)))
    }

    fn review<'a>(
        &'a self,
        id: &'a ReviewId,
    ) -> StoreFuture<'a, Result<Option<WithDelivery>, StoreError>> {
        let id = *id;
        Box::pin(self.read(move |verbs| verbs.whole_review(&id)))
    }

    fn admit<'a>(&'a self, id: &'a ReviewId) -> StoreFuture<'a, Result<Admission, StoreError>> {
        let id = *id;
        Box::pin(self.write(Unwanted::Run, move |verbs| verbs.admit_review(&id)))
    }

    fn discard<'a>(&'a self, id: &'a ReviewId) -> StoreFuture<'a, Result<Discarding, StoreError>> {
        let id = *id;
        Box::pin(self.write(Unwanted::Run, move |verbs| verbs.discard_review(&id)))
    }

    fn purge_reviews(&self, purge: ReviewPurge) -> StoreFuture<'_, Result<usize, StoreError>> {
        Box::pin(self.write(Unwanted::Skip, move |verbs| {
            verbs.purge_some_reviews(&purge)
        }))
    }
}
