//! Versions of objects in the caller's own transaction.

use std::{
    sync::{Arc, Barrier},
    time::Duration,
};

use hookproof::{
    Advance, ObjectKey, OrderGuard, SqliteStore, Version,
    store::{StoreErrorKind, sql::ImmediateTx},
};
use rusqlite::Connection;

use super::{Bench, block_on, count};

fn order(id: &str) -> ObjectKey {
    ObjectKey::new("tenant", "order", id).unwrap()
}

fn v(number: i64) -> Version {
    Version::number(number)
}

/// A shop whose orders are in the same file.
fn shop(bench: &Bench) -> (SqliteStore, Connection) {
    let store = bench.open();
    let connection = Connection::open(bench.path()).unwrap();
    connection.busy_timeout(Duration::from_secs(60)).unwrap();
    connection
        .execute_batch("CREATE TABLE IF NOT EXISTS orders (id TEXT PRIMARY KEY, revision INTEGER)")
        .unwrap();
    (store, connection)
}

fn write(tx: &ImmediateTx<'_>, id: &str, revision: i64) {
    tx.execute("REPLACE INTO orders VALUES (?1, ?2)", (id, revision))
        .unwrap();
}

const REVISION: &str = "SELECT coalesce(max(revision), 0) FROM orders";

#[test]
fn version_and_rows_are_one_commit() {
    let bench = Bench::new();
    let (store, mut connection) = shop(&bench);
    let first = Advance::Applied { previous: None };
    for commits in [false, true] {
        let tx = ImmediateTx::begin(&mut connection).unwrap();
        assert_eq!(store.advance_in(&tx, &order("o1"), v(3)).unwrap(), first);
        write(&tx, "o1", 3);
        // Within the transaction it stands already; nobody else sees it.
        let current = v(3);
        let older = Advance::Older { current };
        assert_eq!(store.advance_in(&tx, &order("o1"), v(2)).unwrap(), older);
        assert_eq!(block_on(store.current(&order("o1"))).unwrap(), None);
        match commits {
            true => tx.commit().unwrap(),
            false => tx.rollback().unwrap(),
        }
        let stands = commits.then(|| v(3));
        assert_eq!(block_on(store.current(&order("o1"))).unwrap(), stands);
        assert_eq!(count(&connection, REVISION), if commits { 3 } else { 0 });
    }
}

/// What was refused has left nothing, and the transaction goes on.
#[test]
fn a_refusal_leaves_the_transaction_usable() {
    let bench = Bench::new();
    let (store, mut connection) = shop(&bench);
    let tx = ImmediateTx::begin(&mut connection).unwrap();
    let advance = |version| store.advance_in(&tx, &order("o1"), version);
    assert!(matches!(advance(v(3)), Ok(Advance::Applied { .. })));
    let time = Version::at(super::START);
    assert_eq!(advance(time).unwrap_err().kind(), StoreErrorKind::Misuse);
    let previous = Some(v(3));
    assert_eq!(advance(v(4)).unwrap(), Advance::Applied { previous });
    tx.commit().unwrap();
    assert_eq!(block_on(store.current(&order("o1"))).unwrap(), Some(v(4)));
}

/// Many write one object's revisions in their own transactions, in any order: what is written last
/// is what is newest.
#[test]
fn the_newest_revision_is_what_is_written() {
    const WRITERS: usize = 6;
    const REVISIONS: i64 = 120;
    let bench = Bench::new();
    let (store, connection) = shop(&bench);
    let (store, start) = (Arc::new(store), Arc::new(Barrier::new(WRITERS)));
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let (store, start, path) = (store.clone(), start.clone(), bench.path());
            std::thread::spawn(move || {
                let mut connection = Connection::open(path).unwrap();
                connection.busy_timeout(Duration::from_secs(60)).unwrap();
                start.wait();
                let mut wrote = 0;
                for n in 0..REVISIONS {
                    // 7 has no factor in common with 120, so each writer meets all, in an order
                    // of its own.
                    let revision = (n * 7 + writer as i64 * 20) % REVISIONS + 1;
                    let tx = ImmediateTx::begin(&mut connection).unwrap();
                    let advance = store.advance_in(&tx, &order("o1"), v(revision)).unwrap();
                    if let Advance::Applied { previous } = advance {
                        let before = tx.query_row(REVISION, [], |row| row.get(0)).unwrap();
                        assert_eq!(previous, (before > 0).then(|| v(before)));
                        assert!(before < revision);
                        write(&tx, "o1", revision);
                        wrote += 1;
                    }
                    tx.commit().unwrap();
                }
                wrote
            })
        })
        .collect();
    let wrote: usize = writers.into_iter().map(|w| w.join().unwrap()).sum();
    assert_eq!(count(&connection, REVISION), REVISIONS);
    assert!((1..=REVISIONS as usize).contains(&wrote), "{wrote}");
}

/// Versions that are not newer are answered by a reader, while somebody else holds the write lock.
#[test]
fn old_versions_take_no_lock() {
    let bench = Bench::new();
    let store = bench.builder().busy_timeout(Duration::ZERO).open().unwrap();
    assert!(matches!(
        block_on(store.advance(&order("o1"), v(3))),
        Ok(Advance::Applied { .. })
    ));
    let other = bench.beside();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let current = v(3);
    let older = Advance::Older { current };
    assert_eq!(block_on(store.advance(&order("o1"), v(2))).unwrap(), older);
    let busy = block_on(store.advance(&order("o1"), v(4))).unwrap_err();
    assert_eq!(busy.kind(), StoreErrorKind::Busy);
}

#[test]
fn versions_survive_a_restart() {
    let bench = Bench::new();
    let deleted = Version::at(super::START).tie_number(7).deletion();
    let store = bench.open();
    assert!(block_on(store.advance(&order("o1"), deleted.clone())).is_ok());
    store.close();
    let store = bench.open();
    assert_eq!(
        block_on(store.current(&order("o1"))).unwrap(),
        Some(deleted)
    );
}

/// A row of another object under the same digest never answers for this one.
#[test]
fn a_row_of_another_object_is_an_error() {
    let bench = Bench::new();
    let store = bench.open();
    assert!(block_on(store.advance(&order("o1"), v(3))).is_ok());
    bench
        .beside()
        .execute_batch("UPDATE webhook_object SET object_id = 'other'")
        .unwrap();
    for version in [v(2), v(3), v(4)] {
        let error = block_on(store.advance(&order("o1"), version)).unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Corrupt);
    }
    let error = block_on(store.forget_object(&order("o1"))).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Corrupt);
    let rows = "SELECT count(*) FROM webhook_object WHERE version = 3";
    assert_eq!(count(&bench.beside(), rows), 1);
}
