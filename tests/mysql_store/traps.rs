//! One test for each trap that MySQL and MariaDB set for such statements, named after it.

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
    Bench, Between, LEASE, ask, batch, busy, crash, duplicate, key, number, run, settle, win,
    win_in, won,
};
use sqlx::{Connection, MySqlConnection};

/// Somebody else's claim is committed between the look and the insert.
#[test]
fn a_lost_race_is_looked_at_again() {
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

/// A raised unique violation would leave a shared lock with the caller's transaction, and two that
/// have one are a deadlock.
#[test]
fn a_known_event_raises_nothing_in_the_callers_transaction() {
    let bench = Bench::new();
    run(async {
        let mut connection = bench.beside().await;
        batch(
            &mut connection,
            "CREATE TABLE invoice (event text) ENGINE = InnoDB",
        )
        .await;
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
                assert_eq!(number(&mut other, "SELECT 1").await, 1);
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

/// The server's clock, in UTC.
const MICROS: &str = "SELECT CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED)";

/// A lease counted from the transaction's begin would be over before it is given in one that lasts.
#[test]
fn a_lease_is_counted_from_the_claim_and_not_from_the_transactions_begin() {
    let bench = Bench::new();
    let store = bench.builder().build();
    run(async {
        let mut tx = bench.pool.begin().await.unwrap();
        number(&mut tx, "SELECT COUNT(*) FROM webhook_receipt").await;
        let before = number(&mut tx, MICROS).await;
        let lease = win_in(&store, &mut tx, "e1").await;
        let after = number(&mut tx, MICROS).await;
        assert!((before..=after).contains(&lease.fence().0));
        let until = i64::try_from(lease.until().unix_timestamp_nanos() / 1_000).unwrap();
        let length = i64::try_from(LEASE.as_micros()).unwrap();
        assert!((before..=after).contains(&(until - length)));
        drop(lease);
        // Nor is the wait of a failed attempt.
        let lease = win_in(&store, &mut tx, "e2").await;
        let before = number(&mut tx, MICROS).await;
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
        let before = number(&mut beside, MICROS).await;
        let lease = win(&store, "e1").await;
        let lease = store.renew(lease, LEASE * 2).await.unwrap();
        let after = number(&mut beside, MICROS).await;
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
/// again for a row that is inserted after its key's row was deleted, if the highest deleted fence
/// were looked up before.
#[test]
fn a_fence_does_not_come_again_after_a_deletion_beside_the_claim() {
    let bench = Bench::new();
    for (round, purged) in [true, false].into_iter().enumerate() {
        let id = format!("e{round}");
        let (store, event) = (bench.store(), id.clone());
        let past = std::sync::Arc::new(std::sync::Mutex::new(None));
        let keep = past.clone();
        // After the look, which finds no row and no fence: claimed, and deleted.
        let clock = Between::look_and_claim(async move {
            let ask = ask(&event).lease(Duration::ZERO).retention(Duration::ZERO);
            let lease = won(store.claim(ask).await.unwrap());
            if purged {
                assert_eq!(store.purge(10).await.unwrap(), 1);
            } else {
                store.forget(lease.key()).await.unwrap().unwrap();
            }
            *keep.lock().unwrap() = Some(lease);
        });
        let store = bench.builder().clock(clock).build();
        run(async {
            let lease = win(&store, &id).await;
            let old = past.lock().unwrap().take().unwrap();
            assert!(lease.fence() > old.fence(), "a fence came again");
            assert_eq!(lease.attempt(), 1);
            store.settle(old, Verdict::done("old")).await.unwrap_err();
            settle(&store, lease, "new").await;
        });
    }
}

/// Nor in the caller's transaction: whatever deletes waits for it, or leaves the row alone.
#[test]
fn a_deletion_waits_for_a_claim_in_a_transaction() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        let ask = ask("e1").lease(Duration::ZERO).retention(Duration::ZERO);
        let old = won(store.claim(ask.clone()).await.unwrap());
        let mut tx = bench.beside().await;
        batch(&mut tx, "BEGIN").await;
        let lease = win_in(&store, &mut tx, "e1").await;
        assert_eq!(store.purge(10).await.unwrap(), 0);
        let key = key("e1");
        let (forgotten, settled) = tokio::join!(store.forget(&key), async {
            bench.waiting(1).await;
            let settled = store.settle_in(&mut tx, lease, Verdict::done("")).await;
            batch(&mut tx, "COMMIT").await;
            settled.unwrap()
        });
        // It was another row when it got its turn, and was looked at again.
        assert_eq!(forgotten.unwrap().unwrap(), settled);
        let lease = won(store.claim(ask).await.unwrap());
        assert!(lease.fence() > settled.fence && settled.fence > old.fence());
        store.settle(old, Verdict::done("old")).await.unwrap_err();
        settle(&store, lease, "").await;
    });
}

/// Under REPEATABLE READ a locking read of what is not there locks the gap, as many times as it is
/// asked to, and then nobody can insert into it.
#[test]
fn new_events_in_one_gap_do_not_deadlock() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        let mut naive = [bench.beside().await, bench.beside().await];
        for (n, tx) in naive.iter_mut().enumerate() {
            let read = format!(
                "BEGIN; SELECT 1 FROM webhook_receipt WHERE `key` = UNHEX(MD5('{n}')) FOR UPDATE"
            );
            batch(tx, &read).await;
        }
        let insert = |n| {
            format!(
                "INSERT INTO webhook_receipt (`key`, slot, mark, attempts, fence, received_at, \
                 changed_at, expires_at, state, body_hash, tenant, provider, event_id) \
                 VALUES (UNHEX(MD5('{n}')), 0, 0, 1, 1, 0, 0, 0, 2, '', '', '', '')"
            )
        };
        let [first, second] = &mut naive;
        let (one, two) = (insert(0), insert(1));
        let (one, two) = tokio::join!(super::try_batch(first, &one), async {
            bench.waiting(1).await;
            super::try_batch(second, &two).await
        });
        let deadlocks = [one, two].into_iter().filter_map(Result::err).map(|error| {
            let error = error.into_database_error().unwrap();
            assert_eq!(error.code().as_deref(), Some("40001"));
        });
        assert_eq!(deadlocks.count(), 1, "the trap is no trap");
        for tx in naive {
            tx.close().await.unwrap();
        }

        // And the claims: by turns, each in a transaction that has all of its claims open.
        let mut open = [
            bench.beside().await,
            bench.beside().await,
            bench.beside().await,
        ];
        for tx in &mut open {
            batch(
                tx,
                "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ; BEGIN",
            )
            .await;
        }
        let mut leases = Vec::new();
        for n in 0..20 {
            for (worker, tx) in open.iter_mut().enumerate() {
                let lease = win_in(&store, tx, &format!("{worker} {n}")).await;
                leases.push((worker, lease));
            }
            // Nor is the pool held up.
            let id = format!("pool {n}");
            let lease = win(&store, &id).await;
            settle(&store, lease, "").await;
        }
        for (worker, lease) in leases {
            let done = Verdict::done("");
            store
                .settle_in(&mut open[worker], lease, done)
                .await
                .unwrap();
        }
        for tx in &mut open {
            batch(tx, "COMMIT").await;
        }
        assert_eq!(bench.abandoned.count(), 0);
    });
}

/// Two ids whose keys have the same slot.
fn of_one_slot() -> (String, String) {
    let mut seen = std::collections::HashMap::new();
    let ids = (0..).map(|n| format!("e{n}"));
    let mut pairs = ids.filter_map(|id| {
        let earlier = seen.insert(super::judged::slot(&key(&id)), id.clone())?;
        Some((earlier, id))
    });
    pairs.next().unwrap()
}

/// One event in 65,536 has the slot of an event that an open transaction is at. It is not taken for
/// the same, nor for known.
#[test]
fn events_of_one_slot_are_two_events() {
    let bench = Bench::new();
    let store = bench.store();
    let (one, two) = of_one_slot();
    run(async {
        let mut tx = bench.beside().await;
        batch(&mut tx, "BEGIN").await;
        let lease = win_in(&store, &mut tx, &one).await;
        // On the pool it is known to be another, though not for sure to be new.
        let error = store.claim(ask(&two)).await.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Busy);
        busy(&store, &one).await;
        // In a transaction it is told to ask again soon, and holds nobody up.
        let mut other = bench.beside().await;
        batch(&mut other, "BEGIN").await;
        match store.claim_in(&mut other, ask(&two)).await.unwrap() {
            TxClaim::InProgress { retry_after, .. } => {
                assert!(retry_after <= Duration::from_secs(1));
            }
            other => panic!("{other:?}"),
        }
        batch(&mut other, "ROLLBACK").await;
        // It goes on as soon as the slot is free.
        let (claim, ()) = tokio::join!(store.claim(ask(&two)), async {
            store
                .settle_in(&mut tx, lease, Verdict::done(""))
                .await
                .unwrap();
            batch(&mut tx, "COMMIT").await;
        });
        settle(&store, won(claim.unwrap()), "").await;
        duplicate(&store, &one).await;
        // Both in one transaction.
        for id in [&one, &two] {
            store.forget(&key(id)).await.unwrap().unwrap();
        }
        batch(&mut tx, "BEGIN").await;
        for id in [&one, &two] {
            let lease = win_in(&store, &mut tx, id).await;
            store
                .settle_in(&mut tx, lease, Verdict::done(""))
                .await
                .unwrap();
        }
        batch(&mut tx, "COMMIT").await;
        // And both fences are remembered, the higher of the two.
        bench.clock.advance(LEASE * 60 * 24 * 365);
        assert_eq!(store.purge(10).await.unwrap(), 2);
    });
}

