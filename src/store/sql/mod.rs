//! Stores on SQL engines.
//!
//! What all of them share is here: how a row is believed, and what a claim is that was made in the
//! caller's own transaction. Each engine has a folder of its own, with its schema and statements
//! as constants, so that they can be read and reviewed as they run.

mod effect;
mod found;
#[cfg(feature = "sqlx-mysql")]
mod mysql;
mod object;
#[cfg(feature = "sqlx-postgres")]
mod postgres;
#[cfg(feature = "inbox")]
mod review;
#[cfg(any(feature = "sqlx-postgres", feature = "sqlx-mysql"))]
mod server;
#[cfg(feature = "rusqlite")]
mod sqlite;
mod tx;

#[cfg(feature = "sqlx-mysql")]
pub use mysql::{MySqlStore, MySqlStoreBuilder};
#[cfg(feature = "sqlx-postgres")]
pub use postgres::{PostgresStore, PostgresStoreBuilder};
#[cfg(feature = "rusqlite")]
pub use sqlite::{ImmediateTx, SqliteStore, SqliteStoreBuilder, Synchronous};
pub use tx::{TxClaim, TxLease, TxSettleError};
