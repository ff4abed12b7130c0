//! A transaction of the store's own.
//!
//! Accepting writes three tables, of which two have a row to be made, and neither MySQL nor MariaDB
//! has a statement that does so. Single statements in a clever order would each wait for the disk,
//! and show others a delivery whose event is not known, or the reverse; one transaction has one
//! commit and shows neither.
//!
//! Its steps say how it ends, and nothing of it is locked any more when the caller hears of that: after
//! an error that the server told, too.
//!
//! A call may be dropped at any await. Then what the server is doing is not known, so the connection
//! does not go back to the pool: it leaves it and is closed, which is a rollback to the server, when it
//! notices. The same holds after an error of the connection's. `sqlx`'s own transactions are rolled back
//! by whoever uses the connection next, and not at all when it is their beginning that was dropped.

use sqlx::{Executor, MySql, MySqlConnection, pool::PoolConnection};

use crate::store::{StoreError, StoreErrorKind};

use super::statements::inbox as sql;

/// How the steps of a transaction end it, with what came of them.
pub(super) enum End<T> {
    Commit(T),
    Rollback(T),
}

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

    /// Ends it as its steps say.
    pub(super) async fn end<T>(
        mut self,
        steps: Result<End<T>, StoreError>,
    ) -> Result<(T, PoolConnection<MySql>), StoreError> {
        let came_of_it = match steps {
            Ok(End::Commit(it)) => {
                self.run(sql::COMMIT).await?;
                it
            }
            Ok(End::Rollback(it)) => {
                self.run(sql::ROLLBACK).await?;
                it
            }
            Err(error) => {
                // If the connection is gone, or goes now, it is closed.
                if error.kind() != StoreErrorKind::Unavailable
                    && self.run(sql::ROLLBACK).await.is_ok()
                {
                    drop(self.0.take());
                }
                return Err(error);
            }
        };
        let connection = self.0.take();
        let connection = connection.ok_or_else(|| StoreError::new(StoreErrorKind::Unavailable))?;
        Ok((came_of_it, connection))
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
