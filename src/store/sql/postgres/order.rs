//! The versions of objects: one statement decides.

use std::time::Duration;

use sqlx::{PgConnection, Row, postgres::PgRow};

use crate::{
    order::{Advance, ObjectKey, OrderGuard, Version},
    store::{
        StoreError, StoreFuture,
        sql::{
            object::{FoundObject, FoundVersion},
            server::{Alone, Begun, Move, Moved, OrderSession},
        },
    },
};

use super::PostgresStore;

const BEGUN: &str = concat!("SELECT ", begun!());

macro_rules! object {
    () => {
        "o.tenant, o.kind, o.object_id, o.version_kind::bigint AS version_kind, o.version, o.tie, \
         o.deleted_at IS NOT NULL AS deletion"
    };
}

const CURRENT: &str = concat!(
    "SELECT ",
    object!(),
    " FROM webhook_object o WHERE o.key = $1::text::uuid"
);

/// Inserts, or changes what is older, or writes nothing: `Version::judge`. What is seen not to be
/// older is not locked, and takes no transaction number.
///
/// Always one row: whether the transaction is the one that began at 10, what stood before a version
/// that was written, and what was seen. The two differ when somebody else wrote in between, which
/// the condition of the update sees and nothing else does.
///
/// 1 key, 2 tenant, 3 kind, 4 id, 5 kind of version, 6 version, 7 tie-break, 8 whether it is a
/// deletion, 9 now, 10 when the caller's transaction began.
const ADVANCE: &str = concat!(
    "WITH t AS MATERIALIZED (SELECT ",
    now!("$9"),
    " AS now, coalesce($10::bigint = ",
    begun!(),
    ", TRUE) AS here), \
     seen AS MATERIALIZED (SELECT ",
    object!(),
    " FROM t JOIN webhook_object o ON o.key = $1::text::uuid WHERE t.here), \
     applied AS (INSERT INTO webhook_object AS o (key, tenant, kind, object_id, version_kind, \
           version, tie, deleted_at, changed_at) \
        SELECT $1::text::uuid, $2, $3, $4, $5::bigint, $6::bigint, $7::text, \
           CASE WHEN $8::boolean THEN t.now END, t.now \
        FROM t WHERE t.here AND NOT EXISTS (SELECT FROM seen s WHERE s.version_kind <> $5::bigint \
           OR (s.version, s.tie, s.deletion) >= ($6::bigint, $7::text, $8::boolean)) \
        ON CONFLICT (key) DO UPDATE SET \
           version = excluded.version, tie = excluded.tie, deleted_at = excluded.deleted_at, \
           was_version = o.version, was_tie = o.tie, was_deleted = o.deleted_at IS NOT NULL, \
           changed_at = excluded.changed_at \
        WHERE o.tenant = excluded.tenant AND o.kind = excluded.kind \
           AND o.object_id = excluded.object_id AND o.version_kind = excluded.version_kind \
           AND (o.version, o.tie, o.deleted_at IS NOT NULL) \
              < (excluded.version, excluded.tie, excluded.deleted_at IS NOT NULL) \
        RETURNING o.version_kind::bigint AS version_kind, o.was_version, o.was_tie, o.was_deleted) \
     SELECT t.here, a.*, s.* FROM t LEFT JOIN applied a ON TRUE LEFT JOIN seen s ON TRUE"
);

/// 1 key, 2 tenant, 3 kind, 4 id.
const FORGET_OBJECT: &str = concat!(
    "DELETE FROM webhook_object o WHERE o.key = $1::text::uuid \
        AND o.tenant = $2 AND o.kind = $3 AND o.object_id = $4 RETURNING ",
    object!()
);

/// Oldest first, and none that somebody is at. Returns how many. 1 now, 2 retention, 3 at most.
const PURGE_DELETED: &str = concat!(
    "WITH t AS MATERIALIZED (SELECT ",
    now!("$1"),
    " AS now), \
     old AS MATERIALIZED (SELECT o.key FROM webhook_object o \
        WHERE o.deleted_at <= (SELECT now FROM t) - $2::bigint \
        ORDER BY o.deleted_at LIMIT $3::bigint FOR UPDATE SKIP LOCKED), \
     gone AS (DELETE FROM webhook_object WHERE key = ANY (ARRAY(SELECT key FROM old)) \
        RETURNING key) \
     SELECT count(*) FROM gone"
);

impl Begun for PgConnection {
    async fn begun(&mut self) -> Result<i64, StoreError> {
        let row = sqlx::query(BEGUN).fetch_one(&mut *self).await?;
        Ok(row.try_get(0)?)
    }
}

impl OrderSession for PgConnection {
    async fn current(&mut self, object: &ObjectKey) -> Result<Option<Version>, StoreError> {
        let row = sqlx::query(CURRENT)
            .bind(hex::encode(object.digest()))
            .fetch_optional(&mut *self)
            .await?;
        row.map_or(Ok(None), |row| found(&row, 0, object))
    }

