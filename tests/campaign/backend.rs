//! What a campaign asks of each database.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering::SeqCst},
};

use hookproof::{
    Claiming, IdempotencyStore, Receipt, StoreError, Verdict,
    clock::Clock,
    store::sql::{TxClaim, TxLease, TxSettleError},
};
use time::OffsetDateTime;

#[cfg(feature = "inbox")]
use super::wire::Post;
use super::{plan::Plan, wire::Told};

/// The parent's side: a database, and the harm that can be done to it.
pub(crate) trait Arena: Sync + Sized {
    type Backend: Backend;

    /// With all tables, in a place of its own.
    fn new(plan: &Plan) -> Self;

    /// What a worker must know.
    fn place(&self) -> String;

    /// One number out of the database.
    fn number(&self, sql: &'static str) -> i64;

    /// Ends the workers' sessions, and says how many.
    fn cut(&self) -> usize;

    /// Kills the server and starts it again.
    fn kill_server(&self);
}

/// A worker's side.
pub(crate) trait Backend: Send + Sync + Sized + 'static {
    type Store: IdempotencyStore + Send + Sync + 'static;
    type Hand: Hand;
    /// Holds what others want, until it is dropped.
    type Hog;

    /// Whether the store's clock is the host's, or one for all hosts.
    const HAS_CLOCK_OF_HOST: bool;

    /// By this clock, or by the engine's own.
    fn open(place: &str, plan: &Plan, clock: Shifted) -> Self;

    fn store(&self) -> Arc<Self::Store>;

    fn hand(&self) -> Self::Hand;

    /// Takes all connections but the one that the caller has.
    async fn hog(&self) -> Self::Hog;

    /// Why the store did not answer.
    fn cause(error: &StoreError) -> Told;

    /// Accepts and works off, if the store has an inbox.
    #[cfg(feature = "inbox")]
    fn work_inbox(_: &Post, _: &Plan) {
        panic!("this store has no inbox");
    }
}

/// One handler's connection, or its way to one.
pub(crate) trait Hand: Send {
    type Tx<'h>: Tx
    where
        Self: 'h;

    /// From now on there is no room in the database, or is again.
    fn disk_full(&mut self, is_full: bool);

    async fn begin(&mut self) -> Result<Self::Tx<'_>, StoreError>;
}

/// A transaction of the caller's.
pub(crate) trait Tx {
    async fn claim(&mut self, claiming: Claiming) -> Result<TxClaim, StoreError>;

    /// Writes what must happen once.
    async fn act(&mut self, effect: &Effect) -> Result<(), StoreError>;

    async fn settle(&mut self, lease: TxLease, verdict: Verdict) -> Result<Receipt, TxSettleError>;

    async fn commit(self) -> Result<(), StoreError>;
}

/// A row of `effects`, which has no unique constraint: a double effect is two rows.
#[derive(Debug, Clone)]
pub(crate) struct Effect {
    pub(crate) event: String,
    pub(crate) attempt: u32,
    pub(crate) fence: i64,
}

/// The host's clock, moved by so many seconds.
#[derive(Debug, Clone)]
pub(crate) struct Shifted(Arc<AtomicI64>);

impl Shifted {
    pub(crate) fn by(seconds: i64) -> Self {
        Self(Arc::new(seconds.into()))
    }

    pub(crate) fn back_to(&self, seconds: i64) {
        self.0.fetch_min(seconds, SeqCst);
    }
}

impl Clock for Shifted {
    fn now(&self) -> OffsetDateTime {
        OffsetDateTime::now_utc() + time::Duration::seconds(self.0.load(SeqCst))
    }
}

/// Why a store on a server did not answer.
#[cfg(any(feature = "sqlx-postgres", feature = "sqlx-mysql"))]
pub(crate) fn cause_on_a_server(error: &StoreError) -> Told {
    use hookproof::store::StoreErrorKind;

    let source = std::error::Error::source(error).and_then(|source| source.downcast_ref());
    match (source, error.kind()) {
        (Some(sqlx::Error::PoolTimedOut), _) => Told::Starved,
        (_, StoreErrorKind::Serialization) => Told::Serialization,
        _ => Told::Unavailable,
    }
}
