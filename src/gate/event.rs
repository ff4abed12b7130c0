//! What a handler gets.

use time::OffsetDateTime;

use crate::{
    event::EventKey,
    store::{Fence, Lease},
    verify::{Verified, VerifiedBuf},
};

/// An authentic event that is yours to act on, as a [`Gate`](super::Gate) hands it to the handler.
///
/// It owns a copy of the delivery, which costs one copy of the body per event that is acted on,
/// and lets handlers be `Send`, spawn tasks and outlive the request.
#[derive(Debug)]
pub struct Event {
    delivery: VerifiedBuf,
    key: EventKey,
    attempt: u32,
    fence: Fence,
    lease_until: OffsetDateTime,
}

impl Event {
    pub(super) fn new(delivery: &Verified<'_>, key: EventKey, lease: &Lease) -> Self {
        Self {
            delivery: delivery.to_buf(),
            key,
            attempt: lease.attempt(),
            fence: lease.fence(),
            lease_until: lease.until(),
        }
    }

    /// The verified delivery: body, timestamp, key id, coverage.
    pub fn delivery(&self) -> Verified<'_> {
        self.delivery.as_verified()
    }

    /// The raw body, byte for byte what was verified.
    pub fn body(&self) -> &[u8] {
        self.delivery.body()
    }

    /// Tenant, provider and id.
    pub fn key(&self) -> &EventKey {
        &self.key
    }

    /// The event type, if the scheme has one; signed or not as
    /// [`Coverage::event_type`](crate::Coverage::event_type) says.
    pub fn event_type(&self) -> Option<String> {
        self.delivery().event_type()
    }

    /// Which attempt this is, from 1.
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// The fencing token of this attempt; see [`Lease::fence`].
    pub fn fence(&self) -> Fence {
        self.fence
    }

    /// When another attempt may begin beside this one, on the store's clock.
    pub fn lease_until(&self) -> OffsetDateTime {
        self.lease_until
    }

    /// An idempotency key for a call to another system; see [`Lease::effect_key`].
    pub fn effect_key(&self, effect: &str) -> String {
        self.key.effect_key(effect)
    }
}
