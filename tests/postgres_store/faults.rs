//! Connections and servers that go away, and pools that are empty.

use std::{sync::Arc, time::Duration};

use hookproof::{
    Claim, IdempotencyStore, PostgresStore, Verdict,
    store::{SettleFault, StoreErrorKind, sql::TxClaim},
};
use sqlx::{PgConnection, postgres::PgPoolOptions};

use super::{
    Bench, LEASE, PATIENCE, Postgres, ask, batch, busy, crash, duplicate, key, number, options,
    run, settle, win, win_in,
};

/// Ends the pool's session that waits for a lock of this kind.
async fn terminate(bench: &Bench, connection: &mut PgConnection, kind: &str) {
    bench.waiting(1, kind).await;
    let terminate = format!(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
         WHERE application_name = '{}' AND wait_event = '{kind}'",
        bench.schema
    );
    assert_eq!(number(connection, &terminate).await, 1);
}

/// Held up by a writer that forgets its row, so that there is a moment to end it at.
#[test]
fn a_connection_killed_during_a_claim() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        let lease = win(&store, "e1").await;
        store.release(lease).await.unwrap();
        let mut other = bench.beside().await;
        batch(
            &mut other,
            "BEGIN; SELECT 1 FROM webhook_receipt FOR UPDATE",
        )
        .await;
        let mut admin = bench.beside().await;
        let (claim, ()) = tokio::join!(
            store.claim(ask("e1")),
            terminate(&bench, &mut admin, "transactionid")
        );
        let error = claim.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Unavailable);
        assert!(error.kind().is_transient());
        batch(&mut other, "ROLLBACK").await;
        // Nothing was written, and nothing stays locked.
        bench.calm(&mut admin).await;
        let lease = win(&store, "e1").await;
        assert_eq!(lease.attempt(), 2);
        settle(&store, lease, "done").await;
        assert_eq!(bench.abandoned.count(), 0);
    });
}

#[test]
fn a_connection_killed_while_settling_hands_the_lease_back() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        let lease = win(&store, "e1").await;
        let mut other = bench.beside().await;
        batch(
            &mut other,
            "BEGIN; SELECT 1 FROM webhook_receipt FOR UPDATE",
        )
        .await;
        let mut admin = bench.beside().await;
        let (settled, ()) = tokio::join!(
            store.settle(lease, Verdict::done("acted")),
            terminate(&bench, &mut admin, "transactionid")
        );
        let error = settled.unwrap_err();
        assert!(
            matches!(&error.fault, SettleFault::Store(e) if e.kind() == StoreErrorKind::Unavailable)
        );
        batch(&mut other, "ROLLBACK").await;
        assert_eq!(settle(&store, *error.lease, "acted").await.result, b"acted");
        assert_eq!(bench.abandoned.count(), 0);
    });
}

/// The caller's connection ends in mid-transaction: nobody has acted, and the event is free.
#[test]
fn a_connection_killed_within_a_transaction() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        let mut tx = bench.beside().await;
        batch(&mut tx, "BEGIN").await;
        let lease = win_in(&store, &mut tx, "e1").await;
        let process = number(&mut tx, "SELECT pg_backend_pid()::bigint").await;
        let mut admin = bench.beside().await;
        let terminate = format!("SELECT pg_terminate_backend({process})::int::bigint");
        number(&mut admin, &terminate).await;
        let settled = store.settle_in(&mut tx, lease, Verdict::done(""));
        let error = settled.await.unwrap_err();
        assert!(
            matches!(&error.fault, SettleFault::Store(e) if e.kind() == StoreErrorKind::Unavailable)
        );
        drop(error);
        let gone = format!("SELECT count(*) FROM pg_stat_activity WHERE pid = {process}");
        while number(&mut admin, &gone).await > 0 {}
        let lease = win(&store, "e1").await;
        assert_eq!(lease.attempt(), 1);
        settle(&store, lease, "").await;
    });
}

/// The session's own limit for locks is busy, and the lease is handed back.
#[test]
fn a_lock_timeout_is_busy() {
    // The schema may have to wait for that of another test.
    let bench = Bench::new();
    let impatient = [("lock_timeout", "20ms")];
    let impatient = Bench::of(&bench.url, &bench.schema, &impatient, 2);
    let store = impatient.store();
    run(async {
        let lease = win(&bench.store(), "e1").await;
        let mut other = bench.beside().await;
        batch(
            &mut other,
            "BEGIN; SELECT 1 FROM webhook_receipt FOR UPDATE",
        )
        .await;
        let error = store.settle(lease, Verdict::done("")).await.unwrap_err();
        assert!(matches!(&error.fault, SettleFault::Store(e) if e.kind() == StoreErrorKind::Busy));
        let forgotten = store.forget(error.lease.key()).await;
        assert_eq!(forgotten.unwrap_err().kind(), StoreErrorKind::Busy);
        batch(&mut other, "ROLLBACK").await;
        settle(&store, *error.lease, "").await;
    });
}

