//! What SQLite in particular must get right: threads, processes, locks, crashes, the caller's
//! transaction, the schema. The contract itself is in `conformance.rs`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::arithmetic_side_effects,
    clippy::print_stdout
)]

mod abandoned;
mod batches;
mod conformance;
mod deferred;
mod faults;
#[cfg(feature = "inbox")]
mod inbox;
mod objects;
mod processes;
mod quiet;
mod schema;
mod steps;
mod threads;
mod transactions;

use std::{
    future::Future,
    path::{Path, PathBuf},
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Waker},
    time::{Duration, Instant},
};

use hookproof::{
    Claim, Claiming, EventKey, Fingerprint, IdempotencyStore, Lease, Receipt, SqliteStore, Verdict,
    store::{
        Abandoned, OnAbandoned,
        sql::{SqliteStoreBuilder, Synchronous},
    },
    testing::{ManualClock, block_on},
};
use rusqlite::Connection;
use time::{OffsetDateTime, macros::datetime};

const START: OffsetDateTime = datetime!(2027-01-15 08:00 UTC);
const LEASE: Duration = Duration::from_secs(60);

/// A database in a folder of its own, with a clock to turn and a count of abandoned leases.
struct Bench {
    folder: tempfile::TempDir,
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

impl Bench {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            clock: ManualClock::at(START),
            abandoned: Reports::default(),
        }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("receipts.sqlite")
    }

    /// These tests end no power supply, so they need not wait for the disk.
    fn builder(&self) -> SqliteStoreBuilder {
        SqliteStore::builder(self.path())
            .clock(self.clock.clone())
            .on_abandoned(self.abandoned.clone())
            .synchronous(Synchronous::Normal)
    }

    fn open(&self) -> SqliteStore {
        self.builder().open().unwrap()
    }

    /// For [`at_the_writer`].
    fn open_with_one_reader(&self) -> SqliteStore {
        self.builder().readers(1).open().unwrap()
    }

    /// A connection beside the store's, which never waits for a lock.
    fn beside(&self) -> Connection {
        let connection = Connection::open(self.path()).unwrap();
        connection.busy_timeout(Duration::ZERO).unwrap();
        connection
    }
}

/// Waits for something that comes by itself. Far beyond what it takes, the test fails rather than hangs.
#[track_caller]
fn eventually(what: &str, is_so: impl Fn() -> bool) {
    let since = Instant::now();
    while !is_so() {
        assert!(since.elapsed() < Duration::from_secs(120), "never: {what}");
        std::thread::yield_now();
    }
}

fn key(id: &str) -> EventKey {
    EventKey::business("tenant", "shop", id).unwrap()
}

fn ask(id: &str) -> Claiming {
    Claiming::business(key(id))
        .fingerprint(Fingerprint::of(b"content"))
        .lease(LEASE)
}

fn claim(store: &SqliteStore, id: &str) -> Claim {
    block_on(store.claim(ask(id))).unwrap()
}

#[track_caller]
fn win(store: &SqliteStore, id: &str) -> Lease {
    match claim(store, id) {
        Claim::New(lease) => lease,
        other => panic!("expected New, got {other:?}"),
    }
}

#[track_caller]
fn busy(store: &SqliteStore, id: &str) {
    match claim(store, id) {
        Claim::InProgress { .. } => {}
        other => panic!("expected InProgress, got {other:?}"),
    }
}

#[track_caller]
fn duplicate(store: &SqliteStore, id: &str) -> Receipt {
    match claim(store, id) {
        Claim::Duplicate(receipt) => receipt,
        other => panic!("expected Duplicate, got {other:?}"),
    }
}

fn settle(store: &SqliteStore, lease: Lease, result: &str) -> Receipt {
    block_on(store.settle(lease, Verdict::done(result))).unwrap()
}

/// Waits until everything that was asked of the writer before has been done.
fn flush(store: &SqliteStore) {
    block_on(store.forget(&key("no such event"))).unwrap();
}

fn count(connection: &Connection, sql: &str) -> i64 {
    connection.query_row(sql, [], |row| row.get(0)).unwrap()
}

/// A lease of a kind that [`Lease::until`] cannot be shown to reach: left for dead by a crash.
fn crash(lease: Lease) {
    std::mem::forget(lease);
}

/// Polls a call once, which hands it over to the store.
fn begin<F: Future + ?Sized>(call: Pin<&mut F>) {
    assert!(
        call.poll(&mut Context::from_waker(Waker::noop()))
            .is_pending()
    );
}

/// Polls claims until all of them wait for the writer. The store must have one reader, which
/// answers in the order in which it was asked.
fn at_the_writer<T>(
    store: &SqliteStore,
    calls: &mut [Pin<Box<dyn Future<Output = T> + Send + '_>>],
) {
    let idle = Waker::noop();
    let mut poll_all = || {
        for call in &mut *calls {
            let call = call.as_mut();
            assert!(call.poll(&mut Context::from_waker(idle)).is_pending());
        }
    };
    poll_all();
    // Once this is answered, so are the reads that the claims begin with.
    block_on(store.get(&key("no such event"))).unwrap();
    poll_all();
}

/// How many transactions the write-ahead log holds: frames that carry the size of the database.
fn transactions_in_log(database: &Path) -> usize {
    const HEADER: usize = 32;
    const FRAME_HEADER: usize = 24;
    let log = std::fs::read(database.with_extension("sqlite-wal")).unwrap();
    let page = u32::from_be_bytes(log[8..12].try_into().unwrap()) as usize;
    log[HEADER..]
        .chunks_exact(FRAME_HEADER + page)
        .filter(|frame| frame[8..16] == log[16..24] && frame[4..8] != [0; 4])
        .count()
}
