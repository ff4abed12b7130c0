//! The inbox on a server: crashes, transactions, an older schema, races, and what is written and read.

pub(super) mod dropped;

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
    Claim, Claiming, IdempotencyStore, MySqlStore, Secrets, State, Verdict, Verified,
    inbox::{Accepted, Dropping, InboxStore, Job, Leasing, Listing, Notice, Parcel, Worker},
    review::{Admission, ReviewStore},
    scheme,
    store::{StoreErrorKind, sql::TxClaim},
    testing::sign,
};

use super::{
    Bench, LEASE, START, batch,
    common_server::mysql::MySql,
    crash, duplicate, key, number,
    processes::{as_child, child, said, wait_to_be_killed},
    quiet::counts,
    run, settle, win,
};

/// What is made of a verified delivery whose body is the id.
pub(super) fn verified<T>(id: &str, make: impl FnOnce(&Verified<'_>) -> T) -> T {
    let signed = sign(
        &scheme::GITHUB,
        "a-secret-of-sufficient-length",
        id.as_bytes(),
        START,
    )
    .unwrap();
    let secrets = Secrets::new(&scheme::GITHUB, ["a-secret-of-sufficient-length"]).unwrap();
    make(&hookproof::verify(&signed.body, &signed, &secrets, START).unwrap())
}

pub(super) fn parcel(id: &str) -> Parcel {
    verified(id, |delivery| {
        Parcel::new(delivery, Claiming::new(delivery, key(id)).lease(LEASE))
    })
}

async fn accept(store: &MySqlStore, id: &str) {
    let accepted = store.accept(parcel(id)).await.unwrap();
    assert!(matches!(accepted, Accepted::New(_)), "{accepted:?}");
}

async fn listed(store: &MySqlStore, state: State) -> usize {
    store.list(Listing::of(state)).await.unwrap().len()
}

/// Works off what is due, and says which event had which attempts.
async fn work_off(store: &MySqlStore, events: usize) -> HashMap<String, Vec<u32>> {
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
    let tally = worker.run(all, tokio::time::sleep).await;
    assert_eq!(usize::try_from(tally.processed).unwrap(), events);
    runs.into_inner().unwrap()
}

/// kill -9 in the middle of a worker: nothing that was accepted is lost, what was done is not done
/// again, and what was leased comes back with the leases' end, by the server's clock.
#[test]
fn a_killed_worker_loses_nothing() {
    const EVENTS: usize = 40;
    if let Some((store, _)) = as_child() {
        return run(async {
            for n in 0..EVENTS {
                accept(&store, &format!("e{n}")).await;
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
            let stuck = async {
                while begun.load(SeqCst) < 16 || listed(&store, State::InProgress).await < 8 {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
                println!("WORKING {}", listed(&store, State::Processed).await);
                wait_to_be_killed();
            };
            worker.run(stuck, tokio::time::sleep).await;
        });
    }
    let bench = Bench::new();
    let (mut child, mut output) = child("inbox::a_killed_worker_loses_nothing", &bench);
    let done: usize = said(&mut output, "WORKING ").unwrap().parse().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();

    run(async {
        let store = bench.builder().build();
        assert_eq!(listed(&store, State::Processed).await, done);
        assert_eq!(listed(&store, State::InProgress).await, 8);
        // Those that nobody had begun are due now; the others are not, yet.
        let runs = work_off(&store, EVENTS - done - 8).await;
        assert!(runs.values().all(|attempts| attempts == &[1]), "{runs:?}");
        let none = store.lease_due(Leasing::up_to(9)).await.unwrap();
        assert_eq!(none.events.len(), 0);
        bench.clock.set(time::OffsetDateTime::now_utc() + LEASE);
        let runs = work_off(&bench.store(), 8).await;
        assert_eq!(runs.len(), 8);
        assert!(runs.values().all(|attempts| attempts == &[2]), "{runs:?}");
        assert_eq!(listed(&store, State::Processed).await, EVENTS);
    });
}

/// In a transaction of the caller's an event of the inbox is claimed and settled like any other,
/// and no worker waits for it or gets it meanwhile.
#[test]
fn an_event_in_somebodys_transaction_is_passed_over() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        accept(&store, "e1").await;
        accept(&store, "e2").await;
        let mut tx = bench.pool.begin().await.unwrap();
        let claiming = parcel("e1").claiming().clone();
        let TxClaim::New(lease) = store.claim_in(&mut tx, claiming).await.unwrap() else {
            panic!("not won");
        };
        let mut leased = store.lease_due(Leasing::up_to(9)).await.unwrap().events;
        assert_eq!(leased.len(), 1);
        assert_eq!(leased[0].0.key(), &key("e2"));
        settle(&store, leased.remove(0).0, "").await;
        store
            .settle_in(&mut tx, lease, Verdict::done("together"))
            .await
            .unwrap();
        assert_eq!(
            store
                .lease_due(Leasing::up_to(9))
                .await
                .unwrap()
                .events
                .len(),
            0
        );
        tx.commit().await.unwrap();
        bench.clock.advance(LEASE * 100);
        assert_eq!(
            store
                .lease_due(Leasing::up_to(9))
                .await
                .unwrap()
                .events
                .len(),
            0
        );
        let mut beside = bench.beside().await;
        assert_eq!(
            number(&mut beside, "SELECT count(*) FROM webhook_inbox_due").await,
            0
        );
    });
}

