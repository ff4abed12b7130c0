//! The versions of objects: what is written is judged in Rust, as receipts are.

use std::time::Duration;

use sqlx::{MySqlConnection, Row, mysql::MySqlRow};

use crate::{
    order::{Advance, ObjectKey, OrderGuard, Version},
    store::{
        StoreError, StoreErrorKind, StoreFuture,
        sql::{
            object::{FoundObject, FoundVersion},
            server::{Alone, Move, Moved, OrderSession},
        },
    },
};

use super::{
    MySqlStore,
    driver::{self, LASTING, number, text},
    session::{TRIES, not_autocommit},
    statements as sql,
};

/// What is stored of an object.
#[derive(Debug)]
pub(super) struct Looked {
    now: i64,
    autocommit: bool,
    stored: Option<Marked>,
}

type Marked = (i64, Version);

impl OrderSession for MySqlConnection {
    async fn current(&mut self, object: &ObjectKey) -> Result<Option<Version>, StoreError> {
        let looked = look_alone(self, object, None).await?;
        Ok(looked.stored.map(|(_, version)| version))
    }

    async fn advance(&mut self, ask: &Moved<'_>) -> Result<Move, StoreError> {
        match ask.begun {
            None => advance_alone(self, ask).await,
            Some(_) => advance_lasting(self, ask).await,
        }
    }

    async fn forget_object(&mut self, object: &ObjectKey) -> Result<Option<Version>, StoreError> {
        for _ in 0..TRIES {
            let looked = look_alone(self, object, None).await?;
            let Some((mark, version)) = looked.stored else {
                return Ok(None);
            };
            let done = sqlx::query(sql::FORGET_OBJECT)
                .bind(object.digest().as_slice())
                .bind(mark)
                .execute(&mut *self)
                .await?;
            if done.rows_affected() == 1 {
                return Ok(Some(version));
            }
        }
        Err(StoreError::new(StoreErrorKind::Busy))
    }

    async fn purge_deleted(
        &mut self,
        now: Option<i64>,
        retention: i64,
        at_most: i64,
    ) -> Result<i64, StoreError> {
        let clock = driver::clock(self, now).await?;
        if !clock.autocommit {
            return Err(not_autocommit());
        }
        let done = sqlx::query(sql::PURGE_DELETED)
            .bind(clock.now.saturating_sub(retention))
            .bind(at_most)
            .execute(self)
            .await?;
        Ok(i64::try_from(done.rows_affected()).unwrap_or(i64::MAX))
    }
}

async fn advance_alone(
    connection: &mut MySqlConnection,
    ask: &Moved<'_>,
) -> Result<Move, StoreError> {
    let looked = look_alone(connection, ask.object, ask.now).await?;
    let Some((mark, current)) = looked.stored else {
        let inserted = row(sql::INSERT_OBJECT, ask, driver::mark(None), looked.now)
            .execute(connection)
            .await;
        return match inserted {
            Ok(_) => Ok(Move::Applied(None)),
            // ER_DUP_ENTRY: somebody was faster.
            Err(error) if number(&error) == Some(1062) => Ok(Move::Refused(None)),
            Err(error) => Err(error.into()),
        };
    };
    let previous = Some(current);
    let is_newer = is_newer(ask.version, previous.as_ref())?;
    if is_newer && write(connection, ask.object, ask.version, mark, looked.now).await? {
        Ok(Move::Applied(previous))
    } else {
        Ok(Move::Refused(previous))
    }
}

/// In the caller's transaction, which keeps every lock until its end. The row is made to exist, and
/// locked, before it is read as it is now.
async fn advance_lasting(
    connection: &mut MySqlConnection,
    ask: &Moved<'_>,
) -> Result<Move, StoreError> {
    if !driver::is_in_transaction(connection).await? {
        return Ok(Move::NoTransaction);
    }
    let looked = look(connection, ask.object, ask.now).await?;
    let seen = looked.stored.map(|(_, version)| version);
    // Versions only grow, so what was not newer before is not newer now.
    if !is_newer(ask.version, seen.as_ref())? {
        return Ok(Move::Refused(seen));
    }
    let mine = driver::mark(None);
    row(sql::ENSURE_OBJECT, ask, mine, looked.now)
        .execute(&mut *connection)
        .await?;
    let found = sqlx::query(sql::READ_OBJECT)
        .bind(ask.object.digest().as_slice())
        .fetch_one(&mut *connection)
        .await?;
    let (mark, current) = stored(&found, 0, ask.object)?.ok_or_else(corrupt)?;
    if mark == mine {
        return Ok(Move::Applied(None));
    }
    let current = Some(current);
    if !is_newer(ask.version, current.as_ref())? {
        return Ok(Move::Refused(current));
    }
    if write(connection, ask.object, ask.version, mark, looked.now).await? {
        Ok(Move::Applied(current))
    } else {
        // The row is locked, so nobody else can have written it.
        Err(corrupt())
    }
}

fn is_newer(version: &Version, stored: Option<&Version>) -> Result<bool, StoreError> {
    let judged = version.judge(stored.cloned())?;
    Ok(matches!(judged, Advance::Applied { .. }))
}

async fn look_alone(
    connection: &mut MySqlConnection,
    object: &ObjectKey,
    now: Option<i64>,
) -> Result<Looked, StoreError> {
    let looked = look(connection, object, now).await?;
    if looked.autocommit {
        Ok(looked)
    } else {
        Err(not_autocommit())
    }
}

