//! Stores on SQL engines.
//!
//! What all of them share is here: how a row is believed, and what a claim is that was made in the
//! caller's own transaction. Each engine has a folder of its own, with its schema and statements
//! as constants, so that they can be read and reviewed as they run.

mod found;
mod sqlite;
mod tx;

pub use sqlite::{ImmediateTx, SqliteStore, SqliteStoreBuilder, Synchronous};
pub use tx::{TxClaim, TxLease, TxSettleError};
