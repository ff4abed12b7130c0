//! A transaction of the store's own.
//!
//! Accepting writes three tables, of which two have a row to be made, and neither MySQL nor MariaDB
//! has a statement that does so. Single statements in a clever order would each wait for the disk,
//! and show others a delivery whose event is not known, or the reverse; one transaction has one
//! commit and shows neither.
//!
//! A call may be dropped at any await. Then what the server is doing is not known, so the connection
//! does not go back to the pool: it leaves it and is closed, which is a rollback to the server. The
//! same holds after every error. `sqlx`'s own transactions are rolled back by whoever uses the
//! connection next, and not at all when it is their beginning that was dropped.

use sqlx::{Executor, MySql, MySqlConnection, pool::PoolConnection};

use crate::store::{StoreError, StoreErrorKind};

use super::statements::inbox as sql;

/// An open transaction, on a connection that is closed if this is dropped.
pub(super) struct Own(Option<PoolConnection<MySql>>);

impl Own {
    pub(super) async fn begin(connection: PoolConnection<MySql>) -> Result<Self, StoreError> {
        // From here on: what is not known to have begun may have.
        let mut own = Self(Some(connection));
        own.run(sql::BEGIN).await?;
        Ok(own)
    }

    pub(super) fn connection(&mut self) -> Result<&mut MySqlConnection, StoreError> {
        // It is there until the end, which consumes this.
        self.0
            .as_deref_mut()
            .ok_or_else(|| StoreError::new(StoreErrorKind::Unavailable))
    }

    pub(super) async fn commit(self) -> Result<PoolConnection<MySql>, StoreError> {
        self.end(sql::COMMIT).await
    }

    pub(super) async fn rollback(self) -> Result<PoolConnection<MySql>, StoreError> {
        self.end(sql::ROLLBACK).await
    }

    async fn end(mut self, statement: &'static str) -> Result<PoolConnection<MySql>, StoreError> {
        self.run(statement).await?;
        self.0
            .take()
            .ok_or_else(|| StoreError::new(StoreErrorKind::Unavailable))
    }

    async fn run(&mut self, statement: &'static str) -> Result<(), StoreError> {
        // Not `RawSql::execute`, whose future cannot be sent between threads.
        let statement = sqlx::raw_sql(statement);
        self.connection()?.execute(statement).await?;
        Ok(())
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        if let Some(connection) = self.0.take() {
            drop(connection.detach());
        }
    }
}
