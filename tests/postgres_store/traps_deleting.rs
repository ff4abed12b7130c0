//! The traps of deleting, each with a test named after it: fences that come again, and purges.

use std::time::Duration;

use hookproof::{IdempotencyStore, Verdict};

use super::{Bench, LEASE, START, ask, batch, crash, key, number, run, settle, win, win_in, won};

/// A fence begins at the clock. With a clock that stands still, or was set back, it would come
/// again for a row that is inserted after its key's row was deleted, and a claim's statement reads
/// tables as they were when it began: before the deletion.
#[test]
fn a_fence_does_not_come_again_after_a_deletion_beside_the_claim() {
    let bench = Bench::new();
    let store = bench.store();
    for round in 0..10 {
        let id = format!("e{round}");
        run(async {
            let mut past = Vec::new();
            for _ in 0..3 {
                past.push(win(&store, &id).await);
                bench.clock.advance(LEASE);
            }
            bench.clock.set(START);
            let last = past.pop().unwrap();
            let last = store.renew(last, Duration::ZERO).await.unwrap();

            let mut tx = bench.beside().await;
            batch(&mut tx, "BEGIN; SELECT 1 FROM webhook_receipt FOR UPDATE").await;
            let key = key(&id);
            let (forgotten, claim) = tokio::join!(store.forget(&key), async {
                // It has said that it deletes the row, and waits for it.
                bench.waiting(1, "transactionid").await;
                let release = async {
                    bench.waiting(1, "advisory").await;
                    batch(&mut tx, "COMMIT").await;
                };
                tokio::join!(store.claim(ask(&id)), release).0
            });
            assert_eq!(forgotten.unwrap().unwrap().fence, last.fence());
            let lease = won(claim.unwrap());
            assert!(lease.fence() > last.fence(), "a fence came again");
            assert_eq!(lease.attempt(), 1);
            past.push(last);
            for old in past {
                store.settle(old, Verdict::done("old")).await.unwrap_err();
            }
            settle(&store, lease, "new").await;
            store.forget(&key).await.unwrap().unwrap();
        });
    }
}

/// The same beside a purge, which is held up here between choosing the row and deleting it.
#[test]
fn a_fence_does_not_come_again_after_a_purge_beside_the_claim() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        let mut tx = bench.beside().await;
        batch(
            &mut tx,
            "CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$
               BEGIN PERFORM pg_advisory_xact_lock('webhook_receipt'::regclass::bigint);
               RETURN OLD; END $$;
             CREATE TRIGGER wait BEFORE DELETE ON webhook_receipt
               FOR EACH ROW EXECUTE FUNCTION wait()",
        )
        .await;
        for round in 0..10 {
            let id = format!("e{round}");
            let ask = ask(&id).lease(Duration::ZERO).retention(Duration::ZERO);
            let mut past = Vec::new();
            for _ in 0..3 {
                past.push(won(store.claim(ask.clone()).await.unwrap()));
            }
            batch(
                &mut tx,
                "BEGIN; SELECT pg_advisory_xact_lock('webhook_receipt'::regclass::bigint)",
            )
            .await;
            let (purged, claim) = tokio::join!(store.purge(1), async {
                bench.waiting(1, "advisory").await;
                let release = async {
                    bench.waiting(2, "any").await;
                    batch(&mut tx, "COMMIT").await;
                };
                tokio::join!(store.claim(ask.clone()), release).0
            });
            assert_eq!(purged.unwrap(), 1);
            let lease = won(claim.unwrap());
            let highest = past.iter().map(|lease| lease.fence()).max().unwrap();
            assert!(lease.fence() > highest, "a fence came again");
            for old in past {
                store.settle(old, Verdict::done("old")).await.unwrap_err();
            }
            settle(&store, lease, "new").await;
            assert_eq!(store.purge(1).await.unwrap(), 1);
        }
    });
}

/// One DELETE of everything would hold its locks, and its snapshot, for minutes.
#[test]
fn a_purge_is_many_bounded_deletes() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        let mut beside = bench.beside().await;
        batch(
            &mut beside,
            "CREATE TABLE deletes (rows bigint);
             CREATE FUNCTION counted() RETURNS trigger LANGUAGE plpgsql AS $$
               BEGIN INSERT INTO deletes SELECT count(*) FROM gone; RETURN NULL; END $$;
             CREATE TRIGGER counted AFTER DELETE ON webhook_receipt
               REFERENCING OLD TABLE AS gone EXECUTE FUNCTION counted();
             INSERT INTO webhook_receipt (key, attempts, fence, received_at, changed_at, expires_at,
                 state, body_hash, tenant, provider, event_id)
               SELECT md5(n::text)::uuid, 1, n, 0, 0, n, 2, decode(md5(''), 'hex'), '', 's', n::text
               FROM generate_series(1, 1050) n",
        )
        .await;
        assert_eq!(store.purge(0).await.unwrap(), 0);
        assert_eq!(store.purge(7).await.unwrap(), 7);
        let youngest = "SELECT max(expires_at) - min(expires_at) FROM webhook_receipt";
        assert_eq!(number(&mut beside, youngest).await, 1050 - 8);
        assert_eq!(store.purge(usize::MAX).await.unwrap(), 1_043);
        let largest = number(&mut beside, "SELECT max(rows) FROM deletes").await;
        assert!(largest <= 100, "{largest} rows in one DELETE");
        let all = "SELECT sum(rows)::bigint FROM deletes";
        assert_eq!(number(&mut beside, all).await, 1_050);
        let fence = "SELECT last_value FROM webhook_receipt_fence";
        assert_eq!(number(&mut beside, fence).await, 1_050);
    });
}

/// A purge that waited for rows would stop at the first transaction that holds one.
#[test]
fn a_purge_skips_what_somebody_holds() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        for id in ["held", "claimed", "free"] {
            crash(won(store
                .claim(ask(id).retention(Duration::ZERO))
                .await
                .unwrap()));
        }
        bench.clock.advance(LEASE);
        let mut tx = bench.pool.begin().await.unwrap();
        batch(
            &mut tx,
            "SELECT 1 FROM webhook_receipt WHERE event_id = 'held' FOR UPDATE",
        )
        .await;
        let lease = win_in(&store, &mut tx, "claimed").await;
        assert_eq!(store.purge(10).await.unwrap(), 1);
        drop(lease);
        tx.rollback().await.unwrap();
        assert_eq!(store.purge(10).await.unwrap(), 2);
    });
}
