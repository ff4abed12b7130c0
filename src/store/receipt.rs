//! The stored row and the rules of its life, as pure functions.

use std::{fmt, time::Duration};

use time::OffsetDateTime;

use crate::{
    clock::{after, between, from_micros, micros, micros_after},
    event::{EventKey, Fingerprint},
};

use super::{Claim, Claiming, Conflict, State, verdict::TOO_MANY_ATTEMPTS};

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
    /// When the event was first claimed, or accepted into an inbox.
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

    /// The row of an event that an inbox accepts: not tried yet, and under no fence that anybody
    /// will hold. `used` as in [`Receipt::first`].
    pub fn received(claiming: &Claiming, now: OffsetDateTime, used: Fence) -> Self {
        Self {
            state: State::Received,
            attempts: 0,
            until: None,
            ..Self::first(claiming, now, used)
        }
    }

    /// The row of a failed or dead event that starts anew. Its fence stays: no lease stands on it.
    pub fn requeued(&self, now: OffsetDateTime) -> Self {
        Self {
            state: State::Received,
            attempts: 0,
            changed_at: now,
            until: None,
            result: Vec::new(),
            ..self.clone()
        }
    }

    /// The row of an event whose body is gone, so that nobody can act on it.
    #[cfg(all(feature = "inbox", any(feature = "rusqlite", feature = "sqlx-mysql")))]
    pub(crate) fn without_body(&self, now: OffsetDateTime) -> Self {
        Self {
            state: State::Dead,
            changed_at: now,
            until: None,
            result: super::verdict::NO_BODY.to_vec(),
            ..self.clone()
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
                result: TOO_MANY_ATTEMPTS.to_vec(),
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
