//! Many claims at once, over the statements of a session.

use std::future::Future;

use time::OffsetDateTime;

use crate::{
    clock::from_micros,
    event::EventKey,
    store::{Claim, Claiming, Lease, Receipt, Ruling, State, StoreError, StoreErrorKind},
};

use super::{
    Attempt, Session,
    rounds::{self, AllKnown, Known, held_too},
    verbs::{Verbs, corrupt, held},
};

/// A connection on which many events are looked at, or claimed, by one statement. The events of
/// one statement are all different. Answers are in the order of what was asked.
pub(in crate::store::sql) trait BatchSession: Session {
    /// What the engine sees of one event in a look and needs when it claims.
    type Mark: Send + Sync;

    /// See [`Session::find`].
    fn find_many(
        &mut self,
        keys: &[&EventKey],
        now: Option<i64>,
    ) -> impl Future<Output = Result<Looks<Self::Mark>, StoreError>> + Send;

    /// See [`Session::claim`]. An error says that nothing was claimed.
    fn claim_many(
        &mut self,
        asks: &[BatchAsk<'_, Self::Mark>],
        now: Option<i64>,
    ) -> impl Future<Output = Result<Vec<Result<Attempt, StoreError>>, StoreError>> + Send;
}

/// What is stored of some events.
#[derive(Debug)]
pub(in crate::store::sql) struct Looks<M> {
    /// The time, by the clock that judges.
    pub(in crate::store::sql) now: i64,
    pub(in crate::store::sql) each: Vec<Result<BatchLook<M>, StoreError>>,
}

/// What is stored of one of them.
#[derive(Debug)]
pub(in crate::store::sql) struct BatchLook<M> {
    pub(in crate::store::sql) stored: Option<Receipt>,
    #[cfg_attr(not(feature = "sqlx-mysql"), expect(dead_code, reason = "for MySQL"))]
    pub(in crate::store::sql) mark: M,
}

/// What is asked of the claiming statement about one event.
#[derive(Debug)]
pub(in crate::store::sql) struct BatchAsk<'c, M> {
    pub(in crate::store::sql) claiming: &'c Claiming,
    #[cfg_attr(not(feature = "sqlx-mysql"), expect(dead_code, reason = "for MySQL"))]
    pub(in crate::store::sql) look: &'c BatchLook<M>,
    /// When it was looked.
    #[cfg_attr(not(feature = "sqlx-mysql"), expect(dead_code, reason = "for MySQL"))]
    pub(in crate::store::sql) looked_at: i64,
}

type Open = rounds::Open<()>;
type Batch = rounds::Batch<(), Claim>;

impl Verbs {
    /// Looks first, so that known events lock and write nothing; then one statement decides about
    /// all others. An event that is asked for twice has its turn twice, unless what the first one
    /// wrote answers the second.
    pub(in crate::store::sql) async fn claim_many(
        &self,
        session: &mut impl BatchSession,
        claimings: Vec<Claiming>,
    ) -> Result<Vec<Result<Claim, StoreError>>, StoreError> {
        let mut batch = Batch::new(claimings.into_iter().map(|claiming| (claiming, ())));
        while batch.goes_on() {
            if let Err(error) = self.round(session, &mut batch).await {
                return batch.end(error);
            }
        }
        batch.end(StoreError::new(StoreErrorKind::Busy))
    }

    async fn round(
        &self,
        session: &mut impl BatchSession,
        batch: &mut Batch,
    ) -> Result<(), StoreError> {
        let (turn, others) = batch.turn();
        let mut known = AllKnown::default();

        let keys: Vec<_> = turn.iter().map(Open::key).collect();
        let looks = session.find_many(&keys, self.now()).await?;
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
            let stored = look.stored.as_ref();
            match stored.and_then(|row| settled(row, &open.claiming, now)) {
                Some(claim) => {
                    if let Some(row) = look.stored {
                        known.note(open.key(), Known::Stored(row));
                    }
                    batch.answer(open.at, Ok(claim));
                }
                None => asked.push((open, look)),
            }
        }

        if !asked.is_empty() {
            let ask = asked.iter().map(|(open, look)| BatchAsk {
                claiming: &open.claiming,
                look,
                looked_at: looks.now,
            });
            let asks: Vec<_> = ask.collect();
            let attempts = session.claim_many(&asks, self.now()).await?;
            for ((open, look), attempt) in asked.into_iter().zip(attempts) {
                self.attempted(batch, &mut known, (open, look.stored, now), attempt);
            }
        }
        batch.after(others, &known, |known, claiming| match known {
            Known::Stored(row) => settled(row, claiming, now),
            Known::Held(stored) => Some(held_too(stored.as_ref(), claiming, now)),
        });
        Ok(())
    }

    fn attempted(
        &self,
        batch: &mut Batch,
        known: &mut AllKnown,
        (open, stored, now): (Open, Option<Receipt>, OffsetDateTime),
        attempt: Result<Attempt, StoreError>,
    ) {
        let claim = match attempt {
            Err(error) => return batch.answer(open.at, Err(error)),
            // Somebody else has written since the look.
            Ok(Attempt::Refused | Attempt::NoTransaction) => return batch.again(open),
            // Only of transactions, where there are no batches.
            #[cfg(feature = "sqlx-mysql")]
            Ok(Attempt::Saw(_)) => return batch.again(open),
            Ok(Attempt::Held) => {
                let claim = held(&open.claiming, stored.clone(), now);
                known.note(open.key(), Known::Held(stored));
                claim
            }
            Ok(Attempt::Wrote(row, _)) => {
                known.note(open.key(), Known::Stored(row.clone()));
                if row.state == State::Dead {
                    Claim::Dead(row)
                } else {
                    let report = self.on_abandoned.clone();
                    Claim::New(Lease::issue(open.claiming, &row, report))
                }
            }
        };
        batch.answer(open.at, Ok(claim));
    }
}

/// The answer to a claim of an event with this receipt, if none has to be written.
fn settled(stored: &Receipt, claiming: &Claiming, now: OffsetDateTime) -> Option<Claim> {
    match stored.ruling(claiming, now) {
        Ruling::Answer(claim) => Some(claim),
        Ruling::Take(_) | Ruling::Bury(_) => None,
    }
}
