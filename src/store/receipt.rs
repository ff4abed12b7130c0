//! The stored row and the rules of its life, as pure functions.

use std::{fmt, time::Duration};

use time::OffsetDateTime;

use crate::{
    clock::{after, between, from_micros, micros, micros_after},
    event::{EventKey, Fingerprint},
};

use super::{Claim, Claiming, Conflict, StoreError, StoreErrorKind};

/// Longest result that is kept with a receipt, in bytes.
pub const MAX_RESULT_BYTES: usize = 4096;

/// A fencing token: grows by one with each won claim of an event, and is never used again for it,
/// not even after its row was purged. It starts at the first receipt's microseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fence(pub i64);

impl Fence {
    /// The first fence of a row that is inserted now, above every fence in `used`.
    pub fn first(now: OffsetDateTime, used: Fence) -> Fence {
        Fence(micros(now).max(used.next().0))
    }

    /// The fence of the next won claim.
    pub fn next(self) -> Fence {
        Fence(self.0.saturating_add(1))
    }
}

impl fmt::Display for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Where an event stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum State {
    /// Stored in an inbox, not tried yet.
    Received,
    /// Claimed; somebody holds, or held, a lease.
    InProgress,
    /// Acted on; the result is stored.
    Processed,
    /// An attempt failed or was given back; due at [`Receipt::until`].
    Failed,
    /// Given up: refused for good, or failed too often. Wakes a human.
    Dead,
}

impl State {
    /// The number that databases keep.
    pub const fn code(self) -> i64 {
        match self {
            State::Received => 0,
            State::InProgress => 1,
            State::Processed => 2,
            State::Failed => 3,
            State::Dead => 4,
        }
    }

    /// The inverse of [`State::code`].
    pub const fn from_code(code: i64) -> Option<Self> {
        Some(match code {
            0 => State::Received,
            1 => State::InProgress,
            2 => State::Processed,
            3 => State::Failed,
            4 => State::Dead,
            _ => return None,
        })
    }
}

/// What became of an event. Nothing is done until this is written.
///
/// ```
/// use std::time::Duration;
/// use hookproof::Verdict;
///
/// let done = Verdict::done("created invoice 123");
/// let later = Verdict::retry(Duration::from_secs(30));
/// let never = Verdict::dead("unknown customer");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "a verdict has no effect until a lease is settled with it"]
pub enum Verdict {
    /// The action is done. The result, up to [`MAX_RESULT_BYTES`], is kept and answers duplicates.
    Done(Vec<u8>),
    /// The attempt failed; another may be made no sooner than after this wait. The last of the
    /// allowed attempts makes the event dead instead.
    Retry {
        /// The wait, on the store's clock.
        after: Duration,
    },
    /// The event will never be acted on. The reason, up to [`MAX_RESULT_BYTES`], is kept.
    Dead(Vec<u8>),
}

impl Verdict {
    /// See [`Verdict::Done`].
    pub fn done(result: impl Into<Vec<u8>>) -> Self {
        Verdict::Done(result.into())
    }

    /// See [`Verdict::Retry`].
    pub fn retry(after: Duration) -> Self {
        Verdict::Retry { after }
    }

    /// See [`Verdict::Dead`].
    pub fn dead(reason: impl Into<Vec<u8>>) -> Self {
        Verdict::Dead(reason.into())
    }

    /// Whether its result is short enough to be kept.
    pub fn fits(&self) -> bool {
        match self {
            Verdict::Done(text) | Verdict::Dead(text) => text.len() <= MAX_RESULT_BYTES,
            Verdict::Retry { .. } => true,
        }
    }

    /// The state it leads to in attempt `attempts` of at most `max_attempts`, with the time before
    /// which nothing may happen and what is kept. The rule that every store writes.
    pub fn outcome(
        self,
        attempts: u32,
        max_attempts: u32,
        now: OffsetDateTime,
    ) -> (State, Option<OffsetDateTime>, Vec<u8>) {
        match self {
            Verdict::Done(result) => (State::Processed, None, result),
            Verdict::Dead(reason) => (State::Dead, None, reason),
            Verdict::Retry { .. } if attempts >= max_attempts => {
                (State::Dead, None, b"too many attempts".to_vec())
            }
            Verdict::Retry { after: wait } => (State::Failed, Some(after(now, wait)), Vec::new()),
        }
    }
}