/// A future that is dropped between statements of one transaction leaves it open on a connection
/// that the pool hands to somebody else.
#[test]
fn a_cancelled_call_leaves_no_transaction_open() {
    let bench = Bench::with(super::url(), &[], 1);
    let store = bench.store();
    run(async {
        let key = key("e1");
        let mut admin = MySqlConnection::connect(&bench.url).await.unwrap();
        for turn in ["claim", "take", "settle", "forget", "purge"] {
            let lease = win(&store, "e1").await;
            let lease = store.renew(lease, Duration::ZERO).await.unwrap();
            let mut other = bench.beside().await;
            batch(&mut other, "LOCK TABLES webhook_receipt READ").await;
            let call: Pin<Box<dyn Future<Output = ()> + Send + '_>> = match turn {
                "claim" => Box::pin(async { drop(store.claim(ask("e2")).await) }),
                "take" => Box::pin(async { drop(store.claim(ask("e1")).await) }),
                "settle" => Box::pin(async { drop(store.settle(lease, Verdict::done("")).await) }),
                "purge" => Box::pin(async { drop(store.purge(1).await) }),
                _ => Box::pin(async { drop(store.forget(&key).await) }),
            };
            // Dropped when the server is in the middle of it.
            tokio::select! {
                () = call => panic!("nothing held it up"),
                _ = bench.waiting(1) => {}
            }
            batch(&mut other, "UNLOCK TABLES").await;
            other.close().await.unwrap();
            bench.calm(&mut admin).await;
            // The connection serves the next one.
            store.forget(&key).await.unwrap();
        }
    });
}

