//! The inbox in a file: crashes, an older schema, rows that cannot be read.

use std::{
    collections::HashMap,
    future::{pending, poll_fn},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    task::Poll,
    time::Duration,
};

use hookproof::{
    Claiming, IdempotencyStore, Secrets, SqliteStore, State, Verdict,
    inbox::{Accepted, InboxStore, Job, Leasing, Listing, Notice, Parcel, Worker},
    scheme,
    testing::sign,
};
use rusqlite::Connection;
use time::OffsetDateTime;

use super::{
    Bench, LEASE, START, ask, block_on, count, crash, duplicate, key,
    processes::{as_child, child, said, store},
    settle, win,
};

fn parcel(id: &str) -> Parcel {
    let signed = sign(
        &scheme::GITHUB,
        "a-secret-of-sufficient-length",
        id.as_bytes(),
        START,
    )
    .unwrap();
    let secrets = Secrets::new(&scheme::GITHUB, ["a-secret-of-sufficient-length"]).unwrap();
    let delivery = hookproof::verify(&signed.body, &signed, &secrets, START).unwrap();
    Parcel::new(&delivery, Claiming::new(&delivery, key(id)))
}

fn accept(store: &SqliteStore, id: &str) {
    let accepted = block_on(store.accept(parcel(id))).unwrap();
    assert!(matches!(accepted, Accepted::New(_)), "{accepted:?}");
}

/// Sleeps of a worker that is driven by its own polls.
fn nap(length: Duration) -> impl Future<Output = ()> {
    let mut polled = false;
    poll_fn(move |context| {
        if length >= Duration::from_secs(1) {
            return Poll::Pending;
        }
        std::thread::sleep(Duration::from_millis(1));
        context.waker().wake_by_ref();
        match std::mem::replace(&mut polled, true) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    })
}

