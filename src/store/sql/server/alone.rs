//! Statements that are transactions of their own.

use crate::{
    event::EventKey,
    order::{ObjectKey, Version},
    store::{EffectResult, EffectSlot, Receipt, StoreError, StoreErrorKind, sql::effect::LookedUp},
};

use super::{
    Ask, Attempt, Change, Changed, LedgerSession, Look, Move, Moved, OrderSession, Session, Wrote,
};

/// How often a statement is run that the server calls off for an isolation level that is stricter
/// than it needs. Each time somebody else has got on, so this many are never needed in practice.
pub(in crate::store::sql) const TRIES: usize = 50;

/// A session of a pool, whose default isolation level may be anything. A statement that was called
/// off has written nothing, and sees what is there when it is run again.
#[derive(Debug)]
pub(in crate::store::sql) struct Alone<'c, S>(pub(in crate::store::sql) &'c mut S);

macro_rules! again {
    ($call:expr) => {{
        let mut left = $crate::store::sql::server::TRIES;
        loop {
            left = left.saturating_sub(1);
            let done: Result<_, StoreError> = $call.await;
            match done {
                Err(error) if error.kind() == StoreErrorKind::Serialization => {
                    if left == 0 {
                        // There is no transaction of the caller's to run again.
                        return Err(StoreError::with_source(StoreErrorKind::Busy, error));
                    }
                }
                done => return done,
            }
        }
    }};
}

#[cfg(feature = "inbox")]
pub(in crate::store::sql) use again;

impl<S: Session> Session for Alone<'_, S> {
    async fn find(&mut self, key: &EventKey, now: Option<i64>) -> Result<Look, StoreError> {
        again!(self.0.find(key, now))
    }

    async fn claim(&mut self, ask: &Ask<'_>) -> Result<Attempt, StoreError> {
        again!(self.0.claim(ask))
    }

    async fn change(&mut self, change: &Change<'_>) -> Result<Changed, StoreError> {
        again!(self.0.change(change))
    }

    async fn forget(&mut self, key: &EventKey) -> Result<Option<Receipt>, StoreError> {
        again!(self.0.forget(key))
    }

    async fn purge(&mut self, now: Option<i64>, at_most: i64) -> Result<i64, StoreError> {
        again!(self.0.purge(now, at_most))
    }
}

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
