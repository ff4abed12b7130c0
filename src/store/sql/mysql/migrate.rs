//! Bringing the schema in.

use sqlx::{Executor, MySqlConnection, Row};

use crate::{
    event::EventKey,
    order::{ObjectKey, Version},
    store::{Claiming, Fence, Receipt, StoreError, StoreErrorKind},
};

use super::{
    MySqlStore,
    driver::{self, misuse},
    ledger, order, schema as sql, writing,
};

impl MySqlStore {
    /// Creates the schema where it is missing, in the connection's database, brings an older one up
    /// to date, and checks what is there. Any number of processes may start at once: one creates,
    /// the others wait for it, at most a minute (`GET_LOCK`). Takes no lock if all is there. If it is
    /// cancelled, what is missing is created the next time; the connection that it creates with is
    /// closed, and with it goes the lock.
    ///
    /// Version 2 refers to the receipts of version 1, so that change may wait until transactions are
    /// over that have written receipts. Programs of version 1 that run already go on as before; those
    /// that start are refused.
    ///
    /// # Errors
    ///
    /// - [`StoreErrorKind::NewerSchema`]: a newer version of this crate was here.
    /// - [`StoreErrorKind::Misuse`]: the connection is in no database; there are tables of other
    ///   hands under the same names; or the user may not create tables.
    /// - [`StoreErrorKind::Corrupt`]: the recorded version is none of this crate's.
    /// - [`StoreErrorKind::Busy`]: another process has been creating for a minute.
    /// - [`StoreErrorKind::Unavailable`]: the server is out of reach.
    pub async fn migrate(&self) -> Result<(), StoreError> {
        let mut connection = self.pool.acquire().await?;
        if !is_current(&mut connection).await? {
            // Not the pool's any more, so that no lock can stay with it.
            let mut own = connection.detach();
            create(&mut own).await?;
            return probe(&mut own).await;
        }
        probe(&mut connection).await
    }
}

async fn create(connection: &mut MySqlConnection) -> Result<(), StoreError> {
    sqlx::query(sql::AUTOCOMMIT)
        .execute(&mut *connection)
        .await?;
    let row = sqlx::query(sql::LOCK).fetch_one(&mut *connection).await?;
    match row.try_get::<Option<i64>, _>(0)? {
        Some(1) => {}
        Some(_) => return Err(StoreError::new(StoreErrorKind::Busy)),
        None => return Err(misuse("the connection is in no database")),
    }
    // Somebody else may have been faster, and newer.
    if !is_current(connection).await? {
        // Not `RawSql::execute`, whose future cannot be sent between threads.
        connection.execute(sqlx::raw_sql(sql::SCHEMA)).await?;
    }
    Ok(())
}

async fn is_current(connection: &mut MySqlConnection) -> Result<bool, StoreError> {
    let row = sqlx::query(sql::HAS_META)
        .fetch_one(&mut *connection)
        .await?;
    if row.try_get::<i64, _>(0)? == 0 {
        return Ok(false);
    }
    let row = sqlx::query(sql::READ_VERSION).fetch_one(connection).await?;
    match row.try_get::<Option<i64>, _>(0)? {
        Some(sql::VERSION) => Ok(true),
        Some(older) if (sql::OLDEST_VERSION..sql::VERSION).contains(&older) => Ok(false),
        Some(newer) if newer > sql::VERSION => Err(StoreError::new(StoreErrorKind::NewerSchema)),
        Some(_) => Err(StoreError::new(StoreErrorKind::Corrupt)),
        // It is recorded last, so somebody was interrupted.
        None => Ok(false),
    }
}

/// A table that is not this one shows here, and not in the first delivery: the statements name
/// every column. None of them finds what it asks for.
async fn probe(connection: &mut MySqlConnection) -> Result<(), StoreError> {
    let key = EventKey::nameless([0; 16]);
    let (now, _, seen) = driver::find(connection, &key, None).await?;
    if seen.deleted.is_none() {
        return Err(misuse("the table of slots is incomplete"));
    }
    let now = crate::clock::from_micros(now).ok_or(StoreError::new(StoreErrorKind::Corrupt))?;
    let none = Receipt::first(&Claiming::business(key), now, Fence(0));
    writing::insert_by(connection, &none, 0, -1, 0).await?;
    ledger::probe(connection, &none.key).await?;
    let Ok(object) = ObjectKey::new("", "object", "0") else {
        return Ok(());
    };
    order::look(connection, &object, None).await?;
    // There is none of that mark, or it is left as it is.
    order::write(connection, &object, &Version::number(0), 0, 0).await?;
    #[cfg(feature = "inbox")]
    super::review::probe(connection).await?;
    Ok(())
}
