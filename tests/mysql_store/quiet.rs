//! What must not write. Counted on servers on which nothing else runs.

use hookproof::{Claim, Fingerprint, IdempotencyStore, Verdict, store::sql::TxClaim};
use sqlx::MySqlConnection;

use super::{
    Bench, LEASE, MySql, ask, batch, busy, crash, duplicate, number, run, settle, win, win_in,
};

/// Transactions and bytes in the log of what was written, rows changed, and waits for locks, since
/// the server's start.
pub(super) async fn counts(connection: &mut MySqlConnection) -> Vec<(String, String)> {
    sqlx::query_as(
        "SHOW GLOBAL STATUS WHERE Variable_name IN ('Binlog_commits', 'Binlog_bytes_written', \
         'Handler_update', 'Handler_delete', 'Innodb_rows_inserted', 'Innodb_rows_updated', \
         'Innodb_rows_deleted', 'Innodb_row_lock_waits')",
    )
    .fetch_all(connection)
    .await
    .unwrap()
}

/// A load of known events writes no row and waits for nobody, not even for who has the rows locked.
#[test]
fn known_events_are_answered_without_writing_or_locking() {
    let server = run(MySql::start(&["--log-bin=log"]));
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

        let known = async || {
            duplicate(&store, "done").await;
            busy(&store, "running").await;
            busy(&store, "failed").await;
            let dead = store.claim(ask("dead")).await.unwrap();
            assert!(matches!(dead, Claim::Dead(_)));
            let changed = ask("done").fingerprint(Fingerprint::of(b"other content"));
            let conflict = store.claim(changed).await.unwrap();
            assert!(matches!(conflict, Claim::Conflict(_)));
            let mut tx = bench.pool.begin().await.unwrap();
            let claim = store.claim_in(&mut tx, ask("done")).await.unwrap();
            assert!(matches!(claim, TxClaim::Duplicate(_)));
            tx.commit().await.unwrap();
        };
        known().await;
        let mut beside = bench.beside().await;
        let before = counts(&mut beside).await;
        // Somebody has all of it locked.
        let mut other = bench.beside().await;
        batch(
            &mut other,
            "BEGIN; SELECT 1 FROM webhook_receipt FOR UPDATE; \
             SELECT 1 FROM webhook_receipt_slot FOR UPDATE",
        )
        .await;
        for _ in 0..250 {
            known().await;
        }
        batch(&mut other, "ROLLBACK").await;
        assert_eq!(
            before,
            counts(&mut beside).await,
            "known events were written about"
        );
        // That the numbers tell.
        let lease = win(&store, "new").await;
        let claimed = counts(&mut beside).await;
        settle(&store, lease, "").await;
        let settled = counts(&mut beside).await;
        let changed = |before: &[(String, String)], after: &[(String, String)]| {
            let pairs = before.iter().zip(after);
            pairs.filter(|(before, after)| before != after).count()
        };
        assert!(changed(&before, &claimed) >= 1, "{before:?} {claimed:?}");
        assert!(changed(&claimed, &settled) >= 1, "{claimed:?} {settled:?}");
    });
}

/// Nor does the one that is told that somebody else's transaction is at it.
#[test]
fn a_claim_that_is_held_up_writes_nothing() {
    let server = run(MySql::start(&["--log-bin=log"]));
    let bench = Bench::with(&server.url(), &[], 4);
    let store = bench.store();
    run(async {
        let mut beside = bench.beside().await;
        let mut tx = bench.pool.begin().await.unwrap();
        let lease = win_in(&store, &mut tx, "e1").await;
        busy(&store, "e1").await;
        let before = counts(&mut beside).await;
        for _ in 0..100 {
            busy(&store, "e1").await;
        }
        assert_eq!(before, counts(&mut beside).await);
        drop(lease);
        tx.rollback().await.unwrap();
    });
}

/// An index on a column that changes would be written with every change.
#[test]
fn no_index_has_a_column_that_changes() {
    let bench = Bench::new();
    run(async {
        let mut beside = bench.beside().await;
        let others = "SELECT COUNT(*) FROM information_schema.statistics \
                      WHERE table_schema = DATABASE() AND table_name = 'webhook_receipt' \
                      AND column_name NOT IN ('key', 'expires_at')";
        assert_eq!(number(&mut beside, others).await, 0);
    });
}
