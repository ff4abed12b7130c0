//! Rows that cannot be believed, and fences that must not come again.

use std::time::Duration;

use hookproof::{
    Claim, IdempotencyStore, SqliteStore, Verdict,
    store::{StoreErrorKind, sql::ImmediateTx},
};
use rusqlite::Connection;

use super::{Bench, ask, at_the_writer, block_on, count, key, settle, win};

/// Changes to a row that make it none of this crate's, each as SQL.
const DAMAGE: &[&str] = &[
    "tenant = 'somebody else'",
    "provider = 'another'",
    "event_id = 'e2'",
    "body_hash = x'00'",
    "state = 9",
    "state = -1",
    "attempts = -1",
    "attempts = 4294967296",
    "lease_until = 9223372036854775807",
    "received_at = -9223372036854775808",
    "changed_at = 9223372036854775807",
    "expires_at = 9223372036854775807",
    "event_id = CAST(x'ff' AS TEXT)",
];

fn damage(bench: &Bench, how: &str) -> Connection {
    let other = bench.beside();
    other
        .execute_batch(&format!(
            "PRAGMA ignore_check_constraints = TRUE; UPDATE webhook_receipt SET {how}"
        ))
        .unwrap();
    other
}

fn whole_row(connection: &Connection) -> String {
    let sql = "SELECT hex(tenant) || provider || hex(event_id) || hex(body_hash) || state || '/' \
               || attempts || '/' || fence || '/' || ifnull(lease_until, '-') || received_at \
               || changed_at || expires_at FROM webhook_receipt";
    connection.query_row(sql, [], |row| row.get(0)).unwrap()
}

#[test]
fn a_row_that_cannot_be_believed_is_corrupt_and_stays() {
    for how in DAMAGE {
        let bench = Bench::new();
        let store = bench.open();
        super::crash(win(&store, "e1"));
        bench.clock.advance(2 * super::LEASE);
        let other = damage(&bench, how);
        let before = whole_row(&other);

        let corrupt = |error: hookproof::StoreError| {
            assert_eq!(error.kind(), StoreErrorKind::Corrupt, "{how}");
        };
        corrupt(block_on(store.claim(ask("e1"))).unwrap_err());
        corrupt(block_on(store.get(&key("e1"))).unwrap_err());
        corrupt(block_on(store.forget(&key("e1"))).unwrap_err());
        // The statement that takes over is asked first here, so it must not take this.
        let mut connection = Connection::open(bench.path()).unwrap();
        let tx = ImmediateTx::begin(&mut connection).unwrap();
        corrupt(store.claim_in(&tx, ask("e1")).unwrap_err());
        tx.commit().unwrap();

        assert_eq!(whole_row(&other), before, "{how}");
        assert_eq!(count(&other, "SELECT fence FROM webhook_receipt_meta"), 0);
    }
}

#[test]
fn a_call_that_fails_does_not_spoil_its_group() {
    let bench = Bench::new();
    let store = bench.open_with_one_reader();
    super::crash(win(&store, "bad"));
    let other = damage(&bench, "tenant = 'somebody else'");
    other.execute_batch("BEGIN IMMEDIATE").unwrap();

    let mut before = vec![store.claim(ask("e1"))];
    at_the_writer(&store, &mut before);
    let bad = key("bad");
    let mut forget = store.forget(&bad);
    super::begin(forget.as_mut());
    let mut after = vec![store.claim(ask("e2"))];
    at_the_writer(&store, &mut after);
    other.execute_batch("COMMIT").unwrap();

    let error = block_on(forget).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Corrupt);
    for call in before.into_iter().chain(after) {
        match block_on(call).unwrap() {
            Claim::New(lease) => settle(&store, lease, "done"),
            other => panic!("{other:?}"),
        };
    }
    assert_eq!(count(&other, "SELECT count(*) FROM webhook_receipt"), 3);
}

