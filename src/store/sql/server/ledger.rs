//! The steps of events: the flow over the statements of a session.

use std::future::Future;

use crate::{
    event::EventKey,
    store::{
        EffectResult, EffectSlot, RecordFault, StoreError, StoreErrorKind, sql::effect::LookedUp,
    },
};

use super::{Verbs, order::no_transaction};

/// How often a record is tried again after another step of the event took its number.
const TRIES: usize = 50;

/// One connection, as [`Session`](super::Session) is, for steps.
pub(in crate::store::sql) trait LedgerSession: Send {
    /// Whether the slot's lease stands, and what is stored of its step. Takes no lock.
    fn look_up(
        &mut self,
        slot: &EffectSlot,
    ) -> impl Future<Output = Result<LookedUp, StoreError>> + Send;

    /// Writes a step, if the slot's lease stands, the step is not stored, and there is room.
    fn record(
        &mut self,
        slot: &EffectSlot,
        result: &str,
        now: Option<i64>,
        begun: Option<i64>,
    ) -> impl Future<Output = Result<Wrote, StoreError>> + Send;

    /// The steps of an event, in their order.
    fn effects(
        &mut self,
        key: &EventKey,
    ) -> impl Future<Output = Result<Vec<EffectResult>, StoreError>> + Send;
}

/// What the recording statement did.
#[derive(Debug)]
pub(in crate::store::sql) enum Wrote {
    Step(EffectResult),
    Nothing,
    /// Nothing: this is stored, which the caller's transaction may not see in a look.
    #[cfg(feature = "sqlx-mysql")]
    Saw(LookedUp),
    /// See [`Move::NoTransaction`](super::order::Move::NoTransaction).
    NoTransaction,
}

impl Verbs {
    /// One statement decides. If it writes nothing, it is read why; if there is no reason any more,
    /// another step of the event came between and took its number.
    pub(in crate::store::sql) async fn record(
        &self,
        session: &mut impl LedgerSession,
        slot: &EffectSlot,
        result: &str,
        begun: Option<i64>,
    ) -> Result<EffectResult, RecordFault> {
        for _ in 0..TRIES {
            let wrote = session.record(slot, result, self.now(), begun).await;
            match wrote.map_err(RecordFault::Store)? {
                Wrote::Step(done) => return Ok(done),
                Wrote::NoTransaction => return Err(RecordFault::Store(no_transaction())),
                #[cfg(feature = "sqlx-mysql")]
                Wrote::Saw(looked) => match looked.instead() {
                    Some(instead) => return instead,
                    None => continue,
                },
                Wrote::Nothing => {}
            }
            let looked = session.look_up(slot).await.map_err(RecordFault::Store)?;
            if let Some(instead) = looked.instead() {
                return instead;
            }
        }
        Err(RecordFault::Store(StoreError::new(StoreErrorKind::Busy)))
    }
}
