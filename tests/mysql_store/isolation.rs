//! Isolation levels, and what a transaction that began earlier sees.

use std::error::Error as _;

use hookproof::{
    Claim, IdempotencyStore, Verdict,
    store::{SettleFault, StoreErrorKind, sql::TxClaim},
};
use sqlx::MySqlConnection;

use super::{
    Bench, LEASE, ask, batch, busy, crash, duplicate, key, number, run, settle, statement, win,
    win_in,
};

const LEVELS: [&str; 2] = ["READ COMMITTED", "REPEATABLE READ"];
const RECEIPTS: &str = "SELECT COUNT(*) FROM webhook_receipt";

/// A transaction that has seen the database as it is now.
async fn begun(bench: &Bench, level: &str) -> MySqlConnection {
    let mut tx = bench.beside().await;
    let begin = format!("SET SESSION TRANSACTION ISOLATION LEVEL {level}; BEGIN");
    batch(&mut tx, &begin).await;
    number(&mut tx, RECEIPTS).await;
    tx
}

/// So that the suite runs under what it says it runs under.
#[test]
fn sessions_have_the_level_that_was_asked_for() {
    for level in ["READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"] {
        let set = format!("SESSION TRANSACTION ISOLATION LEVEL {level}");
        let bench = Bench::with(super::url(), &[&set], 1);
        run(async {
            let show = "SELECT /*!80000 @@transaction_isolation */ /*M! @@tx_isolation */";
            let shown: String = sqlx::query_scalar(show)
                .fetch_one(&bench.pool)
                .await
                .unwrap();
            assert_eq!(shown, level.replace(' ', "-"));
        });
    }
}

#[test]
fn a_transaction_of_any_level_claims_and_settles() {
    let bench = Bench::new();
    let store = bench.store();
    for level in ["READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"] {
        run(async {
            let mut tx = begun(&bench, level).await;
            let lease = win_in(&store, &mut tx, level).await;
            let done = Verdict::done(level);
            store.settle_in(&mut tx, lease, done).await.unwrap();
            let again = store.claim_in(&mut tx, ask(level)).await.unwrap();
            assert!(matches!(again, TxClaim::Duplicate(_)));
            batch(&mut tx, "COMMIT").await;
            assert_eq!(duplicate(&store, level).await.result, level.as_bytes());
        });
    }
}

/// REPEATABLE READ hides the row of a winner that was committed after the transaction began, and
/// whoever only looks there finds nothing and acts again.
#[test]
fn repeatable_read_hides_the_winners_row() {
    let bench = Bench::new();
    let store = bench.store();
    for level in LEVELS {
        run(async {
            let mut tx = begun(&bench, level).await;
            let before = number(&mut tx, RECEIPTS).await;
            let lease = win(&store, level).await;
            settle(&store, lease, "the winner's").await;
            let hidden = number(&mut tx, RECEIPTS).await == before;
            assert_eq!(hidden, level == "REPEATABLE READ");
            match store.claim_in(&mut tx, ask(level)).await.unwrap() {
                TxClaim::Duplicate(receipt) => assert_eq!(receipt.result, b"the winner's"),
                other => panic!("{level}: {other:?}"),
            }
            // And the transaction goes on.
            let lease = win_in(&store, &mut tx, &format!("{level}'s own")).await;
            store
                .settle_in(&mut tx, lease, Verdict::done(""))
                .await
                .unwrap();
            batch(&mut tx, "COMMIT").await;
        });
    }
}

/// The same for a row that was claimable when the transaction began.
#[test]
fn a_takeover_from_an_old_snapshot_is_refused() {
    let bench = Bench::new();
    let store = bench.store();
    for level in LEVELS {
        run(async {
            crash(win(&store, level).await);
            bench.clock.advance(LEASE);
            let mut tx = begun(&bench, level).await;
            let lease = win(&store, level).await;
            match store.claim_in(&mut tx, ask(level)).await.unwrap() {
                TxClaim::InProgress { receipt, .. } => assert_eq!(receipt.attempts, 2),
                other => panic!("{level}: {other:?}"),
            }
            batch(&mut tx, "COMMIT").await;
            settle(&store, lease, "").await;
        });
    }
}