/// Works off what is due, and says which event had which attempts.
fn work_off(store: &SqliteStore, events: usize) -> HashMap<String, Vec<u32>> {
    let (done, runs) = (
        AtomicUsize::new(0),
        Mutex::<HashMap<_, Vec<u32>>>::default(),
    );
    let worker = Worker::new(store, |job: Job| {
        let (done, runs) = (&done, &runs);
        async move {
            assert_eq!(job.body(), job.key().id().as_bytes());
            let mut runs = runs.lock().unwrap();
            runs.entry(job.key().id().to_owned())
                .or_default()
                .push(job.attempt());
            done.fetch_add(1, SeqCst);
            Ok(Verdict::done("done"))
        }
    })
    .poll(Duration::from_millis(1))
    .observer(|notice: &Notice<'_>| panic!("{notice}"));
    let all = poll_fn(|_| match done.load(SeqCst) == events {
        true => Poll::Ready(()),
        false => Poll::Pending,
    });
    let tally = block_on(worker.run(all, nap));
    assert_eq!(usize::try_from(tally.processed).unwrap(), events);
    runs.into_inner().unwrap()
}

/// kill -9 in the middle of a worker: nothing that was accepted is lost, what was done is not done
/// again, and what was leased comes back with the leases' end.
#[test]
fn a_killed_worker_loses_nothing() {
    const EVENTS: usize = 40;
    if let Some(path) = as_child() {
        let store = store(path);
        for n in 0..EVENTS {
            accept(&store, &format!("e{n}"));
        }
        let begun = AtomicUsize::new(0);
        let worker = Worker::new(&store, |job: Job| {
            let n = begun.fetch_add(1, SeqCst);
            async move {
                if n.is_multiple_of(2) {
                    return Ok(Verdict::done(job.key().id()));
                }
                // Holds its lease until the end.
                pending().await
            }
        })
        .concurrency(8)
        .poll(Duration::from_millis(1));
        let stuck = poll_fn(|_| {
            let state = |state| block_on(store.list(Listing::of(state))).unwrap().len();
            if begun.load(SeqCst) >= 15 && state(State::InProgress) == 8 {
                println!("WORKING {}", state(State::Processed));
                loop {
                    std::thread::park();
                }
            }
            Poll::<()>::Pending
        });
        block_on(worker.run(stuck, nap));
        return;
    }
    let bench = Bench::new();
    let (mut child, mut output) = child("inbox::a_killed_worker_loses_nothing", &bench);
    let done: usize = said(&mut output, "WORKING ").unwrap().parse().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    bench.clock.set(OffsetDateTime::now_utc());

    let store = bench.open();
    let listed = |state| block_on(store.list(Listing::of(state))).unwrap().len();
    assert_eq!(
        (listed(State::Processed), listed(State::InProgress)),
        (done, 8)
    );
    assert_eq!(listed(State::Received), EVENTS - done - 8);
    // Those that nobody had begun are due now; the others are not, yet.
    let runs = work_off(&store, EVENTS - done - 8);
    assert!(runs.values().all(|attempts| attempts == &[1]), "{runs:?}");
    let none = block_on(store.lease_due(Leasing::up_to(9))).unwrap();
    assert_eq!(none.events.len(), 0);
    bench.clock.advance(LEASE);
    let runs = work_off(&store, 8);
    assert_eq!(runs.len(), 8);
    assert!(runs.values().all(|attempts| attempts == &[2]), "{runs:?}");
    assert_eq!(listed(State::Processed), EVENTS);
}

/// Killed after the answer: what was accepted is there.
#[test]
fn what_is_accepted_survives_a_kill() {
    if let Some(path) = as_child() {
        let store = store(path);
        accept(&store, "e1");
        println!("ACCEPTED e1");
        loop {
            std::thread::park();
        }
    }
    let bench = Bench::new();
    let (mut child, mut output) = child("inbox::what_is_accepted_survives_a_kill", &bench);
    said(&mut output, "ACCEPTED ").unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    bench.clock.set(OffsetDateTime::now_utc());
    work_off(&bench.open(), 1);
}

/// The schema as version 1 of it was.
const VERSION_1: &str = "\
CREATE TABLE IF NOT EXISTS webhook_receipt (
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
CREATE INDEX IF NOT EXISTS webhook_receipt_expires ON webhook_receipt (expires_at);
CREATE TABLE IF NOT EXISTS webhook_receipt_meta (
  one     INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
  version INTEGER NOT NULL,
  fence   INTEGER NOT NULL
) STRICT;
INSERT INTO webhook_receipt_meta (one, version, fence) VALUES (1, 1, 77) ON CONFLICT DO NOTHING;
";

#[test]
fn an_older_schema_gets_what_it_lacks_and_keeps_what_it_has() {
    // A store of version 1: the same receipts, and no more.
    let old = {
        let bench = Bench::new();
        let store = bench.open();
        let lease = win(&store, "e1");
        settle(&store, lease, "done long ago");
        crash(win(&store, "e2"));
        store.close();
        bench
    };
    let bench = Bench::new();
    let other = Connection::open(bench.path()).unwrap();
    other.execute_batch(VERSION_1).unwrap();
    other
        .execute("ATTACH ?1 AS old", [old.path().to_str().unwrap()])
        .unwrap();
    other
        .execute_batch("INSERT INTO webhook_receipt SELECT * FROM old.webhook_receipt; DETACH old;")
        .unwrap();
    // Several processes start on it at once.
    let stores: Vec<_> = std::thread::scope(|scope| {
        let opening: Vec<_> = (0..6).map(|_| scope.spawn(|| bench.open())).collect();
        opening.into_iter().map(|o| o.join().unwrap()).collect()
    });
    assert_eq!(count(&other, "SELECT version FROM webhook_receipt_meta"), 2);
    assert_eq!(count(&other, "SELECT fence FROM webhook_receipt_meta"), 77);
    let store = &stores[3];
    assert_eq!(duplicate(store, "e1").result, b"done long ago");
    bench.clock.advance(LEASE);
    assert_eq!(win(store, "e2").attempt(), 2);
    accept(store, "e3");
    work_off(store, 1);
}

/// What was left of a version 1 that is still running settles without a word to the queue.
#[test]
fn a_receipt_that_changed_behind_the_queue_decides() {
    let bench = Bench::new();
    let store = bench.open();
    let other = bench.beside();
    for id in ["done", "dead", "waits", "gone", "empty", "due"] {
        accept(&store, id);
    }
    let set = |id: &str, state: i64, until: Option<i64>| {
        let changed = other.execute(
            "UPDATE webhook_receipt SET state = ?2, lease_until = ?3 WHERE key = ?1",
            rusqlite::params![key(id).digest().as_slice(), state, until],
        );
        assert_eq!(changed.unwrap(), 1);
    };
    let at = |at: OffsetDateTime| i64::try_from(at.unix_timestamp_nanos() / 1000).unwrap();
    set("done", 2, None);
    set("dead", 4, None);
    set("waits", 3, Some(at(START + LEASE)));
    let delete = |table: &str, id: &str| {
        let delete = format!("DELETE FROM {table} WHERE key = ?1");
        let gone = other.execute(&delete, [key(id).digest().as_slice()]);
        assert_eq!(gone.unwrap(), 1);
    };
    delete("webhook_receipt", "gone");
    delete("webhook_inbox", "empty");
    let leased = block_on(store.lease_due(Leasing::up_to(9).lease(LEASE))).unwrap();
    let ids: Vec<_> = leased
        .events
        .iter()
        .map(|(lease, _)| lease.key().id())
        .collect();
    assert_eq!(ids, ["due"]);
    assert_eq!(leased.buried.len(), 1);
    assert_eq!(leased.buried[0].key, key("empty"));
    assert_eq!(leased.buried[0].result, b"the body is missing");
    // In the queue are the one that is leased and the one that waits.
    assert_eq!(count(&other, "SELECT count(*) FROM webhook_inbox_due"), 2);
    bench.clock.advance(LEASE);
    let leased = block_on(store.lease_due(Leasing::up_to(9).lease(LEASE))).unwrap();
    assert_eq!(leased.events.len(), 2);
}

/// A receipt that is deleted by hand, or by a program of version 1, leaves its body behind. It must
/// not become that of the next event under the same key.
#[test]
fn a_body_without_a_receipt_gives_way() {
    let bench = Bench::new();
    let store = bench.open();
    accept(&store, "e1");
    let other = bench.beside();
    other
        .execute_batch("DELETE FROM webhook_receipt; UPDATE webhook_inbox SET body = x'00'")
        .unwrap();
    accept(&store, "e1");
    work_off(&store, 1);
}

/// A row of somebody else's making does not stop those behind it.
#[test]
fn a_row_that_cannot_be_read_is_put_off() {
    let bench = Bench::new();
    let store = bench.open();
    for id in ["name", "facts", "good"] {
        accept(&store, id);
    }
    let other = bench.beside();
    let spoil = |statement: &str, id: &str| {
        let spoilt = other.execute(statement, [key(id).digest().as_slice()]);
        assert_eq!(spoilt.unwrap(), 1);
    };
    spoil(
        "UPDATE webhook_receipt SET event_id = 'other' WHERE key = ?1",
        "name",
    );
    spoil(
        "UPDATE webhook_inbox SET coverage = -1 WHERE key = ?1",
        "facts",
    );
    let leasing = Leasing::up_to(2).lease(LEASE);
    let (mut unreadable, mut read) = (0, Vec::new());
    for _ in 0..2 {
        let leased = block_on(store.lease_due(leasing)).unwrap();
        unreadable += leased.unreadable;
        read.extend(leased.events);
    }
    assert_eq!((unreadable, read.len()), (2, 1));
    assert_eq!(read[0].0.key(), &key("good"));
}

/// An application that has no inbox pays for none: its settlements find nothing to do there.
#[test]
fn settlements_without_an_inbox_leave_it_empty() {
    let bench = Bench::new();
    let store = bench.open();
    for n in 0..5 {
        let lease = win(&store, &format!("e{n}"));
        block_on(store.settle(lease, Verdict::retry(Duration::ZERO))).unwrap();
    }
    let lease = block_on(store.claim(ask("e0"))).unwrap();
    drop(lease);
    let other = bench.beside();
    for table in ["webhook_inbox", "webhook_inbox_due"] {
        let rows = format!("SELECT count(*) FROM {table}");
        assert_eq!(count(&other, &rows), 0);
    }
}
