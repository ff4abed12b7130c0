//! The inbox, on the writer and the readers.

mod rows;

use std::sync::Arc;

use rusqlite::{Connection, params};

use crate::{
    clock::micros,
    event::EventKey,
    inbox::{
        Accepted, Dropping, InboxStore, Leased, Leasing, Listing, Parcel, Parked, ParkedRow,
        Requeued,
    },
    store::{
        Claim, Claiming, Fence, Lease, Receipt, Ruling, State, StoreError, StoreErrorKind,
        StoreFuture, StoredRow,
    },
};

use super::{
    GiveBack, SqliteStore, closed,
    lane::Unwanted,
    prepared::{found, one},
    statements::inbox as sql,
    verbs::{Verbs, moment},
};

pub(super) use rows::Statements;
use rows::{Queued, queued};

/// What was leased, before it is committed.
#[derive(Default)]
struct Won {
    events: Vec<(Claiming, Receipt, Parked)>,
    rest: Leased,
}

impl<'c> Verbs<'c> {
    /// What is known of an event, if that is the answer.
    pub(super) fn known(&mut self, claiming: &Claiming) -> Result<Option<Accepted>, StoreError> {
        self.look(claiming).map(Result::ok)
    }

    /// The same, or else what is stored.
    fn look(
        &mut self,
        claiming: &Claiming,
    ) -> Result<Result<Accepted, Option<Receipt>>, StoreError> {
        let Some(stored) = self.find(&claiming.key)? else {
            return Ok(Err(None));
        };
        let now = moment(self.clock);
        Ok(match stored.ruling(claiming, now) {
            Ruling::Answer(Claim::Conflict(conflict)) => Ok(Accepted::Conflict(conflict)),
            _ if stored.state == State::Processed => Ok(Accepted::Duplicate(stored)),
            _ if stored.state == State::Dead => Ok(Accepted::Dead(stored)),
            _ if self.is_queued(&claiming.key)? => Ok(Accepted::Pending(stored)),
            _ => Err(Some(stored)),
        })
    }

    fn is_queued(&mut self, key: &EventKey) -> Result<bool, StoreError> {
        let is_queued = self.inbox.is_queued.on(self.connection)?;
        Ok(is_queued.query_row([key.digest().as_slice()], |row| row.get(0))?)
    }

    pub(super) fn accept(&mut self, parcel: Parcel) -> Result<Accepted, StoreError> {
        let claiming = parcel.claiming();
        let accepted = match self.look(claiming)? {
            Ok(known) => return Ok(known),
            // Claimed elsewhere: the inbox takes over whatever comes of it.
            Err(Some(stored)) => Accepted::Pending(stored),
            Err(None) => Accepted::New(self.receive(claiming)?),
        };
        let now = moment(self.clock);
        let key = parcel.key().clone();
        let digest = key.digest().as_slice();
        let row = ParkedRow::of(parcel.park(now));
        let park = self.inbox.park.on(self.connection)?;
        park.execute(params![
            digest,
            row.accepted_at,
            row.received_at,
            row.sent_at,
            row.coverage,
            row.scheme,
            row.event_type,
            row.key_id,
            row.delivery_id,
            row.headers,
            row.body,
        ])?;
        self.enqueue(digest, micros(now))?;
        Ok(accepted)
    }

    fn receive(&mut self, claiming: &Claiming) -> Result<Receipt, StoreError> {
        let key = &claiming.key;
        let first = Receipt::received(claiming, moment(self.clock), Fence(0));
        let row = StoredRow::of(&first);
        let receive = self.inbox.receive.on(self.connection)?;
        let values = params![
            key.digest().as_slice(),
            key.tenant(),
            key.provider(),
            key.id(),
            row.fingerprint,
            row.received_at,
            row.expires_at,
        ];
        one(receive, values, key)?.ok_or_else(|| StoreError::new(StoreErrorKind::Corrupt))
    }

    fn enqueue(&mut self, digest: &[u8], due: i64) -> Result<(), StoreError> {
        let enqueue = self.inbox.enqueue.on(self.connection)?;
        enqueue.execute(params![digest, due])?;
        Ok(())
    }

