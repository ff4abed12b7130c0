//! The schema: created once, never downgraded, left alone where it is someone else's.

use hookproof::{
    Advance, EffectLedger, OrderGuard, SqliteStore, Version,
    store::{StoreErrorKind, sql::Synchronous},
};
use rusqlite::Connection;

use super::{Bench, block_on, count, duplicate, settle, win};

fn refused(bench: &Bench) -> StoreErrorKind {
    bench.builder().open().unwrap_err().kind()
}

#[test]
fn a_newer_schema_is_refused() {
    let bench = Bench::new();
    bench.open().close();
    let other = bench.beside();
    other
        .execute_batch("UPDATE webhook_receipt_meta SET version = version + 1")
        .unwrap();
    assert_eq!(refused(&bench), StoreErrorKind::NewerSchema);
    assert!(!StoreErrorKind::NewerSchema.is_transient());
    other
        .execute_batch("UPDATE webhook_receipt_meta SET version = version - 1")
        .unwrap();
    bench.open();
}

/// A newer program that was faster, while this one waited for the lock.
#[test]
fn a_newer_schema_that_appears_meanwhile_is_refused() {
    let bench = Bench::new();
    let other = bench.beside();
    other
        .execute_batch("PRAGMA journal_mode = WAL; BEGIN IMMEDIATE")
        .unwrap();
    std::thread::scope(|scope| {
        let opening = scope.spawn(|| refused(&bench));
        // Time to come to the lock; without it the newer schema is seen at once, and refused too.
        std::thread::sleep(std::time::Duration::from_millis(50));
        other.execute_batch(SqliteStore::SCHEMA).unwrap();
        other
            .execute_batch("UPDATE webhook_receipt_meta SET version = version + 1; COMMIT")
            .unwrap();
        assert_eq!(opening.join().unwrap(), StoreErrorKind::NewerSchema);
    });
}

/// The schema of version 1, as it was.
const VERSION_1: &str = "\
CREATE TABLE webhook_receipt (
  key         BLOB    NOT NULL PRIMARY KEY CHECK (length(key) = 16),
  tenant      TEXT    NOT NULL,
  provider    TEXT    NOT NULL,
  event_id    TEXT    NOT NULL,
  body_hash   BLOB    NOT NULL CHECK (length(body_hash) = 16),
  state       INTEGER NOT NULL CHECK (state BETWEEN 0 AND 4),
  attempts    INTEGER NOT NULL,
  fence       INTEGER NOT NULL,
  lease_until INTEGER,
  received_at INTEGER NOT NULL,
  changed_at  INTEGER NOT NULL,
  expires_at  INTEGER NOT NULL,
  result      BLOB
) STRICT, WITHOUT ROWID;
CREATE INDEX webhook_receipt_expires ON webhook_receipt (expires_at);
CREATE TABLE webhook_receipt_meta (
  one     INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
  version INTEGER NOT NULL,
  fence   INTEGER NOT NULL
) STRICT;
INSERT INTO webhook_receipt_meta (one, version, fence) VALUES (1, 1, 7);
";

/// An event that was claimed before the upgrade: in progress, fence 5, for an hour.
fn version_1(bench: &Bench) {
    let (other, key) = (bench.beside(), super::key("e1"));
    other.execute_batch(VERSION_1).unwrap();
    let now = super::START.unix_timestamp() * 1_000_000;
    let hour = 3_600_000_000;
    other
        .execute(
            "INSERT INTO webhook_receipt VALUES (?1, ?2, ?3, ?4, ?5, 1, 1, 5, ?7, ?6, ?6, ?7, NULL)",
            rusqlite::params![
                key.digest().as_slice(),
                key.tenant(),
                key.provider(),
                key.id(),
                hookproof::Fingerprint::of(b"content").as_bytes().as_slice(),
                now,
                now + hour,
            ],
        )
        .unwrap();
}

#[test]
fn a_schema_of_version_1_is_brought_up_to_date() {
    let hour = std::time::Duration::from_secs(3600);
    for by_hand in [false, true] {
        let bench = Bench::new();
        version_1(&bench);
        if by_hand {
            let other = bench.beside();
            other.execute_batch(SqliteStore::SCHEMA).unwrap();
        }
        let stores: Vec<_> = std::thread::scope(|scope| {
            let opening: Vec<_> = (0..6).map(|_| scope.spawn(|| bench.open())).collect();
            opening.into_iter().map(|o| o.join().unwrap()).collect()
        });
        let other = bench.beside();
        let meta = "SELECT version * 100 + fence FROM webhook_receipt_meta";
        assert_eq!(count(&other, meta), 207);
        // What was there is there, and steps and objects can be kept.
        super::busy(&stores[0], "e1");
        bench.clock.advance(hour);
        let lease = win(&stores[1], "e1");
        assert_eq!((lease.attempt(), lease.fence().0), (2, 6));
        let slot = super::steps::due(&stores[2], &lease, "charge");
        block_on(stores[2].record(slot, "ch_123")).unwrap();
        settle(&stores[3], lease, "done");
        let order = hookproof::ObjectKey::new("", "order", "o1").unwrap();
        let first = block_on(stores[4].advance(&order, Version::number(1))).unwrap();
        assert_eq!(first, Advance::Applied { previous: None });
    }
}

