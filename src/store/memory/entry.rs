//! A receipt in 56 bytes.

use crate::{
    clock::{from_micros, micros},
    event::{EventKey, Fingerprint},
    store::{Claiming, Fence, Receipt, State, receipt::First},
};

use time::{Duration, OffsetDateTime};

/// What is kept of every receipt. Times are microseconds since 1970, durations start at
/// `received_at`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) digest: [u8; 16],
    fingerprint: Fingerprint,
    received_at: i64,
    /// Whole seconds until `expires_at`.
    retention: u32,
    /// Microseconds by which the fence is ahead of `received_at`.
    ahead: u32,
    /// 48 bits of microseconds, nearly nine years. In progress: the lease, which began with the
    /// first claim. Otherwise: the time until the last change.
    span_low: u32,
    span_high: u16,
    /// [`BESIDE`] if the facts are kept there.
    attempts: u8,
    state: State,
}

/// Attempts are counted from 1.
const BESIDE: u8 = 0;

const BLANK: Entry = Entry {
    digest: [0; 16],
    fingerprint: Fingerprint::IGNORED,
    received_at: 0,
    retention: 0,
    ahead: 0,
    span_low: 0,
    span_high: 0,
    attempts: BESIDE,
    state: State::Received,
};

/// What a receipt says besides its key, fingerprint, state, arrival and result. [`Entry`] holds
/// them where they are of the usual kind; leases that were renewed or won again, waiting failures
/// and odd retentions keep them beside it, and move in when they are settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Facts {
    attempts: u32,
    fence: Fence,
    changed_at: i64,
    until: Option<i64>,
    pub(super) expires_at: i64,
}

impl Entry {
    /// The entry of a first claim, and its facts. Here as in [`Entry::of`], they must be kept
    /// beside the entry unless it [is packed](Entry::is_packed).
    pub(super) fn first(claiming: &Claiming, first: &First) -> (Self, Facts) {
        let facts = Facts {
            attempts: first.attempts,
            fence: first.fence,
            changed_at: first.received_at,
            until: Some(first.until),
            expires_at: first.expires_at,
        };
        let entry = Self {
            digest: *claiming.key.digest(),
            fingerprint: claiming.fingerprint,
            state: State::InProgress,
            received_at: first.received_at,
            ..BLANK
        };
        (entry.pack(&facts), facts)
    }

    /// The entry of a receipt.
    pub(super) fn of(receipt: &Receipt) -> (Self, Facts) {
        let facts = Facts {
            attempts: receipt.attempts,
            fence: receipt.fence,
            changed_at: micros(receipt.changed_at),
            until: receipt.until.map(micros),
            expires_at: micros(receipt.expires_at),
        };
        let entry = Self {
            digest: *receipt.key.digest(),
            fingerprint: receipt.fingerprint,
            state: receipt.state,
            received_at: micros(receipt.received_at),
            ..BLANK
        };
        (entry.pack(&facts), facts)
    }

    /// Packs the facts if they can be read back just as they are.
    fn pack(self, facts: &Facts) -> Self {
        let since = |at: i64| at.saturating_sub(self.received_at);
        let span = match self.state {
            State::InProgress => facts.until.map_or(0, since),
            _ => since(facts.changed_at),
        };
        // What does not fit is cut off here and found out below.
        let packed = Self {
            retention: (since(facts.expires_at) / MICROS) as u32,
            ahead: since(facts.fence.0) as u32,
            span_low: span as u32,
            span_high: (span >> 32) as u16,
            attempts: facts.attempts as u8,
            ..self
        };
        let exact = packed.is_packed() && packed.facts() == *facts;
        if exact { packed } else { self }
    }

    /// Whether the facts are in here. Otherwise they are kept beside the entry.
    pub(super) fn is_packed(&self) -> bool {
        self.attempts != BESIDE
    }

    /// The facts that were packed.
    pub(super) fn facts(&self) -> Facts {
        let later = |by: i64| self.received_at.saturating_add(by);
        let end = later(i64::from(self.span_high) << 32 | i64::from(self.span_low));
        let (changed_at, until) = match self.state {
            State::InProgress => (self.received_at, Some(end)),
            _ => (end, None),
        };
        Facts {
            attempts: self.attempts.into(),
            fence: Fence(later(self.ahead.into())),
            changed_at,
            until,
            expires_at: later(i64::from(self.retention).saturating_mul(MICROS)),
        }
    }

    /// The receipt that was packed.
    pub(super) fn receipt(&self, facts: &Facts, key: EventKey, result: Vec<u8>) -> Receipt {
        // Cannot fail: it comes from a date.
        let received_at = from_micros(self.received_at).unwrap_or(OffsetDateTime::UNIX_EPOCH);
        // Takes half as long as to make each date from its number.
        let date = |at: i64| {
            let later = Duration::microseconds(at.saturating_sub(self.received_at));
            received_at.saturating_add(later)
        };
        Receipt {
            key,
            fingerprint: self.fingerprint,
            state: self.state,
            attempts: facts.attempts,
            fence: facts.fence,
            received_at,
            changed_at: date(facts.changed_at),
            until: facts.until.map(date),
            expires_at: date(facts.expires_at),
            result,
        }
    }
}

const MICROS: i64 = 1_000_000;

/// Cuts a moment to what is stored of it.
pub(super) fn whole_micros(at: OffsetDateTime) -> OffsetDateTime {
    let micros = at.nanosecond() / 1000;
    // Cannot fail: it is less than it was.
    at.replace_nanosecond(micros.saturating_mul(1000))
        .unwrap_or(at)
}
