//! What PostgreSQL in particular must get right: its traps, connections, processes, crashes, the
//! caller's transaction, the schema. The contract itself is in `conformance.rs`.
//!
//! The tests start a server of their own; see `tests/common_server`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::arithmetic_side_effects,
    clippy::print_stdout
)]
#![cfg(unix)]

#[path = "../common_server/mod.rs"]
mod common_server;

#[cfg(feature = "inbox")]
mod batch_inbox;
mod batches;
mod conformance;
mod faults;
#[cfg(feature = "inbox")]
mod inbox;
mod isolation;
mod judged;
mod new_events;
mod objects;
mod processes;
mod quiet;
mod races;
mod roles;
mod schema;
mod steps;
mod transactions;
mod traps;
mod traps_deleting;
mod traps_locks;

use std::{
    future::Future,
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use common_server::postgres::{Postgres, URL};
use hookproof::{
    Claim, Claiming, EventKey, Fingerprint, IdempotencyStore, Lease, PostgresStore, Receipt,
    Verdict,
    clock::Clock,
    store::{
        Abandoned, OnAbandoned,
        sql::{PostgresStoreBuilder, TxClaim, TxLease},
    },
    testing::ManualClock,
};
use sqlx::{
    Connection, PgConnection, PgPool,
    postgres::{PgConnectOptions, PgPoolOptions},
};
use time::{OffsetDateTime, macros::datetime};
use tokio::runtime::Runtime;

const START: OffsetDateTime = datetime!(2027-01-15 08:00 UTC);
const LEASE: Duration = Duration::from_secs(60);

/// Longer than anything takes that these tests wait for.
const PATIENCE: Duration = Duration::from_secs(60);

/// Longer than any test takes: what waits for ever is a failure, and not a test that never ends.
const STUCK: Duration = Duration::from_secs(600);

fn run<F: Future>(future: F) -> F::Output {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    let done = RUNTIME
        .get_or_init(|| Runtime::new().unwrap())
        .block_on(async { tokio::time::timeout(STUCK, future).await });
    done.expect("somebody waits for ever")
}

/// The one server of this process.
fn url() -> &'static str {
    static SERVER: OnceLock<(Option<Postgres>, String)> = OnceLock::new();
    let (_, url) = SERVER.get_or_init(|| match std::env::var(URL) {
        Ok(url) => (None, url),
        Err(_) => {
            let server = run(Postgres::start(&[]));
            let url = server.url();
            (Some(server), url)
        }
    });
    url
}

/// A schema of its own, with a clock to turn and a count of abandoned leases.
struct Bench {
    url: String,
    schema: String,
    pool: PgPool,
    clock: ManualClock,
    abandoned: Reports,
}

#[derive(Clone, Default)]
struct Reports(Arc<AtomicUsize>);

impl Reports {
    fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

impl OnAbandoned for Reports {
    fn abandoned(&self, _: &Abandoned<'_>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Options whose sessions find the schema, and can be told by its name.
fn options(url: &str, schema: &str) -> PgConnectOptions {
    let options: PgConnectOptions = url.parse().unwrap();
    options
        .application_name(schema)
        .options([("search_path", schema)])
}

impl Bench {
    /// With the schema in place.
    fn new() -> Self {
        Self::with(url(), &[], 10)
    }

    fn with(url: &str, settings: &[(&str, &str)], connections: u32) -> Self {
        let bench = Self::bare(url, settings, connections);
        run(bench.store().migrate()).unwrap();
        bench
    }

    /// Without tables.
    fn bare(url: &str, settings: &[(&str, &str)], connections: u32) -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::SeqCst);
        let schema = format!("hookproof_{}_{number}", std::process::id());
        run(async {
            let mut admin = PgConnection::connect(url).await.unwrap();
            batch(&mut admin, &format!("CREATE SCHEMA {schema}")).await;
            admin.close().await.unwrap();
        });
        Self::of(url, &schema, settings, connections)
    }

    fn of(url: &str, schema: &str, settings: &[(&str, &str)], connections: u32) -> Self {
        let options = options(url, schema);
        let set: Vec<_> = settings
            .iter()
            .map(|(name, value)| statement(&format!("SET {name} = '{value}'")))
            .collect();
        let pool = PgPoolOptions::new()
            .max_connections(connections)
            .acquire_timeout(PATIENCE)
            .test_before_acquire(false)
            .after_connect(move |session, _| {
                let set = set.clone();
                Box::pin(async move {
                    for set in set {
                        sqlx::query(set).execute(&mut *session).await?;
                    }
                    Ok(())
                })
            });
        // `connect_lazy` starts a task.
        let pool = run(async { pool.connect_lazy_with(options) });
        Self {
            url: url.to_owned(),
            schema: schema.to_owned(),
            pool,
            clock: ManualClock::at(START),
            abandoned: Reports::default(),
        }
    }

    /// By the server's clock.
    fn builder(&self) -> PostgresStoreBuilder {
        PostgresStore::builder(self.pool.clone()).on_abandoned(self.abandoned.clone())
    }

    /// By the bench's clock.
    fn store(&self) -> PostgresStore {
        self.builder().clock(self.clock.clone()).build()
    }

    /// A connection beside the pool's.
    async fn beside(&self) -> PgConnection {
        let options = options(&self.url, &self.schema).application_name("beside");
        PgConnection::connect_with(&options).await.unwrap()
    }

