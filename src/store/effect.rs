//! Named steps of one event, and what was kept of those that are done.

use time::OffsetDateTime;

use super::{EffectError, Fence, Lease, MAX_RESULT_BYTES};
use crate::{event::EventKey, event::bearable, gate};

/// Longest name of a step, in bytes.
pub const MAX_EFFECT_NAME_BYTES: usize = 64;

/// Most steps that one event may have.
pub const MAX_EFFECTS: usize = 32;

/// Who holds an event: a [`Lease`], or the [`gate::Event`] that a handler is given for one.
///
/// Not a [`TxLease`](super::sql): what is claimed in a transaction is undone with it, and so would
/// be the record of a step that was not.
pub trait Holder: sealed::Sealed {
    /// The event.
    fn event_key(&self) -> &EventKey;

    /// The fencing token that the holder was given.
    fn held_fence(&self) -> Fence;
}

mod sealed {
    pub trait Sealed {}

    impl Sealed for super::Lease {}
    impl Sealed for super::gate::Event {}
}

impl Holder for Lease {
    fn event_key(&self) -> &EventKey {
        self.key()
    }

    fn held_fence(&self) -> Fence {
        self.fence()
    }
}

impl Holder for gate::Event {
    fn event_key(&self) -> &EventKey {
        self.key()
    }

    fn held_fence(&self) -> Fence {
        self.fence()
    }
}

/// Whether a step is done.
#[derive(Debug)]
#[must_use = "only what is due may be done"]
pub enum Effect {
    /// It was, in this attempt or an earlier one: skip it, and use what it came to.
    Done(EffectResult),
    /// It is not, as far as anyone recorded: do it, then record the slot.
    Due(EffectSlot),
}

/// A step that is due. [`EffectLedger::record`](super::EffectLedger::record) consumes it.
///
/// Dropped unrecorded, the step is due again in the event's next attempt.
#[derive(Debug)]
#[must_use = "a step that is not recorded is done again by the next attempt"]
pub struct EffectSlot {
    key: EventKey,
    fence: Fence,
    name: Box<str>,
}

impl EffectSlot {
    /// For stores only: the slot of a step that nobody has recorded.
    ///
    /// # Errors
    ///
    /// [`EffectError::BadName`] if the name is empty, longer than [`MAX_EFFECT_NAME_BYTES`] or holds
    /// control characters.
    pub fn new(holder: &dyn Holder, name: &str) -> Result<Self, EffectError> {
        if name.is_empty() || !bearable(name, MAX_EFFECT_NAME_BYTES) {
            return Err(EffectError::BadName);
        }
        Ok(Self {
            key: holder.event_key().clone(),
            fence: holder.held_fence(),
            name: name.into(),
        })
    }

    /// The event.
    pub fn key(&self) -> &EventKey {
        &self.key
    }

    /// The fencing token of the attempt that the slot was given to.
    pub fn fence(&self) -> Fence {
        self.fence
    }

    /// The step's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The idempotency key to give to the other side: the same over all attempts. A crash between
    /// the step and its record repeats the step, and this is how the other side can tell. See
    /// [`Lease::effect_key`].
    pub fn effect_key(&self) -> String {
        self.key.effect_key(&self.name)
    }

    /// For stores only: whether a result may be kept, [`MAX_RESULT_BYTES`] at most.
    pub const fn fits(result: &str) -> bool {
        result.len() <= MAX_RESULT_BYTES
    }
}

/// A step that is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EffectResult {
    /// The step's name.
    pub name: String,
    /// What it came to, up to [`MAX_RESULT_BYTES`]: the id of a charge, say.
    pub text: String,
    /// Which of the event's steps it was, in the order in which they were recorded, from 1.
    pub number: u32,
    /// The fencing token of the attempt that recorded it.
    pub fence: Fence,
    /// When it was recorded, on the store's clock.
    pub recorded_at: OffsetDateTime,
}
