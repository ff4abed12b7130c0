//! Receipts in PostgreSQL, through `sqlx`.

#[macro_use]
mod statements;

mod batch;
mod driver;
#[cfg(feature = "inbox")]
mod inbox;
#[cfg(feature = "inbox")]
mod inbox_batch;
mod ledger;
mod migrate;
mod order;
#[cfg(feature = "inbox")]
mod review;
mod roles;
mod schema;
mod stats;
mod tx;

use std::{fmt, sync::Arc};

use sqlx::PgPool;

use crate::{
    clock::Clock,
    store::{OnAbandoned, Stderr},
};

use super::server::{Verbs, contract};

/// Receipts in PostgreSQL 12 or newer, for any number of processes on any number of hosts, on the
/// pool that you have.
///
/// **Statements.** Each is a transaction of its own, so a call that is cancelled leaves nothing
/// open on a pooled connection; at worst the event stays claimed until its lease is over. A claim
/// looks first, and only what may be claimed is written: a duplicate costs one read, takes no row
/// lock and adds nothing to the write-ahead log. New or known, an event costs one round trip; one
/// that is taken over after a failure costs two. The statements decide rightly under every isolation
/// level that your sessions may have as their default.
///
/// **Time.** The server's clock judges leases, waits and retention, so hosts need not agree.
///
/// **Durability** is the session's: with `synchronous_commit = off`, or a standby that lags when it
/// is promoted, the last receipts may be forgotten, and their events act again.
///
/// **Your own transaction** makes the receipt and your rows one commit:
/// [`claim_in`](PostgresStore::claim_in).
///
/// **Batches** ([`claim_many`](crate::store::BatchStore::claim_many)) cost two round trips and one
/// commit, however many are new. While the statement runs, each new event takes one place in the
/// server's lock table, which has `max_locks_per_transaction × max_connections` of them (6,400 by
/// default). Waits between batches and purges are no longer than the other's one statement.
///
/// **Numbers** ([`stats`](crate::store::StatsStore::stats)) come from one scan, which takes no lock that
/// anything waits for: of the whole table up to 128 MiB (some 600,000 receipts), above that of a
/// random sample of its pages of that size ([`stats_bytes`](PostgresStoreBuilder::stats_bytes)). An
/// index on the state would make it cheaper and every claim dearer: updates would leave their page.
///
/// **Rights.** [`ROLES`](PostgresStore::ROLES) makes roles that may do only their part.
///
/// **Dropped leases** are reported; the event is claimable again by the lease's end.
///
/// **Places.** Tables and sequence are named without a schema, so the connections' search path
/// decides where they are. Row locks and advisory locks last no longer than a transaction, so a
/// pooler may hand out connections by transaction; if it cannot keep prepared statements, set
/// `statement_cache_capacity(0)` in the pool's options.
///
/// **Versions.** The pool's type is that of the sqlx in your own dependencies, 0.8 (from 0.8.4 on) or 0.9: both
/// must be one and the same (`cargo tree -i sqlx`). Runtime and TLS are chosen there.
///
/// ```no_run
/// # async fn run(claiming: hookproof::Claiming) -> Result<(), Box<dyn std::error::Error>> {
/// use hookproof::{Claim, IdempotencyStore, PostgresStore, Verdict};
///
/// let pool = sqlx::PgPool::connect("postgres://localhost/shop").await?;
/// let store = PostgresStore::new(pool);
/// store.migrate().await?;
/// if let Claim::New(lease) = store.claim(claiming).await? {
///     store.settle(lease, Verdict::done("created invoice 123")).await?;
/// }
/// # Ok(())
/// # }
/// ```
pub struct PostgresStore {
    pool: PgPool,
    verbs: Verbs,
    stats_bytes: u64,
}

contract!(PostgresStore);

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore").finish_non_exhaustive()
    }
}

impl PostgresStore {
    /// The schema, as [`migrate`](PostgresStore::migrate) creates it where it is missing: for those
    /// who run their own migrations, one at a time. It may be run again and again.
    ///
    /// Times are microseconds since 1970; `to_timestamp(changed_at / 1e6)` shows them as dates.
    pub const SCHEMA: &'static str = schema::SCHEMA;

