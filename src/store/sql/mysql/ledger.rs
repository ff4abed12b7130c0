//! The steps of events.

use sqlx::{MySqlConnection, Row, mysql::MySqlRow};

use crate::{
    event::EventKey,
    store::{
        Effect, EffectError, EffectLedger, EffectResult, EffectSlot, Holder, MAX_EFFECTS,
        RecordError, RecordFault, StoreError, StoreErrorKind, StoreFuture,
        sql::{
            effect::{FoundEffect, LookedUp},
            server::{Alone, LedgerSession, Wrote},
        },
    },
};

use super::{
    MySqlStore,
    driver::{self, LASTING, number, text},
    session::not_autocommit,
    statements as sql,
};

/// What is stored of a slot's step, and when that was looked up.
struct Looked {
    now: i64,
    autocommit: bool,
    up: LookedUp,
}

impl LedgerSession for MySqlConnection {
    async fn look_up(&mut self, slot: &EffectSlot) -> Result<LookedUp, StoreError> {
        Ok(look_alone(self, slot, None).await?.up)
    }

    async fn record(
        &mut self,
        slot: &EffectSlot,
        result: &str,
        now: Option<i64>,
        begun: Option<i64>,
    ) -> Result<Wrote, StoreError> {
        if begun.is_some() {
            record_lasting(self, slot, result, now).await
        } else {
            record_alone(self, slot, result, now).await
        }
    }

    async fn effects(&mut self, key: &EventKey) -> Result<Vec<EffectResult>, StoreError> {
        let rows = sqlx::query(sql::EFFECTS)
            .bind(key.digest().as_slice())
            .bind(key.tenant().as_bytes())
            .bind(key.provider().as_bytes())
            .bind(key.id().as_bytes())
            .fetch_all(&mut *self)
            .await?;
        let mut effects = Vec::with_capacity(rows.len());
        for row in &rows {
            if row.try_get::<i64, _>(0)? == 0 {
                return Err(not_autocommit());
            }
            driver::is_committed(row, 1)?;
            effects.extend(found(row, 2)?);
        }
        Ok(effects)
    }
}

/// A step's number is one more than the highest that is seen. Of two steps that come together one
/// writes nothing, and is tried again.
async fn record_alone(
    connection: &mut MySqlConnection,
    slot: &EffectSlot,
    result: &str,
    now: Option<i64>,
) -> Result<Wrote, StoreError> {
    let looked = look_alone(connection, slot, now).await?;
    let up = looked.up;
    let most = most();
    if !up.stands || up.done.is_some() || up.recorded >= most {
        return Ok(Wrote::Saw(up));
    }
    let step = step(slot, result, up.recorded.saturating_add(1), looked.now);
    match write(connection, slot.key(), &step).await {
        Ok(1) => Ok(Wrote::Step(step.believed()?)),
        Ok(_) => Ok(Wrote::Nothing),
        // ER_DUP_ENTRY. There is no transaction that could keep a lock from it.
        Err(error) if number(&error) == Some(1062) => Ok(Wrote::Nothing),
        Err(error) => Err(error.into()),
    }
}

/// In the caller's transaction. The lock on the receipt keeps all others from recording steps, so
/// that what is read of them stands; but its snapshot may be older than some of them. Reading all of
/// them as they are now would lock the gap after the last one, and keep other events from theirs.
async fn record_lasting(
    connection: &mut MySqlConnection,
    slot: &EffectSlot,
    result: &str,
    now: Option<i64>,
) -> Result<Wrote, StoreError> {
    if !driver::is_in_transaction(connection).await? {
        return Ok(Wrote::NoTransaction);
    }
    let looked = look(connection, slot.key(), slot.fence().0, slot.name(), now).await?;
    let Looked { now, mut up, .. } = looked;
    // If it is free, claims of the event in transactions are told at once that somebody is at it.
    driver::lock_slot(connection, slot.key()).await?;
    let stands = sqlx::query(sql::STANDS)
        .bind(slot.key().digest().as_slice())
        .bind(slot.fence().0)
        .fetch_optional(&mut *connection)
        .await?;
    up.stands = stands.is_some();
    if !up.stands {
        return Ok(Wrote::Saw(up));
    }
    if up.done.is_some()
        && let Some(done) = read_named(connection, slot).await?
    {
        return Ok(Wrote::Step(done));
    }
    while up.recorded < most() {
        up.recorded = up.recorded.saturating_add(1);
        ensure(connection, slot, &step(slot, result, up.recorded, now)).await?;
        let there = sqlx::query(sql::READ_STEP)
            .bind(slot.key().digest().as_slice())
            .bind(up.recorded)
            .fetch_optional(&mut *connection)
            .await?;
        match there.map(|row| found(&row, 0)).transpose()?.flatten() {
            Some(there) if there.name == slot.name() => return Ok(Wrote::Step(there)),
            // One that the snapshot does not show.
            Some(_) => {}
            None => {
                let named = read_named(connection, slot).await?;
                return named.map(Wrote::Step).ok_or_else(corrupt);
            }
        }
    }
    up.done = None;
    Ok(Wrote::Saw(up))
}

