//! Batches on MySQL: what holds them up, what they write, and what they are judged by.

use std::{collections::HashSet, sync::atomic::AtomicUsize, sync::atomic::Ordering::SeqCst};

use hookproof::{
    Claim, Claiming, EventKey, Fingerprint, IdempotencyStore, Lease, MySqlStore, Verdict,
    store::{BatchStore, MAX_BATCH, StoreErrorKind},
};

use super::{
    Bench, LEASE, PATIENCE, START, ask, batch, busy, crash, found_rows, key, number, races, run,
    settle, win, win_in,
};

fn asks(events: std::ops::Range<usize>) -> Vec<Claiming> {
    events.map(|n| ask(&format!("e{n}"))).collect()
}

async fn claim_many(store: &MySqlStore, events: std::ops::Range<usize>) -> Vec<Claim> {
    let claims = store.claim_many(asks(events)).await.unwrap();
    claims.into_iter().map(Result::unwrap).collect()
}

fn leases(claims: Vec<Claim>) -> Vec<Lease> {
    claims.into_iter().map(super::won).collect()
}

/// Its event is in progress, and the batch claims the others without waiting for it: whether the
/// transaction has inserted the event's row, or taken it over, or only locked it.
#[test]
fn a_transaction_that_lasts_does_not_hold_up_a_batch() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        let mut tx = bench.pool.begin().await.unwrap();
        let held = win_in(&store, &mut tx, "e2").await;
        let told = tokio::time::timeout(PATIENCE, claim_many(&store, 0..5)).await;
        let mut claims = told.expect("the batch waits");
        match claims.remove(2) {
            Claim::InProgress { receipt, .. } => assert_eq!(receipt.fence.0, 0),
            other => panic!("{other:?}"),
        }
        assert_eq!(leases(claims).into_iter().map(crash).count(), 4);
        drop(held);
        tx.rollback().await.unwrap();
        crash(win(&store, "e2").await);

        bench.clock.advance(LEASE);
        let mut tx = bench.pool.begin().await.unwrap();
        let held = win_in(&store, &mut tx, "e1").await;
        let told = tokio::time::timeout(PATIENCE, claim_many(&store, 0..5)).await;
        let mut claims = told.expect("the batch waits");
        match claims.remove(1) {
            Claim::InProgress { receipt, .. } => assert_eq!(receipt.attempts, 1),
            other => panic!("{other:?}"),
        }
        assert_eq!(leases(claims).into_iter().map(crash).count(), 4);
        drop(held);
        tx.rollback().await.unwrap();
        crash(win(&store, "e1").await);
    });
}

/// Another event of the same slot is in somebody's transaction: it has nothing to do with the
/// batch's, which is claimed when that ends, or busy if it does not.
#[test]
fn an_event_of_the_same_slot_is_told_apart() {
    let bench = Bench::new();
    let store = bench.store();
    let (first, second) = pair();
    let claiming = |key: &EventKey| {
        Claiming::business(key.clone())
            .fingerprint(Fingerprint::of(b"content"))
            .lease(LEASE)
    };
    run(async {
        let mut tx = bench.pool.begin().await.unwrap();
        let held = store.claim_in(&mut tx, claiming(&first)).await.unwrap();
        let hookproof::store::sql::TxClaim::New(held) = held else {
            panic!("{held:?}");
        };
        let asked = vec![ask("e0"), claiming(&second), ask("e1")];
        let mut claims = store.claim_many(asked).await.unwrap();
        let error = claims.remove(1).unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Busy);
        let claims = claims.into_iter().map(Result::unwrap).collect();
        leases(claims).into_iter().for_each(crash);

        let beside = claiming(&second);
        let (claims, ()) = tokio::join!(store.claim_many(vec![beside]), async {
            store
                .settle_in(&mut tx, held, Verdict::done(""))
                .await
                .unwrap();
            tx.commit().await.unwrap();
        });
        let claims = claims.unwrap().into_iter().map(Result::unwrap).collect();
        leases(claims).into_iter().for_each(crash);
    });
}

/// Two events of one slot.
fn pair() -> (EventKey, EventKey) {
    let mut slots = std::collections::HashMap::new();
    (0..)
        .find_map(|n| {
            let key = key(&format!("slot {n}"));
            let slot = key.digest()[..2].to_vec();
            slots.insert(slot, key.clone()).map(|first| (first, key))
        })
        .unwrap()
}

/// In one batch, too.
#[test]
fn events_of_one_slot_are_claimed_by_one_batch() {
    let bench = Bench::new();
    let store = bench.store();
    let (first, second) = pair();
    run(async {
        let asked = vec![
            Claiming::business(first.clone()),
            Claiming::business(second.clone()),
        ];
        let claims = store.claim_many(asked).await.unwrap();
        let claims = claims.into_iter().map(Result::unwrap).collect();
        for lease in leases(claims) {
            settle(&store, lease, "").await;
        }
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
        let mut beside = bench.beside().await;
        assert_eq!(bench.open_transactions(&mut beside).await, 0);
        let all = "BEGIN; SELECT 1 FROM webhook_receipt FOR UPDATE NOWAIT; \
                   SELECT 1 FROM webhook_receipt_slot FOR UPDATE NOWAIT; ROLLBACK";
        batch(&mut beside, all).await;
    });
}