/// While an event is new in an open transaction, nothing can be stored of it, and 200 would be a
/// lie. Once that is rolled back it is accepted.
#[test]
fn an_event_that_is_new_in_somebodys_transaction_is_not_accepted() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        let mut tx = bench.pool.begin().await.unwrap();
        let claiming = parcel("e1").claiming().clone();
        let TxClaim::New(lease) = store.claim_in(&mut tx, claiming).await.unwrap() else {
            panic!("not won");
        };
        let accepted = store.accept(parcel("e1")).await.unwrap();
        assert!(
            matches!(accepted, Accepted::InProgress { .. }),
            "{accepted:?}"
        );
        tx.rollback().await.unwrap();
        drop(lease);
        accept(&store, "e1").await;

        // The same where it is there, but not in the inbox.
        crash(win_of(&store, "e2").await);
        bench.clock.advance(LEASE);
        let mut tx = bench.pool.begin().await.unwrap();
        let claiming = parcel("e2").claiming().clone();
        let TxClaim::New(lease) = store.claim_in(&mut tx, claiming).await.unwrap() else {
            panic!("not won");
        };
        let accepted = store.accept(parcel("e2")).await.unwrap();
        assert!(
            matches!(accepted, Accepted::InProgress { .. }),
            "{accepted:?}"
        );
        tx.rollback().await.unwrap();
        drop(lease);
        let accepted = store.accept(parcel("e2")).await.unwrap();
        assert!(matches!(accepted, Accepted::Pending(_)), "{accepted:?}");
    });
}

async fn win_of(store: &MySqlStore, id: &str) -> hookproof::Lease {
    super::won(store.claim(parcel(id).claiming().clone()).await.unwrap())
}

/// A database of version 1, in which something was done, gets an inbox, and reviews.
#[test]
fn an_older_schema_gets_what_it_lacks_and_keeps_what_it_has() {
    let bench = Bench::new();
    run(async {
        let store = bench.store();
        let lease = win(&store, "e1").await;
        settle(&store, lease, "done long ago").await;
        crash(win(&store, "e2").await);
        let mut other = bench.beside().await;
        batch(
            &mut other,
            "DROP TABLE webhook_inbox, webhook_inbox_due, webhook_review, webhook_effect, \
             webhook_object; \
             UPDATE webhook_receipt_meta SET version = 1",
        )
        .await;
        // Several processes start on it at once.
        let stores: Vec<_> = (0..6).map(|_| bench.store()).collect();
        for started in super::races::all(stores.iter().map(MySqlStore::migrate)).await {
            started.unwrap();
        }
        let version = "SELECT version FROM webhook_receipt_meta";
        assert_eq!(number(&mut other, version).await, 2);
        let store = &stores[3];
        assert_eq!(duplicate(store, "e1").await.result, b"done long ago");
        bench.clock.advance(LEASE);
        assert_eq!(win(store, "e2").await.attempt(), 2);
        accept(store, "e3").await;
        work_off(store, 1).await;
        let review = super::review::kept(store, super::review::stale("e4")).await;
        let admission = store.admit(&review.id).await.unwrap();
        assert!(
            matches!(admission, Admission::Accepted(..)),
            "{admission:?}"
        );
        work_off(store, 1).await;
    });
}

