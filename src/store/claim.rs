//! Asking for an event, and the answers.

use std::time::Duration;

use crate::{
    event::{EventKey, Fingerprint},
    verify::Verified,
};

use super::{Lease, Receipt, Retention};

/// How long a lease lasts unless the application says otherwise: 60 s.
pub const DEFAULT_LEASE: Duration = Duration::from_secs(60);

/// How long receipts are kept unless the application says otherwise: 30 days, or twice the
/// provider's retry horizon if that is longer.
pub const DEFAULT_RETENTION: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// How many attempts an event gets unless the application says otherwise.
pub const DEFAULT_MAX_ATTEMPTS: u32 = 20;

/// What is asked of [`IdempotencyStore::claim`](super::IdempotencyStore::claim).
#[derive(Debug, Clone)]
#[must_use = "nothing is claimed until a store is asked"]
pub struct Claiming {
    pub(crate) key: EventKey,
    pub(crate) fingerprint: Fingerprint,
    pub(crate) lease: Duration,
    pub(crate) retention: Duration,
    least_retention: Duration,
    pub(crate) max_attempts: u32,
}

impl Claiming {
    /// Asks for the event that an authentic delivery tells of.
    ///
    /// It takes the proof of authenticity, so a claim before verification does not compile:
    ///
    /// ```compile_fail
    /// let key = hookproof::EventKey::business("", "stripe", "evt_1").unwrap();
    /// let claiming = hookproof::Claiming::new(br#"{"id":"evt_1"}"#, key);
    /// ```
    pub fn new(delivery: &Verified<'_>, key: EventKey) -> Self {
        let horizon = delivery.scheme().known_retry_horizon().unwrap_or_default();
        // Signed as far ahead as the window allows, a delivery passes for twice the window.
        let window = delivery.window().unwrap_or_default().saturating_mul(2);
        Self {
            key,
            fingerprint: delivery.fingerprint(),
            lease: DEFAULT_LEASE,
            retention: DEFAULT_RETENTION.max(horizon.saturating_mul(2)).max(window),
            least_retention: window,
            max_attempts: DEFAULT_MAX_ATTEMPTS,
        }
    }

    /// Asks for a piece of work of your own ([`EventKey::business`]), so that a webhook and
    /// another code path do it once between them.
    pub fn business(key: EventKey) -> Self {
        Self {
            key,
            fingerprint: Fingerprint::IGNORED,
            lease: DEFAULT_LEASE,
            retention: DEFAULT_RETENTION,
            least_retention: Duration::ZERO,
            max_attempts: DEFAULT_MAX_ATTEMPTS,
        }
    }

    /// How long the event is yours: longer than the work can take, whatever the request's own
    /// time limit. At zero it can be claimed again at once.
    pub fn lease(mut self, lease: Duration) -> Self {
        self.lease = lease;
        self
    }

    /// How long the receipt is kept, from the first claim on; duplicates do not extend it. Raised
    /// to twice the window in which a captured request would still pass as fresh, since a shorter
    /// memory would let it act again.
    pub fn retention(mut self, retention: Duration) -> Self {
        self.retention = retention.max(self.least_retention);
        self
    }

    /// Keeps the receipt as long as the policy says for its provider and tenant.
    pub fn retention_policy(self, policy: &Retention) -> Self {
        match policy.for_event(&self.key) {
            Some(retention) => self.retention(retention),
            None => self,
        }
    }

    /// After this many attempts (at least 1) the next failure makes the event
    /// [`Dead`](super::State::Dead).
    pub fn max_attempts(mut self, attempts: u32) -> Self {
        self.max_attempts = attempts.max(1);
        self
    }

    /// Replaces the scheme's fingerprint by one of your own, over the content that must agree.
    pub fn fingerprint(mut self, fingerprint: Fingerprint) -> Self {
        self.fingerprint = fingerprint;
        self
    }

    /// The event asked for.
    pub fn key(&self) -> &EventKey {
        &self.key
    }

    /// The fingerprint of the content it came with.
    pub fn content(&self) -> Fingerprint {
        self.fingerprint
    }
}

/// The answer to a claim. Every variant must be handled; a store that cannot answer is an error
/// instead.
#[derive(Debug)]
#[must_use = "only `New` may act, and its lease must be settled"]
pub enum Claim {
    /// The event is yours: act, then settle.
    New(Lease),
    /// Done already; the receipt holds the result. Answer 200.
    Duplicate(Receipt),
    /// Somebody is at it, or a failed attempt may not be repeated yet. Answer 409 and
    /// `Retry-After`: a 2xx would lose the event if the other one fails.
    InProgress {
        /// When to ask again; never zero, at most the lease (or the wait that a failed attempt
        /// asked for).
        retry_after: Duration,
        /// What is stored. While a claim of somebody's is not committed yet, a database shows what
        /// was stored before; if that is nothing, the receipt says what is known, with a fence of 0.
        receipt: Receipt,
    },
    /// The same id with other content. The first record stands unchanged. Answer 202 and look.
    Conflict(Conflict),
    /// Given up earlier. Answer 200 and wake a human.
    Dead(Receipt),
}

/// A known id that came with other content.
#[derive(Debug, Clone)]
pub struct Conflict {
    /// The stored receipt, with the fingerprint of the first content.
    pub receipt: Receipt,
    /// The fingerprint of the content that came now.
    pub presented: Fingerprint,
}