async fn write(
    connection: &mut MySqlConnection,
    key: &EventKey,
    step: &FoundEffect,
) -> Result<u64, sqlx::Error> {
    let done = sqlx::query(sql::RECORD)
        .bind(step.name.as_bytes())
        .bind(step.number)
        .bind(step.recorded_at)
        .bind(&*step.result)
        .bind(key.digest().as_slice())
        .bind(step.fence)
        .execute(connection)
        .await?;
    Ok(done.rows_affected())
}

async fn ensure(
    connection: &mut MySqlConnection,
    slot: &EffectSlot,
    step: &FoundEffect,
) -> Result<(), StoreError> {
    sqlx::query(sql::ENSURE_STEP)
        .bind(slot.key().digest().as_slice())
        .bind(step.name.as_bytes())
        .bind(step.number)
        .bind(step.fence)
        .bind(step.recorded_at)
        .bind(&*step.result)
        .execute(connection)
        .await?;
    Ok(())
}

async fn read_named(
    connection: &mut MySqlConnection,
    slot: &EffectSlot,
) -> Result<Option<EffectResult>, StoreError> {
    let row = sqlx::query(sql::READ_NAMED)
        .bind(slot.key().digest().as_slice())
        .bind(slot.name().as_bytes())
        .fetch_optional(connection)
        .await?;
    Ok(row.map(|row| found(&row, 0)).transpose()?.flatten())
}

fn step(slot: &EffectSlot, result: &str, number: i64, now: i64) -> FoundEffect {
    FoundEffect {
        name: slot.name().to_owned(),
        number,
        fence: slot.fence().0,
        recorded_at: now,
        result: result.as_bytes().to_vec(),
    }
}

async fn look_alone(
    connection: &mut MySqlConnection,
    slot: &EffectSlot,
    now: Option<i64>,
) -> Result<Looked, StoreError> {
    let looked = look(connection, slot.key(), slot.fence().0, slot.name(), now).await?;
    if looked.autocommit {
        Ok(looked)
    } else {
        Err(not_autocommit())
    }
}

async fn look(
    connection: &mut MySqlConnection,
    key: &EventKey,
    fence: i64,
    name: &str,
    now: Option<i64>,
) -> Result<Looked, StoreError> {
    let key = key.digest().as_slice();
    let row = sqlx::query(sql::LOOK_UP)
        .bind(now)
        .bind(key)
        .bind(key)
        .bind(fence)
        .bind(key)
        .bind(name.as_bytes())
        .fetch_one(connection)
        .await?;
    driver::is_committed(&row, 2)?;
    Ok(Looked {
        now: row.try_get(0)?,
        autocommit: row.try_get::<i64, _>(1)? != 0,
        up: LookedUp {
            stands: row.try_get::<i64, _>(3)? != 0,
            recorded: row.try_get(4)?,
            done: found(&row, 5)?,
        },
    })
}

/// The step in the columns from `at` on; nothing if they are all null.
fn found(row: &MySqlRow, at: usize) -> Result<Option<EffectResult>, StoreError> {
    let column = |number: usize| at.saturating_add(number);
    let Some(number) = row.try_get::<Option<i64>, _>(column(1))? else {
        return Ok(None);
    };
    let found = FoundEffect {
        name: text(row, column(0))?,
        number,
        fence: row.try_get(column(2))?,
        recorded_at: row.try_get(column(3))?,
        result: row.try_get(column(4))?,
    };
    found.believed().map(Some)
}

fn most() -> i64 {
    // Cannot fail: it is small.
    i64::try_from(MAX_EFFECTS).unwrap_or_default()
}

fn corrupt() -> StoreError {
    StoreError::new(StoreErrorKind::Corrupt)
}