/// A MariaDB that does not let a transaction lock what was written since its snapshot says so, and
/// not by a deadlock's number.
#[test]
fn a_snapshot_that_is_too_old_is_run_again() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        let mut tx = bench.beside().await;
        let known = "SELECT COUNT(*) FROM information_schema.system_variables \
                     WHERE variable_name = 'INNODB_SNAPSHOT_ISOLATION'";
        assert_eq!(number(&mut tx, known).await, 1, "MariaDB 10.6.18 and newer");
        let begin = "SET innodb_snapshot_isolation = ON; BEGIN";
        for id in ["hidden", "known"] {
            if id == "known" {
                crash(win(&store, id).await);
                bench.clock.advance(LEASE);
            }
            batch(&mut tx, begin).await;
            number(&mut tx, RECEIPTS).await;
            let lease = win(&store, id).await;
            settle(&store, lease, "the winner's").await;
            let error = store.claim_in(&mut tx, ask(id)).await.unwrap_err();
            assert_eq!(error.kind(), StoreErrorKind::Serialization, "{id}");
            assert!(error.kind().is_transient() && error.source().is_some());
            batch(&mut tx, "ROLLBACK").await;
            // Run again from its start, it sees.
            batch(&mut tx, begin).await;
            match store.claim_in(&mut tx, ask(id)).await.unwrap() {
                TxClaim::Duplicate(receipt) => assert_eq!(receipt.result, b"the winner's"),
                other => panic!("{other:?}"),
            }
            batch(&mut tx, "ROLLBACK").await;
        }
    });
    // On the pool nothing lasts that could have an old snapshot.
    let snapshots = ["innodb_snapshot_isolation = ON"];
    let pool = Bench::of(&bench.url, &bench.schema, &snapshots, 8);
    let store = pool.builder().build();
    run(async {
        let claims = super::races::all((0..30).map(|_| store.claim(ask("raced")))).await;
        let won = claims
            .into_iter()
            .filter(|claim| matches!(claim.as_ref().unwrap(), Claim::New(_)));
        assert_eq!(won.count(), 1);
    });
}

/// The highest deleted fence is read as it is, however old the transaction's snapshot.
#[test]
fn a_fence_does_not_come_again_in_an_old_snapshot() {
    let bench = Bench::new();
    let store = bench.store();
    for level in LEVELS {
        run(async {
            let mut tx = begun(&bench, level).await;
            let old = win(&store, level).await;
            store.forget(&key(level)).await.unwrap().unwrap();
            let lease = win_in(&store, &mut tx, level).await;
            assert!(lease.fence() > old.fence(), "{level}: a fence came again");
            let done = Verdict::done("");
            store.settle_in(&mut tx, lease, done).await.unwrap();
            batch(&mut tx, "COMMIT").await;
            let error = store.settle(old, Verdict::done("")).await.unwrap_err();
            assert!(matches!(error.fault, SettleFault::LeaseLost));
        });
    }
}

/// A deadlock with somebody else's transaction that has more to lose: on the pool there is nothing
/// of the caller's to run again, so it is run again here.
#[test]
fn a_statement_that_was_called_off_is_run_again_on_the_pool() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        let lease = win(&store, "e1").await;
        settle(&store, lease, "done").await;
        let mut tx = bench.beside().await;
        batch(
            &mut tx,
            "CREATE TABLE heavy (n int PRIMARY KEY) ENGINE = InnoDB",
        )
        .await;
        batch(
            &mut tx,
            "BEGIN; INSERT INTO heavy SELECT slot FROM webhook_receipt_slot WHERE slot < 1000; \
             SELECT expires_at FROM webhook_receipt FORCE INDEX (webhook_receipt_expires) \
             WHERE expires_at > 0 LOCK IN SHARE MODE",
        )
        .await;
        let key = key("e1");
        let deadlocks = "SELECT CAST(variable_value AS SIGNED) FROM information_schema.global_status \
                         WHERE variable_name = 'INNODB_DEADLOCKS'";
        let mut beside = bench.beside().await;
        let before = number(&mut beside, statement(deadlocks)).await;
        let (forgotten, ()) = tokio::join!(store.forget(&key), async {
            bench.waiting(1).await;
            // It has the row and waits for the index; this has the index.
            batch(&mut tx, "SELECT 1 FROM webhook_receipt FOR UPDATE").await;
            batch(&mut tx, "COMMIT").await;
        });
        assert_eq!(forgotten.unwrap().unwrap().result, b"done");
        assert!(number(&mut beside, statement(deadlocks)).await > before);
        assert_eq!(store.get(&key).await.unwrap(), None);
    });
}

/// After a deadlock MySQL has rolled the transaction back and goes on without one: what is written
/// next would be committed by itself.
#[test]
fn a_transaction_that_was_rolled_back_by_the_server_settles_nothing() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        let mut tx = begun(&bench, "REPEATABLE READ").await;
        let lease = win_in(&store, &mut tx, "e1").await;
        // As the server does it.
        batch(&mut tx, "ROLLBACK").await;
        let settled = store.settle_in(&mut tx, lease, Verdict::done(""));
        let error = settled.await.unwrap_err();
        assert!(
            matches!(&error.fault, SettleFault::Store(e) if e.kind() == StoreErrorKind::Misuse)
        );
        drop(error);
        assert_eq!(bench.abandoned.count(), 1);
        let error = store.claim_in(&mut tx, ask("e2")).await.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Misuse);
        let lease = win(&store, "e1").await;
        busy(&store, "e1").await;
        settle(&store, lease, "").await;
    });
}
