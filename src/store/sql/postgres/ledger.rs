//! The steps of events.

use sqlx::{PgConnection, Row, postgres::PgRow};

use crate::{
    event::EventKey,
    store::{
        Effect, EffectError, EffectLedger, EffectResult, EffectSlot, Holder, MAX_EFFECTS,
        RecordError, RecordFault, StoreError, StoreFuture,
        sql::{
            effect::{FoundEffect, LookedUp},
            server::{Alone, Begun, LedgerSession, Wrote},
        },
    },
};

use super::PostgresStore;

macro_rules! effect {
    () => {
        "e.name, e.number::bigint AS number, e.fence, e.recorded_at, e.result"
    };
}

/// Always one row: whether the lease stands, how many steps are recorded, and the step if it is.
///
/// 1 key, 2 fence, 3 name.
const LOOK_UP: &str = concat!(
    "SELECT EXISTS (SELECT FROM webhook_receipt r \
           WHERE r.key = $1::text::uuid AND r.state = 1 AND r.fence = $2::bigint), \
        (SELECT count(*) FROM webhook_effect e WHERE e.key = $1::text::uuid), ",
    effect!(),
    " FROM (SELECT) AS one LEFT JOIN webhook_effect e \
        ON e.key = $1::text::uuid AND e.name = $3"
);

/// Writes a step under a lock on its receipt, so that no claim comes between the look at the fence
/// and the commit. In a transaction that lasts it also takes the holder's lock if that is free, so
/// that claims of the event are told at once that somebody is at it, and wait for nothing.
///
/// The number is one more than steps are seen. Two steps of one event that come together find the
/// same, one writes nothing, and is tried again.
///
/// Always one row: whether the transaction is the one that began at 7, and what was written.
///
/// 1 key, 2 fence, 3 name, 4 result, 5 now, 6 most, 7 when the caller's transaction began.
const RECORD: &str = concat!(
    "WITH t AS MATERIALIZED (SELECT ",
    now!("$5"),
    " AS now, coalesce($7::bigint = ",
    begun!(),
    ", TRUE) AS here, (SELECT count(*) FROM webhook_effect WHERE key = $1::text::uuid) AS steps), \
     held AS MATERIALIZED (SELECT CASE WHEN $7::bigint IS NOT NULL THEN pg_try_advisory_xact_lock(",
    holder!(),
    ") ELSE TRUE END AS free FROM t WHERE t.here), \
     stands AS MATERIALIZED (SELECT r.key, r.fence FROM webhook_receipt r \
        WHERE (SELECT held.free FROM held) IS NOT NULL \
           AND r.key = $1::text::uuid AND r.state = 1 AND r.fence = $2::bigint \
        FOR NO KEY UPDATE), \
     wrote AS (INSERT INTO webhook_effect AS e (key, name, number, fence, recorded_at, result) \
        SELECT s.key, $3, t.steps + 1, s.fence, t.now, $4 FROM stands s, t \
        WHERE t.steps < $6::bigint ON CONFLICT DO NOTHING RETURNING ",
    effect!(),
    ") SELECT t.here, w.* FROM t LEFT JOIN wrote w ON TRUE"
);

/// In the order in which they were recorded. 1 key, 2 tenant, 3 provider, 4 event id.
const EFFECTS: &str = concat!(
    "SELECT ",
    effect!(),
    " FROM webhook_effect e JOIN webhook_receipt r ON r.key = e.key \
     WHERE e.key = $1::text::uuid AND r.tenant = $2 AND r.provider = $3 AND r.event_id = $4 \
     ORDER BY e.number"
);

impl LedgerSession for PgConnection {
    async fn look_up(&mut self, slot: &EffectSlot) -> Result<LookedUp, StoreError> {
        let row = sqlx::query(LOOK_UP)
            .bind(hex::encode(slot.key().digest()))
            .bind(slot.fence().0)
            .bind(slot.name())
            .fetch_one(&mut *self)
            .await?;
        Ok(LookedUp {
            stands: row.try_get(0)?,
            recorded: row.try_get(1)?,
            done: found(&row, 2)?,
        })
    }

    async fn record(
        &mut self,
        slot: &EffectSlot,
        result: &str,
        now: Option<i64>,
        begun: Option<i64>,
    ) -> Result<Wrote, StoreError> {
        let row = sqlx::query(RECORD)
            .bind(hex::encode(slot.key().digest()))
            .bind(slot.fence().0)
            .bind(slot.name())
            .bind(result.as_bytes())
            .bind(now)
            // Cannot fail: it is small.
            .bind(i64::try_from(MAX_EFFECTS).unwrap_or_default())
            .bind(begun)
            .fetch_one(&mut *self)
            .await?;
        if !row.try_get::<bool, _>(0)? {
            return Ok(Wrote::NoTransaction);
        }
        Ok(found(&row, 1)?.map_or(Wrote::Nothing, Wrote::Step))
    }

    async fn effects(&mut self, key: &EventKey) -> Result<Vec<EffectResult>, StoreError> {
        let rows = sqlx::query(EFFECTS)
            .bind(hex::encode(key.digest()))
            .bind(key.tenant())
            .bind(key.provider())
            .bind(key.id())
            .fetch_all(&mut *self)
            .await?;
        let effects = rows.iter().map(|row| found(row, 0));
        effects.filter_map(Result::transpose).collect()
    }
}

/// The step in the columns from `at` on; nothing if they are all null.
fn found(row: &PgRow, at: usize) -> Result<Option<EffectResult>, StoreError> {
    let column = |number: usize| at.saturating_add(number);
    let Some(name) = row.try_get::<Option<String>, _>(column(0))? else {
        return Ok(None);
    };
    let found = FoundEffect {
        name,
        number: row.try_get(column(1))?,
        fence: row.try_get(column(2))?,
        recorded_at: row.try_get(column(3))?,
        result: row.try_get(column(4))?,
    };
    found.believed().map(Some)
}

/// A connection of the pool, as a session whose statements are transactions of their own.
macro_rules! session {
    ($store:expr) => {
        Alone(&mut *$store.pool.acquire().await.map_err(StoreError::from)?)
    };
}

impl PostgresStore {
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
    /// # use hookproof::{Effect, EffectLedger, Lease, PostgresStore};
    /// # async fn run(store: PostgresStore, pool: sqlx::PgPool, lease: Lease) -> Result<(), Box<dyn std::error::Error>> {
    /// if let Effect::Due(slot) = store.effect(&lease, "invoice").await? {
    ///     let mut tx = pool.begin().await?;
    ///     sqlx::query("INSERT INTO invoice (event) VALUES ($1)")
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
    /// # Errors
    ///
    /// As [`record`](EffectLedger::record): roll back, so that your rows are not written either.
    /// [`Misuse`](crate::store::StoreErrorKind) if the connection is not in a transaction.
    pub async fn record_in(
        &self,
        tx: &mut PgConnection,
        slot: EffectSlot,
        result: &str,
    ) -> Result<EffectResult, RecordError> {
        if !EffectSlot::fits(result) {
            return Err(RecordError::new(slot, RecordFault::ResultTooLong));
        }
        let recorded = match tx.begun().await {
            Ok(begun) => self.verbs.record(tx, &slot, result, Some(begun)).await,
            Err(error) => Err(RecordFault::Store(error)),
        };
        recorded.map_err(|fault| RecordError::new(slot, fault))
    }
}

impl EffectLedger for PostgresStore {
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
