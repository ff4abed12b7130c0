//! Batches in rounds: each event has one turn in a round, and what came of it may answer those that
//! are about the same event.

use std::collections::{HashMap, HashSet};

use time::OffsetDateTime;

use crate::{
    event::EventKey,
    store::{Claim, Claiming, Conflict, Receipt, StoreError},
};

use super::{TRIES, verbs::held};

/// One of a batch, its place in the answer, and what it brings along.
pub(super) struct Open<T> {
    pub(super) at: usize,
    pub(super) claiming: Claiming,
    #[cfg_attr(not(feature = "inbox"), expect(dead_code, reason = "for deliveries"))]
    pub(super) with: T,
}

impl<T> Open<T> {
    pub(super) fn key(&self) -> &EventKey {
        &self.claiming.key
    }
}

/// What is known of an event that was asked for more than once, from its first answer.
pub(super) enum Known {
    Stored(Receipt),
    /// Somebody is at it, and this is from before.
    Held(Option<Receipt>),
}

/// By event, in one round.
#[derive(Default)]
pub(super) struct AllKnown(HashMap<[u8; 16], Known>);

impl AllKnown {
    pub(super) fn note(&mut self, key: &EventKey, known: Known) {
        self.0.insert(*key.digest(), known);
    }
}

/// A batch that is being answered.
pub(super) struct Batch<T, A> {
    open: Vec<Open<T>>,
    answers: Vec<Option<Result<A, StoreError>>>,
    /// How many were open before the last round.
    before: usize,
    /// How many rounds may yet answer nothing.
    left: usize,
}

impl<T, A> Batch<T, A> {
    pub(super) fn new(asked: impl IntoIterator<Item = (Claiming, T)>) -> Self {
        let open = asked.into_iter().enumerate();
        let open = open.map(|(at, (claiming, with))| Open { at, claiming, with });
        let open: Vec<_> = open.collect();
        Self {
            answers: open.iter().map(|_| None).collect(),
            before: usize::MAX,
            left: TRIES,
            open,
        }
    }

    /// Whether there is another round.
    pub(super) fn goes_on(&mut self) -> bool {
        if self.open.len() == self.before {
            self.left = self.left.saturating_sub(1);
        }
        self.before = self.open.len();
        !self.open.is_empty() && self.left > 0
    }

    /// One for each event, and the others, which come [`after`](Self::after) them.
    pub(super) fn turn(&mut self) -> (Vec<Open<T>>, Vec<Open<T>>) {
        let mut seen = HashSet::new();
        std::mem::take(&mut self.open)
            .into_iter()
            .partition(|open| seen.insert(*open.key().digest()))
    }

    pub(super) fn answer(&mut self, at: usize, answer: Result<A, StoreError>) {
        if let Some(place) = self.answers.get_mut(at) {
            *place = Some(answer);
        }
    }

    /// Has its turn again in the next round.
    pub(super) fn again(&mut self, open: Open<T>) {
        self.open.push(open);
    }

    /// Answers what needs no turn, by what is known of its event.
    pub(super) fn after(
        &mut self,
        others: Vec<Open<T>>,
        known: &AllKnown,
        answer: impl Fn(&Known, &Claiming) -> Option<A>,
    ) {
        for open in others {
            let known = known.0.get(open.key().digest());
            match known.and_then(|known| answer(known, &open.claiming)) {
                Some(answer) => self.answer(open.at, Ok(answer)),
                None => self.again(open),
            }
        }
        self.open.sort_unstable_by_key(|open| open.at);
    }

    /// All answers, with `error` where there is none. If that is everywhere, it is the batch's.
    pub(super) fn end(self, error: StoreError) -> Result<Vec<Result<A, StoreError>>, StoreError> {
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

/// The answer to another claim of an event that somebody is at.
pub(super) fn held_too(
    stored: Option<&Receipt>,
    claiming: &Claiming,
    now: OffsetDateTime,
) -> Claim {
    match stored {
        Some(row) if row.fingerprint != claiming.fingerprint => Claim::Conflict(Conflict {
            receipt: row.clone(),
            presented: claiming.fingerprint,
        }),
        stored => held(claiming, stored.cloned(), now),
    }
}