    /// Writes over a receipt that was read under the lock that is still held.
    fn write(&mut self, receipt: &Receipt) -> Result<(), StoreError> {
        let row = StoredRow::of(receipt);
        let write = self.inbox.write.on(self.connection)?;
        write.execute(params![
            receipt.key.digest().as_slice(),
            row.state,
            row.attempts,
            row.fence,
            row.until,
            row.changed_at,
            row.result,
        ])?;
        Ok(())
    }

    fn lease_due(&mut self, leasing: &Leasing) -> Result<Won, StoreError> {
        let now = micros(moment(self.clock));
        let limit = i64::try_from(leasing.limit()).unwrap_or(i64::MAX);
        let due = self.inbox.due.on(self.connection)?;
        let rows = due.query_map(params![now, limit], queued)?;
        let rows = rows.collect::<Result<Vec<_>, _>>()?;
        let mut won = Won::default();
        // What was looked at in vain took the place of others.
        won.rest.more = rows.len() == leasing.limit() && limit > 0;
        for row in rows {
            self.lease_one(row, leasing, &mut won)?;
        }
        Ok(won)
    }

    fn lease_one(
        &mut self,
        queued: Queued,
        leasing: &Leasing,
        won: &mut Won,
    ) -> Result<(), StoreError> {
        let now = moment(self.clock);
        let digest = &queued.digest;
        let stored = match queued.receipt {
            None => return self.unqueue(digest),
            Some(Ok(stored)) => stored,
            Some(Err(_)) => return self.put_off(digest, leasing, won),
        };
        let claiming = leasing.claiming(&stored);
        match stored.ruling(&claiming, now) {
            Ruling::Take(row) => {
                let Some(parked) = queued.parked else {
                    let dead = row.without_body(now);
                    self.write(&dead)?;
                    won.rest.buried.push(dead);
                    return self.unqueue(digest);
                };
                let Ok(parked) = parked.into_parked(row.key.clone()) else {
                    return self.put_off(digest, leasing, won);
                };
                self.write(&row)?;
                self.queue_until(digest, micros(row.until.unwrap_or(now)))?;
                won.events.push((claiming, row, parked));
                Ok(())
            }
            Ruling::Bury(row) => {
                self.write(&row)?;
                won.rest.buried.push(row);
                self.unqueue(digest)
            }
            Ruling::Answer(Claim::InProgress { receipt, .. }) => {
                self.queue_until(digest, micros(receipt.until.unwrap_or(now)))
            }
            // It has ended.
            Ruling::Answer(_) => self.unqueue(digest),
        }
    }

    /// A row that cannot be read must not be the first in the queue for ever.
    fn put_off(
        &mut self,
        digest: &[u8],
        leasing: &Leasing,
        won: &mut Won,
    ) -> Result<(), StoreError> {
        won.rest.unreadable = won.rest.unreadable.saturating_add(1);
        let now = micros(moment(self.clock));
        self.queue_until(digest, crate::clock::micros_after(now, leasing.lease))
    }

    fn requeue(&mut self, key: &EventKey) -> Result<Requeued, StoreError> {
        let Some(stored) = self.find(key)? else {
            return Ok(Requeued::Unknown);
        };
        if !matches!(stored.state, State::Failed | State::Dead) {
            return Ok(Requeued::NotFailed(stored));
        }
        if self.parked(key)?.is_none() {
            return Ok(Requeued::NoBody(stored));
        }
        let now = moment(self.clock);
        let row = stored.requeued(now);
        self.write(&row)?;
        self.enqueue(key.digest(), micros(now))?;
        Ok(Requeued::Waiting(row))
    }

    fn parked(&mut self, key: &EventKey) -> Result<Option<Parked>, StoreError> {
        let parked = self.inbox.parked.on(self.connection)?;
        let mut rows = parked.query_map([key.digest().as_slice()], queued)?;
        let Some(row) = rows.next() else {
            return Ok(None);
        };
        let row = row?;
        row.receipt.transpose()?;
        row.parked
            .map(|row| row.into_parked(key.clone()))
            .transpose()
    }

