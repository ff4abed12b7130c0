//! Many threads and one writer.

use std::sync::{
    Arc, Barrier,
    atomic::{AtomicBool, Ordering},
};

use hookproof::{
    Claim, IdempotencyStore, SqliteStore, Verdict, clock::Clock, store::StoreErrorKind,
    testing::ManualClock,
};
use time::OffsetDateTime;

use super::{
    Bench, ask, at_the_writer, block_on, duplicate, eventually, settle, transactions_in_log, win,
};

/// What `threads` threads that claim at the same moment are told: how often New, how often
/// InProgress, how often something else.
fn race(store: &Arc<SqliteStore>, threads: usize, id: &str) -> [usize; 3] {
    let start = Arc::new(Barrier::new(threads));
    let racers: Vec<_> = (0..threads)
        .map(|_| {
            let (store, start, asked) = (store.clone(), start.clone(), ask(id));
            std::thread::spawn(move || {
                start.wait();
                block_on(store.claim(asked)).unwrap()
            })
        })
        .collect();
    let mut told = [0; 3];
    let answers: Vec<_> = racers.into_iter().map(|r| r.join().unwrap()).collect();
    for answer in answers {
        let which = match answer {
            Claim::New(lease) => {
                settle(store, lease, id);
                0
            }
            Claim::InProgress { .. } => 1,
            _ => 2,
        };
        told[which] += 1;
    }
    told
}

#[test]
fn one_key_is_new_once() {
    let bench = Bench::new();
    let store = Arc::new(bench.open());
    for round in 0..50 {
        let id = format!("e{round}");
        assert_eq!(race(&store, 16, &id), [1, 15, 0]);
        assert_eq!(duplicate(&store, &id).result, id.as_bytes());
    }
    assert_eq!(bench.abandoned.count(), 0);
}

#[test]
fn many_keys_lose_no_answer() {
    const THREADS: usize = 12;
    const KEYS: usize = 200;
    let bench = Bench::new();
    let store = Arc::new(bench.open());
    let workers: Vec<_> = (0..THREADS)
        .map(|worker| {
            let store = store.clone();
            std::thread::spawn(move || {
                let mut won = 0;
                for n in 0..KEYS {
                    // Each begins elsewhere, so that keys meet in different orders.
                    let id = format!("e{}", (n + worker * 17) % KEYS);
                    match block_on(store.claim(ask(&id))).unwrap() {
                        Claim::New(lease) => {
                            settle(&store, lease, &id);
                            won += 1;
                        }
                        Claim::InProgress { .. } => {}
                        Claim::Duplicate(receipt) => assert_eq!(receipt.result, id.as_bytes()),
                        other => panic!("{other:?}"),
                    }
                }
                won
            })
        })
        .collect();
    let won: usize = workers.into_iter().map(|w| w.join().unwrap()).sum();
    assert_eq!(won, KEYS);
}

