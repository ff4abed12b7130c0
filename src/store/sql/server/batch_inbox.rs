//! Many deliveries at once, over the statements of a session.

use std::{future::Future, time::Duration};

use time::OffsetDateTime;

use crate::{
    clock::from_micros,
    event::EventKey,
    inbox::{Accepted, Parcel, ParkedRow},
    store::{Claim, Claiming, Fence, Receipt, Ruling, State, StoreError, StoreErrorKind},
};

use super::{
    rounds::{self, AllKnown, Known, held_too},
    verbs::{Verbs, corrupt, held},
};

/// What looks at many events, and stores the deliveries of many, in few statements. The events of one
/// call are all different. Answers are in the order of what was asked.
pub(in crate::store::sql) trait InboxSession: Send {
    /// What the engine sees of one event in a look and needs when it stores its delivery.
    type Mark: Send + Sync;

    /// What is stored, and the time. Takes no lock and writes nothing.
    fn look_at(
        &mut self,
        keys: &[&EventKey],
        now: Option<i64>,
    ) -> impl Future<Output = Result<InboxLooks<Self::Mark>, StoreError>> + Send;

    /// Stores each delivery whole or not at all; never waits for a transaction that lasts. An error
    /// of the whole says that nothing is known of any.
    fn store_all(
        &mut self,
        asked: &[Asked<Self::Mark>],
        now: Option<i64>,
    ) -> impl Future<Output = Result<Vec<Result<Took, StoreError>>, StoreError>> + Send;
}

/// What is stored of some events.
#[derive(Debug)]
pub(in crate::store::sql) struct InboxLooks<M> {
    /// The time, by the clock that judges.
    pub(in crate::store::sql) now: i64,
    pub(in crate::store::sql) each: Vec<Result<InboxLook<M>, StoreError>>,
}

/// What is stored of one of them.
#[derive(Debug)]
pub(in crate::store::sql) struct InboxLook<M> {
    pub(in crate::store::sql) stored: Option<Receipt>,
    /// Whether it is in the inbox's queue.
    pub(in crate::store::sql) is_queued: bool,
    #[cfg_attr(not(feature = "sqlx-mysql"), expect(dead_code, reason = "for MySQL"))]
    pub(in crate::store::sql) mark: M,
}

/// A delivery to be stored: with its receipt if there is none, beside it if there is one.
#[derive(Debug)]
pub(in crate::store::sql) struct Asked<M> {
    at: usize,
    pub(in crate::store::sql) claiming: Claiming,
    /// Without the time of acceptance, which is the statement's.
    pub(in crate::store::sql) row: ParkedRow,
    pub(in crate::store::sql) look: InboxLook<M>,
    /// When it was looked.
    #[cfg_attr(not(feature = "sqlx-mysql"), expect(dead_code, reason = "for MySQL"))]
    pub(in crate::store::sql) looked_at: i64,
}

/// What came of it.
#[derive(Debug)]
pub(in crate::store::sql) enum Took {
    /// The event is new, and this is its receipt.
    New(Receipt),
    /// The delivery is stored beside this receipt.
    Adopted(Receipt),
    /// Nothing: what was seen is not so any more.
    Refused,
    /// Nothing: somebody else is at the event, perhaps in a transaction that lasts.
    Held,
}

type Open = rounds::Open<ParkedRow>;
type Batch = rounds::Batch<ParkedRow, Accepted>;

impl Verbs {
    /// Looks first, so that known events lock and write nothing; then the others are stored. An event
    /// that comes twice has its turn twice, unless what came of the first answers the second.
    pub(in crate::store::sql) async fn accept_many(
        &self,
        session: &mut impl InboxSession,
        parcels: Vec<Parcel>,
    ) -> Result<Vec<Result<Accepted, StoreError>>, StoreError> {
        let mut batch = Batch::new(parcels.into_iter().map(|parcel| {
            let claiming = parcel.claiming().clone();
            let parked = parcel.park(OffsetDateTime::UNIX_EPOCH);
            (claiming, ParkedRow::of(parked))
        }));
        while batch.goes_on() {
            if let Err(error) = self.take_in(session, &mut batch).await {
                return batch.end(error);
            }
        }
        batch.end(StoreError::new(StoreErrorKind::Busy))
    }

