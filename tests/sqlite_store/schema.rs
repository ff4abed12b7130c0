//! The schema: created once, never downgraded, left alone where it is someone else's.

use hookproof::{
    SqliteStore,
    store::{StoreErrorKind, sql::Synchronous},
};
use rusqlite::Connection;

use super::{Bench, count, duplicate, settle, win};

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