/// What is stored of one event: that it came, where it stands, and its result.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Receipt {
    /// The event.
    pub key: EventKey,
    /// The fingerprint of the content that came first. Never changes.
    pub fingerprint: Fingerprint,
    /// Where the event stands.
    pub state: State,
    /// Won claims so far.
    pub attempts: u32,
    /// The fencing token of the last won claim.
    pub fence: Fence,
    /// When the event was first claimed.
    pub received_at: OffsetDateTime,
    /// When the state was last written.
    pub changed_at: OffsetDateTime,
    /// In progress: the lease's end. Failed: not before. Otherwise nothing.
    pub until: Option<OffsetDateTime>,
    /// From here on the receipt may be purged; nothing else. Set once, at insert.
    pub expires_at: OffsetDateTime,
    /// The result, or the reason of a death.
    pub result: Vec<u8>,
}

/// What a claim of a stored event comes to: the table in the [module's documentation](super).
#[derive(Debug)]
pub enum Ruling {
    /// Write this row over the stored one, if that is still as it was read, and hand out a lease.
    Take(Receipt),
    /// The last allowed attempt's lease ran out: write this row, and answer `Dead`.
    Bury(Receipt),
    /// Write nothing, and answer this.
    Answer(Claim),
}

/// The rule behind [`Receipt::first`], in microseconds since 1970: for the memory store, where
/// making dates and reading them again would take a third of the time of a claim.
#[derive(Debug, Clone, Copy)]
pub(super) struct First {
    pub(super) attempts: u32,
    pub(super) fence: Fence,
    pub(super) received_at: i64,
    pub(super) until: i64,
    pub(super) expires_at: i64,
}

impl First {
    pub(super) fn of(claiming: &Claiming, now: OffsetDateTime, used: Fence) -> Self {
        let received_at = micros(now);
        Self {
            attempts: 1,
            fence: Fence::first(now, used),
            received_at,
            until: micros_after(received_at, claiming.lease),
            expires_at: micros_after(received_at, claiming.retention),
        }
    }
}

impl Receipt {
    /// The row of an event that is claimed for the first time. `used` is the highest fence that
    /// this key may ever have had, for stores that delete rows.
    pub fn first(claiming: &Claiming, now: OffsetDateTime, used: Fence) -> Self {
        let first = First::of(claiming, now, used);
        let date = |micros| from_micros(micros).unwrap_or(now);
        Self {
            key: claiming.key.clone(),
            fingerprint: claiming.fingerprint,
            state: State::InProgress,
            attempts: first.attempts,
            fence: first.fence,
            received_at: date(first.received_at),
            changed_at: date(first.received_at),
            until: Some(date(first.until)),
            expires_at: date(first.expires_at),
            result: Vec::new(),
        }
    }

    /// Judges a claim of this stored event. Content is compared first, state second, and retention
    /// not at all: a late duplicate stays a duplicate until its receipt is purged.
    pub fn ruling(&self, claiming: &Claiming, now: OffsetDateTime) -> Ruling {
        if self.fingerprint != claiming.fingerprint {
            let presented = claiming.fingerprint;
            return Ruling::Answer(Claim::Conflict(Conflict {
                receipt: self.clone(),
                presented,
            }));
        }
        match self.state {
            State::Processed => Ruling::Answer(Claim::Duplicate(self.clone())),
            State::Dead => Ruling::Answer(Claim::Dead(self.clone())),
            State::InProgress | State::Failed if self.is_waiting(now) => {
                let retry_after = self.remaining(now).max(Duration::from_micros(1));
                Ruling::Answer(Claim::InProgress {
                    retry_after,
                    receipt: self.clone(),
                })
            }
            // A lease that ran out is an attempt that failed without saying so: a delivery that
            // kills its worker each time must end as well.
            State::InProgress if self.attempts >= claiming.max_attempts => Ruling::Bury(Self {
                state: State::Dead,
                changed_at: now,
                until: None,
                result: b"too many attempts".to_vec(),
                ..self.clone()
            }),
            State::InProgress | State::Failed | State::Received => Ruling::Take(Self {
                state: State::InProgress,
                attempts: self.attempts.saturating_add(1),
                fence: self.fence.next(),
                changed_at: now,
                until: Some(after(now, claiming.lease)),
                result: Vec::new(),
                ..self.clone()
            }),
        }
    }