/// A session's lock would stay with a connection of the pool.
#[test]
fn no_lock_stays_with_a_pooled_connection() {
    let bench = Bench::bare(super::url(), &[], 1);
    let store = bench.store();
    run(async {
        store.migrate().await.unwrap();
        let lease = win(&store, "e1").await;
        settle(&store, lease, "").await;
        let lock = "SELECT IS_FREE_LOCK(CONCAT('hookproof.', SHA1(DATABASE())))";
        let mut beside = bench.beside().await;
        let since = Instant::now();
        while number(&mut beside, lock).await == 0 {
            assert!(since.elapsed() < super::PATIENCE, "somebody has the lock");
        }
    });
}

/// Receipts in two databases of one server are two stores.
#[test]
fn databases_do_not_share_locks() {
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
            "CREATE TABLE deletes (at datetime(6) NOT NULL);
             CREATE TRIGGER counted AFTER DELETE ON webhook_receipt
               FOR EACH ROW INSERT INTO deletes VALUES (UTC_TIMESTAMP(6));
             INSERT INTO webhook_receipt (`key`, slot, mark, attempts, fence, received_at, changed_at,
                 expires_at, state, body_hash, tenant, provider, event_id)
               SELECT UNHEX(MD5(slot)), slot % 500, 7, 1, slot, 0, 0, slot, 2, '', '', 's', slot
               FROM webhook_receipt_slot WHERE slot BETWEEN 1 AND 1050",
        )
        .await;
        assert_eq!(store.purge(0).await.unwrap(), 0);
        assert_eq!(store.purge(7).await.unwrap(), 7);
        let youngest = "SELECT max(expires_at) - min(expires_at) FROM webhook_receipt";
        assert_eq!(number(&mut beside, youngest).await, 1050 - 8);
        assert_eq!(store.purge(usize::MAX).await.unwrap(), 1_043);
        let largest = number(
            &mut beside,
            "SELECT MAX(n) FROM (SELECT COUNT(*) AS n FROM deletes GROUP BY at) AS statements",
        )
        .await;
        assert!(largest <= 100, "{largest} rows in one DELETE");
        let all = "SELECT COUNT(*) FROM deletes";
        assert_eq!(number(&mut beside, all).await, 1_050);
        let fence = "SELECT MAX(fence) FROM webhook_receipt_slot";
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
            "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
        )
        .await;
        let mut held = bench.beside().await;
        let digest: String = key("held")
            .digest()
            .iter()
            .map(|b| format!("{b:02x}"))
            .collect();
        batch(
            &mut held,
            &format!("BEGIN; SELECT 1 FROM webhook_receipt WHERE `key` = x'{digest}' FOR UPDATE"),
        )
        .await;
        let lease = win_in(&store, &mut tx, "claimed").await;
        assert_eq!(store.purge(10).await.unwrap(), 1);
        drop(lease);
        tx.rollback().await.unwrap();
        batch(&mut held, "ROLLBACK").await;
        assert_eq!(store.purge(10).await.unwrap(), 2);
    });
}