    fn list(&mut self, listing: &Listing) -> Result<Vec<Receipt>, StoreError> {
        let list = match listing.state {
            State::Processed | State::Dead => &mut self.inbox.list,
            State::Received | State::InProgress | State::Failed => &mut self.inbox.list_queued,
        };
        // Nothing sorts before every key.
        let after = if listing.is_first {
            &[][..]
        } else {
            &listing.after
        };
        let limit = i64::try_from(listing.limit).unwrap_or(i64::MAX);
        let list = list.on(self.connection)?;
        let mut rows = list.query(params![listing.state.code(), after, limit])?;
        let mut page = Vec::new();
        while let Some(row) = rows.next()? {
            page.push(found(row)?.receipt_under(&row.get::<_, Vec<u8>>(12)?)?);
        }
        Ok(page)
    }

    fn drop_bodies(&mut self, dropping: &Dropping) -> Result<usize, StoreError> {
        let now = micros(moment(self.clock));
        let age = i64::try_from(dropping.age.as_micros()).unwrap_or(i64::MAX);
        let limit = i64::try_from(dropping.limit).unwrap_or(i64::MAX);
        let drop_bodies = self.inbox.drop_bodies.on(self.connection)?;
        Ok(drop_bodies.execute(params![now.saturating_sub(age), dropping.dead_too, limit])?)
    }
}

/// Prepares every statement, so that a table that is not this one shows when a store is opened.
pub(super) fn probe(connection: &Connection) -> rusqlite::Result<()> {
    for statement in [
        sql::RECEIVE,
        sql::PARK,
        sql::ENQUEUE,
        sql::DUE,
        sql::LIST,
        sql::LIST_QUEUED,
    ] {
        connection.prepare(statement)?;
    }
    Ok(())
}

impl SqliteStore {
    pub(super) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Verbs<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let answer = self.read.submit(Unwanted::Skip, work, |read| read);
        answer.await.unwrap_or_else(|| Err(closed()))
    }

    async fn lease_some(&self, leasing: Leasing) -> Result<Leased, StoreError> {
        let on_abandoned = Arc::new(GiveBack {
            lane: self.write.clone(),
            report: self.on_abandoned.clone(),
        });
        let answer = self.write.submit(
            Unwanted::Skip,
            move |verbs| verbs.whole(|verbs| verbs.lease_due(&leasing)),
            move |won| {
                let issue = |(claiming, receipt, parked)| {
                    let lease = Lease::issue(claiming, &receipt, on_abandoned.clone());
                    (lease, parked)
                };
                Leased {
                    events: won.events.into_iter().map(issue).collect(),
                    ..won.rest
                }
            },
        );
        answer.await.unwrap_or_else(|| Err(closed()))
    }
}

impl InboxStore for SqliteStore {
    fn accept(&self, parcel: Parcel) -> StoreFuture<'_, Result<Accepted, StoreError>> {
        Box::pin(async move {
            // A duplicate costs a read, and no turn at the writer.
            let claiming = parcel.claiming().clone();
            if let Some(known) = self.read(move |verbs| verbs.known(&claiming)).await? {
                return Ok(known);
            }
            // Asked of us is to store it, whether or not somebody still waits for the answer.
            self.write(Unwanted::Run, move |verbs| verbs.accept(parcel))
                .await
        })
    }

    fn lease_due(&self, leasing: Leasing) -> StoreFuture<'_, Result<Leased, StoreError>> {
        Box::pin(self.lease_some(leasing))
    }

    fn requeue<'a>(&'a self, key: &'a EventKey) -> StoreFuture<'a, Result<Requeued, StoreError>> {
        let key = key.clone();
        Box::pin(self.write(Unwanted::Run, move |verbs| verbs.requeue(&key)))
    }

    fn list(&self, listing: Listing) -> StoreFuture<'_, Result<Vec<Receipt>, StoreError>> {
        Box::pin(self.read(move |verbs| verbs.list(&listing)))
    }

    fn parked<'a>(
        &'a self,
        key: &'a EventKey,
    ) -> StoreFuture<'a, Result<Option<Parked>, StoreError>> {
        let key = key.clone();
        Box::pin(self.read(move |verbs| verbs.parked(&key)))
    }

    fn drop_bodies(&self, dropping: Dropping) -> StoreFuture<'_, Result<usize, StoreError>> {
        Box::pin(self.write(Unwanted::Skip, move |verbs| verbs.drop_bodies(&dropping)))
    }
}
