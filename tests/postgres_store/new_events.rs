//! A new event on the pool is claimed by the statement that looks for it. What that statement has to
//! hold, under each isolation level: its snapshot is older than the locks it takes.

use std::time::Duration;

use hookproof::{
    Claim, Fence, IdempotencyStore, Lease, Verdict,
    store::{SettleFault, State},
};
use sqlx::PgConnection;

use super::{
    Bench, LEASE, ask, batch, busy, duplicate, judged::insert, key, number, races::all, run,
    settle, traps::committed, win, win_in, won,
};

const LEVELS: [&str; 3] = ["read committed", "repeatable read", "serializable"];

/// Whose pool has sessions of this level.
fn at(level: &str) -> Bench {
    let settings = [("default_transaction_isolation", level)];
    Bench::with(super::url(), &settings, 16)
}

/// By the server's clock, and nobody is told anything else than that it is new or in progress.
#[test]
fn exactly_one_claimant_is_told_new() {
    for level in LEVELS {
        let bench = at(level);
        let store = bench.builder().build();
        run(async {
            for round in 0..25 {
                let id = format!("e{round}");
                let claims = all((0..48).map(|_| store.claim(ask(&id)))).await;
                let mut leases = Vec::new();
                for claim in claims {
                    match claim.unwrap() {
                        Claim::New(lease) => leases.push(lease),
                        Claim::InProgress { .. } => {}
                        other => panic!("{level}: {other:?}"),
                    }
                }
                assert_eq!(leases.len(), 1, "{level}");
                let lease = leases.remove(0);
                let kept = settle(&store, lease, "once").await;
                assert_eq!((kept.attempts, kept.state), (1, State::Processed));
                assert_eq!(duplicate(&store, &id).await, kept);
            }
        });
    }
}

/// Takes what a deletion of the event takes, so that its claim stops between its snapshot, in which
/// nothing is stored, and its insert.
async fn hold_up(session: &mut PgConnection, id: &str) {
    let digest = hex::encode(key(id).digest());
    let presence = format!(
        "BEGIN; SELECT pg_advisory_xact_lock(('x' || right('{digest}', 16))::bit(64)::bigint \
            # 'webhook_receipt'::regclass::oid::bigint)"
    );
    batch(session, &presence).await;
}

/// The row that came is told of, and not what the snapshot shows.
#[test]
fn what_came_after_the_snapshot_is_not_written_over() {
    for level in LEVELS {
        let bench = at(level);
        let store = bench.store();
        run(async {
            let (mut deleting, mut other) = (bench.beside().await, bench.beside().await);
            for state in [State::Processed, State::InProgress, State::Dead] {
                let id = format!("{state:?}");
                hold_up(&mut deleting, &id).await;
                let (claim, ()) = tokio::join!(store.claim(ask(&id)), async {
                    bench.waiting(1, "advisory").await;
                    insert(&mut other, &key(&id), committed(state)).await;
                    batch(&mut deleting, "COMMIT").await;
                });
                let told = match claim.unwrap() {
                    Claim::Duplicate(receipt) | Claim::Dead(receipt) => receipt,
                    Claim::InProgress { receipt, .. } => receipt,
                    other => panic!("{level}: {other:?}"),
                };
                assert_eq!(told.state, state, "{level}");
                assert_eq!(store.get(&key(&id)).await.unwrap(), Some(told), "{level}");
            }
        });
    }
}

/// A row that came and was purged: the event is new, and its fence is above the purged one, which
/// no snapshot from before shows.
#[test]
fn what_came_and_went_after_the_snapshot_leaves_its_fence() {
    for level in LEVELS {
        let bench = at(level);
        let store = bench.store();
        run(async {
            let (mut deleting, mut other) = (bench.beside().await, bench.beside().await);
            let highest = Fence(1 << 60);
            hold_up(&mut deleting, "e1").await;
            let (claim, ()) = tokio::join!(store.claim(ask("e1")), async {
                bench.waiting(1, "advisory").await;
                let mut row = committed(State::Processed);
                row.fence = highest.0;
                insert(&mut other, &key("e1"), row).await;
                // As a purge does it.
                let purge = "DELETE FROM webhook_receipt RETURNING \
                             setval('webhook_receipt_fence', fence)";
                assert_eq!(number(&mut other, purge).await, highest.0);
                batch(&mut deleting, "COMMIT").await;
            });
            let lease = won(claim.unwrap());
            assert_eq!(lease.fence(), Fence(highest.0 + 1), "{level}");
            assert_eq!(lease.attempt(), 1, "{level}");
            settle(&store, lease, "").await;
        });
    }
}