/// Names every column, and writes nothing: no receipt has such a fence.
pub(super) async fn probe(
    connection: &mut MySqlConnection,
    key: &EventKey,
) -> Result<(), StoreError> {
    let step = FoundEffect {
        name: "step".to_owned(),
        number: 1,
        fence: -1,
        recorded_at: 0,
        result: Vec::new(),
    };
    look(connection, key, step.fence, &step.name, None).await?;
    write(connection, key, &step).await?;
    Ok(())
}

/// A connection of the pool, as a session whose statements are transactions of their own.
macro_rules! session {
    ($store:expr) => {
        Alone(&mut *$store.pool.acquire().await.map_err(StoreError::from)?)
    };
}

impl MySqlStore {
    async fn look_alone(&self, slot: &EffectSlot) -> Result<LookedUp, StoreError> {
        session!(self).look_up(slot).await
    }

    async fn record_alone(
        &self,
        slot: &EffectSlot,
        result: &str,
    ) -> Result<EffectResult, RecordFault> {
        let mut connection = match self.pool.acquire().await {
            Ok(connection) => connection,
            Err(error) => return Err(RecordFault::Store(error.into())),
        };
        let session = &mut Alone(&mut *connection);
        self.verbs.record(session, slot, result, None).await
    }

    /// Records a step in your own transaction, so that the record and your rows are one commit: the
    /// step happens once. The connection is yours, of this store's pool or any other to the same
    /// database. You commit; this never does.
    ///
    /// ```no_run
    /// # use hookproof::{Effect, EffectLedger, Lease, MySqlStore};
    /// # async fn run(store: MySqlStore, pool: sqlx::MySqlPool, lease: Lease) -> Result<(), Box<dyn std::error::Error>> {
    /// if let Effect::Due(slot) = store.effect(&lease, "invoice").await? {
    ///     let mut tx = pool.begin().await?;
    ///     sqlx::query("INSERT INTO invoice (event) VALUES (?)")
    ///         .bind(lease.key().id())
    ///         .execute(&mut *tx)
    ///         .await?;
    ///     store.record_in(&mut *tx, slot, "created").await?;
    ///     tx.commit().await?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Until you commit, the receipt is locked: whoever claims the event is told `InProgress` at
    /// once, and settling, renewing and releasing its lease wait. So commit first, settle then.
    ///
    /// Whether the lease stands is read as it is now, also under `REPEATABLE READ`.
    ///
    /// # Errors
    ///
    /// As [`record`](EffectLedger::record): roll back, so that your rows are not written either.
    /// After [`StoreErrorKind::Serialization`], a deadlock among others, MySQL has done so by itself.
    /// [`StoreErrorKind::Misuse`] if the connection is not in a transaction.
    pub async fn record_in(
        &self,
        tx: &mut MySqlConnection,
        slot: EffectSlot,
        result: &str,
    ) -> Result<EffectResult, RecordError> {
        if !EffectSlot::fits(result) {
            return Err(RecordError::new(slot, RecordFault::ResultTooLong));
        }
        let recorded = self.verbs.record(tx, &slot, result, Some(LASTING)).await;
        recorded.map_err(|fault| RecordError::new(slot, fault))
    }
}

impl EffectLedger for MySqlStore {
    fn effect<'a>(
        &'a self,
        holder: &dyn Holder,
        name: &str,
    ) -> StoreFuture<'a, Result<Effect, EffectError>> {
        let slot = EffectSlot::new(holder, name);
        Box::pin(async move {
            let slot = slot?;
            let looked = self.look_alone(&slot).await;
            looked.map_err(EffectError::Store)?.effect(slot)
        })
    }

    fn record(
        &self,
        slot: EffectSlot,
        result: &str,
    ) -> StoreFuture<'_, Result<EffectResult, RecordError>> {
        let text = EffectSlot::fits(result).then(|| result.to_owned());
        Box::pin(async move {
            // The slot stays here until the answer is known, so that it can be handed back.
            let recorded = match &text {
                Some(text) => self.record_alone(&slot, text).await,
                None => Err(RecordFault::ResultTooLong),
            };
            recorded.map_err(|fault| RecordError::new(slot, fault))
        })
    }

    fn effects<'a>(
        &'a self,
        key: &'a EventKey,
    ) -> StoreFuture<'a, Result<Vec<EffectResult>, StoreError>> {
        Box::pin(async move { session!(self).effects(key).await })
    }
}