    /// Waits until none of the pool's sessions has an event's lock: one that was ended has told so before
    /// it lets go.
    async fn calm(&self, beside: &mut PgConnection) {
        let locks = format!(
            "SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid) \
             WHERE locktype = 'advisory' AND application_name = '{}'",
            self.schema
        );
        let since = std::time::Instant::now();
        while number(beside, &locks).await > 0 {
            assert!(since.elapsed() < PATIENCE, "a lock stays");
        }
    }

    /// Waits until so many of the pool's sessions wait for a lock of this kind, or of any.
    async fn waiting(&self, sessions: i64, kind: &str) {
        let mut beside = self.beside().await;
        let since = std::time::Instant::now();
        loop {
            let waiting: i64 = sqlx::query_scalar(
                "SELECT count(*) FROM pg_stat_activity WHERE application_name = $1 \
                 AND wait_event_type = 'Lock' AND $2 IN (wait_event, 'any')",
            )
            .bind(&self.schema)
            .bind(kind)
            .fetch_one(&mut beside)
            .await
            .unwrap();
            if waiting == sessions {
                break;
            }
            assert!(since.elapsed() < PATIENCE, "{waiting} wait, not {sessions}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        beside.close().await.unwrap();
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        run(async {
            // What a failed test holds must not hide its failure.
            let _ = tokio::time::timeout(Duration::from_secs(5), self.pool.close()).await;
            if let Ok(mut admin) = PgConnection::connect(&self.url).await {
                let sql = format!(
                    "SET lock_timeout = '5s'; DROP SCHEMA IF EXISTS {} CASCADE",
                    self.schema
                );
                let _ = try_batch(&mut admin, &sql).await;
            }
        });
    }
}

/// Tests write their statements as they go.
async fn try_batch(connection: &mut PgConnection, sql: &str) -> Result<(), sqlx::Error> {
    let sql = statement(sql);
    sqlx::raw_sql(sql).execute(connection).await.map(drop)
}

async fn batch(connection: &mut PgConnection, sql: &str) {
    try_batch(connection, sql).await.unwrap();
}

async fn number(connection: &mut PgConnection, sql: &str) -> i64 {
    sqlx::query_scalar(statement(sql))
        .fetch_one(connection)
        .await
        .unwrap()
}

/// Both versions of sqlx take a text that lives for as long as the program.
fn statement(sql: &str) -> &'static str {
    Box::leak(sql.into())
}

fn key(id: &str) -> EventKey {
    EventKey::business("tenant", "shop", id).unwrap()
}

fn ask(id: &str) -> Claiming {
    Claiming::business(key(id))
        .fingerprint(Fingerprint::of(b"content"))
        .lease(LEASE)
}

#[track_caller]
fn won(claim: Claim) -> Lease {
    match claim {
        Claim::New(lease) => lease,
        other => panic!("expected New, got {other:?}"),
    }
}

async fn win(store: &PostgresStore, id: &str) -> Lease {
    won(store.claim(ask(id)).await.unwrap())
}

/// Expects `InProgress`, and returns what is said to be stored.
async fn busy(store: &PostgresStore, id: &str) -> Receipt {
    match store.claim(ask(id)).await.unwrap() {
        Claim::InProgress { receipt, .. } => receipt,
        other => panic!("expected InProgress, got {other:?}"),
    }
}

async fn duplicate(store: &PostgresStore, id: &str) -> Receipt {
    match store.claim(ask(id)).await.unwrap() {
        Claim::Duplicate(receipt) => receipt,
        other => panic!("expected Duplicate, got {other:?}"),
    }
}

async fn settle(store: &PostgresStore, lease: Lease, result: &str) -> Receipt {
    store.settle(lease, Verdict::done(result)).await.unwrap()
}

async fn win_in(store: &PostgresStore, tx: &mut PgConnection, id: &str) -> TxLease {
    match store.claim_in(tx, ask(id)).await.unwrap() {
        TxClaim::New(lease) => lease,
        other => panic!("expected New, got {other:?}"),
    }
}

/// A clock that stands still, and does something before the second time it is asked: between the
/// look that a claim begins with and the statement that decides.
#[derive(Clone)]
struct Between(Arc<Meanwhile>);

type Deed = Box<dyn FnOnce() + Send>;

struct Meanwhile {
    asked: AtomicUsize,
    deed: Mutex<Option<Deed>>,
}

impl Between {
    fn look_and_claim(deed: impl Future<Output = ()> + Send + 'static) -> Self {
        let deed: Deed = Box::new(|| run(deed));
        Self(Arc::new(Meanwhile {
            asked: AtomicUsize::new(0),
            deed: Mutex::new(Some(deed)),
        }))
    }
}

impl Clock for Between {
    fn now(&self) -> OffsetDateTime {
        if self.0.asked.fetch_add(1, Ordering::SeqCst) == 1 {
            let deed = self.0.deed.lock().unwrap().take().unwrap();
            // Elsewhere, since this thread is in the middle of something.
            std::thread::spawn(deed).join().unwrap();
        }
        START
    }
}

/// A crash of its holder: neither settled nor dropped.
fn crash(lease: Lease) {
    std::mem::forget(lease);
}
