//! One test for each trap that PostgreSQL sets for such statements, named after it.

use std::{
    pin::Pin,
    time::{Duration, Instant},
};

use hookproof::{
    Claim, Claiming, EventKey, Fence, Fingerprint, IdempotencyStore, Verdict,
    store::{StoreErrorKind, sql::TxClaim},
};
use time::OffsetDateTime;

use super::{
    Bench, Between, LEASE, START, ask, batch, busy, crash, duplicate, key, number, run, settle,
    statement, win, win_in, won,
};

/// `ON CONFLICT … RETURNING` gives no row when another's claim is committed between the snapshot
/// and the insert.
#[test]
fn no_row_from_on_conflict_is_looked_at_again() {
    let bench = Bench::new();
    let winner = bench.store();
    for settled in [true, false] {
        let id = format!("settled {settled}");
        let (other, event) = (bench.store(), id.clone());
        let clock = Between::look_and_claim(async move {
            let lease = win(&other, &event).await;
            if settled {
                settle(&other, lease, "the other's").await;
            } else {
                crash(lease);
            }
        });
        let store = bench.builder().clock(clock).build();
        match run(store.claim(ask(&id))).unwrap() {
            Claim::Duplicate(receipt) if settled => assert_eq!(receipt.result, b"the other's"),
            Claim::InProgress { receipt, .. } if !settled => {
                assert_eq!(Some(receipt), run(winner.get(&key(&id))).unwrap());
            }
            other => panic!("{other:?}"),
        }
    }
}

/// A raised unique violation would end the caller's transaction.
#[test]
fn a_known_event_raises_nothing_in_the_callers_transaction() {
    let bench = Bench::new();
    run(async {
        let mut connection = bench.beside().await;
        batch(&mut connection, "CREATE TABLE invoice (event text)").await;
        let other = bench.store();
        let clock = Between::look_and_claim(async move {
            let lease = win(&other, "e1").await;
            settle(&other, lease, "done").await;
        });
        let store = bench.builder().clock(clock).build();
        let mut tx = bench.pool.begin().await.unwrap();
        // Unknown when it is looked for, known when it is inserted.
        let claim = store.claim_in(&mut tx, ask("e1")).await.unwrap();
        assert!(matches!(claim, TxClaim::Duplicate(_)));
        let claim = store.claim_in(&mut tx, ask("e1")).await.unwrap();
        assert!(matches!(claim, TxClaim::Duplicate(_)));
        batch(&mut tx, "INSERT INTO invoice VALUES ('mine')").await;
        tx.commit().await.unwrap();
        let invoices = number(&mut connection, "SELECT count(*) FROM invoice").await;
        assert_eq!(invoices, 1);
    });
}

/// A second claimer would queue behind the first one's open transaction, with a connection each,
/// until the pool is empty.
#[test]
fn a_claim_does_not_wait_for_an_open_transaction() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        let old = win(&store, "known").await;
        bench.clock.advance(LEASE);
        let known = store.get(&key("known")).await.unwrap().unwrap();

        let mut tx = bench.pool.begin().await.unwrap();
        for id in ["unknown", "known"] {
            let lease = win_in(&store, &mut tx, id).await;
            for _ in 0..2 {
                // On the pool …
                let seen = busy(&store, id).await;
                // … and in a transaction, which goes on.
                let mut other = bench.pool.begin().await.unwrap();
                match store.claim_in(&mut other, ask(id)).await.unwrap() {
                    TxClaim::InProgress {
                        retry_after,
                        receipt,
                    } => {
                        assert!(retry_after > Duration::ZERO && retry_after <= LEASE);
                        assert_eq!(receipt, seen);
                    }
                    other => panic!("{other:?}"),
                }
                assert_eq!(number(&mut other, "SELECT 1::bigint").await, 1);
                if id == "known" {
                    assert_eq!(seen, known);
                } else {
                    assert_eq!((seen.fence, seen.attempts), (Fence(0), 1));
                }
            }
            let done = Verdict::done("");
            store.settle_in(&mut tx, lease, done).await.unwrap();
            // Settled, and still nobody can know.
            busy(&store, id).await;
        }
        tx.commit().await.unwrap();
        for id in ["unknown", "known"] {
            duplicate(&store, id).await;
        }
        store.settle(old, Verdict::done("")).await.unwrap_err();
    });
}

