//! What a batch of deliveries gains over accepting them one by one, each with a commit that waits for
//! the disk.
//!
//! ```text
//! cargo bench --manifest-path benches/Cargo.toml --bench inbox --features inbox,sqlite,postgres,mysql -- --ratios
//! ```
//!
//! **How.** One client accepts deliveries with bodies of 1 KB: for a third of a second one by one
//! (`accept`), then in batches of 500 (`accept_many`), and so on in turns. All are new. Shown are the median
//! of the deliveries per second, and the median over the rounds of the batches' rate over the single
//! ones' in the same round: a machine with other work on it slows both. Deliveries are made, signed
//! and verified before the clock starts.
//!
//! The gain is what a commit costs over what a row costs, so it is
//! the disk's as much as ours: least where it synchronises fast, and with SQLite, whose single commit
//! has no round trips.
//!
//! The servers are the bench's own, and synchronise with each commit.
#![cfg(unix)]

#[cfg(any(feature = "postgres", feature = "mysql"))]
#[path = "../../tests/common_server/mod.rs"]
mod common_server;

use std::time::{Duration, Instant};

use hookproof::{
    Claiming, EventKey, Secrets,
    inbox::{Accepted, BatchInbox, Parcel},
    scheme, testing,
};
use hookproof_benches::Mode;
use time::OffsetDateTime;

const MANY: usize = 500;
const SECRET: &str = "a-secret-of-sufficient-length";

fn main() {
    let mode = Mode::from_args();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    #[cfg(feature = "sqlite")]
    runtime.block_on(sqlite(mode));
    #[cfg(feature = "postgres")]
    runtime.block_on(postgres(mode));
    #[cfg(feature = "mysql")]
    runtime.block_on(mysql(mode));
}

#[cfg(feature = "sqlite")]
async fn sqlite(mode: Mode) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let store = hookproof::SqliteStore::builder(folder.path().join("inbox.sqlite"))
        .synchronous(hookproof::store::sql::Synchronous::Full)
        .open()
        .expect("a store");
    compare("SQLite, synchronous=full", &store, mode).await;
}

#[cfg(feature = "postgres")]
async fn postgres(mode: Mode) {
    let server = common_server::postgres::Postgres::start(&["fsync=on"]).await;
    let pool = sqlx::PgPool::connect(&server.url()).await.expect("a pool");
    let store = hookproof::PostgresStore::new(pool);
    store.migrate().await.expect("the schema");
    compare("PostgreSQL, fsync=on", &store, mode).await;
}

#[cfg(feature = "mysql")]
async fn mysql(mode: Mode) {
    let settings = [
        "--innodb-flush-log-at-trx-commit=1",
        "--innodb-doublewrite=1",
        "--innodb-buffer-pool-size=256M",
    ];
    let server = common_server::mysql::MySql::start(&settings).await;
    let pool = sqlx::MySqlPool::connect(&server.url())
        .await
        .expect("a pool");
    let store = hookproof::MySqlStore::new(pool);
    store.migrate().await.expect("the schema");
    compare("MySQL or MariaDB, durable", &store, mode).await;
}

/// Deliveries that nobody has seen.
fn parcels(round: usize, count: usize) -> Vec<Parcel> {
    let now = OffsetDateTime::now_utc();
    let body = vec![b'x'; 1024];
    let signed = testing::sign(&scheme::GITHUB, SECRET, &body, now).expect("a delivery");
    let secrets = Secrets::new(&scheme::GITHUB, [SECRET]).expect("a secret");
    let delivery =
        hookproof::verify(&signed.body, &signed, &secrets, now).expect("an authentic delivery");
    let parcel = |n| {
        let id = format!("{}/{round}/{n}", now.unix_timestamp_nanos());
        let key = EventKey::business("tenant", "bench", &id).expect("a sound key");
        Parcel::new(&delivery, Claiming::new(&delivery, key))
    };
    (0..count).map(parcel).collect()
}

async fn one_by_one(store: &impl BatchInbox, parcels: Vec<Parcel>, turn: Duration) -> f64 {
    let (begin, mut done) = (Instant::now(), 0_usize);
    for parcel in parcels {
        let accepted = store.accept(parcel).await.expect("the store answers");
        assert!(matches!(accepted, Accepted::New(_)), "{accepted:?}");
        done += 1;
        if begin.elapsed() >= turn {
            break;
        }
    }
    done as f64 / begin.elapsed().as_secs_f64()
}

async fn in_batches(store: &impl BatchInbox, batches: Vec<Vec<Parcel>>, turn: Duration) -> f64 {
    let (begin, mut done) = (Instant::now(), 0_usize);
    for parcels in batches {
        for accepted in store.accept_many(parcels).await.expect("the store answers") {
            let accepted = accepted.expect("the store answers");
            assert!(matches!(accepted, Accepted::New(_)), "{accepted:?}");
            done += 1;
        }
        if begin.elapsed() >= turn {
            break;
        }
    }
    done as f64 / begin.elapsed().as_secs_f64()
}

async fn compare(title: &str, store: &impl BatchInbox, mode: Mode) {
    let (rounds, turn) = match mode {
        Mode::Once => (1, Duration::ZERO),
        Mode::Ratios => (7, Duration::from_millis(330)),
        Mode::Full => (21, Duration::from_millis(330)),
    };
    // Statements are prepared, pages are made.
    one_by_one(store, parcels(0, 1), turn).await;
    in_batches(store, vec![parcels(0, MANY)], turn).await;
    let (mut singles, mut batches, mut gains) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..rounds {
        let all = parcels(round, 5_000);
        let many = (0..20).map(|_| parcels(round, MANY)).collect();
        let single = one_by_one(store, all, turn).await;
        let batch = in_batches(store, many, turn).await;
        singles.push(single);
        batches.push(batch);
        gains.push(batch / single);
    }
    let (single, batch, gain) = (median(singles), median(batches), median(gains));
    println!("{title:<26} accept                  {single:>9.0}/s");
    println!("{title:<26} accept_many of 500      {batch:>9.0}/s {gain:>6.1}x (>= 10)");
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
