//! Partial failure: which steps of an event are done already.

use std::sync::Arc;

use super::{Effect, EffectResult, EffectSlot, Holder, IdempotencyStore, StoreError, StoreFuture};
use crate::event::EventKey;

/// Remembers the steps of an event that are done, with a small result each, so that an attempt
/// after a crash skips them.
///
/// A step is recorded after it happened, so a crash in between repeats that one step, and only that
/// one: give [`EffectSlot::effect_key`] to the other side, which can then ignore the repetition. Or,
/// for rows in the store's own database, record in the transaction that writes them (`record_in` of
/// the SQL stores), and the step happens once.
///
/// Steps belong to the receipt: they survive attempts and restarts, stay when the event is
/// processed or dead, and go when it is purged or forgotten. An event has
/// [`MAX_EFFECTS`](super::MAX_EFFECTS) at most.
///
/// ```
/// use hookproof::{Claim, Claiming, Effect, EffectLedger, EventKey, IdempotencyStore, MemoryStore, Verdict};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// # async fn charge_card(_idempotency_key: String) -> String { "ch_123".into() }
/// # let store = MemoryStore::new();
/// # let order = EventKey::business("tenant-a", "order-paid", "o1")?;
/// if let Claim::New(lease) = store.claim(Claiming::business(order.clone())).await? {
///     let charge = match store.effect(&lease, "charge").await? {
///         Effect::Done(before) => before, // an earlier attempt came this far
///         Effect::Due(slot) => {
///             let id = charge_card(slot.effect_key()).await;
///             store.record(slot, &id).await?
///         }
///     };
///     // … "email" likewise, with charge.text in it …
///     store.settle(lease, Verdict::done(charge.text)).await?;
/// }
/// assert_eq!(store.effects(&order).await?[0].text, "ch_123"); // for operators
/// # Ok(())
/// # }
/// # use std::{future::Future, pin::pin, task::{Context, Poll, Waker}};
/// # let polled = pin!(example()).poll(&mut Context::from_waker(Waker::noop()));
/// # assert!(matches!(polled, Poll::Ready(Ok(()))));
/// ```
///
/// In a [`Gate`](crate::Gate)'s handler the event stands for its lease:
///
/// ```
/// # use hookproof::{Effect, EffectLedger, Gate, MemoryStore, Outcome, Verdict, headers::Headers};
/// # async fn on_webhook(gate: &Gate<MemoryStore>, raw_body: &[u8], headers: &impl Headers, now: time::OffsetDateTime) -> Outcome {
/// gate.handle(raw_body, headers, now, async |event| {
///     if let Effect::Due(slot) = gate.store().effect(&event, "email").await? {
///         // … send it …
///         gate.store().record(slot, "sent").await?;
///     }
///     Ok(Verdict::done("sent"))
/// })
/// .await
/// # }
/// ```
pub trait EffectLedger: IdempotencyStore {
    /// Asks whether a step of an event that you hold is done. Writes nothing.
    ///
    /// `name` is yours: up to [`MAX_EFFECT_NAME_BYTES`](super::MAX_EFFECT_NAME_BYTES) bytes without
    /// control characters, told apart by its bytes.
    fn effect<'a>(
        &'a self,
        holder: &dyn Holder,
        name: &str,
    ) -> StoreFuture<'a, Result<Effect, EffectError>>;

    /// Records that a step is done, and returns what is stored, if the holder's lease still stands:
    /// nobody has claimed the event since, and it was not settled.
    ///
    /// If the step is recorded already, that stands and is returned: so a slot whose record is in
    /// doubt after an error may be recorded again.
    fn record(
        &self,
        slot: EffectSlot,
        result: &str,
    ) -> StoreFuture<'_, Result<EffectResult, RecordError>>;

    /// The steps of an event that are done, in the order in which they were recorded: for operators.
    fn effects<'a>(
        &'a self,
        key: &'a EventKey,
    ) -> StoreFuture<'a, Result<Vec<EffectResult>, StoreError>>;
}

/// Why a step cannot be looked up.
#[derive(Debug, thiserror::Error)]
pub enum EffectError {
    /// The name is empty, too long or holds control characters.
    #[error("the effect's name is empty, too long or holds control characters")]
    BadName,
    /// The step is not recorded, and there is no room for another one.
    #[error("the event has too many effects")]
    TooMany,
    /// The lease is over: somebody else claimed the event, an operator forgot it, or it was settled.
    /// Stop: what follows is not yours to do.
    #[error("the lease was lost to another claim, or settled")]
    LeaseLost,
    /// The store could not answer.
    #[error("the receipt store failed")]
    Store(#[source] StoreError),
}

/// A step could not be recorded. The slot is handed back.
#[derive(Debug, thiserror::Error)]
#[error("the effect could not be recorded")]
pub struct RecordError {
    /// The slot, to try again with or to drop.
    pub slot: Box<EffectSlot>,
    /// What went wrong.
    #[source]
    pub fault: RecordFault,
}

/// Why a step could not be recorded.
#[derive(Debug, thiserror::Error)]
pub enum RecordFault {
    /// The lease is over, and nothing was written: the attempt that has the event now will find the
    /// step due. What you did is done all the same; the other side's idempotency key is what keeps
    /// it from being done twice.
    #[error("the lease was lost to another claim, or settled")]
    LeaseLost,
    /// The result is longer than [`MAX_RESULT_BYTES`](super::MAX_RESULT_BYTES).
    #[error("the result is too long to be kept")]
    ResultTooLong,
    /// Other steps, recorded since the slot was given out, have taken the last room.
    #[error("the event has too many effects")]
    TooMany,
    /// The store could not answer; whether it wrote is unknown. Recording again is safe.
    #[error("the receipt store failed")]
    Store(#[source] StoreError),
}

impl RecordError {
    /// For stores: nothing was written, for this reason; or, with [`RecordFault::Store`], perhaps.
    pub fn new(slot: EffectSlot, fault: RecordFault) -> Self {
        Self {
            slot: Box::new(slot),
            fault,
        }
    }
}

macro_rules! forward {
    ($($pointer:ty),*) => {$(
        impl<S: EffectLedger + ?Sized> EffectLedger for $pointer {
            fn effect<'a>(
                &'a self,
                holder: &dyn Holder,
                name: &str,
            ) -> StoreFuture<'a, Result<Effect, EffectError>> {
                (**self).effect(holder, name)
            }

            fn record(
                &self,
                slot: EffectSlot,
                result: &str,
            ) -> StoreFuture<'_, Result<EffectResult, RecordError>> {
                (**self).record(slot, result)
            }

            fn effects<'a>(
                &'a self,
                key: &'a EventKey,
            ) -> StoreFuture<'a, Result<Vec<EffectResult>, StoreError>> {
                (**self).effects(key)
            }
        }
    )*};
}

forward!(&S, Arc<S>, Box<S>);