/// What was left of a version 1 that is still running settles without a word to the queue, and so
/// does who is interrupted between receipt and queue.
#[test]
fn a_receipt_that_changed_behind_the_queue_decides() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        let mut other = bench.beside().await;
        for id in ["done", "dead", "waits", "empty", "gone", "odd", "due"] {
            accept(&store, id).await;
        }
        let until = micros(START + LEASE);
        for change in [
            "UPDATE webhook_receipt SET state = 2 WHERE event_id = 'done'",
            "UPDATE webhook_receipt SET state = 4 WHERE event_id = 'dead'",
            &format!(
                "UPDATE webhook_receipt SET state = 3, lease_until = {until} WHERE event_id = 'waits'"
            ),
            "DELETE FROM webhook_inbox WHERE body = 'empty'",
            "DELETE FROM webhook_receipt WHERE event_id = 'gone'",
            "UPDATE webhook_receipt SET attempts = -1 WHERE event_id = 'odd'",
        ] {
            batch(&mut other, change).await;
        }
        let leasing = Leasing::up_to(9).lease(LEASE);
        let leased = store.lease_due(leasing).await.unwrap();
        let ids: Vec<_> = leased
            .events
            .iter()
            .map(|(lease, _)| lease.key().id())
            .collect();
        assert_eq!(ids, ["due"]);
        assert_eq!(leased.buried.len(), 1);
        assert_eq!(leased.buried[0].key, key("empty"));
        assert_eq!(leased.buried[0].result, b"the body is missing");
        assert_eq!(leased.unreadable, 1);
        assert!(!leased.more);
        // In the queue are the one that is leased, the one that waits, and the one put off.
        let queued = "SELECT count(*) FROM webhook_inbox_due";
        assert_eq!(number(&mut other, queued).await, 3);
        let again = store.lease_due(leasing).await.unwrap();
        assert_eq!((again.events.len(), again.unreadable), (0, 0));
        bench.clock.advance(LEASE);
        let leased = store.lease_due(leasing).await.unwrap();
        assert_eq!((leased.events.len(), leased.unreadable), (2, 1));
    });
}

/// One that has ended is purged once it is out of the queue, and not before.
#[test]
fn a_purge_leaves_what_is_in_the_queue() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        let mut other = bench.beside().await;
        accept(&store, "waits").await;
        accept(&store, "left").await;
        batch(
            &mut other,
            "UPDATE webhook_receipt SET state = 2 WHERE event_id = 'left'; \
             UPDATE webhook_receipt SET expires_at = 0",
        )
        .await;
        assert_eq!(store.purge(9).await.unwrap(), 0);
        let leased = store.lease_due(Leasing::up_to(9)).await.unwrap();
        assert_eq!(leased.events.len(), 1);
        assert_eq!(store.purge(9).await.unwrap(), 1);
        for (lease, _) in leased.events {
            assert_eq!(lease.key(), &key("waits"));
            settle(&store, lease, "").await;
        }
        assert_eq!(store.purge(9).await.unwrap(), 1);
        let left = "SELECT (SELECT count(*) FROM webhook_receipt) + \
                    (SELECT count(*) FROM webhook_inbox) + (SELECT count(*) FROM webhook_inbox_due)";
        assert_eq!(number(&mut other, left).await, 0);
    });
}

/// A receipt that is deleted by hand, or by a program of version 1, takes its body along. It must
/// not become that of the next event under the same key.
#[test]
fn a_body_goes_with_its_receipt() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        accept(&store, "e1").await;
        let mut other = bench.beside().await;
        batch(&mut other, "DELETE FROM webhook_receipt").await;
        let bodies = "SELECT count(*) FROM webhook_inbox";
        assert_eq!(number(&mut other, bodies).await, 0);
        accept(&store, "e1").await;
        work_off(&store, 1).await;
        // And the queue's with it, when it is the store that deletes.
        accept(&store, "e2").await;
        assert!(store.forget(&key("e2")).await.unwrap().is_some());
        let queued = "SELECT count(*) FROM webhook_inbox_due";
        assert_eq!(number(&mut other, queued).await, 0);
    });
}