/// Its one connection is in a transaction of the caller's, who asks the store for another: an
/// error by the pool's own limit, and not an end of everything.
#[test]
fn an_exhausted_pool_is_unavailable() {
    let bench = Bench::new();
    run(async {
        let pool = PgPoolOptions::new()
            .max_connections(1)
            .acquire_timeout(Duration::from_millis(50))
            .connect_lazy_with(options(&bench.url, &bench.schema));
        let store = PostgresStore::builder(pool.clone())
            .clock(bench.clock.clone())
            .on_abandoned(bench.abandoned.clone())
            .build();
        // Whether a connection can be had at all in so short a time is not what is asked here.
        let mut tx = loop {
            if let Ok(tx) = pool.begin().await {
                break tx;
            }
        };
        let lease = win_in(&store, &mut tx, "e1").await;
        let error = store.claim(ask("e2")).await.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Unavailable);
        let done = Verdict::done("");
        store.settle_in(&mut tx, lease, done).await.unwrap();
        tx.commit().await.unwrap();
        pool.close().await;
        let error = store.claim(ask("e2")).await.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Unavailable);
    });
}

/// Many want one event, each in a transaction on one of few connections, and the holder needs
/// another connection before it is done. If the others waited for it, each with theirs, it would
/// get none.
#[test]
fn a_small_pool_does_not_deadlock() {
    const TASKS: usize = 24;
    let bench = Bench::with(super::url(), &[], 3);
    let store = Arc::new(bench.store());
    run(async {
        for round in 0..20 {
            let id = format!("e{round}");
            let work = (0..TASKS).map(|task| {
                let (store, pool, id) = (store.clone(), bench.pool.clone(), id.clone());
                async move {
                    if task % 3 == 0 {
                        return match store.claim(ask(&id)).await.unwrap() {
                            Claim::New(lease) => {
                                settle(&store, lease, "").await;
                                1
                            }
                            _ => 0,
                        };
                    }
                    let mut tx = pool.begin().await.unwrap();
                    let mut acted = 0;
                    if let TxClaim::New(lease) = store.claim_in(&mut tx, ask(&id)).await.unwrap() {
                        assert_eq!(store.get(lease.key()).await.unwrap(), None);
                        let done = Verdict::done("");
                        store.settle_in(&mut tx, lease, done).await.unwrap();
                        acted = 1;
                    }
                    tx.commit().await.unwrap();
                    acted
                }
            });
            let acted = tokio::time::timeout(PATIENCE, super::races::all(work)).await;
            assert_eq!(acted.unwrap().into_iter().sum::<usize>(), 1);
            duplicate(&store, &id).await;
        }
    });
}

/// S-12, S-18, S-27: the server is killed between claim and settle, and comes back.
#[test]
fn a_server_killed_between_claim_and_settle() {
    let mut server = run(Postgres::start(&[]));
    let bench = Bench::with(&server.url(), &[], 4);
    let store = bench.store();
    run(async {
        let lease = win(&store, "e1").await;
        crash(win(&store, "e2").await);
        let done = win(&store, "done").await;
        settle(&store, done, "before").await;
        let mut tx = bench.beside().await;
        batch(&mut tx, "BEGIN").await;
        let in_tx = win_in(&store, &mut tx, "e3").await;
        let done = Verdict::done("never");
        store.settle_in(&mut tx, in_tx, done).await.unwrap();

        server.kill();
        let error = store.settle(lease, Verdict::done("acted")).await;
        let error = error.unwrap_err();
        assert!(
            matches!(&error.fault, SettleFault::Store(e) if e.kind() == StoreErrorKind::Unavailable)
        );
        server.start_again().await;

        // Connections from before are found broken one by one.
        let mut lease = *error.lease;
        let receipt = loop {
            match store.settle(lease, Verdict::done("acted")).await {
                Ok(receipt) => break receipt,
                Err(error) => lease = *error.lease,
            }
        };
        assert_eq!(receipt.result, b"acted");
        assert_eq!(duplicate(&store, "e1").await, receipt);
        assert_eq!(duplicate(&store, "done").await.result, b"before");
        // Its holder is gone, its lease is not; then it is.
        busy(&store, "e2").await;
        bench.clock.advance(LEASE);
        let lease = win(&store, "e2").await;
        assert_eq!(lease.attempt(), 2);
        settle(&store, lease, "").await;
        // What was not committed never was.
        assert_eq!(store.get(&key("e3")).await.unwrap(), None);
    });
}