/// While it is held up, others are told at once, and do not wait behind it.
#[test]
fn who_comes_behind_a_claim_that_is_held_up_does_not_wait() {
    for level in LEVELS {
        let bench = at(level);
        let store = bench.store();
        run(async {
            let mut deleting = bench.beside().await;
            hold_up(&mut deleting, "e1").await;
            let (claim, ()) = tokio::join!(store.claim(ask("e1")), async {
                bench.waiting(1, "advisory").await;
                let seen = busy(&store, "e1").await;
                assert_eq!((seen.fence, seen.attempts), (Fence(0), 1), "{level}");
                batch(&mut deleting, "COMMIT").await;
            });
            settle(&store, won(claim.unwrap()), "").await;
        });
    }
}

/// The same behind somebody's transaction, whatever becomes of it.
#[test]
fn who_comes_behind_an_open_transaction_does_not_wait() {
    for level in LEVELS {
        let bench = at(level);
        let store = bench.store();
        run(async {
            for commits in [true, false] {
                let id = format!("commits {commits}");
                let mut tx = bench.pool.begin().await.unwrap();
                let lease = win_in(&store, &mut tx, &id).await;
                let seen = busy(&store, &id).await;
                assert_eq!((seen.fence, seen.attempts), (Fence(0), 1), "{level}");
                let done = Verdict::done("theirs");
                store.settle_in(&mut tx, lease, done).await.unwrap();
                busy(&store, &id).await;
                if commits {
                    tx.commit().await.unwrap();
                    assert_eq!(duplicate(&store, &id).await.result, b"theirs");
                } else {
                    tx.rollback().await.unwrap();
                    settle(&store, win(&store, &id).await, "mine").await;
                }
            }
        });
    }
}

/// Claims beside deletions of the same events: no two leases have the same fence, and each time one
/// lease at most may settle.
#[test]
fn no_fence_comes_twice_beside_deletions() {
    const EVENTS: usize = 3;
    for level in LEVELS {
        let bench = at(level);
        // Its clock stands still, so fences differ by what is remembered alone.
        let store = &bench.store();
        run(async {
            let work = (0..12).map(|task| async move {
                let mut won: Vec<Vec<Lease>> = (0..EVENTS).map(|_| Vec::new()).collect();
                for step in 0..40 {
                    let event = (task + step) % EVENTS;
                    let id = format!("e{event}");
                    let ask = ask(&id).retention(Duration::ZERO).max_attempts(u32::MAX);
                    match task % 4 {
                        0 => drop(store.forget(&key(&id)).await.unwrap()),
                        1 => drop(store.purge(2).await.unwrap()),
                        _ => {
                            let claim = store.claim(ask.lease(Duration::ZERO)).await.unwrap();
                            if let Claim::New(lease) = claim {
                                won[event].push(lease);
                            }
                        }
                    }
                }
                won
            });
            let mut won: Vec<Vec<Lease>> = (0..EVENTS).map(|_| Vec::new()).collect();
            for task in all(work).await {
                for (all, one) in won.iter_mut().zip(task) {
                    all.extend(one);
                }
            }
            for leases in won {
                let mut fences: Vec<_> = leases.iter().map(|lease| lease.fence()).collect();
                assert!(fences.len() > 10, "{level}: too few were won");
                fences.sort_unstable();
                let before = fences.len();
                fences.dedup();
                assert_eq!(fences.len(), before, "{level}: a fence came twice");
                let mut settled = 0;
                for lease in leases {
                    match store.settle(lease, Verdict::done("")).await {
                        Ok(_) => settled += 1,
                        Err(error) => assert!(matches!(error.fault, SettleFault::LeaseLost)),
                    }
                }
                assert!(settled <= 1, "{level}: {settled} settled");
            }
            bench.clock.advance(LEASE);
        });
    }
}
