//! What must not write, and what must be written in place. Counted on servers on which nothing
//! else runs.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use hookproof::{
    Claim, Fingerprint, IdempotencyStore, Verdict,
    clock::Clock,
    store::{BatchStore, StatsStore, sql::TxClaim},
    testing::ManualClock,
};
use sqlx::PgConnection;
use time::OffsetDateTime;

use super::{
    Bench, LEASE, PATIENCE, Postgres, ask, batch, busy, crash, duplicate, number, run, settle, win,
};

/// Nothing writes to the log by itself here.
const SILENT: [&str; 4] = [
    "autovacuum=off",
    "wal_level=minimal",
    "max_wal_senders=0",
    "checkpoint_timeout=1d",
];

async fn log_position(connection: &mut PgConnection) -> i64 {
    let position = "SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint";
    number(connection, position).await
}

/// The number that the next transaction that writes will have.
async fn next_transaction(connection: &mut PgConnection) -> i64 {
    number(
        connection,
        "SELECT txid_snapshot_xmax(txid_current_snapshot())",
    )
    .await
}

/// A load of known events takes no lock on a row, adds nothing to the log and uses no transaction
/// numbers up.
#[test]
fn known_events_are_answered_without_writing() {
    let server = run(Postgres::start(&SILENT));
    let bench = Bench::with(&server.url(), &[], 4);
    let store = bench.store();
    run(async {
        let lease = win(&store, "done").await;
        settle(&store, lease, "done").await;
        crash(win(&store, "running").await);
        let lease = win(&store, "dead").await;
        store.settle(lease, Verdict::dead("no")).await.unwrap();
        let lease = win(&store, "failed").await;
        store.settle(lease, Verdict::retry(LEASE)).await.unwrap();
        let mut beside = bench.beside().await;
        // What readers tidy up, they tidy up once.
        batch(&mut beside, "VACUUM webhook_receipt").await;

        let known = async || {
            duplicate(&store, "done").await;
            busy(&store, "running").await;
            busy(&store, "failed").await;
            let dead = store.claim(ask("dead")).await.unwrap();
            assert!(matches!(dead, Claim::Dead(_)));
            let changed = ask("done").fingerprint(Fingerprint::of(b"other content"));
            let conflict = store.claim(changed).await.unwrap();
            assert!(matches!(conflict, Claim::Conflict(_)));
            let ids = ["done", "running", "failed", "dead", "done"];
            let many = store.claim_many(ids.map(ask).to_vec()).await.unwrap();
            assert_eq!(many.len(), ids.len());
            assert_eq!(store.stats().await.unwrap().total(), 4);
            let mut tx = bench.pool.begin().await.unwrap();
            let claim = store.claim_in(&mut tx, ask("done")).await.unwrap();
            assert!(matches!(claim, TxClaim::Duplicate(_)));
            tx.commit().await.unwrap();
        };
        known().await;
        let before = (
            log_position(&mut beside).await,
            next_transaction(&mut beside).await,
        );
        for _ in 0..250 {
            known().await;
        }
        let after = (
            log_position(&mut beside).await,
            next_transaction(&mut beside).await,
        );
        assert_eq!(before, after, "known events were written about");
        // That the numbers tell.
        let lease = win(&store, "new").await;
        settle(&store, lease, "").await;
        assert!(log_position(&mut beside).await > before.0);
        assert_eq!(next_transaction(&mut beside).await, before.1 + 2);
    });
}

/// Nor does the one that is told that somebody else's transaction is at it.
#[test]
fn a_claim_that_is_held_up_writes_nothing() {
    let server = run(Postgres::start(&SILENT));
    let bench = Bench::with(&server.url(), &[], 4);
    let store = bench.store();
    run(async {
        let mut beside = bench.beside().await;
        let mut tx = bench.pool.begin().await.unwrap();
        let lease = super::win_in(&store, &mut tx, "e1").await;
        busy(&store, "e1").await;
        let before = (
            log_position(&mut beside).await,
            next_transaction(&mut beside).await,
        );
        for _ in 0..100 {
            busy(&store, "e1").await;
        }
        let after = (
            log_position(&mut beside).await,
            next_transaction(&mut beside).await,
        );
        assert_eq!(before, after);
        drop(lease);
        tx.rollback().await.unwrap();
    });
}

/// Asked once for each statement, so it counts them.
#[derive(Clone)]
struct Counting(Arc<AtomicUsize>, ManualClock);

impl Clock for Counting {
    fn now(&self) -> OffsetDateTime {
        self.0.fetch_add(1, Ordering::SeqCst);
        self.1.now()
    }
}

/// Each statement is a round trip.
#[test]
fn a_claim_is_one_statement() {
    let bench = Bench::new();
    let statements = Arc::new(AtomicUsize::new(0));
    let clock = Counting(statements.clone(), bench.clock.clone());
    let store = bench.builder().clock(clock).build();
    let since = || statements.swap(0, Ordering::SeqCst);
    run(async {
        let lease = win(&store, "e1").await;
        assert_eq!(since(), 1, "a new event");
        busy(&store, "e1").await;
        assert_eq!(since(), 1, "one in progress");
        settle(&store, lease, "done").await;
        assert_eq!(since(), 1, "a settlement");
        duplicate(&store, "e1").await;
        assert_eq!(since(), 1, "a duplicate");

        crash(win(&store, "e2").await);
        bench.clock.advance(LEASE);
        since();
        crash(win(&store, "e2").await);
        assert_eq!(since(), 2, "a takeover");

        let mut tx = bench.pool.begin().await.unwrap();
        drop(super::win_in(&store, &mut tx, "e3").await);
        assert_eq!(since(), 1, "in a transaction");
        tx.rollback().await.unwrap();
        let mut tx = bench.beside().await;
        batch(&mut tx, "BEGIN").await;
        drop(super::win_in(&store, &mut tx, "e3").await);
        assert_eq!(since(), 2, "in one that the look makes sure of");
    });
}

/// Every change of a row stays on its page and touches no index, since none has a column that
/// changes.
#[test]
fn updates_are_hot() {
    const EVENTS: i64 = 400;
    let server = run(Postgres::start(&["autovacuum=off"]));
    let bench = Bench::with(&server.url(), &[], 4);
    let store = bench.store();
    run(async {
        for n in 0..EVENTS {
            let id = format!("e{n}");
            let lease = win(&store, &id).await;
            let lease = store.renew(lease, LEASE).await.unwrap();
            store.settle(lease, Verdict::retry(LEASE)).await.unwrap();
        }
        bench.clock.advance(LEASE);
        let (half, ids) = (EVENTS / 2, |n| format!("e{n}"));
        let batch = (0..half).map(|n| ask(&ids(n))).collect();
        let mut leases = Vec::new();
        for claim in store.claim_many(batch).await.unwrap() {
            leases.push(super::won(claim.unwrap()));
        }
        for n in half..EVENTS {
            leases.push(win(&store, &ids(n)).await);
        }
        for lease in leases {
            settle(
                &store,
                lease,
                "a result of a common length: created invoice 123",
            )
            .await;
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
        // A page that is full at the wrong moment may move a row now and then.
        assert!(hot * 100 >= 4 * EVENTS * 95, "{hot} of {}", 4 * EVENTS);
    });
}