#[test]
fn claims_that_wait_together_are_one_transaction() {
    const CLAIMS: usize = 100;
    let bench = Bench::new();
    let store = bench.open_with_one_reader();
    let other = bench.beside();
    other
        .execute_batch("PRAGMA wal_checkpoint(TRUNCATE); BEGIN IMMEDIATE")
        .unwrap();

    let mut calls: Vec<_> = (0..CLAIMS)
        .map(|n| store.claim(ask(&format!("e{n}"))))
        .collect();
    at_the_writer(&store, &mut calls);
    other.execute_batch("COMMIT").unwrap();

    let mut leases = vec![];
    for call in calls {
        match block_on(call).unwrap() {
            Claim::New(lease) => leases.push(lease),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(leases.len(), CLAIMS);
    // The writer may have begun to wait with less than all in its hand.
    let commits = transactions_in_log(&bench.path());
    assert!((1..=2).contains(&commits), "{commits} transactions");
    leases.into_iter().for_each(super::crash);
}

#[test]
fn a_group_may_hold_one_key_twice() {
    let bench = Bench::new();
    let store = bench.open_with_one_reader();
    let other = bench.beside();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut calls: Vec<_> = (0..10).map(|_| store.claim(ask("e1"))).collect();
    at_the_writer(&store, &mut calls);
    other.execute_batch("COMMIT").unwrap();

    let mut won = 0;
    for call in calls {
        match block_on(call).unwrap() {
            Claim::New(lease) => {
                won += 1;
                super::crash(lease);
            }
            Claim::InProgress { receipt, .. } => assert_eq!(receipt.attempts, 1),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(won, 1);
}

#[test]
fn a_closed_store_is_unavailable_and_leaves_nothing_open() {
    let bench = Bench::new();
    let store = Arc::new(bench.open_with_one_reader());
    let lease = win(&store, "held");
    let other = bench.beside();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();

    // In flight: one in the writer's hand or queue, since the lock is not to be had.
    let mut calls = vec![store.claim(ask("e1")), store.claim(ask("e2"))];
    at_the_writer(&store, &mut calls);
    let closing = {
        let store = store.clone();
        std::thread::spawn(move || store.close())
    };
    for call in calls {
        let error = block_on(call).unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Unavailable);
    }
    closing.join().unwrap();

    let error = block_on(store.claim(ask("e3"))).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Unavailable);
    let error = block_on(store.settle(lease, Verdict::done("late"))).unwrap_err();
    assert_eq!(error.lease.key(), &super::key("held"));
    store.close();

    other
        .execute_batch("COMMIT; BEGIN IMMEDIATE; ROLLBACK")
        .unwrap();
    assert_eq!(
        super::count(&other, "SELECT count(*) FROM webhook_receipt"),
        1
    );
    // The last connection to be closed removes the log, so the store's are closed.
    drop(other);
    assert!(!bench.path().with_extension("sqlite-wal").exists());
}

#[test]
fn a_dropped_store_ends_its_threads() {
    let bench = Bench::new();
    let clock = Arc::new(bench.clock.clone());
    let threads = Arc::downgrade(&clock);
    let store = bench.builder().clock(Shared(clock)).open().unwrap();
    settle_one(&store);
    drop(store);
    // Each thread gives its part of the clock back after it has closed its connection.
    eventually("the threads end on their own", || {
        threads.strong_count() == 0
    });
    assert_eq!(duplicate(&bench.open(), "e1").result, b"done");
}

/// A clock that tells who still has it.
struct Shared(Arc<ManualClock>);

impl Clock for Shared {
    fn now(&self) -> OffsetDateTime {
        self.0.now()
    }
}

/// A clock that does something of its own where the store writes.
struct OnWriter<F>(F);

impl<F: Fn() + Send + Sync> Clock for OnWriter<F> {
    fn now(&self) -> OffsetDateTime {
        if std::thread::current().name() == Some("hookproof-write") {
            self.0();
        }
        super::START
    }
}

#[test]
fn close_returns_when_the_last_transaction_is_over() {
    let bench = Bench::new();
    let (reached, release) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
    let clock = {
        let (reached, release) = (reached.clone(), release.clone());
        OnWriter(move || {
            reached.wait();
            release.wait();
        })
    };
    let store = bench.builder().clock(clock).open().unwrap();
    let is_closed = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let claiming = scope.spawn(|| block_on(store.claim(ask("e1"))));
        reached.wait();
        scope.spawn(|| {
            store.close();
            is_closed.store(true, Ordering::SeqCst);
        });
        eventually("the store is closed", || {
            block_on(store.get(&super::key("e1"))).is_err()
        });
        // The writer is in the midst of it, so this holds however long we look.
        for _ in 0..50 {
            std::thread::sleep(std::time::Duration::from_millis(1));
            assert!(!is_closed.load(Ordering::SeqCst));
        }
        release.wait();
        // What was in its hand is written and answered.
        match claiming.join().unwrap().unwrap() {
            Claim::New(lease) => super::crash(lease),
            other => panic!("{other:?}"),
        }
    });
    // Only who is alone with a file may change its kind of log: the store's connections are closed.
    let alone = "PRAGMA journal_mode = delete";
    let mode: String = (bench.beside())
        .query_row(alone, (), |row| row.get(0))
        .unwrap();
    assert_eq!(mode, "delete");
}

/// Nobody waits for ever for a thread that is gone, and the lock is not left behind.
#[test]
fn a_writer_that_panics_leaves_errors_and_no_lock() {
    let bench = Bench::new();
    let clock = OnWriter(|| panic!("a clock that breaks"));
    let store = bench.builder().clock(clock).open().unwrap();
    for _ in 0..2 {
        let error = block_on(store.claim(ask("e1"))).unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Unavailable);
    }
    assert_eq!(block_on(store.get(&super::key("e1"))).unwrap(), None);
    store.close();
    let other = bench.beside();
    other.execute_batch("BEGIN IMMEDIATE; ROLLBACK").unwrap();
    super::crash(win(&bench.open(), "e1"));
}

fn settle_one(store: &SqliteStore) {
    let lease = win(store, "e1");
    settle(store, lease, "done");
}
