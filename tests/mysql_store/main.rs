//! What MySQL and MariaDB in particular must get right: its traps, connections, processes, crashes, the
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
mod found_rows;
#[cfg(feature = "inbox")]
mod inbox;
mod isolation;
mod judged;
mod objects;
mod processes;
mod quiet;
mod races;
#[cfg(feature = "inbox")]
mod review;
mod roles;
mod schema;
mod sessions;
mod steps;
mod transactions;
mod traps;

use std::{
    future::Future,
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use common_server::mysql::{MySql, URL};
use hookproof::{
    Claim, Claiming, EventKey, Fingerprint, IdempotencyStore, Lease, MySqlStore, Receipt, Verdict,
    clock::Clock,
    store::{
        Abandoned, OnAbandoned,
        sql::{MySqlStoreBuilder, TxClaim, TxLease},
    },
    testing::ManualClock,
};
use sqlx::{
    Connection, MySqlConnection, MySqlPool,
    mysql::{MySqlConnectOptions, MySqlPoolOptions},
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
    static SERVER: OnceLock<(Option<MySql>, String)> = OnceLock::new();
    let (_, url) = SERVER.get_or_init(|| match std::env::var(URL) {
        Ok(url) => (None, url),
        Err(_) => {
            let server = run(MySql::start(&[]));
            let url = server.url();
            (Some(server), url)
        }
    });
    url
}

/// A database of its own, with a clock to turn and a count of abandoned leases.
struct Bench {
    url: String,
    schema: String,
    pool: MySqlPool,
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

fn options(url: &str, schema: &str) -> MySqlConnectOptions {
    let options: MySqlConnectOptions = url.parse().unwrap();
    options.database(schema)
}

impl Bench {
    /// With the schema in place.
    fn new() -> Self {
        Self::with(url(), &[], 10)
    }

    fn with(url: &str, settings: &[&str], connections: u32) -> Self {
        let bench = Self::bare(url, settings, connections);
        run(bench.store().migrate()).unwrap();
        bench
    }

    /// Without tables.
    fn bare(url: &str, settings: &[&str], connections: u32) -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::SeqCst);
        let schema = format!("hookproof_{}_{number}", std::process::id());
        run(async {
            let mut admin = MySqlConnection::connect(url).await.unwrap();
            // One whose collation takes almost anything for the same.
            let create = format!("CREATE DATABASE {schema} COLLATE utf8mb4_general_ci");
            batch(&mut admin, &create).await;
            admin.close().await.unwrap();
        });
        Self::of(url, &schema, settings, connections)
    }

    /// On a database that is there. Each session begins with these settings.
    fn of(url: &str, schema: &str, settings: &[&str], connections: u32) -> Self {
        let options = options(url, schema);
        let set: Vec<_> = settings
            .iter()
            .map(|setting| statement(&format!("SET {setting}")))
            .collect();
        let pool = MySqlPoolOptions::new()
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
    fn builder(&self) -> MySqlStoreBuilder {
        MySqlStore::builder(self.pool.clone()).on_abandoned(self.abandoned.clone())
    }

    /// By the bench's clock.
    fn store(&self) -> MySqlStore {
        self.builder().clock(self.clock.clone()).build()
    }

    /// A connection beside the pool's.
    async fn beside(&self) -> MySqlConnection {
        let options = options(&self.url, &self.schema);
        MySqlConnection::connect_with(&options).await.unwrap()
    }

    /// Waits until so many sessions of this database wait for a row or a table.
    async fn waiting(&self, sessions: usize) -> Vec<i64> {
        let mut beside = MySqlConnection::connect(&self.url).await.unwrap();
        let since = std::time::Instant::now();
        loop {
            let all = self.sessions(&mut beside).await;
            let transactions = transactions(&mut beside).await;
            let waits = |(id, state): (i64, String)| {
                let for_a_table = state.starts_with("Waiting for table");
                (for_a_table || transactions.contains(&(id, true))).then_some(id)
            };
            let waiting: Vec<_> = all.into_iter().filter_map(waits).collect();
            if waiting.len() == sessions {
                beside.close().await.unwrap();
                return waiting;
            }
            assert!(
                since.elapsed() < PATIENCE,
                "{waiting:?} wait, not {sessions}"
            );
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// The sessions of this database, and what each is doing.
    async fn sessions(&self, beside: &mut MySqlConnection) -> Vec<(i64, String)> {
        let sessions = "SELECT CAST(id AS SIGNED), COALESCE(state, '') \
                        FROM information_schema.processlist WHERE db = ?";
        sqlx::query_as(sessions)
            .bind(&self.schema)
            .fetch_all(beside)
            .await
            .unwrap()
    }

    /// How many transactions are open in sessions of this database.
    async fn open_transactions(&self, beside: &mut MySqlConnection) -> usize {
        let sessions = self.sessions(beside).await;
        let open = transactions(beside).await;
        let mine = |(id, _): &&(i64, bool)| sessions.iter().any(|(session, _)| session == id);
        open.iter().filter(mine).count()
    }

    /// Waits until none of this bench's sessions is in a transaction, which it must without any help.
    async fn calm(&self, beside: &mut MySqlConnection) {
        let since = std::time::Instant::now();
        while self.open_transactions(beside).await > 0 {
            assert!(since.elapsed() < PATIENCE, "a transaction is still open");
        }
    }
}

/// The sessions with an open transaction in InnoDB, and whether each waits for a row. From the text
/// that is written for people, since `information_schema.innodb_trx` is a copy that grows old while
/// it is looked at.
async fn transactions(beside: &mut MySqlConnection) -> Vec<(i64, bool)> {
    let (_, _, status): (String, String, String) = sqlx::query_as("SHOW ENGINE INNODB STATUS")
        .fetch_one(beside)
        .await
        .unwrap();
    let open = status.split("---TRANSACTION ").skip(1);
    open.filter(|text| text.contains("ACTIVE"))
        .filter_map(|text| {
            let (_, after) = text.split_once(" thread id ")?;
            let (id, _) = after.split_once(',')?;
            Some((id.parse().ok()?, text.contains("LOCK WAIT")))
        })
        .collect()
}

impl Drop for Bench {
    fn drop(&mut self) {
        run(async {
            // What a failed test holds must not hide its failure.
            let _ = tokio::time::timeout(Duration::from_secs(5), self.pool.close()).await;
            if let Ok(mut admin) = MySqlConnection::connect(&self.url).await {
                let sql = format!(
                    "SET lock_wait_timeout = 5; DROP DATABASE IF EXISTS {}",
                    self.schema
                );
                let _ = try_batch(&mut admin, &sql).await;
            }
        });
    }
}

/// Tests write their statements as they go.
async fn try_batch(connection: &mut MySqlConnection, sql: &str) -> Result<(), sqlx::Error> {
    let sql = statement(sql);
    sqlx::raw_sql(sql).execute(connection).await.map(drop)
}

async fn batch(connection: &mut MySqlConnection, sql: &str) {
    try_batch(connection, sql).await.unwrap();
}

async fn number(connection: &mut MySqlConnection, sql: &str) -> i64 {
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

async fn win(store: &MySqlStore, id: &str) -> Lease {
    won(store.claim(ask(id)).await.unwrap())
}

/// Expects `InProgress`, and returns what is said to be stored.
async fn busy(store: &MySqlStore, id: &str) -> Receipt {
    match store.claim(ask(id)).await.unwrap() {
        Claim::InProgress { receipt, .. } => receipt,
        other => panic!("expected InProgress, got {other:?}"),
    }
}

async fn duplicate(store: &MySqlStore, id: &str) -> Receipt {
    match store.claim(ask(id)).await.unwrap() {
        Claim::Duplicate(receipt) => receipt,
        other => panic!("expected Duplicate, got {other:?}"),
    }
}

async fn settle(store: &MySqlStore, lease: Lease, result: &str) -> Receipt {
    store.settle(lease, Verdict::done(result)).await.unwrap()
}

async fn win_in(store: &MySqlStore, tx: &mut MySqlConnection, id: &str) -> TxLease {
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
