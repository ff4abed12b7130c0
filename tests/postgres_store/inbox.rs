//! The inbox on a server: crashes, transactions, an older schema, and what is written.

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
    Claiming, IdempotencyStore, PostgresStore, Secrets, State, Verdict, Verified,
    inbox::{Accepted, InboxStore, Job, Leasing, Listing, Notice, Parcel, Worker},
    scheme,
    store::sql::TxClaim,
    testing::sign,
};

use super::{
    Bench, LEASE, PATIENCE, START, batch,
    common_server::postgres::Postgres,
    crash, duplicate, key, number,
    processes::{as_child, child, said, wait_to_be_killed},
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

fn parcel(id: &str) -> Parcel {
    verified(id, |delivery| {
        Parcel::new(delivery, Claiming::new(delivery, key(id)).lease(LEASE))
    })
}

async fn accept(store: &PostgresStore, id: &str) {
    let accepted = store.accept(parcel(id)).await.unwrap();
    assert!(matches!(accepted, Accepted::New(_)), "{accepted:?}");
}

async fn listed(store: &PostgresStore, state: State) -> usize {
    store.list(Listing::of(state)).await.unwrap().len()
}

/// Works off what is due, and says which event had which attempts.
async fn work_off(store: &PostgresStore, events: usize) -> HashMap<String, Vec<u32>> {
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

async fn win_of(store: &PostgresStore, id: &str) -> hookproof::Lease {
    super::won(store.claim(parcel(id).claiming().clone()).await.unwrap())
}

/// The schema as version 1 of it was.
const VERSION_1: &str = "\
CREATE TABLE IF NOT EXISTS webhook_receipt (
  key         uuid     NOT NULL PRIMARY KEY,
  attempts    bigint   NOT NULL,
  fence       bigint   NOT NULL,
  lease_until bigint,
  received_at bigint   NOT NULL,
  changed_at  bigint   NOT NULL,
  expires_at  bigint   NOT NULL,
  state       smallint NOT NULL CHECK (state BETWEEN 0 AND 4),
  body_hash   bytea    NOT NULL CHECK (octet_length(body_hash) = 16),
  tenant      text     COLLATE \"C\" NOT NULL,
  provider    text     COLLATE \"C\" NOT NULL,
  event_id    text     COLLATE \"C\" NOT NULL,
  result      bytea    CHECK (octet_length(result) <= 4096)
) WITH (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX IF NOT EXISTS webhook_receipt_expires ON webhook_receipt (expires_at);
CREATE SEQUENCE IF NOT EXISTS webhook_receipt_fence MINVALUE 0 START 0;
CREATE TABLE IF NOT EXISTS webhook_receipt_meta (
  one     integer NOT NULL PRIMARY KEY CHECK (one = 1),
  version bigint  NOT NULL
);
INSERT INTO webhook_receipt_meta (one, version) VALUES (1, 1) ON CONFLICT DO NOTHING;
";

#[test]
fn an_older_schema_gets_what_it_lacks_and_keeps_what_it_has() {
    let old = Bench::new();
    let bench = Bench::bare(super::url(), &[], 8);
    run(async {
        let lease = win(&old.store(), "e1").await;
        settle(&old.store(), lease, "done long ago").await;
        crash(win(&old.store(), "e2").await);
        let mut other = bench.beside().await;
        batch(&mut other, VERSION_1).await;
        let copy = format!(
            "INSERT INTO webhook_receipt SELECT * FROM {}.webhook_receipt",
            old.schema
        );
        batch(&mut other, &copy).await;
        // Several processes start on it at once.
        let stores: Vec<_> = (0..6).map(|_| bench.store()).collect();
        for started in super::races::all(stores.iter().map(PostgresStore::migrate)).await {
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
    });
}

/// What was left of a version 1 that is still running settles without a word to the queue.
#[test]
fn a_receipt_that_changed_behind_the_queue_decides() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        let mut other = bench.beside().await;
        for id in ["done", "dead", "waits", "empty", "due"] {
            accept(&store, id).await;
        }
        let until = i64::try_from((START + LEASE).unix_timestamp_nanos() / 1000).unwrap();
        for change in [
            "UPDATE webhook_receipt SET state = 2 WHERE event_id = 'done'",
            "UPDATE webhook_receipt SET state = 4 WHERE event_id = 'dead'",
            &format!(
                "UPDATE webhook_receipt SET state = 3, lease_until = {until} WHERE event_id = 'waits'"
            ),
            "DELETE FROM webhook_inbox WHERE convert_from(body, 'UTF8') = 'empty'",
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
        // In the queue are the one that is leased and the one that waits.
        let queued = "SELECT count(*) FROM webhook_inbox_due";
        assert_eq!(number(&mut other, queued).await, 2);
        bench.clock.advance(LEASE);
        let leased = store.lease_due(leasing).await.unwrap();
        assert_eq!(leased.events.len(), 2);
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
    });
}

/// Receipts stay on their pages although the queue is searched by time.
#[test]
fn updates_of_receipts_are_hot_with_an_inbox() {
    const EVENTS: i64 = 400;
    let server = run(Postgres::start(&["autovacuum=off"]));
    let bench = Bench::with(&server.url(), &[], 4);
    let store = bench.store();
    run(async {
        for n in 0..EVENTS {
            accept(&store, &format!("e{n}")).await;
        }
        for attempt in 1..=2 {
            let mut left = EVENTS;
            while left > 0 {
                // As many as a worker has handlers. A batch as long as a page's rows would find no
                // room on it, since the old versions are still needed.
                let leased = store.lease_due(Leasing::up_to(8)).await.unwrap();
                left -= i64::try_from(leased.events.len()).unwrap();
                for (lease, _) in leased.events {
                    let verdict = match attempt {
                        1 => Verdict::retry(LEASE),
                        _ => Verdict::done("a result of a common length: invoice 123"),
                    };
                    store.settle(lease, verdict).await.unwrap();
                }
            }
            bench.clock.advance(LEASE);
        }
        // Sessions tell their counts at their end.
        bench.pool.close().await;
        let mut beside = bench.beside().await;
        let updates = "SELECT coalesce(sum(n_tup_upd), 0)::bigint FROM pg_stat_user_tables \
                       WHERE relname = 'webhook_receipt'";
        let hot = "SELECT coalesce(sum(n_tup_hot_upd), 0)::bigint FROM pg_stat_user_tables \
                   WHERE relname = 'webhook_receipt'";
        let since = std::time::Instant::now();
        while number(&mut beside, updates).await < 4 * EVENTS {
            assert!(since.elapsed() < PATIENCE, "updates are missing");
        }
        let hot = number(&mut beside, hot).await;
        assert!(hot * 100 >= 4 * EVENTS * 90, "{hot} of {}", 4 * EVENTS);
        let bodies = "SELECT coalesce(sum(n_tup_upd), 0)::bigint FROM pg_stat_user_tables \
                      WHERE relname = 'webhook_inbox'";
        assert_eq!(
            number(&mut beside, bodies).await,
            0,
            "bodies were rewritten"
        );
    });
}

/// A duplicate of what waits is answered by reading.
#[test]
fn duplicates_in_the_inbox_write_nothing() {
    let server = run(Postgres::start(&[
        "autovacuum=off",
        "checkpoint_timeout=1d",
    ]));
    let bench = Bench::with(&server.url(), &[], 2);
    let store = bench.store();
    run(async {
        accept(&store, "waits").await;
        accept(&store, "done").await;
        let mut leased = store.lease_due(Leasing::up_to(2)).await.unwrap().events;
        leased.retain(|(lease, _)| lease.key() == &key("done"));
        settle(&store, leased.remove(0).0, "").await;
        let mut beside = bench.beside().await;
        batch(
            &mut beside,
            "VACUUM webhook_receipt, webhook_inbox, webhook_inbox_due",
        )
        .await;
        let known = async || {
            for id in ["waits", "done"] {
                let accepted = store.accept(parcel(id)).await.unwrap();
                assert!(!matches!(accepted, Accepted::New(_)), "{accepted:?}");
            }
        };
        known().await;
        let next = "SELECT txid_snapshot_xmax(txid_current_snapshot())";
        let before = number(&mut beside, next).await;
        for _ in 0..50 {
            known().await;
        }
        assert_eq!(number(&mut beside, next).await, before);
    });
}

/// However many wait: what is leased, listed, dropped or purged is found by indexes, whatever the
/// planner knows of the tables.
#[test]
fn no_table_is_read_from_end_to_end() {
    const MANY: i64 = 20_000;
    let server = run(Postgres::start(&["autovacuum=off"]));
    let bench = Bench::with(&server.url(), &[], 1);
    let store = bench.store();
    run(async {
        accept(&store, "seed").await;
        let mut beside = bench.beside().await;
        for fill in [
            &*format!(
                "INSERT INTO webhook_receipt SELECT gen_random_uuid(), 0, 1, NULL, received_at, \
                 changed_at, received_at, CASE WHEN n % 2 = 0 THEN 0 ELSE 2 END, body_hash, tenant, \
                 provider, 'e' || n, NULL FROM webhook_receipt, generate_series(1, {MANY}) n"
            ),
            "INSERT INTO webhook_inbox SELECT key, received_at, received_at, NULL, 0, tenant, 'x', \
             NULL, NULL, NULL, '', '' FROM webhook_receipt WHERE event_id <> 'seed'",
            "INSERT INTO webhook_inbox_due SELECT key, received_at, tenant FROM webhook_receipt \
             WHERE event_id <> 'seed' AND state = 0",
        ] {
            batch(&mut beside, fill).await;
        }
        let read = "SELECT sum(seq_tup_read)::bigint FROM pg_stat_user_tables \
                    WHERE relname IN ('webhook_receipt', 'webhook_inbox', 'webhook_inbox_due')";
        let tell = "SELECT pg_stat_force_next_flush()";
        let mut read_before = None;
        for statistics in ["SELECT 1", "ANALYZE"] {
            batch(&mut beside, statistics).await;
            for _ in 0..8 {
                let leased = store.lease_due(Leasing::up_to(8)).await.unwrap();
                assert!(!leased.events.is_empty() || leased.unreadable > 0);
                leased
                    .events
                    .into_iter()
                    .for_each(|(lease, _)| crash(lease));
            }
            store.purge(100).await.unwrap();
            let page = Listing::of(State::Received).limit(10);
            let _ = store.list(page).await;
            sqlx::query(tell).execute(&bench.pool).await.unwrap();
            batch(&mut beside, tell).await;
            batch(&mut beside, "SELECT pg_stat_clear_snapshot()").await;
            let now = number(&mut beside, read).await;
            // Filling them, and looking for statistics, is not ours.
            let before = read_before.replace(now);
            if let Some(before) = before {
                assert!(now - before < MANY / 2, "{} rows were read", now - before);
            } else {
                assert!(now < 4 * MANY, "{now} rows were read");
            }
        }
    });
}
