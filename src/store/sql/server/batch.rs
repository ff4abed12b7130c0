//! Many claims at once, over the statements of a session.

use std::{
    collections::{HashMap, HashSet},
    future::Future,
};

use time::OffsetDateTime;

use crate::{
    clock::from_micros,
    event::EventKey,
    store::{Claim, Claiming, Conflict, Lease, Receipt, Ruling, State, StoreError, StoreErrorKind},
};

use super::{
    Attempt, Session,
    verbs::{TRIES, Verbs, corrupt, held},
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

/// One claim of a batch, and its place in the answer.
struct Open {
    at: usize,
    claiming: Claiming,
}

impl Open {
    fn digest(&self) -> [u8; 16] {
        *self.claiming.key.digest()
    }
}

/// What is known of an event that was asked for more than once, from its first answer.
enum Known {
    Stored(Receipt),
    /// Somebody is at it, and this is from before.
    Held(Option<Receipt>),
}

/// Claims that are being answered.
struct Batch {
    open: Vec<Open>,
    answers: Vec<Option<Result<Claim, StoreError>>>,
}

impl Batch {
    fn new(claimings: Vec<Claiming>) -> Self {
        let answers = claimings.iter().map(|_| None).collect();
        let open = claimings.into_iter().enumerate();
        let open = open.map(|(at, claiming)| Open { at, claiming }).collect();
        Self { open, answers }
    }

    fn answer(&mut self, at: usize, answer: Result<Claim, StoreError>) {
        if let Some(place) = self.answers.get_mut(at) {
            *place = Some(answer);
        }
    }

    /// All answers, with `error` where there is none. If that is everywhere, it is the batch's.
    fn end(self, error: StoreError) -> Result<Vec<Result<Claim, StoreError>>, StoreError> {
        if self.answers.iter().all(Option::is_none) && !self.answers.is_empty() {
            return Err(error);
        }
        let kind = error.kind();
        let mut error = Some(error);
        let mut next = || error.take().unwrap_or_else(|| StoreError::new(kind));
        let answers = self.answers.into_iter();
        Ok(answers
            .map(|answer| answer.unwrap_or_else(|| Err(next())))
            .collect())
    }
}

impl Verbs {
    /// Looks first, so that known events lock and write nothing; then one statement decides about
    /// all others. An event that is asked for twice has its turn twice, unless what the first one
    /// wrote answers the second.
    pub(in crate::store::sql) async fn claim_many(
        &self,
        session: &mut impl BatchSession,
        claimings: Vec<Claiming>,
    ) -> Result<Vec<Result<Claim, StoreError>>, StoreError> {
        let mut batch = Batch::new(claimings);
        let mut left = TRIES;
        while !batch.open.is_empty() {
            let before = batch.open.len();
            if let Err(error) = self.round(session, &mut batch).await {
                return batch.end(error);
            }
            if batch.open.len() == before {
                left = left.saturating_sub(1);
            }
            if left == 0 {
                break;
            }
        }
        batch.end(StoreError::new(StoreErrorKind::Busy))
    }

    async fn round(
        &self,
        session: &mut impl BatchSession,
        batch: &mut Batch,
    ) -> Result<(), StoreError> {
        let mut seen = HashSet::new();
        let (turn, later): (Vec<_>, Vec<_>) = std::mem::take(&mut batch.open)
            .into_iter()
            .partition(|open| seen.insert(open.digest()));
        let mut known = HashMap::new();

        let keys: Vec<_> = turn.iter().map(|open| &open.claiming.key).collect();
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
            match stored.map(|row| row.ruling(&open.claiming, now)) {
                Some(Ruling::Answer(claim)) => {
                    known.extend(look.stored.map(|row| (open.digest(), Known::Stored(row))));
                    batch.answer(open.at, Ok(claim));
                }
                _ => asked.push((open, look)),
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
        for open in later {
            match known
                .get(&open.digest())
                .and_then(|known| known.answers(&open, now))
            {
                Some(claim) => batch.answer(open.at, Ok(claim)),
                None => batch.open.push(open),
            }
        }
        batch.open.sort_unstable_by_key(|open| open.at);
        Ok(())
    }

    fn attempted(
        &self,
        batch: &mut Batch,
        known: &mut HashMap<[u8; 16], Known>,
        (open, stored, now): (Open, Option<Receipt>, OffsetDateTime),
        attempt: Result<Attempt, StoreError>,
    ) {
        let digest = open.digest();
        let claim = match attempt {
            Err(error) => return batch.answer(open.at, Err(error)),
            // Somebody else has written since the look.
            Ok(Attempt::Refused | Attempt::NoTransaction) => return batch.open.push(open),
            // Only of transactions, where there are no batches.
            #[cfg(feature = "sqlx-mysql")]
            Ok(Attempt::Saw(_)) => return batch.open.push(open),
            Ok(Attempt::Held) => {
                let claim = held(&open.claiming, stored.clone(), now);
                known.insert(digest, Known::Held(stored));
                claim
            }
            Ok(Attempt::Wrote(row, _)) => {
                known.insert(digest, Known::Stored(row.clone()));
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

impl Known {
    /// The answer to another claim of the same event, if none has to be written.
    fn answers(&self, open: &Open, now: OffsetDateTime) -> Option<Claim> {
        match self {
            Known::Stored(row) => match row.ruling(&open.claiming, now) {
                Ruling::Answer(claim) => Some(claim),
                Ruling::Take(_) | Ruling::Bury(_) => None,
            },
            Known::Held(Some(row)) if row.fingerprint != open.claiming.fingerprint => {
                Some(Claim::Conflict(Conflict {
                    receipt: row.clone(),
                    presented: open.claiming.fingerprint,
                }))
            }
            Known::Held(stored) => Some(held(&open.claiming, stored.clone(), now)),
        }
    }
}
