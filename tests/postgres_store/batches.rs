//! Batches on PostgreSQL: what holds them up, what they write, and what they are judged by.

use hookproof::{
    Claim, IdempotencyStore, Lease, Verdict,
    store::{BatchStore, MAX_BATCH, StoreErrorKind},
};

use super::{Bench, LEASE, START, ask, batch, busy, crash, key, number, run, settle, win, win_in};

/// The lock of all batches, as the statements number it.
const BATCHES: &str = "7378697629483820646 # 'webhook_receipt'::regclass::oid::bigint";

fn asks(events: std::ops::Range<usize>) -> Vec<hookproof::Claiming> {
    events.map(|n| ask(&format!("e{n}"))).collect()
}

async fn claim_many(
    store: &hookproof::PostgresStore,
    events: std::ops::Range<usize>,
) -> Vec<Claim> {
    let claims = store.claim_many(asks(events)).await.unwrap();
    claims.into_iter().map(Result::unwrap).collect()
}

fn leases(claims: Vec<Claim>) -> Vec<Lease> {
    claims.into_iter().map(super::won).collect()
}

/// Its event is in progress, and the batch claims the others without waiting for it.
#[test]
fn a_transaction_that_lasts_does_not_hold_up_a_batch() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        let mut tx = bench.pool.begin().await.unwrap();
        let held = win_in(&store, &mut tx, "e2").await;
        let mut claims = claim_many(&store, 0..5).await;
        match claims.remove(2) {
            Claim::InProgress { receipt, .. } => assert_eq!(receipt.fence.0, 0),
            other => panic!("{other:?}"),
        }
        assert_eq!(leases(claims).into_iter().map(crash).count(), 4);
        drop(held);
        tx.rollback().await.unwrap();
        crash(win(&store, "e2").await);
    });
}

/// Nor does a batch keep an event from others once it is over.
#[test]
fn no_lock_outlives_a_batch() {
    let bench = Bench::with(super::url(), &[], 1);
    let store = bench.store();
    run(async {
        leases(claim_many(&store, 0..MAX_BATCH).await)
            .into_iter()
            .for_each(crash);
        let mut same = bench.pool.acquire().await.unwrap();
        let locks = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' \
                     AND pid = pg_backend_pid()";
        assert_eq!(number(&mut same, locks).await, 0);
    });
}

/// The highest deleted fence is read when no deletion is under way any more.
#[test]
fn a_fence_does_not_come_again_after_a_deletion_beside_a_batch() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        let mut tx = bench.beside().await;
        batch(
            &mut tx,
            &format!("BEGIN; SELECT pg_advisory_xact_lock({BATCHES})"),
        )
        .await;
        let (claims, ()) = tokio::join!(claim_many(&store, 0..3), async {
            bench.waiting(1, "advisory").await;
            let raise = "SELECT setval('webhook_receipt_fence', 1::bigint << 60)";
            number(&mut tx, raise).await;
            batch(&mut tx, "COMMIT").await;
        });
        for lease in leases(claims) {
            assert_eq!(lease.fence().0, (1 << 60) + 1);
            crash(lease);
        }
    });
}

/// A deletion waits for batches under way, and batches for deletions, but for neither's rows.
#[test]
fn deletions_wait_for_batches() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        let lease = win(&store, "e1").await;
        settle(&store, lease, "").await;
        bench.clock.set(START + 31 * 24 * 60 * LEASE);
        let mut tx = bench.beside().await;
        let share = format!("BEGIN; SELECT pg_advisory_xact_lock_shared({BATCHES})");
        batch(&mut tx, &share).await;
        let e1 = key("e1");
        let deleted = async { tokio::join!(store.purge(10), store.forget(&e1)) };
        let ((purged, forgotten), ()) = tokio::join!(deleted, async {
            bench.waiting(2, "advisory").await;
            // Claims by themselves have their own locks.
            crash(win(&store, "e2").await);
            batch(&mut tx, "COMMIT").await;
        });
        let gone = purged.unwrap() + usize::from(forgotten.unwrap().is_some());
        assert_eq!(gone, 1, "one row was deleted once");
    });
}

/// However many events are new.
#[test]
fn a_batch_is_one_transaction() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        let transactions = async || {
            let ids = "SELECT count(DISTINCT xmin::text) FROM webhook_receipt";
            number(&mut bench.pool.acquire().await.unwrap(), ids).await
        };
        leases(claim_many(&store, 0..500).await)
            .into_iter()
            .for_each(crash);
        assert_eq!(transactions().await, 1);
        bench.clock.advance(LEASE);
        // Half of them are taken over, the others are new.
        leases(claim_many(&store, 250..750).await)
            .into_iter()
            .for_each(crash);
        assert_eq!(transactions().await, 2);
    });
}

/// One row that cannot be read does not keep the other events from being claimed.
#[test]
fn a_corrupt_row_fails_alone() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        crash(win(&store, "e1").await);
        let other = "UPDATE webhook_receipt SET event_id = 'of another event'";
        batch(&mut bench.pool.acquire().await.unwrap(), other).await;
        let mut claims = store.claim_many(asks(0..3)).await.unwrap();
        let error = claims.remove(1).unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Corrupt);
        let claims: Vec<_> = claims.into_iter().map(Result::unwrap).collect();
        for lease in leases(claims) {
            store.settle(lease, Verdict::done("")).await.unwrap();
        }
        alone_it_is_corrupt(&store).await;
    });
}

async fn alone_it_is_corrupt(store: &hookproof::PostgresStore) {
    let alone = store.claim(ask("e1")).await.unwrap_err();
    assert_eq!(alone.kind(), StoreErrorKind::Corrupt);
}

/// A server that has no room for the locks says so, and nothing was claimed.
#[test]
fn without_room_for_its_locks_a_batch_claims_nothing() {
    let settings = ["max_locks_per_transaction=10", "max_connections=10"];
    let server = run(super::Postgres::start(&settings));
    // One session: the error is told before the locks are let go of, so another could come too soon.
    let bench = Bench::with(&server.url(), &[], 1);
    let store = bench.store();
    run(async {
        let error = store.claim_many(asks(0..MAX_BATCH)).await.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Unavailable);
        assert!(error.kind().is_transient());
        let rows = "SELECT count(*) FROM webhook_receipt";
        let mut session = bench.pool.acquire().await.unwrap();
        assert_eq!(number(&mut session, rows).await, 0);
        drop(session);
        leases(claim_many(&store, 0..50).await)
            .into_iter()
            .for_each(crash);
        busy(&store, "e1").await;
    });
}

/// Of a table that is larger than may be read, numbers are of a sample, and come out about right.
#[test]
fn numbers_of_a_large_table_are_estimates() {
    use hookproof::store::StatsStore;
    let bench = Bench::new();
    run(async {
        let exact = bench.store();
        for at in 0..4 {
            leases(claim_many(&exact, at * 1000..(at + 1) * 1000).await)
                .into_iter()
                .for_each(crash);
        }
        let stats = exact.stats().await.unwrap();
        assert!(stats.exact);
        assert_eq!((stats.in_progress, stats.total()), (4000, 4000));

        let sampling = bench.builder().clock(bench.clock.clone());
        let sampling = sampling.stats_bytes(160 * 1024).build();
        let mut sum = 0;
        for _ in 0..50 {
            let stats = sampling.stats().await.unwrap();
            assert!(!stats.exact);
            assert_eq!(stats.in_progress, stats.total());
            sum += stats.total();
        }
        // Each is within some 20 % of 4,000, so their mean is far within half of it.
        assert!((2_000..6_000).contains(&(sum / 50)), "{sum}");
    });
}
