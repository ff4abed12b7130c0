//! What is asked of an inbox, and its answers.

use std::time::Duration;

use crate::{
    event::EventKey,
    store::{Conflict, DEFAULT_LEASE, DEFAULT_MAX_ATTEMPTS, Lease, Receipt, State},
};

use super::Parked;

/// The shortest lease of [`Leasing`].
const SHORTEST_LEASE: Duration = Duration::from_millis(1);

/// Most rows that one call leases or lists.
const MOST_ROWS: usize = 1000;

/// The answer to [`InboxStore::accept`](super::InboxStore::accept).
#[derive(Debug)]
#[must_use = "it says what to answer"]
pub enum Accepted {
    /// Stored now, with its receipt. Answer 200.
    New(Receipt),
    /// Stored, now or earlier, and not done: it waits, runs or will be tried again. Answer 200.
    Pending(Receipt),
    /// Done already; the receipt holds the result. Answer 200.
    Duplicate(Receipt),
    /// Given up earlier. Answer 200 and wake a human.
    Dead(Receipt),
    /// The same id with other content. The first record stands unchanged. Answer 202 and look.
    Conflict(Conflict),
    /// Nothing is stored, because somebody's open transaction has the event. Answer 409 and
    /// `Retry-After`.
    InProgress {
        /// When to ask again; never zero.
        retry_after: Duration,
        /// What is known of it; see [`Claim::InProgress`](crate::Claim::InProgress).
        receipt: Receipt,
    },
}

/// What is asked of [`InboxStore::lease_due`](super::InboxStore::lease_due).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "nothing is leased until a store is asked"]
pub struct Leasing {
    pub(crate) limit: usize,
    pub(crate) lease: Duration,
    pub(crate) max_attempts: u32,
}

impl Leasing {
    /// Up to so many events that are due; 1000 at most.
    pub fn up_to(limit: usize) -> Self {
        Self {
            limit: limit.min(MOST_ROWS),
            lease: DEFAULT_LEASE,
            max_attempts: DEFAULT_MAX_ATTEMPTS,
        }
    }

    /// How long each of them is yours; 60 s if not set, at least a millisecond.
    pub fn lease(mut self, lease: Duration) -> Self {
        self.lease = lease.max(SHORTEST_LEASE);
        self
    }

    /// After this many attempts (at least 1, 20 if not set) the next failure makes an event dead.
    pub fn max_attempts(mut self, attempts: u32) -> Self {
        self.max_attempts = attempts.max(1);
        self
    }

    /// For stores.
    pub const fn limit(&self) -> usize {
        self.limit
    }

    /// For stores: what the lease of one event is, once its fingerprint is known.
    pub fn claiming(&self, receipt: &Receipt) -> crate::store::Claiming {
        crate::store::Claiming::business(receipt.key.clone())
            .fingerprint(receipt.fingerprint)
            .lease(self.lease)
            .max_attempts(self.max_attempts)
    }
}

/// The answer to [`InboxStore::lease_due`](super::InboxStore::lease_due).
#[derive(Debug, Default)]
#[must_use = "the leases in it must be settled"]
pub struct Leased {
    /// Yours now: act, then settle.
    pub events: Vec<(Lease, Parked)>,
    /// Dead as of now: the last allowed attempt ran out of its lease without a word, or the body
    /// is gone. Wake a human.
    pub buried: Vec<Receipt>,
    /// How many rows could not be read. They are put off by a lease, so that the others get their
    /// turn.
    pub unreadable: usize,
    /// Whether more may be due already.
    pub more: bool,
}

/// The answer to [`InboxStore::requeue`](super::InboxStore::requeue).
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "it says whether the event runs again"]
pub enum Requeued {
    /// It waits for a worker, with all its attempts before it.
    Waiting(Receipt),
    /// It has not failed: it waits or runs anyway, or is done.
    NotFailed(Receipt),
    /// Its body is not there (any more).
    NoBody(Receipt),
    /// There is no such event.
    Unknown,
}

/// What is asked of [`InboxStore::list`](super::InboxStore::list).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listing {
    pub(crate) state: State,
    pub(crate) after: [u8; 16],
    pub(crate) is_first: bool,
    pub(crate) limit: usize,
}

impl Listing {
    /// The first page of the events of a state whose body is there, a hundred of them.
    pub fn of(state: State) -> Self {
        Self {
            state,
            after: [0; 16],
            is_first: true,
            limit: 100,
        }
    }

    /// The page after this event.
    #[must_use]
    pub fn after(mut self, key: &EventKey) -> Self {
        self.after = *key.digest();
        self.is_first = false;
        self
    }

    /// How many events a page has; 1000 at most.
    #[must_use]
    pub fn limit(mut self, events: usize) -> Self {
        self.limit = events.min(MOST_ROWS);
        self
    }

    /// For stores: whether an event with this digest is on the page or a later one.
    pub fn is_before(&self, digest: &[u8; 16]) -> bool {
        self.is_first || self.after < *digest
    }
}

/// What is asked of [`InboxStore::drop_bodies`](super::InboxStore::drop_bodies).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dropping {
    pub(crate) age: Duration,
    pub(crate) dead_too: bool,
    pub(crate) limit: usize,
}

impl Dropping {
    /// The bodies of processed events that were accepted at least so long ago; up to 1000 of them.
    pub fn processed(age: Duration) -> Self {
        Self {
            age,
            dead_too: false,
            limit: MOST_ROWS,
        }
    }

    /// Those of dead events too, which then cannot be requeued.
    #[must_use]
    pub fn and_dead(mut self) -> Self {
        self.dead_too = true;
        self
    }

    /// How many are dropped at most; 1000 at most.
    #[must_use]
    pub fn at_most(mut self, bodies: usize) -> Self {
        self.limit = bodies.min(MOST_ROWS);
        self
    }

    /// For stores: whether the body of an event in this state may go.
    pub fn takes(&self, state: State) -> bool {
        state == State::Processed || (self.dead_too && state == State::Dead)
    }
}