    /// Whether a lease, or the wait of a failed attempt, is still running.
    ///
    /// A clock that is set back must not stretch it: when more than twice its full length seems to
    /// be left, it counts as over.
    pub fn is_waiting(&self, now: OffsetDateTime) -> bool {
        let Some(until) = self.until else {
            return false;
        };
        let full = between(self.changed_at, until);
        now < until && between(now, until) <= full.saturating_mul(2)
    }

    /// What is left of the lease or wait, at most its full length.
    pub fn remaining(&self, now: OffsetDateTime) -> Duration {
        let Some(until) = self.until else {
            return Duration::ZERO;
        };
        between(now, until).min(between(self.changed_at, until))
    }

    /// Whether `fence` still stands, so that its holder may write.
    pub fn stands(&self, fence: Fence) -> bool {
        self.state == State::InProgress && self.fence == fence
    }

    /// Whether the row may be purged: its retention is over and no lease is running.
    pub fn is_purgeable(&self, now: OffsetDateTime) -> bool {
        let leased = self.state == State::InProgress && self.is_waiting(now);
        self.expires_at <= now && !leased
    }
}

/// A row as a database gives it, not yet believed.
#[derive(Debug, Clone, Default)]
pub struct StoredRow {
    /// 16 bytes.
    pub fingerprint: Vec<u8>,
    /// See [`State::code`].
    pub state: i64,
    /// Won claims.
    pub attempts: i64,
    /// The fencing token.
    pub fence: i64,
    /// Microseconds since 1970.
    pub received_at: i64,
    /// Microseconds since 1970.
    pub changed_at: i64,
    /// Microseconds since 1970.
    pub until: Option<i64>,
    /// Microseconds since 1970.
    pub expires_at: i64,
    /// The result, if any.
    pub result: Option<Vec<u8>>,
}

impl StoredRow {
    /// The row that a receipt is stored as.
    pub fn of(receipt: &Receipt) -> Self {
        Self {
            fingerprint: receipt.fingerprint.as_bytes().to_vec(),
            state: receipt.state.code(),
            attempts: receipt.attempts.into(),
            fence: receipt.fence.0,
            received_at: micros(receipt.received_at),
            changed_at: micros(receipt.changed_at),
            until: receipt.until.map(micros),
            expires_at: micros(receipt.expires_at),
            result: (!receipt.result.is_empty()).then(|| receipt.result.clone()),
        }
    }

    /// The receipt of `key` that the row stands for.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::Corrupt`] if it is no row of this crate.
    pub fn into_receipt(self, key: EventKey) -> Result<Receipt, StoreError> {
        let corrupt = || StoreError::new(StoreErrorKind::Corrupt);
        let at = |micros| from_micros(micros).ok_or_else(corrupt);
        let fingerprint = self.fingerprint.try_into().map_err(|_| corrupt())?;
        Ok(Receipt {
            key,
            fingerprint: Fingerprint::from_bytes(fingerprint),
            state: State::from_code(self.state).ok_or_else(corrupt)?,
            attempts: self.attempts.try_into().map_err(|_| corrupt())?,
            fence: Fence(self.fence),
            received_at: at(self.received_at)?,
            changed_at: at(self.changed_at)?,
            until: self.until.map(at).transpose()?,
            expires_at: at(self.expires_at)?,
            result: self.result.unwrap_or_default(),
        })
    }
}
