//! Transactions that do not hold the write lock, or do not hold it any more.

use std::time::Duration;

use hookproof::{
    Verdict,
    store::{SettleFault, StoreErrorKind, sql::ImmediateTx},
};
use rusqlite::{Connection, TransactionBehavior};

use super::{
    Bench, ask, count, settle,
    transactions::{INVOICES, shop, win_in},
    win,
};

fn refused(tx: rusqlite::Transaction<'_>) -> StoreErrorKind {
    ImmediateTx::of(tx).unwrap_err().kind()
}

#[test]
fn a_deferred_transaction_is_refused_once_it_has_read() {
    let bench = Bench::new();
    let (store, mut connection) = shop(&bench);
    let read = |tx: &rusqlite::Transaction<'_>| count(tx, INVOICES);

    // Another connection wrote after it had read: SQLite would say "database is locked" at once.
    let tx = connection.transaction().unwrap();
    read(&tx);
    let lease = win(&store, "e1");
    assert_eq!(refused(tx), StoreErrorKind::Serialization);

    // Another connection is writing.
    let other = bench.beside();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let tx = connection.transaction().unwrap();
    read(&tx);
    assert_eq!(refused(tx), StoreErrorKind::Busy);
    other.execute_batch("ROLLBACK").unwrap();

    // One that SQLite has ended, or that was ended by hand.
    let tx = connection.transaction().unwrap();
    tx.execute_batch("COMMIT").unwrap();
    assert_eq!(refused(tx), StoreErrorKind::Misuse);

    // One of another database.
    let mut elsewhere = Connection::open_in_memory().unwrap();
    let tx = elsewhere.transaction().unwrap();
    assert_eq!(refused(tx), StoreErrorKind::Misuse);
    settle(&store, lease, "");
}

#[test]
fn a_transaction_taken_over_holds_the_lock() {
    let bench = Bench::new();
    let (store, mut connection) = shop(&bench);
    for behavior in [
        TransactionBehavior::Immediate,
        TransactionBehavior::Deferred,
    ] {
        let tx = connection.transaction_with_behavior(behavior).unwrap();
        let tx = ImmediateTx::of(tx).unwrap();
        let error = bench.beside().execute_batch("BEGIN IMMEDIATE").unwrap_err();
        assert_eq!(
            error.sqlite_error_code(),
            Some(rusqlite::ErrorCode::DatabaseBusy)
        );
        drop(win_in(&store, &tx, "e1"));
    }
}

#[test]
fn a_transaction_that_ended_underneath_is_refused() {
    let bench = Bench::new();
    let (store, mut connection) = shop(&bench);
    let tx = ImmediateTx::begin(&mut connection).unwrap();
    let lease = win_in(&store, &tx, "e1");
    tx.execute_batch("ROLLBACK").unwrap();
    let error = store.claim_in(&tx, ask("e2")).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Misuse);
    let error = store.settle_in(&tx, lease, Verdict::done("")).unwrap_err();
    assert!(matches!(&error.fault, SettleFault::Store(e) if e.kind() == StoreErrorKind::Misuse));
    assert_eq!(count(&tx, "SELECT count(*) FROM webhook_receipt"), 0);
}

#[test]
fn begin_waits_no_longer_than_the_connection_says() {
    let bench = Bench::new();
    let (_store, mut connection) = shop(&bench);
    connection.busy_timeout(Duration::ZERO).unwrap();
    let other = bench.beside();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = ImmediateTx::begin(&mut connection).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Busy);
}
