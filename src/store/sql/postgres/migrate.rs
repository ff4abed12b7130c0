//! Bringing the schema in.

use sqlx::{Executor, PgConnection, Row};

use crate::store::{
    Claiming, StoreError, StoreErrorKind,
    sql::server::{Ask, LedgerSession, Look, Moved, OrderSession, Session},
};

use super::{PostgresStore, schema as sql};
use crate::{
    event::EventKey,
    order::{ObjectKey, Version},
};

/// How often the schema is sent before a server that keeps calling it off is given up.
const TRIES: usize = 20;

impl PostgresStore {
    /// Creates the schema where it is missing, in the first schema of the connection's search
    /// path, brings an older one up to date, and checks what is there. Any number of processes may
    /// start at once: one creates, the others wait for it. Takes no lock if all is there. If it is
    /// cancelled, nothing or all is done.
    ///
    /// Version 2 refers to the receipts of version 1, so that change waits until nobody writes
    /// receipts, and keeps others from it meanwhile. Programs of version 1 that run already go on
    /// as before; those that start are refused.
    ///
    /// # Errors
    ///
    /// - [`StoreErrorKind::NewerSchema`]: a newer version of this crate was here.
    /// - [`StoreErrorKind::Misuse`]: the database's encoding is not UTF-8, so that it could not
    ///   hold every id; there are tables of other hands under the same names; or the user may not
    ///   create tables.
    /// - [`StoreErrorKind::Corrupt`]: the recorded version is none of this crate's.
    /// - [`StoreErrorKind::Unavailable`]: the server is out of reach.
    pub async fn migrate(&self) -> Result<(), StoreError> {
        let mut connection = self.pool.acquire().await?;
        let connection = &mut *connection;
        for _ in 0..TRIES {
            if is_current(connection).await? {
                return probe(connection).await;
            }
            match create(connection).await {
                Err(error) if error.kind() == StoreErrorKind::Serialization => {}
                done => done?,
            }
        }
        Err(StoreError::new(StoreErrorKind::Busy))
    }
}

/// One message of several statements is one transaction.
async fn create(connection: &mut PgConnection) -> Result<(), StoreError> {
    // Not `RawSql::execute`, whose future cannot be sent between threads.
    connection.execute(sqlx::raw_sql(sql::MIGRATE)).await?;
    Ok(())
}

async fn is_current(connection: &mut PgConnection) -> Result<bool, StoreError> {
    let row = sqlx::query(sql::HAS_SCHEMA)
        .fetch_one(&mut *connection)
        .await?;
    if !row.try_get::<bool, _>(1)? {
        return Err(StoreError::with_source(
            StoreErrorKind::Misuse,
            "the database's encoding must be UTF8",
        ));
    }
    if !row.try_get::<bool, _>(0)? {
        return Ok(false);
    }
    let row = sqlx::query(sql::READ_VERSION).fetch_one(connection).await?;
    match row.try_get::<Option<i64>, _>(0)? {
        Some(sql::VERSION) => Ok(true),
        Some(older) if (sql::OLDEST_VERSION..sql::VERSION).contains(&older) => Ok(false),
        Some(newer) if newer > sql::VERSION => Err(StoreError::new(StoreErrorKind::NewerSchema)),
        _ => Err(StoreError::new(StoreErrorKind::Corrupt)),
    }
}

/// A table that is not this one shows here, and not in the first delivery: between them the
/// statements name every column. The claim and the advance are for a transaction that never was, so
/// they are none.
async fn probe(connection: &mut PgConnection) -> Result<(), StoreError> {
    let key = EventKey::nameless([0; 16]);
    let claiming = Claiming::business(key);
    let look = connection.find(&claiming.key, None).await?;
    let ask = Ask {
        claiming: &claiming,
        now: None,
        look: &Look {
            seen: Some(i64::MIN),
            ..look
        },
        lasting: true,
    };
    connection.claim(&ask).await?;
    connection.effects(&claiming.key).await?;
    let Ok(object) = ObjectKey::new("", "object", "0") else {
        return Ok(());
    };
    let moved = Moved {
        object: &object,
        version: &Version::number(0),
        now: None,
        begun: Some(i64::MIN),
    };
    connection.advance(&moved).await?;
    #[cfg(feature = "inbox")]
    super::inbox::probe(connection).await?;
    #[cfg(feature = "inbox")]
    super::review::probe(connection).await?;
    Ok(())
}