/// Some errors, such as a full disk, make SQLite undo the whole transaction by itself. What came
/// before it in the group is then not written, and what comes after must not be written alone.
#[test]
fn a_transaction_that_the_engine_undoes_fails_its_group() {
    let bench = Bench::new();
    let store = bench.open_with_one_reader();
    let other = bench.beside();
    other
        .execute_batch(
            "CREATE TRIGGER undo BEFORE INSERT ON webhook_receipt WHEN NEW.event_id = 'e2' \
             BEGIN SELECT RAISE(ROLLBACK, 'like a full disk'); END; BEGIN IMMEDIATE",
        )
        .unwrap();
    let mut first = vec![store.claim(ask("e1"))];
    at_the_writer(&store, &mut first);
    let mut calls: Vec<_> = ["e2", "e3", "e4"]
        .map(|id| store.claim(ask(id)))
        .into_iter()
        .collect();
    at_the_writer(&store, &mut calls);
    other.execute_batch("COMMIT").unwrap();

    for (call, kind) in calls.into_iter().zip([
        StoreErrorKind::Corrupt,
        StoreErrorKind::Unavailable,
        StoreErrorKind::Unavailable,
    ]) {
        assert_eq!(block_on(call).unwrap_err().kind(), kind);
    }
    // The first may have been a group of its own.
    let written = match block_on(first.remove(0)) {
        Ok(Claim::New(lease)) => {
            super::crash(lease);
            1
        }
        Ok(other) => panic!("{other:?}"),
        Err(_) => 0,
    };
    let rows = "SELECT count(*) FROM webhook_receipt";
    assert_eq!(count(&other, rows), written);
    // The writer goes on.
    super::crash(win(&store, "e3"));
}

/// Without the place where fences are remembered nothing is deleted and nothing is begun.
#[test]
fn a_lost_memory_of_fences_fails() {
    let bench = Bench::new();
    let store = bench.open();
    let lease = win(&store, "e1");
    settle(&store, lease, "");
    let other = bench.beside();
    other
        .execute_batch("DELETE FROM webhook_receipt_meta")
        .unwrap();
    let corrupt = |error: hookproof::StoreError| {
        assert_eq!(error.kind(), StoreErrorKind::Corrupt);
    };
    corrupt(block_on(store.forget(&key("e1"))).unwrap_err());
    bench.clock.advance(Duration::from_secs(365 * 24 * 3600));
    corrupt(block_on(store.purge(10)).unwrap_err());
    corrupt(block_on(store.claim(ask("e2"))).unwrap_err());
    assert_eq!(count(&other, "SELECT count(*) FROM webhook_receipt"), 1);
}

fn three_fences(store: &SqliteStore) -> i64 {
    for _ in 0..2 {
        let lease = win(store, "e1");
        block_on(store.settle(lease, Verdict::retry(Duration::ZERO))).unwrap();
    }
    let lease = win(store, "e1");
    let fence = lease.fence().0;
    settle(store, lease, "");
    fence
}

/// With a clock that stands still, and with one that is set back.
#[test]
fn a_fence_never_comes_again() {
    let back = Duration::from_secs(7 * 24 * 3600);
    for set_back in [Duration::ZERO, back] {
        let bench = Bench::new();
        let store = bench.open();
        let highest = three_fences(&store);
        block_on(store.forget(&key("e1"))).unwrap().unwrap();
        bench.clock.set(super::START - set_back);
        let after_forget = win(&store, "e1");
        assert_eq!(after_forget.fence().0, highest + 1);
        assert_eq!(after_forget.attempt(), 1);
        settle(&store, after_forget, "");

        // Purged by one store, claimed by another.
        bench.clock.set(super::START + 10 * back);
        assert_eq!(block_on(store.purge(10)).unwrap(), 1);
        drop(store);
        bench.clock.set(super::START - set_back);
        let store = bench.open();
        let after_purge = win(&store, "e1");
        assert_eq!(after_purge.fence().0, highest + 2);
        settle(&store, after_purge, "");
    }
}

#[test]
fn a_fence_at_the_end_of_numbers_does_not_overflow() {
    let bench = Bench::new();
    let store = bench.open();
    let other = bench.beside();
    other
        .execute_batch("UPDATE webhook_receipt_meta SET fence = 9223372036854775806")
        .unwrap();
    let lease = win(&store, "e1");
    assert_eq!(lease.fence().0, i64::MAX);
    block_on(store.settle(lease, Verdict::retry(Duration::ZERO))).unwrap();
    let lease = win(&store, "e1");
    assert_eq!((lease.fence().0, lease.attempt()), (i64::MAX, 2));
    settle(&store, lease, "");
}
