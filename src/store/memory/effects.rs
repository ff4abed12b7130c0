//! The steps of events, in memory: beside the receipts, under the same locks.

use time::OffsetDateTime;

use crate::{
    event::EventKey,
    store::{
        Effect, EffectError, EffectLedger, EffectResult, EffectSlot, Holder, MAX_EFFECTS,
        RecordError, RecordFault, StoreError, StoreFuture,
    },
};

use super::{MemoryStore, table::Table};

/// The step of this name, if it is recorded.
fn named<'e>(effects: &'e [EffectResult], name: &str) -> Option<&'e EffectResult> {
    effects.iter().find(|effect| effect.name == name)
}

impl MemoryStore {
    fn look(&self, slot: EffectSlot) -> Result<Effect, EffectError> {
        let (shard, hash) = self.shards.of(slot.key());
        let table = shard.table();
        let (at, row) = table
            .find(hash, slot.key())
            .map_err(|_| EffectError::LeaseLost)?;
        if !row.stands(slot.fence()) {
            return Err(EffectError::LeaseLost);
        }
        let effects = table.effects(at);
        match named(effects, slot.name()) {
            Some(done) => Ok(Effect::Done(done.clone())),
            None if effects.len() >= MAX_EFFECTS => Err(EffectError::TooMany),
            None => Ok(Effect::Due(slot)),
        }
    }

    fn write_effect(
        &self,
        slot: &EffectSlot,
        text: String,
        now: OffsetDateTime,
    ) -> Result<EffectResult, RecordFault> {
        let (shard, hash) = self.shards.of(slot.key());
        let mut table = shard.table();
        let (at, row) = table
            .find(hash, slot.key())
            .map_err(|_| RecordFault::LeaseLost)?;
        if !row.stands(slot.fence()) {
            return Err(RecordFault::LeaseLost);
        }
        let effects = table.effects(at);
        if let Some(done) = named(effects, slot.name()) {
            return Ok(done.clone());
        }
        let number = effects.len().saturating_add(1);
        if number > MAX_EFFECTS {
            return Err(RecordFault::TooMany);
        }
        let done = EffectResult {
            name: slot.name().to_owned(),
            text,
            // Cannot fail: it is small.
            number: u32::try_from(number).unwrap_or_default(),
            fence: slot.fence(),
            recorded_at: now,
        };
        let all = effects.iter().chain([&done]).cloned().collect();
        table.set_effects(at, all);
        Ok(done)
    }
}

impl EffectLedger for MemoryStore {
    fn effect<'a>(
        &'a self,
        holder: &dyn Holder,
        name: &str,
    ) -> StoreFuture<'a, Result<Effect, EffectError>> {
        let slot = EffectSlot::new(holder, name);
        Box::pin(async move { self.look(slot?) })
    }

    fn record(
        &self,
        slot: EffectSlot,
        result: &str,
    ) -> StoreFuture<'_, Result<EffectResult, RecordError>> {
        let text = EffectSlot::fits(result).then(|| result.to_owned());
        Box::pin(async move {
            let now = self.shards.shared().now();
            let recorded = match text {
                Some(text) => self.write_effect(&slot, text, now),
                None => Err(RecordFault::ResultTooLong),
            };
            recorded.map_err(|fault| RecordError::new(slot, fault))
        })
    }

    fn effects<'a>(
        &'a self,
        key: &'a EventKey,
    ) -> StoreFuture<'a, Result<Vec<EffectResult>, StoreError>> {
        Box::pin(async move {
            let (shard, hash) = self.shards.of(key);
            let table = shard.table();
            let found = table.find(hash, key).ok();
            Ok(found.map_or(Vec::new(), |(at, _)| table.effects(at).to_vec()))
        })
    }
}

impl Table {
    fn effects(&self, slot: super::slab::Slot) -> &[EffectResult] {
        self.effects.get(slot).map_or(&[], |effects| &**effects)
    }

    fn set_effects(&mut self, slot: super::slab::Slot, effects: Box<[EffectResult]>) {
        self.effects.set(slot, Some(effects));
    }
}