/// It runs on while the schema is changed under it, and what it deletes takes the steps along.
#[test]
fn statements_of_version_1_work_on_version_2() {
    let bench = Bench::new();
    version_1(&bench);
    let store = bench.open();
    bench.clock.advance(std::time::Duration::from_secs(3600));
    let lease = win(&store, "e1");
    let slot = super::steps::due(&store, &lease, "charge");
    block_on(store.record(slot, "ch_123")).unwrap();
    settle(&store, lease, "done");
    let other = bench.beside();
    let purge = "DELETE FROM webhook_receipt WHERE key IN (SELECT key FROM webhook_receipt) \
                 RETURNING fence";
    assert_eq!(count(&other, purge), 6);
    assert_eq!(count(&other, "SELECT count(*) FROM webhook_effect"), 0);
}

#[test]
fn tables_of_other_hands_under_the_new_names_are_refused() {
    for table in [
        "webhook_object (key BLOB PRIMARY KEY, deleted_at INTEGER)",
        "webhook_effect (key BLOB, name TEXT)",
    ] {
        let bench = Bench::new();
        bench
            .beside()
            .execute_batch(&format!("CREATE TABLE {table}"))
            .unwrap();
        assert_eq!(refused(&bench), StoreErrorKind::Misuse, "{table}");
    }
}

#[test]
fn a_version_that_never_was_is_refused() {
    let bench = Bench::new();
    bench.open().close();
    let other = bench.beside();
    other
        .execute_batch("UPDATE webhook_receipt_meta SET version = 0")
        .unwrap();
    assert_eq!(refused(&bench), StoreErrorKind::Corrupt);
    other
        .execute_batch("DELETE FROM webhook_receipt_meta")
        .unwrap();
    assert_eq!(refused(&bench), StoreErrorKind::Corrupt);
}

#[test]
fn many_starts_at_once() {
    let bench = Bench::new();
    let stores: Vec<_> = std::thread::scope(|scope| {
        let opening: Vec<_> = (0..12).map(|_| scope.spawn(|| bench.open())).collect();
        opening.into_iter().map(|o| o.join().unwrap()).collect()
    });
    let lease = win(&stores[0], "e1");
    settle(&stores[5], lease, "done");
    for store in &stores {
        duplicate(store, "e1");
    }
}

#[test]
fn the_schema_can_be_run_by_other_means_and_again() {
    let bench = Bench::new();
    let other = bench.beside();
    other.execute_batch(SqliteStore::SCHEMA).unwrap();
    let store = bench.open();
    let lease = win(&store, "e1");
    settle(&store, lease, "done");
    let changes = other.total_changes();
    other.execute_batch(SqliteStore::SCHEMA).unwrap();
    assert_eq!(other.total_changes(), changes);
    duplicate(&store, "e1");
}

/// A restart must not wait for whoever writes at the time.
#[test]
fn opening_a_current_schema_takes_no_lock() {
    let bench = Bench::new();
    bench.open().close();
    let other = bench.beside();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    bench
        .builder()
        .busy_timeout(std::time::Duration::ZERO)
        .open()
        .unwrap();
}

#[test]
fn a_locked_file_without_schema_is_busy() {
    let bench = Bench::new();
    let other = bench.beside();
    other
        .execute_batch("PRAGMA journal_mode = WAL; BEGIN IMMEDIATE")
        .unwrap();
    let opening = bench
        .builder()
        .busy_timeout(std::time::Duration::ZERO)
        .open();
    assert_eq!(opening.unwrap_err().kind(), StoreErrorKind::Busy);
    other.execute_batch("ROLLBACK").unwrap();
    bench.open();
}

#[test]
fn what_cannot_be_a_store_is_refused() {
    for nowhere in [":memory:", ""] {
        let error = SqliteStore::open(nowhere).unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Misuse, "{nowhere:?}");
    }
    let error = SqliteStore::open("/no/such/folder/receipts").unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Unavailable);

    let bench = Bench::new();
    std::fs::write(bench.path(), "this is no database, ".repeat(100)).unwrap();
    assert_eq!(refused(&bench), StoreErrorKind::Corrupt);

    for columns in ["key TEXT", "key BLOB PRIMARY KEY, expires_at INTEGER"] {
        let bench = Bench::new();
        bench
            .beside()
            .execute_batch(&format!("CREATE TABLE webhook_receipt ({columns})"))
            .unwrap();
        assert_eq!(refused(&bench), StoreErrorKind::Misuse, "{columns}");
    }
}

#[test]
fn a_commit_reaches_the_disk_unless_told_otherwise() {
    assert_eq!(Synchronous::default(), Synchronous::Full);
}

#[test]
fn only_bytes_of_the_right_length_are_keys() {
    let bench = Bench::new();
    bench.open().close();
    let other: Connection = bench.beside();
    for key in ["'text that is 16.'", "zeroblob(15)", "NULL", "7"] {
        let insert = format!(
            "INSERT INTO webhook_receipt VALUES ({key}, '', '', '', zeroblob(16), 2, 1, 1, NULL, 0, 0, 0, NULL)"
        );
        other.execute_batch(&insert).unwrap_err();
    }
    assert_eq!(count(&other, "SELECT count(*) FROM webhook_receipt"), 0);
}