/// The last attempt's lease ran out, and somebody with more patience is at it in a transaction.
#[test]
fn a_burial_does_not_wait_for_an_open_transaction() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        crash(win(&store, "e1").await);
        bench.clock.advance(LEASE);
        let mut tx = bench.pool.begin().await.unwrap();
        let lease = win_in(&store, &mut tx, "e1").await;
        let impatient = ask("e1").max_attempts(1);
        let claim = store.claim(impatient.clone()).await.unwrap();
        assert!(matches!(claim, Claim::InProgress { .. }), "{claim:?}");
        drop(lease);
        tx.rollback().await.unwrap();
        let claim = store.claim(impatient).await.unwrap();
        assert!(matches!(claim, Claim::Dead(_)), "{claim:?}");
    });
}

/// Two transactions that claim two events in opposite orders deadlock if they wait for each other.
#[test]
fn opposite_orders_do_not_deadlock() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        let mut first = bench.pool.begin().await.unwrap();
        let mut second = bench.pool.begin().await.unwrap();
        let one = win_in(&store, &mut first, "one").await;
        let two = win_in(&store, &mut second, "two").await;
        let crossed = store.claim_in(&mut first, ask("two")).await.unwrap();
        assert!(matches!(crossed, TxClaim::InProgress { .. }));
        let crossed = store.claim_in(&mut second, ask("one")).await.unwrap();
        assert!(matches!(crossed, TxClaim::InProgress { .. }));
        for (mut tx, lease) in [(first, one), (second, two)] {
            let done = Verdict::done("");
            store.settle_in(&mut tx, lease, done).await.unwrap();
            tx.commit().await.unwrap();
        }
        duplicate(&store, "one").await;
        duplicate(&store, "two").await;
    });
}

/// `now()` is when the transaction began: a lease counted from it would be over before it is given
/// in a transaction that lasts.
#[test]
fn a_lease_is_counted_from_the_claim_and_not_from_the_transactions_begin() {
    let bench = Bench::new();
    let store = bench.builder().build();
    run(async {
        let mut tx = bench.pool.begin().await.unwrap();
        let micros = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint";
        let before = number(&mut tx, micros).await;
        let begun = "SELECT (extract(epoch FROM now()) * 1000000)::bigint";
        assert!(number(&mut tx, begun).await < before);
        let lease = win_in(&store, &mut tx, "e1").await;
        let after = number(&mut tx, micros).await;
        assert!((before..=after).contains(&lease.fence().0));
        let until = i64::try_from(lease.until().unix_timestamp_nanos() / 1_000).unwrap();
        let length = i64::try_from(LEASE.as_micros()).unwrap();
        assert!((before..=after).contains(&(until - length)));
        drop(lease);
        // Nor is the wait of a failed attempt.
        let lease = win_in(&store, &mut tx, "e2").await;
        let before = number(&mut tx, micros).await;
        let retry = Verdict::retry(LEASE);
        let failed = store.settle_in(&mut tx, lease, retry).await.unwrap();
        let changed = i64::try_from(failed.changed_at.unix_timestamp_nanos() / 1_000).unwrap();
        assert!(changed >= before);
    });
}

