//! What stores on a database server share: the flow of each verb, and how errors are told apart.
//!
//! A driver supplies a [`Session`]: one connection, on which each method is one statement. The flow
//! around them is here, once: on a pool each statement is a transaction of its own ([`Alone`]); in
//! the caller's transaction the same flow runs on the caller's connection as it is.

mod alone;
mod alone_more;
mod batch;
#[cfg(feature = "inbox")]
mod batch_inbox;
mod contract;
mod error;
mod ledger;
mod order;
mod rounds;
mod verbs;

use std::future::Future;

use crate::{
    event::EventKey,
    store::{Claiming, Receipt, State, StoreError, sql::tx::TxMark},
};

pub(super) use alone::Alone;
pub(super) use alone::TRIES;
#[cfg(feature = "inbox")]
pub(super) use alone::again;
pub(super) use batch::{BatchAsk, BatchLook, BatchSession, Looks};
#[cfg(feature = "inbox")]
pub(super) use batch_inbox::{Asked, InboxLook, InboxLooks, InboxSession, Took, busy};
pub(super) use contract::{contract, written};
pub(super) use ledger::{LedgerSession, Wrote};
#[cfg(feature = "sqlx-postgres")]
pub(super) use order::Begun;
pub(super) use order::{Move, Moved, OrderSession};
#[cfg(feature = "inbox")]
pub(super) use verbs::corrupt;
pub(super) use verbs::{Ended, Verbs};

/// One connection. Times are microseconds since 1970; where one is given it stands for the
/// server's own, which only tests ask for.
pub(super) trait Session: Send {
    /// What the engine sees in a look and needs when it claims.
    type Seen: Send + Sync;

    /// Whether this is the mark of a transaction of such an engine.
    fn knows(mark: &TxMark) -> bool;

    /// Whether a session in which this is seen may be one of a pool.
    fn is_alone(seen: &Self::Seen) -> Result<(), StoreError>;

    /// Whether the driver knows that the caller's transaction is around this, without asking the server.
    fn is_lasting(&self) -> bool;

    /// What is stored, and the time. Takes no lock and writes nothing.
    fn find(
        &mut self,
        key: &EventKey,
        now: Option<i64>,
    ) -> impl Future<Output = Result<Look<Self::Seen>, StoreError>> + Send;

    /// [`find`](Session::find), and, by an engine that can do both in one statement, the claim of an event
    /// of which nothing is stored. What is stored is only looked at.
    fn find_or_insert(
        &mut self,
        claiming: &Claiming,
        now: Option<i64>,
    ) -> impl Future<Output = Result<(Look<Self::Seen>, Option<Attempt>), StoreError>> + Send {
        async move { Ok((self.find(&claiming.key, now).await?, None)) }
    }

    /// Inserts, takes over, or buries, or writes nothing; never waits for another's claim.
    fn claim(
        &mut self,
        ask: &Ask<'_, Self::Seen>,
    ) -> impl Future<Output = Result<Attempt, StoreError>> + Send;

    /// Writes what only the holder of the last fence may write.
    fn change(
        &mut self,
        change: &Change<'_>,
    ) -> impl Future<Output = Result<Changed, StoreError>> + Send;

    /// Deletes the row, and remembers its fence.
    fn forget(
        &mut self,
        key: &EventKey,
    ) -> impl Future<Output = Result<Option<Receipt>, StoreError>> + Send;

    /// Deletes some rows, and remembers the highest fence. Returns how many.
    fn purge(
        &mut self,
        now: Option<i64>,
        at_most: i64,
    ) -> impl Future<Output = Result<i64, StoreError>> + Send;
}

/// What is stored of an event.
#[derive(Debug)]
pub(super) struct Look<S> {
    /// The time, by the clock that judges.
    pub(super) now: i64,
    pub(super) stored: Option<Receipt>,
    pub(super) seen: S,
}

/// What is asked of the claiming statement.
#[derive(Debug)]
pub(super) struct Ask<'c, S> {
    pub(super) claiming: &'c Claiming,
    pub(super) now: Option<i64>,
    pub(super) look: &'c Look<S>,
    /// In the caller's transaction, and not on a pool.
    pub(super) lasting: bool,
}

/// What the claiming statement did.
#[derive(Debug)]
pub(super) enum Attempt {
    /// Wrote this, in this transaction. It is won, or its last attempt is over.
    Wrote(Receipt, TxMark),
    /// Nothing: the row is not to be claimed, or not any more.
    Refused,
    /// Nothing: this is stored, which the caller's transaction cannot see in a look.
    #[cfg(feature = "sqlx-mysql")]
    Saw(Receipt),
    /// Nothing: somebody else is claiming the event, perhaps in a transaction that lasts.
    Held,
    /// Nothing: this is not the transaction that was looked in, so there is none that lasts.
    NoTransaction,
}

/// What the holder of a lease has to write.
#[derive(Debug)]
pub(super) struct Change<'c> {
    pub(super) key: &'c EventKey,
    pub(super) fence: i64,
    pub(super) state: State,
    /// Until when, from now, in microseconds.
    pub(super) wait: Option<i64>,
    pub(super) result: Vec<u8>,
    pub(super) now: Option<i64>,
    /// The transaction that the claim was made in; nothing on a pool.
    pub(super) transaction: Option<&'c TxMark>,
}

/// What came of it.
#[derive(Debug)]
pub(super) struct Changed {
    /// Whether it was tried in the transaction that it belongs to.
    pub(super) here: bool,
    /// What is stored now; nothing if the fence no longer stood.
    pub(super) written: Option<Receipt>,
}