/// Deliveries and claims of one event at once: one receipt, one holder at a time, and what was
/// answered as stored comes to a worker whatever became of the claim.
#[test]
fn accepting_races_with_claims() {
    let bench = Bench::with(super::url(), &[], 8);
    let store = bench.store();
    run(async {
        for round in 0..40 {
            let id = format!("e{round}");
            let stored = AtomicUsize::new(0);
            let claimed = AtomicUsize::new(0);
            let work = (0..8).map(|n: usize| {
                let (store, id, stored, claimed) = (&store, &id, &stored, &claimed);
                async move {
                    if n.is_multiple_of(2) {
                        match store.accept(parcel(id)).await.unwrap() {
                            Accepted::New(_) | Accepted::Pending(_) => {
                                stored.fetch_add(1, SeqCst);
                            }
                            Accepted::InProgress { .. } => {}
                            other => panic!("{other:?}"),
                        }
                    } else {
                        match store.claim(parcel(id).claiming().clone()).await.unwrap() {
                            Claim::New(lease) => {
                                assert_eq!(claimed.fetch_add(1, SeqCst), 0, "two at once");
                                crash(lease);
                            }
                            Claim::InProgress { .. } => {}
                            other => panic!("{other:?}"),
                        }
                    }
                }
            });
            super::races::all(work).await;
            bench.clock.advance(LEASE);
            let leased = store.lease_due(Leasing::up_to(9)).await.unwrap();
            assert_eq!((leased.buried.len(), leased.unreadable), (0, 0));
            let there = usize::from(stored.into_inner() > 0);
            assert_eq!(leased.events.len(), there, "stuck, or out of nowhere");
            for (lease, parked) in leased.events {
                let before = u32::try_from(claimed.load(SeqCst)).unwrap();
                assert_eq!(lease.attempt(), before + 1);
                assert_eq!(parked.body, id.as_bytes());
                settle(&store, lease, "").await;
            }
        }
    });
}

/// A duplicate of what waits is answered by reading.
#[test]
fn duplicates_in_the_inbox_write_nothing() {
    let server = run(MySql::start(&["--log-bin=log"]));
    let bench = Bench::with(&server.url(), &[], 2);
    let store = bench.store();
    run(async {
        accept(&store, "waits").await;
        accept(&store, "done").await;
        let mut leased = store.lease_due(Leasing::up_to(2)).await.unwrap().events;
        leased.retain(|(lease, _)| lease.key() == &key("done"));
        settle(&store, leased.remove(0).0, "").await;
        let mut beside = bench.beside().await;
        let known = async || {
            for id in ["waits", "done"] {
                let accepted = store.accept(parcel(id)).await.unwrap();
                assert!(!matches!(accepted, Accepted::New(_)), "{accepted:?}");
            }
            // Nor does a look at which nothing is due.
            let leased = store.lease_due(Leasing::up_to(2)).await.unwrap();
            assert_eq!(leased.events.len(), 0);
        };
        known().await;
        let before = counts(&mut beside).await;
        for _ in 0..50 {
            known().await;
        }
        assert_eq!(counts(&mut beside).await, before);
        // That the numbers tell.
        accept(&store, "new").await;
        assert_ne!(counts(&mut beside).await, before);
    });
}