/// The process's clock has no say.
#[test]
fn the_servers_clock_judges() {
    let bench = Bench::new();
    let store = bench.builder().build();
    run(async {
        let mut beside = bench.beside().await;
        let micros = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint";
        let before = number(&mut beside, micros).await;
        let lease = win(&store, "e1").await;
        let lease = store.renew(lease, LEASE * 2).await.unwrap();
        let after = number(&mut beside, micros).await;
        let start = lease.until() - LEASE * 2;
        let start = i64::try_from(start.unix_timestamp_nanos() / 1_000).unwrap();
        assert!((before..=after).contains(&start));
        match store.claim(ask("e1")).await.unwrap() {
            Claim::InProgress { retry_after, .. } => assert!(retry_after <= LEASE * 2),
            other => panic!("{other:?}"),
        }
        // Ended by that clock: at once, by a lease of nothing.
        let lease = store.renew(lease, Duration::ZERO).await.unwrap();
        let second = win(&store, "e1").await;
        store.settle(lease, Verdict::done("")).await.unwrap_err();
        settle(&store, second, "").await;
    });
}

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

/// A future that is dropped between statements of one transaction leaves it open on a connection
/// that the pool hands to somebody else.
#[test]
fn a_cancelled_call_leaves_no_transaction_open() {
    let bench = Bench::with(super::url(), &[], 1);
    let store = bench.store();
    run(async {
        let mut other = bench.beside().await;
        let key = key("e1");
        for turn in ["claim", "settle", "forget"] {
            let lease = win(&store, "e1").await;
            let lease = store.renew(lease, Duration::ZERO).await.unwrap();
            batch(
                &mut other,
                "BEGIN; SELECT 1 FROM webhook_receipt FOR UPDATE",
            )
            .await;
            let call: Pin<Box<dyn Future<Output = ()> + Send + '_>> = match turn {
                "claim" => Box::pin(async { drop(store.claim(ask("e1")).await) }),
                "settle" => Box::pin(async { drop(store.settle(lease, Verdict::done("")).await) }),
                _ => Box::pin(async { drop(store.forget(&key).await) }),
            };
            // Dropped when the server is in the middle of it.
            tokio::select! {
                () = call => panic!("nothing held it up"),
                () = bench.waiting(1, "transactionid") => {}
            }
            batch(&mut other, "COMMIT").await;
            let state = |state: &str| {
                format!(
                    "SELECT count(*) FROM pg_stat_activity WHERE application_name = '{}' \
                     AND state {state}",
                    bench.schema
                )
            };
            let since = Instant::now();
            while number(&mut other, &state("= 'active'")).await > 0 {
                assert!(since.elapsed() < super::PATIENCE, "it does not end");
            }
            let open = number(&mut other, &state("<> 'idle'")).await;
            assert_eq!(open, 0, "{turn}: a transaction is open");
            // The connection serves the next one.
            store.forget(&key).await.unwrap();
        }
    });
}

/// Session locks would stay with a connection of the pool, and poolers mix sessions up.
#[test]
fn no_lock_outlives_its_transaction() {
    let bench = Bench::with(super::url(), &[], 1);
    let store = bench.store();
    run(async {
        let lease = win(&store, "e1").await;
        busy(&store, "e1").await;
        settle(&store, lease, "").await;
        store.forget(&key("e1")).await.unwrap();
        drop(win(&store, "e2").await);
        bench.clock.advance(LEASE * 60 * 24 * 365);
        assert_eq!(store.purge(10).await.unwrap(), 1);
        let mut connection = bench.pool.acquire().await.unwrap();
        let locks = "SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() \
                     AND locktype = 'advisory'";
        assert_eq!(number(&mut connection, locks).await, 0);
    });
}

