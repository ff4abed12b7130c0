//! What a SQL engine says of a step of an event.

use crate::{
    clock::from_micros,
    store::{
        Effect, EffectError, EffectResult, EffectSlot, Fence, MAX_EFFECTS, RecordFault, StoreError,
        StoreErrorKind,
    },
};

/// A row of a step, not yet believed.
#[derive(Debug)]
pub(super) struct FoundEffect {
    pub(super) name: String,
    pub(super) number: i64,
    pub(super) fence: i64,
    pub(super) recorded_at: i64,
    pub(super) result: Vec<u8>,
}

impl FoundEffect {
    pub(super) fn believed(self) -> Result<EffectResult, StoreError> {
        let corrupt = || StoreError::new(StoreErrorKind::Corrupt);
        Ok(EffectResult {
            name: self.name,
            text: String::from_utf8(self.result).map_err(|_| corrupt())?,
            number: self.number.try_into().map_err(|_| corrupt())?,
            fence: Fence(self.fence),
            recorded_at: from_micros(self.recorded_at).ok_or_else(corrupt)?,
        })
    }
}

/// What is stored of a slot's step.
#[derive(Debug)]
pub(super) struct LookedUp {
    /// Whether the slot's lease does.
    pub(super) stands: bool,
    /// How many steps of the event are recorded.
    pub(super) recorded: i64,
    pub(super) done: Option<EffectResult>,
}

impl LookedUp {
    fn is_full(&self) -> bool {
        usize::try_from(self.recorded).is_ok_and(|recorded| recorded >= MAX_EFFECTS)
    }

    pub(super) fn effect(self, slot: EffectSlot) -> Result<Effect, EffectError> {
        if !self.stands {
            return Err(EffectError::LeaseLost);
        }
        let is_full = self.is_full();
        match self.done {
            Some(done) => Ok(Effect::Done(done)),
            None if is_full => Err(EffectError::TooMany),
            None => Ok(Effect::Due(slot)),
        }
    }

    /// Why a record was not written; nothing if there is no reason any more.
    pub(super) fn instead(self) -> Option<Result<EffectResult, RecordFault>> {
        if !self.stands {
            return Some(Err(RecordFault::LeaseLost));
        }
        let is_full = self.is_full();
        match self.done {
            Some(done) => Some(Ok(done)),
            None if is_full => Some(Err(RecordFault::TooMany)),
            None => None,
        }
    }
}
