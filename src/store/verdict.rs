//! Where an event stands, and what became of it.

use std::time::Duration;

use time::OffsetDateTime;

use crate::clock::after;

/// Longest result that is kept with a receipt, in bytes.
pub const MAX_RESULT_BYTES: usize = 4096;

/// What is kept of an event whose last allowed attempt failed.
pub(crate) const TOO_MANY_ATTEMPTS: &[u8] = b"too many attempts";

/// What is kept of an event whose body was lost in the inbox.
#[cfg(all(
    feature = "inbox",
    any(
        feature = "rusqlite",
        feature = "sqlx-postgres",
        feature = "sqlx-mysql"
    )
))]
pub(crate) const NO_BODY: &[u8] = b"the body is missing";

/// Where an event stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum State {
    /// Stored in an inbox, not tried yet.
    Received,
    /// Claimed; somebody holds, or held, a lease.
    InProgress,
    /// Acted on; the result is stored.
    Processed,
    /// An attempt failed or was given back; due at [`Receipt::until`](super::Receipt::until).
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
                (State::Dead, None, TOO_MANY_ATTEMPTS.to_vec())
            }
            Verdict::Retry { after: wait } => (State::Failed, Some(after(now, wait)), Vec::new()),
        }
    }
}