/// Receipts in two schemas of one database are two stores, though their locks share one space.
#[test]
fn schemas_do_not_share_locks() {
    let (bench, other) = (Bench::new(), Bench::new());
    let (store, beside) = (bench.store(), other.store());
    run(async {
        let mut tx = bench.pool.begin().await.unwrap();
        let lease = win_in(&store, &mut tx, "e1").await;
        let lease_beside = win(&beside, "e1").await;
        settle(&beside, lease_beside, "").await;
        drop(lease);
        tx.rollback().await.unwrap();
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

/// Text cannot hold NUL: no key has one, and a result is bytes.
#[test]
fn nul_reaches_no_text_column() {
    assert!(EventKey::business("", "shop", "a\0b").is_err());
    assert!(EventKey::business("a\0b", "shop", "e1").is_err());
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        let lease = win(&store, "e1").await;
        let result = b"\0\xff\0".to_vec();
        store.settle(lease, Verdict::done(result)).await.unwrap();
        assert_eq!(duplicate(&store, "e1").await.result, b"\0\xff\0");
    });
}

/// The names beside the key are compared by their bytes, by whatever collation the table's columns
/// would have had in this database.
#[test]
fn names_have_no_collation() {
    let bench = Bench::new();
    run(async {
        let mut beside = bench.beside().await;
        let others = "SELECT count(*) FROM information_schema.columns \
                      WHERE table_name = 'webhook_receipt' AND table_schema = current_schema() \
                      AND data_type = 'text' AND collation_name IS DISTINCT FROM 'C'";
        assert_eq!(number(&mut beside, statement(others)).await, 0);
    });
}

/// The key is a digest. A row of another event under it answers for nobody.
#[test]
fn a_row_of_another_event_under_the_same_key_is_corrupt() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        let lease = win(&store, "e1").await;
        settle(&store, lease, "").await;
        let mut beside = bench.beside().await;
        for change in [
            "tenant = 'other'",
            "tenant = 'tenant', event_id = 'E1'",
            "event_id = 'e1', provider = 'shop '",
        ] {
            batch(&mut beside, &format!("UPDATE webhook_receipt SET {change}")).await;
            let error = store.claim(ask("e1")).await.unwrap_err();
            assert_eq!(error.kind(), StoreErrorKind::Corrupt);
            let error = store.get(&key("e1")).await.unwrap_err();
            assert_eq!(error.kind(), StoreErrorKind::Corrupt);
        }
    });
}

/// Nor is such a row taken over that is claimable, and appears after the look.
#[test]
fn a_row_of_another_event_is_not_taken_over() {
    let bench = Bench::new();
    let pool = bench.pool.clone();
    let clock = Between::look_and_claim(async move {
        let mut connection = pool.acquire().await.unwrap();
        let row = "INSERT INTO webhook_receipt (key, attempts, fence, received_at, changed_at, \
                   expires_at, state, body_hash, tenant, provider, event_id) \
                   VALUES (encode($1, 'hex')::uuid, 1, 1, 0, 0, 0, 3, $2, 'tenant', 'shop', 'E1')";
        sqlx::query(row)
            .bind(key("e1").digest().as_slice())
            .bind(Fingerprint::of(b"content").as_bytes().as_slice())
            .execute(&mut *connection)
            .await
            .unwrap();
    });
    let store = bench.builder().clock(clock).build();
    run(async {
        let error = store.claim(ask("e1")).await.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Corrupt);
        let fence = "SELECT fence FROM webhook_receipt";
        assert_eq!(number(&mut bench.beside().await, fence).await, 1);
    });
}

/// The longest waits that can be asked for overflow no column.
#[test]
fn the_longest_waits_fit() {
    let bench = Bench::new();
    let store = bench.builder().build();
    run(async {
        let endless = Claiming::business(key("e1"))
            .lease(Duration::MAX)
            .retention(Duration::MAX)
            .max_attempts(u32::MAX);
        let lease = won(store.claim(endless).await.unwrap());
        assert_eq!(lease.until().year(), 9999);
        let failed = Verdict::retry(Duration::MAX);
        let receipt = store.settle(lease, failed).await.unwrap();
        assert_eq!(receipt.until.map(OffsetDateTime::year), Some(9999));
        assert_eq!(receipt.expires_at.year(), 9999);
    });
}