    /// A script that makes four roles with the least that each needs, to be run by the tables'
    /// owner (who needs `CREATEROLE`) after the schema; it may be run again. Grant the roles to the
    /// users of your services: `GRANT webhook_gateway TO shop`.
    ///
    /// | role | may | store verbs |
    /// |---|---|---|
    /// | `webhook_gateway` | insert, read, change what processing changes | `claim`, `claim_many`, `accept`, `keep`, `settle`, `renew`, `release` |
    /// | `webhook_worker` | the same without inserting receipts and deliveries | `lease_due`, `requeue`, `discard`, `settle`, `renew`, `release` |
    /// | `webhook_janitor` | read, delete | `purge`, `drop_bodies`, `purge_deleted`, `purge_reviews`, `forget`, `forget_object` |
    /// | `webhook_auditor` | read | |
    ///
    /// All of them have what only reads: `get`, `stats`, `effects`, `current`, `list`, `parked`,
    /// `reviews`, `review`. Gateway and worker also record steps and advance objects. `admit` inserts an
    /// event and resolves a review, so an operator's user is given both: `IN ROLE webhook_gateway,
    /// webhook_worker`.
    ///
    /// All of them can run [`migrate`](PostgresStore::migrate)'s check of a schema that is there,
    /// except for its trial claim, which is the gateway's; none can create or alter anything. Row
    /// locks need the right to update some column, so the script adds one that can hold nothing to
    /// each of four tables, for the janitor.
    pub const ROLES: &'static str = roles::ROLES;

    /// A script that confines gateway and worker to one tenant's rows, to be run after
    /// [`ROLES`](PostgresStore::ROLES); it may be run again. The tenant is the session's setting
    /// `hookproof.tenant`, without which they see nothing: set it in the pool's options, or with
    /// `set_config('hookproof.tenant', …, true)` in a transaction of yours. Forced, so that the
    /// tables' owner is confined too; superusers are not.
    pub const ROW_SECURITY: &'static str = roles::ROW_SECURITY;

    /// A store on this pool, by the server's clock. Nothing is asked of the server yet; the schema
    /// must be there before the first claim ([`migrate`](PostgresStore::migrate)).
    pub fn new(pool: PgPool) -> Self {
        Self::builder(pool).build()
    }

    /// To choose report or clock.
    pub fn builder(pool: PgPool) -> PostgresStoreBuilder {
        PostgresStoreBuilder {
            pool,
            clock: None,
            on_abandoned: Arc::new(Stderr),
            stats_bytes: stats::DEFAULT_BYTES,
        }
    }
}

/// Builds a [`PostgresStore`].
pub struct PostgresStoreBuilder {
    pool: PgPool,
    clock: Option<Arc<dyn Clock>>,
    on_abandoned: Arc<dyn OnAbandoned>,
    stats_bytes: u64,
}

impl fmt::Debug for PostgresStoreBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStoreBuilder")
            .finish_non_exhaustive()
    }
}

impl PostgresStoreBuilder {
    /// A clock instead of the server's, for tests: in service, processes would have to agree on
    /// the time. It is asked once for each statement.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Some(Arc::new(clock));
        self
    }

    /// Who is told of a lease dropped unsettled; standard error if not set.
    #[must_use]
    pub fn on_abandoned(mut self, report: impl OnAbandoned + 'static) -> Self {
        self.on_abandoned = Arc::new(report);
        self
    }

    /// How many bytes of the table [`stats`](crate::store::StatsStore::stats) may read before it
    /// takes a sample instead; 128 MiB if not set.
    #[must_use]
    pub fn stats_bytes(mut self, bytes: u64) -> Self {
        self.stats_bytes = bytes;
        self
    }

    /// The store.
    pub fn build(self) -> PostgresStore {
        PostgresStore {
            pool: self.pool,
            stats_bytes: self.stats_bytes,
            verbs: Verbs {
                clock: self.clock,
                on_abandoned: self.on_abandoned,
            },
        }
    }
}