/// What was deleted between the look and the statement has raised the slots' fences: the statement
/// does not write, and the next look sees them.
#[test]
fn a_fence_does_not_come_again_after_a_deletion_beside_a_batch() {
    const HIGHEST: i64 = 1 << 60;
    let bench = Bench::new();
    let pool = bench.pool.clone();
    let clock = super::Between::look_and_claim(async move {
        let raise = "UPDATE webhook_receipt_slot SET fence = ?";
        let raise = sqlx::query(raise).bind(HIGHEST);
        raise.execute(&pool).await.unwrap();
    });
    let store = bench.builder().clock(clock).build();
    run(async {
        for lease in leases(claim_many(&store, 0..3).await) {
            assert_eq!(lease.fence().0, HIGHEST + 1);
            crash(lease);
        }
    });
}

/// However many events are new, and however many are taken over.
#[test]
fn a_batch_is_few_statements() {
    let server = run(super::MySql::start(&["--log-bin=log"]));
    let bench = Bench::with(&server.url(), &[], 1);
    let store = bench.store();
    run(async {
        let mut beside = bench.beside().await;
        let commits = "SELECT CAST(variable_value AS SIGNED) FROM information_schema.global_status \
                       WHERE variable_name = 'Binlog_commits'";
        let statements = "SELECT CAST(variable_value AS SIGNED) \
                          FROM information_schema.global_status WHERE variable_name = 'Questions'";
        let mut counts = Vec::new();
        for (events, advance) in [(0..500, false), (250..750, true), (0..750, false)] {
            if advance {
                bench.clock.advance(LEASE);
            }
            // The last one's first half has expired, and is taken over; the rest is running.
            let before = (
                number(&mut beside, commits).await,
                number(&mut beside, statements).await,
            );
            claim_many(&store, events)
                .await
                .into_iter()
                .for_each(|claim| {
                    if let Claim::New(lease) = claim {
                        crash(lease);
                    }
                });
            let after = (
                number(&mut beside, commits).await,
                number(&mut beside, statements).await,
            );
            // One of the questions in between is about the first number, one about the second.
            counts.push((after.0 - before.0, after.1 - before.1));
        }
        let commits: Vec<_> = counts.iter().map(|(commits, _)| *commits).collect();
        assert_eq!(commits, [1, 2, 1], "{counts:?}");
        let most = counts.iter().map(|(_, asked)| *asked).max();
        assert!(most.is_some_and(|asked| asked <= 8), "{counts:?}");
    });
}

/// A batch of known events writes nothing and waits for nobody.
#[test]
fn known_events_are_answered_without_writing_or_locking() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        for lease in leases(claim_many(&store, 0..20).await) {
            settle(&store, lease, "done").await;
        }
        let mut other = bench.beside().await;
        let all = "BEGIN; SELECT 1 FROM webhook_receipt FOR UPDATE; \
                   SELECT 1 FROM webhook_receipt_slot FOR UPDATE";
        batch(&mut other, all).await;
        let told = tokio::time::timeout(PATIENCE, claim_many(&store, 0..20)).await;
        for claim in told.expect("the batch waits") {
            assert!(matches!(claim, Claim::Duplicate(_)), "{claim:?}");
        }
        batch(&mut other, "ROLLBACK").await;
    });
}

/// Batches of the same events in different orders, beside single claims and transactions: each event
/// is won once, and nobody is a deadlock's victim.
#[test]
fn racing_batches_win_each_event_once() {
    const EVENTS: usize = 60;
    for (url, level) in [
        (super::url(), "REPEATABLE READ"),
        (super::url(), "READ COMMITTED"),
        (found_rows::url(), "REPEATABLE READ"),
    ] {
        let set = format!("SESSION TRANSACTION ISOLATION LEVEL {level}");
        let bench = Bench::with(url, &[&set], 12);
        let store = bench.builder().build();
        run(async {
            for round in 0..4 {
                let wins: Vec<_> = (0..EVENTS).map(|_| AtomicUsize::new(0)).collect();
                let (store, bench, wins) = (&store, &bench, &wins);
                let id = |n: usize| format!("{round} {n}");
                let work = (0..10_usize).map(|task| async move {
                    let order = (0..EVENTS).map(|n| (n * 7 + task * 11) % EVENTS);
                    if task < 6 {
                        let asked = order.clone().map(|n| ask(&id(n))).collect();
                        let claims = store.claim_many(asked).await.unwrap();
                        for (n, claim) in order.zip(claims) {
                            if let Claim::New(lease) = claim.unwrap() {
                                wins[n].fetch_add(1, SeqCst);
                                crash(lease);
                            }
                        }
                        return;
                    }
                    for n in order {
                        if task < 8 {
                            if let Claim::New(lease) = store.claim(ask(&id(n))).await.unwrap() {
                                wins[n].fetch_add(1, SeqCst);
                                crash(lease);
                            }
                            continue;
                        }
                        let mut tx = bench.pool.begin().await.unwrap();
                        let claim = store.claim_in(&mut tx, ask(&id(n))).await.unwrap();
                        if let hookproof::store::sql::TxClaim::New(lease) = claim {
                            let done = Verdict::done("");
                            store.settle_in(&mut tx, lease, done).await.unwrap();
                            wins[n].fetch_add(1, SeqCst);
                        }
                        tx.commit().await.unwrap();
                    }
                });
                tokio::time::timeout(PATIENCE, races::all(work))
                    .await
                    .unwrap();
                let wins: HashSet<_> = wins.iter().map(|wins| wins.load(SeqCst)).collect();
                assert_eq!(wins, HashSet::from([1]), "{level}");
            }
        });
    }
}

