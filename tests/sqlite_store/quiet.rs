//! What must not write, and what must not wait.

use std::time::Duration;

use hookproof::{Claim, Fingerprint, IdempotencyStore, Verdict, store::StoreErrorKind};

use super::{Bench, ask, block_on, busy, count, duplicate, key, settle, win};

/// A load of known events takes no lock and adds nothing to the log.
#[test]
fn known_events_are_answered_without_writing() {
    let bench = Bench::new();
    let store = bench.open();
    let lease = win(&store, "done");
    settle(&store, lease, "done");
    super::crash(win(&store, "running"));
    let lease = win(&store, "dead");
    block_on(store.settle(lease, Verdict::dead("no"))).unwrap();
    let lease = win(&store, "failed");
    block_on(store.settle(lease, Verdict::retry(super::LEASE))).unwrap();

    let other = bench.beside();
    let log = || std::fs::read(bench.path().with_extension("sqlite-wal")).unwrap();
    let (log_before, version) = (log(), count(&other, "PRAGMA data_version"));
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    for _ in 0..250 {
        duplicate(&store, "done");
        busy(&store, "running");
        busy(&store, "failed");
        let dead = block_on(store.claim(ask("dead"))).unwrap();
        assert!(matches!(dead, Claim::Dead(_)));
        let changed = ask("done").fingerprint(Fingerprint::of(b"other content"));
        let conflict = block_on(store.claim(changed)).unwrap();
        assert!(matches!(conflict, Claim::Conflict(_)));
    }
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(count(&other, "PRAGMA data_version"), version);
    assert_eq!(log(), log_before);
}

/// A claim that the writer turns down, because another came first, writes nothing either.
#[test]
fn the_loser_of_a_race_writes_nothing() {
    let bench = Bench::new();
    let store = bench.open_with_one_reader();
    let first = bench.open_with_one_reader();
    let other = bench.beside();
    other
        .execute_batch("PRAGMA wal_checkpoint(TRUNCATE); BEGIN IMMEDIATE")
        .unwrap();
    let mut calls = vec![store.claim(ask("e1"))];
    super::at_the_writer(&store, &mut calls);
    let mut calls_first = vec![first.claim(ask("e1"))];
    super::at_the_writer(&first, &mut calls_first);
    other.execute_batch("COMMIT").unwrap();
    let mut won = 0;
    for call in calls.into_iter().chain(calls_first) {
        if let Claim::New(lease) = block_on(call).unwrap() {
            won += 1;
            super::crash(lease);
        }
    }
    assert_eq!(won, 1);
    assert_eq!(super::transactions_in_log(&bench.path()), 1);
}

#[test]
fn a_writer_in_the_way_is_busy_and_nothing_else() {
    let bench = Bench::new();
    let store = bench
        .builder()
        .busy_timeout(Duration::from_millis(30))
        .open()
        .unwrap();
    let held = win(&store, "held");
    let other = bench.beside();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();

    let error = block_on(store.claim(ask("e1"))).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Busy);
    assert!(error.kind().is_transient());
    assert!(std::error::Error::source(&error).is_some());
    let error = block_on(store.settle(held, Verdict::done("acted"))).unwrap_err();
    let held = match error.fault {
        hookproof::store::SettleFault::Store(fault) => {
            assert_eq!(fault.kind(), StoreErrorKind::Busy);
            *error.lease
        }
        other => panic!("{other:?}"),
    };
    let error = block_on(store.purge(10)).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Busy);
    // Reading does not wait.
    assert!(block_on(store.get(&key("held"))).unwrap().is_some());

    other.execute_batch("ROLLBACK").unwrap();
    settle(&store, held, "acted");
    super::crash(win(&store, "e1"));
}

#[test]
fn no_patience_is_busy_at_once() {
    let bench = Bench::new();
    let store = bench.builder().busy_timeout(Duration::ZERO).open().unwrap();
    let other = bench.beside();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = block_on(store.claim(ask("e1"))).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Busy);
}

/// A purge of many rows is many short transactions.
#[test]
fn a_purge_lets_others_in_between() {
    let bench = Bench::new();
    let store = bench.open();
    let other = bench.beside();
    let rows: String = (0..1_200)
        .map(|n| {
            format!(
                "INSERT INTO webhook_receipt VALUES (randomblob(16), '', 's', 'e{n}', \
                 zeroblob(16), 2, 1, {n}, NULL, 0, 0, {n}, NULL);"
            )
        })
        .collect();
    other
        .execute_batch(&format!(
            "BEGIN; {rows} COMMIT; PRAGMA wal_checkpoint(TRUNCATE)"
        ))
        .unwrap();
    assert_eq!(block_on(store.purge(usize::MAX)).unwrap(), 1_200);
    assert_eq!(super::transactions_in_log(&bench.path()), 3);
    assert_eq!(block_on(store.purge(0)).unwrap(), 0);
    assert_eq!(
        count(&other, "SELECT fence FROM webhook_receipt_meta"),
        1_199
    );
}
