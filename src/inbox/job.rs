//! What a worker's handler gets.

use crate::{
    event::EventKey,
    store::{Fence, Lease},
};

use super::{Facts, Parked};

/// An accepted event that is yours to act on.
#[derive(Debug, Clone)]
pub struct Job {
    parked: Parked,
    attempt: u32,
    fence: Fence,
}

impl Job {
    pub(super) fn new(parked: Parked, lease: &Lease) -> Self {
        Self {
            parked,
            attempt: lease.attempt(),
            fence: lease.fence(),
        }
    }

    /// Tenant, provider and id.
    pub fn key(&self) -> &EventKey {
        &self.parked.key
    }

    /// The raw body, byte for byte what was verified.
    pub fn body(&self) -> &[u8] {
        &self.parked.body
    }

    /// What verification found out.
    pub fn facts(&self) -> &Facts {
        &self.parked.facts
    }

    /// The event type, if the scheme has one.
    pub fn event_type(&self) -> Option<&str> {
        self.parked.facts.event_type.as_deref()
    }

    /// The delivery with its kept headers.
    pub fn parked(&self) -> &Parked {
        &self.parked
    }

    /// The delivery, owned.
    pub fn into_parked(self) -> Parked {
        self.parked
    }

    /// Which attempt this is, from 1.
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// The fencing token of this attempt; see [`Lease::fence`].
    pub fn fence(&self) -> Fence {
        self.fence
    }

    /// An idempotency key for a call to another system; see [`Lease::effect_key`].
    pub fn effect_key(&self, effect: &str) -> String {
        self.parked.key.effect_key(effect)
    }
}
