//! The steps of events.

use rusqlite::{Row, params};

use crate::{
    clock::micros,
    event::EventKey,
    store::{
        Effect, EffectError, EffectLedger, EffectResult, EffectSlot, Holder, MAX_EFFECTS,
        RecordError, RecordFault, StoreError, StoreErrorKind, StoreFuture,
        sql::effect::{FoundEffect, LookedUp},
    },
};

use super::{
    ImmediateTx, SqliteStore, closed,
    lane::Unwanted,
    verbs::{Verbs, moment},
};

/// What a slot says of itself to the database.
struct Step {
    digest: [u8; 16],
    fence: i64,
    name: Box<str>,
}

impl Step {
    fn of(slot: &EffectSlot) -> Self {
        Self {
            digest: *slot.key().digest(),
            fence: slot.fence().0,
            name: slot.name().into(),
        }
    }
}

impl Verbs<'_> {
    fn look_up(&mut self, step: &Step) -> Result<LookedUp, StoreError> {
        let look = self.look_up.on(self.connection)?;
        let mut rows = look.query(params![step.digest.as_slice(), step.fence, step.name])?;
        // A statement without FROM has always one row.
        let row = rows
            .next()?
            .ok_or_else(|| StoreError::new(StoreErrorKind::Corrupt))?;
        let stored = row.get::<_, Option<i64>>(3)?.map(|_| found(row, 2));
        let stored = stored.transpose()?.map(FoundEffect::believed).transpose()?;
        Ok(LookedUp {
            stands: row.get(0)?,
            recorded: row.get(1)?,
            done: stored,
        })
    }

    /// Only if the statement writes nothing is it read why.
    fn record(
        &mut self,
        step: &Step,
        result: &str,
    ) -> Result<Result<EffectResult, RecordFault>, StoreError> {
        let now = micros(moment(self.clock));
        // Cannot fail: it is small.
        let most = i64::try_from(MAX_EFFECTS).unwrap_or_default();
        let digest = step.digest.as_slice();
        let result = result.as_bytes();
        let mut rows = self
            .record
            .on(self.connection)?
            .query(params![digest, step.fence, step.name, now, result, most,])?;
        if let Some(row) = rows.next()? {
            return Ok(Ok(found(row, 0)?.believed()?));
        }
        drop(rows);
        // The write lock is held, so nothing has changed since.
        let instead = self.look_up(step)?.instead();
        instead.ok_or_else(|| StoreError::new(StoreErrorKind::Corrupt))
    }

    fn effects(&mut self, key: &EventKey) -> Result<Vec<EffectResult>, StoreError> {
        let digest = key.digest().as_slice();
        let list = self.effects.on(self.connection)?;
        let mut rows = list.query(params![digest, key.tenant(), key.provider(), key.id()])?;
        let mut effects = Vec::new();
        while let Some(row) = rows.next()? {
            effects.push(found(row, 0)?.believed()?);
        }
        Ok(effects)
    }
}

fn found(row: &Row<'_>, at: usize) -> rusqlite::Result<FoundEffect> {
    let column = |number: usize| at.saturating_add(number);
    Ok(FoundEffect {
        name: row.get(column(0))?,
        number: row.get(column(1))?,
        fence: row.get(column(2))?,
        recorded_at: row.get(column(3))?,
        result: row.get(column(4))?,
    })
}

impl SqliteStore {
    async fn look(&self, slot: EffectSlot) -> Result<Effect, EffectError> {
        let step = Step::of(&slot);
        let look = move |verbs: &mut Verbs<'_>| verbs.look_up(&step);
        let answer = self.read.submit(Unwanted::Skip, look, |looked| looked);
        let looked = answer.await.unwrap_or_else(|| Err(closed()));
        looked.map_err(EffectError::Store)?.effect(slot)
    }

    /// Records a step in your own transaction, so that the record and your rows are one commit: the
    /// step happens once. The connection is yours, on the same file; you commit.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("shop.sqlite");
    /// # let key = hookproof::EventKey::business("", "order-paid", "o1")?;
    /// use hookproof::{Claim, Claiming, Effect, EffectLedger, IdempotencyStore, SqliteStore, Verdict};
    /// use hookproof::store::sql::ImmediateTx;
    ///
    /// # hookproof::testing::block_on(async {
    /// let store = SqliteStore::open(&path)?;
    /// let mut connection = rusqlite::Connection::open(&path)?;
    /// # connection.execute("CREATE TABLE invoice (number INTEGER)", [])?;
    ///
    /// if let Claim::New(lease) = store.claim(Claiming::business(key)).await? {
    ///     if let Effect::Due(slot) = store.effect(&lease, "invoice").await? {
    ///         let tx = ImmediateTx::begin(&mut connection)?;
    ///         tx.execute("INSERT INTO invoice (number) VALUES (123)", [])?;
    ///         store.record_in(&tx, slot, "123")?;
    ///         tx.commit()?;
    ///     }
    ///     store.settle(lease, Verdict::done("invoice 123")).await?;
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`record`](EffectLedger::record): roll back, so that your rows are not written either.
    pub fn record_in(
        &self,
        tx: &ImmediateTx<'_>,
        slot: EffectSlot,
        result: &str,
    ) -> Result<EffectResult, RecordError> {
        if !EffectSlot::fits(result) {
            return Err(RecordError::new(slot, RecordFault::ResultTooLong));
        }
        let step = Step::of(&slot);
        recorded(slot, self.in_tx(tx, |verbs| verbs.record(&step, result)))
    }
}

/// The slot stays with the caller until the answer is known, so that it can be handed back
/// whatever happens to the writer.
fn recorded(
    slot: EffectSlot,
    tried: Result<Result<EffectResult, RecordFault>, StoreError>,
) -> Result<EffectResult, RecordError> {
    let recorded = tried.unwrap_or_else(|error| Err(RecordFault::Store(error)));
    recorded.map_err(|fault| RecordError::new(slot, fault))
}

impl EffectLedger for SqliteStore {
    fn effect<'a>(
        &'a self,
        holder: &dyn Holder,
        name: &str,
    ) -> StoreFuture<'a, Result<Effect, EffectError>> {
        let slot = EffectSlot::new(holder, name);
        Box::pin(async move { self.look(slot?).await })
    }

    fn record(
        &self,
        slot: EffectSlot,
        result: &str,
    ) -> StoreFuture<'_, Result<EffectResult, RecordError>> {
        let text = EffectSlot::fits(result).then(|| result.to_owned());
        Box::pin(async move {
            let Some(text) = text else {
                return Err(RecordError::new(slot, RecordFault::ResultTooLong));
            };
            let step = Step::of(&slot);
            let record = move |verbs: &mut Verbs<'_>| verbs.record(&step, &text);
            recorded(slot, self.write(Unwanted::Run, record).await)
        })
    }

    fn effects<'a>(
        &'a self,
        key: &'a EventKey,
    ) -> StoreFuture<'a, Result<Vec<EffectResult>, StoreError>> {
        let key = key.clone();
        Box::pin(async move {
            let list = move |verbs: &mut Verbs<'_>| verbs.effects(&key);
            let answer = self.read.submit(Unwanted::Skip, list, |effects| effects);
            answer.await.unwrap_or_else(|| Err(closed()))
        })
    }
}