/// No key has a NUL, and a result is bytes.
#[test]
fn nul_comes_back_as_it_was() {
    assert!(EventKey::business("", "shop", "a\0b").is_err());
    assert!(EventKey::business("a\0b", "shop", "e1").is_err());
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        for (id, result) in [("e1", &b"\0\xff\0"[..]), ("e2", b"\0"), ("e3", b" \0 ")] {
            let lease = win(&store, id).await;
            let done = Verdict::done(result);
            store.settle(lease, done).await.unwrap();
            assert_eq!(duplicate(&store, id).await.result, result);
        }
    });
}

/// Most collations take letters for others, and almost all take a text for one with spaces at its
/// end.
#[test]
fn names_have_no_collation() {
    const ALIKE: [&str; 6] = [
        "evt_Ab",
        "evt_aB",
        "evt_Ab ",
        "evt_Äb",
        "evt_A\u{308}b",
        "EVT_AB",
    ];
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        let mut beside = bench.beside().await;
        batch(
            &mut beside,
            "CREATE TABLE naive (id varchar(50) PRIMARY KEY)",
        )
        .await;
        let mut taken_for_known = 0;
        for id in ALIKE {
            let insert = "INSERT IGNORE INTO naive VALUES (?)";
            let done = sqlx::query(insert).bind(id).execute(&mut beside).await;
            taken_for_known += usize::from(done.unwrap().rows_affected() == 0);
            let lease = win(&store, id).await;
            settle(&store, lease, id).await;
        }
        assert!(
            taken_for_known >= 4,
            "{taken_for_known}: the trap is no trap"
        );
        for id in ALIKE {
            assert_eq!(duplicate(&store, id).await.result, id.as_bytes());
        }
        let others = "SELECT COUNT(*) FROM information_schema.columns \
                      WHERE table_name LIKE 'webhook_receipt%' AND table_schema = DATABASE() \
                      AND collation_name IS NOT NULL";
        assert_eq!(number(&mut beside, others).await, 0);
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
        let row = "INSERT INTO webhook_receipt (`key`, slot, mark, attempts, fence, received_at, \
                   changed_at, expires_at, state, body_hash, tenant, provider, event_id) \
                   VALUES (?, ?, 7, 1, 1, 0, 0, 0, 3, ?, 'tenant', 'shop', 'E1')";
        sqlx::query(row)
            .bind(key("e1").digest().as_slice())
            .bind(super::judged::slot(&key("e1")))
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
