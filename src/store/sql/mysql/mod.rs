//! Receipts in MySQL and MariaDB, through `sqlx`.

mod batch;
mod driver;
#[cfg(feature = "inbox")]
mod inbox;
mod ledger;
mod migrate;
mod order;
#[cfg(feature = "inbox")]
mod own;
#[cfg(feature = "inbox")]
mod review;
mod roles;
mod rows;
mod schema;
mod session;
mod statements;
mod stats;
mod tx;
mod writing;

use std::{fmt, sync::Arc};

use sqlx::MySqlPool;

use crate::{
    clock::Clock,
    store::{OnAbandoned, Stderr},
};

use super::server::{Verbs, contract};

/// Receipts in MySQL 8 or MariaDB 10.6 and newer, for any number of processes on any number of
/// hosts, on the pool that you have.
///
/// **Statements.** Each is a transaction of its own, so a call that is cancelled leaves nothing
/// open on a pooled connection; at worst the event stays claimed until its lease is over. A claim
/// looks first, and only what may be claimed is written: a duplicate costs one read, takes no lock
/// and writes nothing. A new event costs two round trips, and settling two. The statements decide
/// rightly whatever rows the driver has the server count (`CLIENT_FOUND_ROWS`), and under every
/// isolation level, time zone, character set and SQL mode that your sessions may have as their
/// default. Three defaults are refused as [`Misuse`](crate::store::StoreErrorKind::Misuse), since with
/// them nobody could be right: `autocommit = 0`, `READ UNCOMMITTED`, and, by what deletes receipts,
/// `foreign_key_checks = 0`.
///
/// Only what an inbox accepts (a batch of 500 new deliveries by one look and some 50 statements) or sends
/// back, and a review that is admitted, takes several in one transaction, and a call that is cancelled
/// in it closes its connection.
///
/// **Time.** The server's clock judges leases, waits and retention, so hosts need not agree.
///
/// **Durability** is the server's: with `innodb_flush_log_at_trx_commit` other than 1, or a replica
/// that lags when it is promoted, the last receipts may be forgotten, and their events act again.
/// Use the pool of the primary: a replica's answers are old.
///
/// **Your own transaction** makes the receipt and your rows one commit:
/// [`claim_in`](MySqlStore::claim_in).
///
/// **Batches** ([`claim_many`](crate::store::BatchStore::claim_many)) look at all events by one
/// statement, insert what is new by a second, and take over what may be by a third, whatever their
/// number; each of the two that write is one commit. If others are at some of the events, or at
/// others of the same slots, it takes a few more. The rows go to the server as one text of JSON,
/// usually some 400 bytes an event and 6 KB at most, for which `max_allowed_packet` must have room.
///
/// **Numbers** ([`stats`](crate::store::StatsStore::stats)) come from one scan, which takes no lock that
/// anything waits for: of the whole table up to 128 MiB (some 600,000 receipts), above that of a
/// random part of its keys of that size ([`stats_bytes`](MySqlStoreBuilder::stats_bytes)). How large
/// the table is, is what the server says (`information_schema`), which MySQL 8 may have looked up
/// a day ago (`information_schema_stats_expiry`).
///
/// **Dropped leases** are reported; the event is claimable again by the lease's end.
///
/// **Places.** Tables are named without a database, so the connections' own decides where they are.
/// Row locks last no longer than a transaction, and only [`migrate`](MySqlStore::migrate) takes one of
/// the session, so a proxy may hand out connections by transaction.
///
/// **Versions.** The pool's type is that of the sqlx in your own dependencies, 0.8 (from 0.8.4 on) or 0.9: both
/// must be one and the same (`cargo tree -i sqlx`). Runtime and TLS are chosen there.
///
/// ```no_run
/// # async fn run(claiming: hookproof::Claiming) -> Result<(), Box<dyn std::error::Error>> {
/// use hookproof::{Claim, IdempotencyStore, MySqlStore, Verdict};
///
/// let pool = sqlx::MySqlPool::connect("mysql://localhost/shop").await?;
/// let store = MySqlStore::new(pool);
/// store.migrate().await?;
/// if let Claim::New(lease) = store.claim(claiming).await? {
///     store.settle(lease, Verdict::done("created invoice 123")).await?;
/// }
/// # Ok(())
/// # }
/// ```
pub struct MySqlStore {
    pool: MySqlPool,
    verbs: Verbs,
    stats_bytes: u64,
}

