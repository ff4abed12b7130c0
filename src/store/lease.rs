//! The right to act on one event, for a while.

use std::{fmt, io::Write as _, sync::Arc, time::Duration};

use time::OffsetDateTime;

use crate::event::EventKey;

use super::{Claiming, Fence, Receipt};

/// The right to act on one event until a moment, proved to the store by a fencing token.
///
/// Settle it ([`IdempotencyStore::settle`](super::IdempotencyStore::settle)) once the action's
/// real result is known. A lease that is dropped unsettled, by an early return, a panic or a
/// cancelled future, reports that loudly ([`OnAbandoned`]) and the event becomes claimable again:
/// at once where the store can see to it, by the lease's end elsewhere. It is never taken as done.
///
/// Not `Clone`: there is one, and settling consumes it.
///
/// ```compile_fail
/// fn twice(lease: hookproof::Lease) -> (hookproof::Lease, hookproof::Lease) {
///     (lease.clone(), lease)
/// }
/// ```
#[must_use = "an unsettled lease lets the event be acted on again"]
pub struct Lease {
    key: EventKey,
    fence: Fence,
    attempt: u32,
    until: OffsetDateTime,
    max_attempts: u32,
    /// `Some` while dropping would leave the event unsettled.
    on_abandoned: Option<Arc<dyn OnAbandoned>>,
}

/// Called when a lease is dropped unsettled. Must not block for long and must not panic.
pub trait OnAbandoned: Send + Sync {
    /// Reports the lease, and gives the event back if the store can do so from here.
    fn abandoned(&self, lease: &Abandoned<'_>);
}

/// The default report: one line on standard error.
#[derive(Debug, Clone, Copy, Default)]
pub struct Stderr;

impl OnAbandoned for Stderr {
    fn abandoned(&self, lease: &Abandoned<'_>) {
        // Not `eprintln!`, which panics if standard error is closed, and a lease may be dropped by a
        // panic already.
        let _ = writeln!(std::io::stderr(), "hookproof: {lease}");
    }
}

/// A lease that was dropped unsettled.
#[derive(Debug, Clone, Copy)]
pub struct Abandoned<'a> {
    /// The event.
    pub key: &'a EventKey,
    /// The lost lease's fencing token.
    pub fence: Fence,
    /// Which attempt it was, from 1.
    pub attempt: u32,
}

impl fmt::Display for Abandoned<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, attempt, .. } = self;
        write!(
            f,
            "lease on {key:?} dropped unsettled in attempt {attempt}; it may be acted on again"
        )
    }
}

impl Lease {
    /// For stores only: hands out the lease that a won claim stands for. Calling this anywhere
    /// else forges a right that no database granted.
    pub fn issue(claiming: Claiming, won: &Receipt, on_abandoned: Arc<dyn OnAbandoned>) -> Self {
        let until = won.until.unwrap_or(won.changed_at);
        Self::new(claiming, won.fence, won.attempts, until, on_abandoned)
    }

    pub(super) fn new(
        claiming: Claiming,
        fence: Fence,
        attempt: u32,
        until: OffsetDateTime,
        on_abandoned: Arc<dyn OnAbandoned>,
    ) -> Self {
        Self {
            fence,
            attempt,
            until,
            max_attempts: claiming.max_attempts,
            key: claiming.key,
            on_abandoned: Some(on_abandoned),
        }
    }

    /// The event that was claimed.
    pub fn key(&self) -> &EventKey {
        &self.key
    }

    /// The fencing token: grows with every won claim of the event, and is never used again. Give
    /// it to downstream systems that can refuse an older one.
    pub fn fence(&self) -> Fence {
        self.fence
    }

    /// Which attempt this is, from 1.
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// When the lease runs out, on the store's clock.
    pub fn until(&self) -> OffsetDateTime {
        self.until
    }

    /// How many attempts the event gets before its next failure is final.
    pub fn max_attempts(&self) -> u32 {
        self.max_attempts
    }

    /// An idempotency key for a call to another system, such as a payment: 32 hexadecimal digits,
    /// the same over all attempts of the event, different for each `effect` and event.
    ///
    /// ```
    /// # let key = hookproof::EventKey::business("", "order", "7").unwrap();
    /// let charge = key.effect_key("charge"); // lease.effect_key("charge") is the same
    /// assert_eq!(charge.len(), 32);
    /// assert_ne!(charge, key.effect_key("email"));
    /// ```
    pub fn effect_key(&self, effect: &str) -> String {
        self.key.effect_key(effect)
    }

    /// For stores only, after a renewal was written.
    pub fn renewed(mut self, until: OffsetDateTime) -> Self {
        self.until = until;
        self
    }

    /// For stores only, after the verdict was written: ends the lease quietly and returns its key.
    pub fn settled(mut self) -> EventKey {
        self.disarm();
        self.key.clone()
    }

    pub(super) fn disarm(&mut self) {
        self.on_abandoned = None;
    }

    /// Time left on the store's clock.
    pub fn remaining(&self, now: OffsetDateTime) -> Duration {
        crate::clock::between(now, self.until)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(report) = self.on_abandoned.take() {
            let Self {
                key,
                fence,
                attempt,
                ..
            } = self;
            report.abandoned(&Abandoned {
                key,
                fence: *fence,
                attempt: *attempt,
            });
        }
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lease")
            .field("key", &self.key)
            .field("fence", &self.fence)
            .field("attempt", &self.attempt)
            .field("until", &self.until)
            .finish_non_exhaustive()
    }
}
