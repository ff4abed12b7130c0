//! Isolation levels that are stricter than READ COMMITTED.

use std::error::Error as _;

use hookproof::{
    IdempotencyStore, Verdict,
    store::{SettleFault, StoreErrorKind, sql::TxClaim},
};
use sqlx::{Connection, PgConnection};

use super::{Bench, LEASE, ask, batch, crash, duplicate, key, number, run, settle, win, win_in};

/// The levels, and whether the driver knows of the transaction.
const STRICT: [(&str, bool); 4] = [
    ("REPEATABLE READ", false),
    ("REPEATABLE READ", true),
    ("SERIALIZABLE", false),
    ("SERIALIZABLE", true),
];

/// A transaction that has seen the database as it is now.
async fn begun(bench: &Bench, (level, known): (&str, bool)) -> PgConnection {
    let mut tx = bench.beside().await;
    let set = format!("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL {level}");
    batch(&mut tx, &set).await;
    if known {
        // What it hands out would roll back at its end.
        std::mem::forget(tx.begin().await.unwrap());
    } else {
        batch(&mut tx, "BEGIN").await;
    }
    assert_eq!(tx.is_in_transaction(), known);
    number(&mut tx, "SELECT count(*) FROM webhook_receipt").await;
    tx
}

/// So that the suite runs under what it says it runs under.
#[test]
fn sessions_have_the_level_that_was_asked_for() {
    for level in ["read committed", "repeatable read", "serializable"] {
        let bench = Bench::with(super::url(), &[("default_transaction_isolation", level)], 1);
        run(async {
            let shown: String = sqlx::query_scalar("SHOW transaction_isolation")
                .fetch_one(&bench.pool)
                .await
                .unwrap();
            assert_eq!(shown, level);
        });
    }
}

#[test]
fn a_strict_transaction_claims_and_settles() {
    for way @ (level, _) in STRICT {
        let bench = Bench::new();
        let store = bench.store();
        run(async {
            let mut tx = begun(&bench, way).await;
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
/// whoever looks there finds nothing and acts again.
#[test]
fn repeatable_read_hides_the_winners_row() {
    for way @ (level, _) in STRICT {
        let bench = Bench::new();
        let store = bench.store();
        run(async {
            let mut tx = begun(&bench, way).await;
            let lease = win(&store, level).await;
            settle(&store, lease, "the winner's").await;
            let error = store.claim_in(&mut tx, ask(level)).await.unwrap_err();
            assert_eq!(error.kind(), StoreErrorKind::Serialization, "{way:?}");
            assert!(error.kind().is_transient() && error.source().is_some());
            batch(&mut tx, "ROLLBACK").await;
            // Run again from its start, it sees.
            let mut tx = begun(&bench, way).await;
            match store.claim_in(&mut tx, ask(level)).await.unwrap() {
                TxClaim::Duplicate(receipt) => assert_eq!(receipt.result, b"the winner's"),
                other => panic!("{other:?}"),
            }
        });
    }
}

/// The same for a row that was claimable when the transaction began.
#[test]
fn a_takeover_from_an_old_snapshot_is_refused() {
    for way @ (level, _) in STRICT {
        let bench = Bench::new();
        let store = bench.store();
        run(async {
            crash(win(&store, level).await);
            bench.clock.advance(LEASE);
            let mut tx = begun(&bench, way).await;
            let lease = win(&store, level).await;
            let error = store.claim_in(&mut tx, ask(level)).await.unwrap_err();
            assert_eq!(error.kind(), StoreErrorKind::Serialization, "{way:?}");
            settle(&store, lease, "").await;
        });
    }
}

/// The highest deleted fence is read as it is, however old the transaction's snapshot.
#[test]
fn a_fence_does_not_come_again_in_an_old_snapshot() {
    for way @ (level, _) in STRICT {
        let bench = Bench::new();
        let store = bench.store();
        run(async {
            let mut tx = begun(&bench, way).await;
            let old = win(&store, level).await;
            store.forget(&key(level)).await.unwrap().unwrap();
            let lease = win_in(&store, &mut tx, level).await;
            assert!(lease.fence() > old.fence(), "{way:?}: a fence came again");
            let done = Verdict::done("");
            store.settle_in(&mut tx, lease, done).await.unwrap();
            batch(&mut tx, "COMMIT").await;
            let error = store.settle(old, Verdict::done("")).await.unwrap_err();
            assert!(matches!(error.fault, SettleFault::LeaseLost));
        });
    }
}

/// Under a stricter default the server calls a statement off when its row was written since it
/// began. On the pool there is no transaction of the caller's to run again, so it is run again here.
#[test]
fn a_statement_that_was_called_off_is_run_again_on_the_pool() {
    for level in ["repeatable read", "serializable"] {
        let settings = [("default_transaction_isolation", level)];
        let bench = Bench::with(super::url(), &settings, 4);
        let store = bench.store();
        run(async {
            let mut other = bench.beside().await;
            let written_meanwhile = async |other: &mut PgConnection| {
                bench.waiting(1, "transactionid").await;
                batch(other, "COMMIT").await;
            };
            let write = "BEGIN; UPDATE webhook_receipt SET changed_at = changed_at";

            let lease = win(&store, "e1").await;
            store.release(lease).await.unwrap();
            batch(&mut other, write).await;
            let call = store.claim(ask("e1"));
            let (claim, ()) = tokio::join!(call, written_meanwhile(&mut other));
            let lease = super::won(claim.unwrap());

            batch(&mut other, write).await;
            let call = store.settle(lease, Verdict::done("done"));
            let (settled, ()) = tokio::join!(call, written_meanwhile(&mut other));
            assert_eq!(settled.unwrap(), duplicate(&store, "e1").await);

            batch(&mut other, write).await;
            let key = key("e1");
            let call = store.forget(&key);
            let (forgotten, ()) = tokio::join!(call, written_meanwhile(&mut other));
            assert_eq!(forgotten.unwrap().unwrap().result, b"done");
        });
    }
}

/// As on a standby: what is known is told, and what is new is not accepted.
#[test]
fn sessions_that_may_only_read_tell_what_is_known() {
    let bench = Bench::new();
    let store = bench.store();
    let reading = [("default_transaction_read_only", "on")];
    let reading = Bench::of(&bench.url, &bench.schema, &reading, 1);
    let reader = reading.store();
    run(async {
        let lease = win(&store, "e1").await;
        settle(&store, lease, "done").await;
        assert_eq!(duplicate(&reader, "e1").await.result, b"done");
        let error = reader.claim(ask("e2")).await.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Unavailable);
        assert_eq!(store.get(&key("e2")).await.unwrap(), None);
    });
}

/// A transaction that has failed answers nothing, and says so.
#[test]
fn a_failed_transaction_is_misuse() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        let mut tx = begun(&bench, ("READ COMMITTED", false)).await;
        let lease = win_in(&store, &mut tx, "e1").await;
        super::try_batch(&mut tx, "SELECT 1 / 0").await.unwrap_err();
        let error = store.claim_in(&mut tx, ask("e2")).await.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Misuse);
        let settled = store.settle_in(&mut tx, lease, Verdict::done(""));
        let error = settled.await.unwrap_err();
        assert!(
            matches!(&error.fault, SettleFault::Store(e) if e.kind() == StoreErrorKind::Misuse)
        );
        batch(&mut tx, "ROLLBACK").await;
        drop(error);
        assert_eq!(bench.abandoned.count(), 1);
        let lease = win(&store, "e1").await;
        settle(&store, lease, "").await;
    });
}