    async fn advance(&mut self, ask: &Moved<'_>) -> Result<Move, StoreError> {
        let Moved {
            object, version, ..
        } = ask;
        let (kind, number) = version.code();
        let row = sqlx::query(ADVANCE)
            .bind(hex::encode(object.digest()))
            .bind(object.tenant())
            .bind(object.kind())
            .bind(object.id())
            .bind(kind)
            .bind(number)
            .bind(version.tie())
            .bind(version.is_deletion())
            .bind(ask.now)
            .bind(ask.begun)
            .fetch_one(&mut *self)
            .await?;
        if !row.try_get::<bool, _>(0)? {
            return Ok(Move::NoTransaction);
        }
        let Some(kind) = row.try_get(1)? else {
            return Ok(Move::Refused(found(&row, 5, object)?));
        };
        let Some(number) = row.try_get(2)? else {
            return Ok(Move::Applied(None));
        };
        let previous = FoundVersion {
            kind,
            number,
            tie: row.try_get(3)?,
            deletion: row.try_get(4)?,
        };
        Ok(Move::Applied(Some(previous.believed()?)))
    }

    async fn forget_object(&mut self, object: &ObjectKey) -> Result<Option<Version>, StoreError> {
        let row = sqlx::query(FORGET_OBJECT)
            .bind(hex::encode(object.digest()))
            .bind(object.tenant())
            .bind(object.kind())
            .bind(object.id())
            .fetch_optional(&mut *self)
            .await?;
        row.map_or(Ok(None), |row| found(&row, 0, object))
    }

    async fn purge_deleted(
        &mut self,
        now: Option<i64>,
        retention: i64,
        at_most: i64,
    ) -> Result<i64, StoreError> {
        let row = sqlx::query(PURGE_DELETED)
            .bind(now)
            .bind(retention)
            .bind(at_most)
            .fetch_one(&mut *self)
            .await?;
        Ok(row.try_get(0)?)
    }
}

/// The version in the columns from `at` on; nothing if they are all null.
fn found(row: &PgRow, at: usize, object: &ObjectKey) -> Result<Option<Version>, StoreError> {
    let column = |number: usize| at.saturating_add(number);
    let Some(tenant) = row.try_get::<Option<String>, _>(column(0))? else {
        return Ok(None);
    };
    let found = FoundObject {
        tenant,
        kind: row.try_get(column(1))?,
        object_id: row.try_get(column(2))?,
        version: FoundVersion {
            kind: row.try_get(column(3))?,
            number: row.try_get(column(4))?,
            tie: row.try_get(column(5))?,
            deletion: row.try_get(column(6))?,
        },
    };
    found.version_of(object).map(Some)
}

/// A connection of the pool, as a session whose statements are transactions of their own.
macro_rules! session {
    ($store:expr) => {
        Alone(&mut *$store.pool.acquire().await?)
    };
}

impl PostgresStore {
    /// Advances an object in your own transaction, so that its version and your rows are one
    /// commit: what is written last is what is newest. The connection is yours, of this store's pool
    /// or any other to the same database. You commit; this never does.
    ///
    /// ```no_run
    /// # use hookproof::{Advance, ObjectKey, PostgresStore, Version};
    /// # async fn run(store: PostgresStore, pool: sqlx::PgPool, id: &str, total: i64, revision: i64) -> Result<(), Box<dyn std::error::Error>> {
    /// let order = ObjectKey::new("", "order", id)?;
    /// let mut tx = pool.begin().await?;
    /// let advance = store.advance_in(&mut *tx, &order, Version::number(revision)).await?;
    /// if let Advance::Applied { .. } = advance {
    ///     sqlx::query("UPDATE orders SET total = $2 WHERE id = $1")
    ///         .bind(id)
    ///         .bind(total)
    ///         .execute(&mut *tx)
    ///         .await?;
    /// }
    /// tx.commit().await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// An object that another open transaction has advanced is waited for, until that ends: its
    /// rows and yours must not cross. So keep such transactions short; and advance several objects
    /// in the order of their [digests](ObjectKey::digest), or two transactions may wait for each
    /// other, which the server ends with [`Serialization`](crate::store::StoreErrorKind) for one.
    ///
    /// Under `REPEATABLE READ` and `SERIALIZABLE` a transaction that began before another one's
    /// version was committed may fail with the same error: run it again.
    ///
    /// # Errors
    ///
    /// As [`advance`](OrderGuard::advance). After an error of the server PostgreSQL has ended the
    /// transaction: roll back. [`Misuse`](crate::store::StoreErrorKind) also if the connection is
    /// not in a transaction, or if the database has no such table.
    pub async fn advance_in(
        &self,
        tx: &mut PgConnection,
        object: &ObjectKey,
        version: Version,
    ) -> Result<Advance, StoreError> {
        let begun = tx.begun().await?;
        self.verbs.advance(tx, object, &version, Some(begun)).await
    }
}

impl OrderGuard for PostgresStore {
    fn advance<'a>(
        &'a self,
        object: &'a ObjectKey,
        version: Version,
    ) -> StoreFuture<'a, Result<Advance, StoreError>> {
        Box::pin(async move {
            let session = &mut session!(self);
            self.verbs.advance(session, object, &version, None).await
        })
    }

    fn current<'a>(
        &'a self,
        object: &'a ObjectKey,
    ) -> StoreFuture<'a, Result<Option<Version>, StoreError>> {
        Box::pin(async move { session!(self).current(object).await })
    }

    fn forget_object<'a>(
        &'a self,
        object: &'a ObjectKey,
    ) -> StoreFuture<'a, Result<Option<Version>, StoreError>> {
        Box::pin(async move { session!(self).forget_object(object).await })
    }

    fn purge_deleted(
        &self,
        retention: Duration,
        at_most: usize,
    ) -> StoreFuture<'_, Result<usize, StoreError>> {
        Box::pin(async move {
            let session = &mut session!(self);
            self.verbs.purge_deleted(session, retention, at_most).await
        })
    }
}