    async fn take_in(
        &self,
        session: &mut impl InboxSession,
        batch: &mut Batch,
    ) -> Result<(), StoreError> {
        let (turn, others) = batch.turn();
        let mut known = AllKnown::default();

        let keys: Vec<_> = turn.iter().map(Open::key).collect();
        let looks = session.look_at(&keys, self.now()).await?;
        let now = from_micros(looks.now).ok_or_else(corrupt)?;
        let mut asked = Vec::with_capacity(turn.len());
        for (open, look) in turn.into_iter().zip(looks.each) {
            let look = match look {
                Err(error) => {
                    batch.answer(open.at, Err(error));
                    continue;
                }
                Ok(look) => look,
            };
            match look.stored.as_ref().and_then(|stored| {
                accepted(stored, &open.claiming, now).or_else(|| {
                    let pending = || Accepted::Pending(stored.clone());
                    look.is_queued.then(pending)
                })
            }) {
                Some(answer) => {
                    // One that is in conflict and not in the inbox says nothing of the next.
                    let is_in = look.is_queued || !matches!(answer, Accepted::Conflict(_));
                    if let Some(row) = look.stored.filter(|_| is_in) {
                        known.note(open.key(), Known::Stored(row));
                    }
                    batch.answer(open.at, Ok(answer));
                }
                None => asked.push(Asked {
                    at: open.at,
                    claiming: open.claiming,
                    row: open.with,
                    look,
                    looked_at: looks.now,
                }),
            }
        }

        if !asked.is_empty() {
            let took = session.store_all(&asked, self.now()).await?;
            for (asked, took) in asked.into_iter().zip(took) {
                taken(batch, &mut known, asked, took, now);
            }
        }
        batch.after(others, &known, |known, claiming| {
            Some(known.answers(claiming, now))
        });
        Ok(())
    }
}

/// Notes what came of one delivery.
fn taken<M>(
    batch: &mut Batch,
    known: &mut AllKnown,
    asked: Asked<M>,
    took: Result<Took, StoreError>,
    now: OffsetDateTime,
) {
    let key = &asked.claiming.key;
    let answer = match took {
        Err(error) => Err(error),
        Ok(Took::Refused) => {
            // Somebody else has written since the look.
            return batch.again(Open {
                at: asked.at,
                claiming: asked.claiming,
                with: asked.row,
            });
        }
        Ok(Took::New(receipt)) => {
            known.note(key, Known::Stored(receipt.clone()));
            Ok(Accepted::New(receipt))
        }
        Ok(Took::Adopted(receipt)) => {
            known.note(key, Known::Stored(receipt.clone()));
            Ok(Accepted::Pending(receipt))
        }
        Ok(Took::Held) => {
            known.note(key, Known::Held(asked.look.stored.clone()));
            Ok(busy(&asked.claiming, asked.look.stored, now))
        }
    };
    batch.answer(asked.at, answer);
}

/// The answer to a delivery of an event with this receipt, unless that depends on whether it is in
/// the inbox.
fn accepted(stored: &Receipt, claiming: &Claiming, now: OffsetDateTime) -> Option<Accepted> {
    match stored.ruling(claiming, now) {
        Ruling::Answer(Claim::Conflict(conflict)) => Some(Accepted::Conflict(conflict)),
        _ if stored.state == State::Processed => Some(Accepted::Duplicate(stored.clone())),
        _ if stored.state == State::Dead => Some(Accepted::Dead(stored.clone())),
        _ => None,
    }
}

impl Known {
    /// The answer to another delivery of the same event. What is stored is in the inbox, or has ended.
    fn answers(&self, claiming: &Claiming, now: OffsetDateTime) -> Accepted {
        match self {
            Known::Stored(row) => {
                accepted(row, claiming, now).unwrap_or_else(|| Accepted::Pending(row.clone()))
            }
            Known::Held(stored) => match held_too(stored.as_ref(), claiming, now) {
                Claim::Conflict(conflict) => Accepted::Conflict(conflict),
                _ => busy(claiming, stored.clone(), now),
            },
        }
    }
}

/// Somebody's open transaction has it.
pub(in crate::store::sql) fn busy(
    claiming: &Claiming,
    stored: Option<Receipt>,
    now: OffsetDateTime,
) -> Accepted {
    match held(claiming, stored, now) {
        Claim::InProgress {
            retry_after,
            receipt,
        } => Accepted::InProgress {
            retry_after,
            receipt,
        },
        // What is held is in progress.
        Claim::New(_) | Claim::Duplicate(_) | Claim::Conflict(_) | Claim::Dead(_) => {
            Accepted::InProgress {
                retry_after: Duration::from_secs(1),
                receipt: Receipt::received(claiming, now, Fence(0)),
            }
        }
    }
}