pub(super) async fn look(
    connection: &mut MySqlConnection,
    object: &ObjectKey,
    now: Option<i64>,
) -> Result<Looked, StoreError> {
    let row = sqlx::query(sql::FIND_OBJECT)
        .bind(now)
        .bind(object.digest().as_slice())
        .fetch_one(connection)
        .await?;
    driver::is_committed(&row, 2)?;
    Ok(Looked {
        now: row.try_get(0)?,
        autocommit: row.try_get::<i64, _>(1)? != 0,
        stored: stored(&row, 3, object)?,
    })
}

/// Binds a whole row.
fn row(
    statement: &'static str,
    ask: &Moved<'_>,
    mark: i64,
    now: i64,
) -> sqlx::query::Query<'static, sqlx::MySql, sqlx::mysql::MySqlArguments> {
    let Moved {
        object, version, ..
    } = ask;
    let (kind, number) = version.code();
    sqlx::query(statement)
        .bind(mark)
        .bind(object.digest().to_vec())
        .bind(object.tenant().as_bytes().to_vec())
        .bind(object.kind().as_bytes().to_vec())
        .bind(object.id().as_bytes().to_vec())
        .bind(kind)
        .bind(number)
        .bind(version.tie().as_bytes().to_vec())
        .bind(version.is_deletion().then_some(now))
        .bind(now)
}

/// Writes over the row that was read with the mark `old`.
pub(super) async fn write(
    connection: &mut MySqlConnection,
    object: &ObjectKey,
    version: &Version,
    old: i64,
    now: i64,
) -> Result<bool, StoreError> {
    let (_, number) = version.code();
    let done = sqlx::query(sql::WRITE_OBJECT)
        .bind(driver::mark(Some(old)))
        .bind(number)
        .bind(version.tie().as_bytes())
        .bind(version.is_deletion().then_some(now))
        .bind(now)
        .bind(object.digest().as_slice())
        .bind(old)
        .execute(connection)
        .await?;
    Ok(done.rows_affected() == 1)
}

/// The mark and version in the columns from `at` on; nothing if they are all null.
fn stored(row: &MySqlRow, at: usize, object: &ObjectKey) -> Result<Option<Marked>, StoreError> {
    let column = |number: usize| at.saturating_add(number);
    let Some(mark) = row.try_get::<Option<i64>, _>(column(0))? else {
        return Ok(None);
    };
    let found = FoundObject {
        tenant: text(row, column(1))?,
        kind: text(row, column(2))?,
        object_id: text(row, column(3))?,
        version: FoundVersion {
            kind: row.try_get(column(4))?,
            number: row.try_get(column(5))?,
            tie: text(row, column(6))?,
            deletion: row.try_get::<i64, _>(column(7))? != 0,
        },
    };
    Ok(Some((mark, found.version_of(object)?)))
}

fn corrupt() -> StoreError {
    StoreError::new(StoreErrorKind::Corrupt)
}

/// A connection of the pool, as a session whose statements are transactions of their own.
macro_rules! session {
    ($store:expr) => {
        Alone(&mut *$store.pool.acquire().await?)
    };
}

impl MySqlStore {
    /// Advances an object in your own transaction, so that its version and your rows are one
    /// commit: what is written last is what is newest. The connection is yours, of this store's pool
    /// or any other to the same database. You commit; this never does.
    ///
    /// ```no_run
    /// # use hookproof::{Advance, MySqlStore, ObjectKey, Version};
    /// # async fn run(store: MySqlStore, pool: sqlx::MySqlPool, id: &str, total: i64, revision: i64) -> Result<(), Box<dyn std::error::Error>> {
    /// let order = ObjectKey::new("", "order", id)?;
    /// let mut tx = pool.begin().await?;
    /// let advance = store.advance_in(&mut *tx, &order, Version::number(revision)).await?;
    /// if let Advance::Applied { .. } = advance {
    ///     sqlx::query("UPDATE orders SET total = ? WHERE id = ?")
    ///         .bind(total)
    ///         .bind(id)
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
    /// other, which the server ends with [`StoreErrorKind::Serialization`] for one.
    ///
    /// `READ COMMITTED` and `REPEATABLE READ` are the same to it: the version that stands now
    /// decides, and not the one of your snapshot. So under `REPEATABLE READ` what you `SELECT` may
    /// be older than the version that you have just advanced; what you `UPDATE` is not. With
    /// `innodb_snapshot_isolation`, and under `SERIALIZABLE`, it is as
    /// [`claim_in`](MySqlStore::claim_in) says.
    ///
    /// # Errors
    ///
    /// As [`advance`](OrderGuard::advance). **Roll back after any error** but that of a version of
    /// the other kind, which has written nothing: after [`StoreErrorKind::Serialization`] MySQL has
    /// done so by itself. [`StoreErrorKind::Misuse`] also if the connection is not in a transaction,
    /// or if the database has no such table.
    pub async fn advance_in(
        &self,
        tx: &mut MySqlConnection,
        object: &ObjectKey,
        version: Version,
    ) -> Result<Advance, StoreError> {
        self.verbs
            .advance(tx, object, &version, Some(LASTING))
            .await
    }
}

impl OrderGuard for MySqlStore {
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