/// However many wait: what is leased, listed, dropped or purged is found by indexes, whatever the
/// server knows of the tables.
#[test]
fn no_table_is_read_from_end_to_end() {
    const MANY: usize = 20_000;
    let bench = Bench::with(super::url(), &[], 1);
    let store = bench.store();
    run(async {
        let mut beside = bench.beside().await;
        fill(&mut beside, MANY).await;
        let read = "SELECT CAST(SUM(variable_value) AS SIGNED) FROM information_schema.session_status \
                    WHERE variable_name IN ('HANDLER_READ_RND_NEXT', 'HANDLER_READ_NEXT', \
                    'HANDLER_READ_RND')";
        let read = async || -> i64 {
            let mut connection = bench.pool.acquire().await.unwrap();
            number(&mut connection, read).await
        };
        // What asking costs.
        let asking = read().await;
        let asking = read().await - asking;
        for statistics in [
            "SELECT 1",
            "ANALYZE TABLE webhook_receipt, webhook_inbox, webhook_inbox_due",
        ] {
            let mut connection = bench.beside().await;
            sqlx::raw_sql(statistics)
                .fetch_all(&mut connection)
                .await
                .unwrap();
            let before = read().await;
            for _ in 0..8 {
                let leased = store.lease_due(Leasing::up_to(8)).await.unwrap();
                assert_eq!(leased.events.len(), 8);
                assert!(leased.more);
                leased
                    .events
                    .into_iter()
                    .for_each(|(lease, _)| crash(lease));
            }
            assert_eq!(store.purge(100).await.unwrap(), 100);
            for state in [State::Received, State::Processed] {
                let page = Listing::of(state).limit(10);
                let first = store.list(page).await.unwrap();
                assert_eq!(first.len(), 10);
                let next = store.list(page.after(&first[9].key)).await.unwrap();
                assert_eq!(next.len(), 10);
            }
            let old = Dropping::processed(Duration::ZERO).at_most(50);
            assert_eq!(store.drop_bodies(old).await.unwrap(), 50);
            let asked = read().await - before - asking;
            let many = i64::try_from(MANY).unwrap();
            assert!(asked > 0 && asked < many / 4, "{asked} rows were read");
        }
    });
}

/// So many events: every second waits, the others are done, and the retention of all is over.
async fn fill(connection: &mut sqlx::MySqlConnection, many: usize) {
    let now = micros(START) - 1;
    let (fingerprint, ids): (_, Vec<_>) =
        ("x".repeat(16), (0..many).map(|n| format!("e{n}")).collect());
    for (n, ids) in ids.chunks(1000).enumerate() {
        let rows = |row: &dyn Fn(&str, &str, usize) -> String| {
            let rows: Vec<_> = ids
                .iter()
                .enumerate()
                .map(|(n, id)| row(&hex(key(id).digest()), id, n % 2 * 2))
                .filter(|row| !row.is_empty())
                .collect();
            rows.join(", ")
        };
        let receipts = rows(&|key, id, state| {
            format!(
                "(x'{key}', CONV(LEFT('{key}', 4), 16, 10), {n}, 0, 1, {now}, {now}, {now}, {state}, \
                 '{fingerprint}', 'tenant', 'shop', '{id}')"
            )
        });
        let bodies =
            rows(&|key, _, _| format!("(x'{key}', {now}, {now}, 0, 'tenant', 'x', '', '')"));
        let due = rows(&|key, _, state| match state {
            0 => format!("(x'{key}', {now}, 'tenant')"),
            _ => String::new(),
        });
        batch(
            connection,
            &format!(
                "INSERT INTO webhook_receipt (`key`, slot, mark, attempts, fence, received_at, \
                 changed_at, expires_at, state, body_hash, tenant, provider, event_id) \
                 VALUES {receipts}; \
                 INSERT INTO webhook_inbox (`key`, accepted_at, received_at, coverage, tenant, scheme, \
                 headers, body) VALUES {bodies}; \
                 INSERT INTO webhook_inbox_due (`key`, due_at, tenant) VALUES {due}"
            ),
        )
        .await;
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn micros(at: time::OffsetDateTime) -> i64 {
    i64::try_from(at.unix_timestamp_nanos() / 1000).unwrap()
}

/// With such a session nothing would be committed.
#[test]
fn a_session_without_autocommit_is_misuse() {
    let there = Bench::new();
    run(accept(&there.store(), "e1"));
    let bench = Bench::of(&there.url, &there.schema, &["autocommit = 0"], 2);
    let store = bench.store();
    run(async {
        let leased = store.lease_due(Leasing::up_to(1)).await.map(|_| ());
        let answers = [
            store.accept(parcel("e1")).await.map(|_| ()),
            leased,
            store.requeue(&key("e1")).await.map(|_| ()),
            store.list(Listing::of(State::Received)).await.map(|_| ()),
            store.parked(&key("e1")).await.map(|_| ()),
            store
                .drop_bodies(Dropping::processed(LEASE))
                .await
                .map(|_| ()),
        ];
        for answer in answers {
            assert_eq!(answer.unwrap_err().kind(), StoreErrorKind::Misuse);
        }
    });
}
