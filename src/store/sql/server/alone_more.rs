//! The same for what is kept beside receipts, and for batches.

use crate::{
    event::EventKey,
    order::{ObjectKey, Version},
    store::{EffectResult, EffectSlot, StoreError, sql::effect::LookedUp},
};

use super::{
    Alone, Attempt, BatchAsk, BatchSession, LedgerSession, Looks, Move, Moved, OrderSession, Wrote,
    alone::again,
};

impl<S: OrderSession> OrderSession for Alone<'_, S> {
    async fn current(&mut self, object: &ObjectKey) -> Result<Option<Version>, StoreError> {
        again!(self.0.current(object))
    }

    async fn advance(&mut self, ask: &Moved<'_>) -> Result<Move, StoreError> {
        again!(self.0.advance(ask))
    }

    async fn forget_object(&mut self, object: &ObjectKey) -> Result<Option<Version>, StoreError> {
        again!(self.0.forget_object(object))
    }

    async fn purge_deleted(
        &mut self,
        now: Option<i64>,
        retention: i64,
        at_most: i64,
    ) -> Result<i64, StoreError> {
        again!(self.0.purge_deleted(now, retention, at_most))
    }
}

impl<S: LedgerSession> LedgerSession for Alone<'_, S> {
    async fn look_up(&mut self, slot: &EffectSlot) -> Result<LookedUp, StoreError> {
        again!(self.0.look_up(slot))
    }

    async fn record(
        &mut self,
        slot: &EffectSlot,
        result: &str,
        now: Option<i64>,
        begun: Option<i64>,
    ) -> Result<Wrote, StoreError> {
        again!(self.0.record(slot, result, now, begun))
    }

    async fn effects(&mut self, key: &EventKey) -> Result<Vec<EffectResult>, StoreError> {
        again!(self.0.effects(key))
    }
}

impl<S: BatchSession> BatchSession for Alone<'_, S> {
    type Mark = S::Mark;

    async fn find_many(
        &mut self,
        keys: &[&EventKey],
        now: Option<i64>,
    ) -> Result<Looks<S::Mark>, StoreError> {
        again!(self.0.find_many(keys, now))
    }

    async fn claim_many(
        &mut self,
        asks: &[BatchAsk<'_, S::Mark>],
        now: Option<i64>,
    ) -> Result<Vec<Result<Attempt, StoreError>>, StoreError> {
        again!(self.0.claim_many(asks, now))
    }
}