/// Batches that take the same events over, while they are purged: none is lost, and fences only grow.
#[test]
fn racing_takeovers_win_each_event_once() {
    const EVENTS: usize = 40;
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        leases(claim_many(&store, 0..EVENTS).await)
            .into_iter()
            .for_each(crash);
        for attempt in 2..6 {
            bench.clock.advance(LEASE);
            let store = &store;
            let work = (0..6_usize).map(|task| async move {
                let order = (0..EVENTS).map(|n| (n * 3 + task * 7) % EVENTS);
                let asked = order.map(|n| ask(&format!("e{n}"))).collect();
                let claims = store.claim_many(asked).await.unwrap();
                let mut won = 0;
                for claim in claims {
                    if let Claim::New(lease) = claim.unwrap() {
                        assert_eq!(lease.attempt(), attempt);
                        crash(lease);
                        won += 1;
                    }
                }
                won
            });
            let won = tokio::time::timeout(PATIENCE, races::all(work)).await;
            assert_eq!(won.unwrap().into_iter().sum::<usize>(), EVENTS);
        }
    });
}

/// The longest names and results fit through the text, without strict mode too.
#[test]
fn the_longest_names_fit_into_a_batch() {
    let bench = Bench::with(super::url(), &["sql_mode = ''"], 2);
    let store = bench.store();
    run(async {
        let long = |end: &str| {
            let (tenant, provider, id) =
                ("ä".repeat(127), "p".repeat(255), "\u{10348}".repeat(511));
            let key = EventKey::business(&tenant, &provider, &format!("{id}{end}")).unwrap();
            Claiming::business(key).lease(LEASE).max_attempts(1)
        };
        let asked = || vec![long("a"), long("b")];
        let claims = store.claim_many(asked()).await.unwrap();
        let claims = claims.into_iter().map(Result::unwrap).collect();
        leases(claims).into_iter().for_each(crash);
        // Their last attempt is over: a takeover with a result.
        bench.clock.advance(LEASE);
        for claim in store.claim_many(asked()).await.unwrap() {
            let Claim::Dead(receipt) = claim.unwrap() else {
                panic!("its attempts are over");
            };
            assert_eq!(store.get(&receipt.key).await.unwrap(), Some(receipt));
        }
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
        batch(&mut bench.beside().await, other).await;
        let mut claims = store.claim_many(asks(0..3)).await.unwrap();
        let error = claims.remove(1).unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Corrupt);
        let claims: Vec<_> = claims.into_iter().map(Result::unwrap).collect();
        for lease in leases(claims) {
            settle(&store, lease, "").await;
        }
        let alone = store.claim(ask("e1")).await.unwrap_err();
        assert_eq!(alone.kind(), StoreErrorKind::Corrupt);
    });
}

/// Nothing would be committed, or could be believed.
#[test]
fn sessions_that_cannot_be_right_are_refused() {
    use hookproof::{Advance, EffectLedger, ObjectKey, OrderGuard, Version, store::StatsStore};
    for setting in [
        "autocommit = 0",
        "SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED",
    ] {
        // The odd one drops their database.
        let bench = Bench::new();
        let odd = Bench::of(&bench.url, &bench.schema, &[setting], 1);
        let store = odd.store();
        let object = ObjectKey::new("", "order", "o1").unwrap();
        run(async {
            let kinds = [
                store.claim_many(asks(0..2)).await.map(drop).unwrap_err(),
                store.stats().await.map(drop).unwrap_err(),
                store.effects(&key("e1")).await.map(drop).unwrap_err(),
                store.current(&object).await.map(drop).unwrap_err(),
                store
                    .advance(&object, Version::number(1))
                    .await
                    .map(|advance: Advance| drop(advance))
                    .unwrap_err(),
            ]
            .map(|error| error.kind());
            assert_eq!(kinds, [StoreErrorKind::Misuse; 5], "{setting}");
        });
    }
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
        assert_eq!(stats.oldest_received, Some(START));
        busy(&exact, "e1").await;

        // What the server knows of the table's size follows some time after.
        let analyze = "ANALYZE TABLE webhook_receipt";
        batch(&mut bench.beside().await, analyze).await;
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