contract!(MySqlStore);

impl fmt::Debug for MySqlStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MySqlStore").finish_non_exhaustive()
    }
}

impl MySqlStore {
    /// The schema, as [`migrate`](MySqlStore::migrate) creates it where it is missing: for those who
    /// run their own migrations, one at a time. It may be run again and again, one statement after
    /// the other or all at once.
    ///
    /// Times are microseconds since 1970; `FROM_UNIXTIME(changed_at / 1e6)` shows them as dates.
    /// Names and ids are bytes; `CONVERT(event_id USING utf8mb4)` shows them as text.
    pub const SCHEMA: &'static str = schema::SCHEMA;

    /// A script that makes four roles with the least that each needs, to be run in the tables'
    /// database after the schema, by who may create roles and grant on these tables; it may be run
    /// again, one statement after the other or all at once. It only adds.
    ///
    /// | role | may | store verbs |
    /// |---|---|---|
    /// | `webhook_gateway` | insert, read, change what processing changes | `claim`, `claim_many`, `accept`, `keep`, `settle`, `renew`, `release` |
    /// | `webhook_worker` | the same without inserting receipts and deliveries | `lease_due`, `requeue`, `discard`, `settle`, `renew`, `release` |
    /// | `webhook_janitor` | read, delete, raise deleted fences | `purge`, `drop_bodies`, `purge_deleted`, `purge_reviews`, `forget`, `forget_object` |
    /// | `webhook_auditor` | read | |
    ///
    /// All of them have what only reads: `get`, `stats`, `effects`, `current`, `list`, `parked`,
    /// `reviews`, `review`. Gateway and worker also record steps and advance objects. `admit` inserts an
    /// event and resolves a review, so it takes both: an operator's user gets a role made of the two,
    /// since in MariaDB a user has one default role (`CREATE ROLE operator; GRANT webhook_gateway TO
    /// operator; GRANT webhook_worker TO operator`).
    ///
    /// All of them can run the check that [`migrate`](MySqlStore::migrate) makes of a schema that is
    /// there, except for its trial insert, which is the gateway's; none can create or alter anything.
    ///
    /// [`claim_in`](MySqlStore::claim_in) is no part of it: MariaDB asks for the right to update every
    /// column of `webhook_receipt` for that. Who needs it has to be granted that, and is then kept
    /// from changing names and content by nothing but this crate.
    ///
    /// A role counts in a session once it is the user's default:
    ///
    /// ```sql
    /// CREATE USER shop IDENTIFIED BY '…';
    /// GRANT webhook_gateway TO shop;
    /// SET DEFAULT ROLE webhook_gateway FOR shop; -- MariaDB
    /// SET DEFAULT ROLE webhook_gateway TO shop;  -- MySQL
    /// ```
    ///
    /// Neither server has row-level security: who may read a table reads all tenants. Tenants that
    /// must not see each other need a database each.
    pub const ROLES: &'static str = roles::ROLES;

    /// A store on this pool, by the server's clock. Nothing is asked of the server yet; the schema
    /// must be there before the first claim ([`migrate`](MySqlStore::migrate)).
    pub fn new(pool: MySqlPool) -> Self {
        Self::builder(pool).build()
    }

    /// To choose report or clock.
    pub fn builder(pool: MySqlPool) -> MySqlStoreBuilder {
        MySqlStoreBuilder {
            pool,
            clock: None,
            on_abandoned: Arc::new(Stderr),
            stats_bytes: stats::DEFAULT_BYTES,
        }
    }
}

/// Builds a [`MySqlStore`].
pub struct MySqlStoreBuilder {
    pool: MySqlPool,
    clock: Option<Arc<dyn Clock>>,
    on_abandoned: Arc<dyn OnAbandoned>,
    stats_bytes: u64,
}

impl fmt::Debug for MySqlStoreBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MySqlStoreBuilder").finish_non_exhaustive()
    }
}

impl MySqlStoreBuilder {
    /// A clock instead of the server's, for tests: in service, processes would have to agree on
    /// the time. It is asked once for each step of a call.
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
    pub fn build(self) -> MySqlStore {
        MySqlStore {
            pool: self.pool,
            stats_bytes: self.stats_bytes,
            verbs: Verbs {
                clock: self.clock,
                on_abandoned: self.on_abandoned,
            },
        }
    }
}
