//! Steps of events: in the caller's own transaction, and beside those who claim, forget and purge.

use hookproof::{
    Claim, Effect, EffectLedger, EffectSlot, IdempotencyStore, Lease, MySqlStore, Verdict,
    store::{EffectError, MAX_EFFECTS, RecordFault, StoreErrorKind},
};
use sqlx::MySqlConnection;

use super::{
    Bench, LEASE, PATIENCE, ask, batch, busy, crash, key, number, races, run, settle, win, win_in,
};

pub(crate) async fn due(store: &MySqlStore, lease: &Lease, name: &str) -> EffectSlot {
    match store.effect(lease, name).await.unwrap() {
        Effect::Due(slot) => slot,
        other => panic!("expected Due, got {other:?}"),
    }
}

pub(crate) async fn done(store: &MySqlStore, lease: &Lease, name: &str) -> String {
    match store.effect(lease, name).await.unwrap() {
        Effect::Done(done) => done.text,
        other => panic!("expected Done, got {other:?}"),
    }
}

const INVOICE: &str = "CREATE TABLE invoice (event text)";
const INSERT: &str = "INSERT INTO invoice VALUES ('e1')";
const INVOICES: &str = "SELECT COUNT(*) FROM invoice";

#[test]
fn record_and_rows_are_one_commit() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        let mut other = bench.beside().await;
        batch(&mut other, INVOICE).await;
        let lease = win(&store, "e1").await;
        for commits in [false, true] {
            let slot = due(&store, &lease, "invoice").await;
            let mut tx = bench.pool.begin().await.unwrap();
            batch(&mut tx, INSERT).await;
            let recorded = store.record_in(&mut tx, slot, "no. 1").await.unwrap();
            assert_eq!((recorded.number, recorded.fence), (1, lease.fence()));
            // Nobody sees it yet.
            assert_eq!(store.effects(&key("e1")).await.unwrap(), []);
            match commits {
                true => tx.commit().await.unwrap(),
                false => tx.rollback().await.unwrap(),
            }
            assert_eq!(number(&mut other, INVOICES).await, i64::from(commits));
        }
        assert_eq!(done(&store, &lease, "invoice").await, "no. 1");
        settle(&store, lease, "done").await;
    });
}

/// The lease has run out while the step's transaction is open. Whoever wants the event is told at
/// once that somebody is at it, instead of waiting with a connection each; and the step stands when
/// they get it.
#[test]
fn nobody_waits_for_an_open_step() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        let old = win(&store, "e1").await;
        let slot = due(&store, &old, "invoice").await;
        let mut tx = bench.pool.begin().await.unwrap();
        store.record_in(&mut tx, slot, "no. 1").await.unwrap();
        bench.clock.advance(LEASE);
        let told = tokio::time::timeout(PATIENCE, busy(&store, "e1")).await;
        told.expect("a claim waits for the step's transaction");
        tx.commit().await.unwrap();
        let new = win(&store, "e1").await;
        assert_eq!(done(&store, &new, "invoice").await, "no. 1");
        settle(&store, new, "").await;
        crash(old);
    });
}

/// The lease was lost while the step's transaction was prepared: nothing of it may be committed.
#[test]
fn a_lost_lease_records_nothing_in_a_transaction() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        let old = win(&store, "e1").await;
        let slot = due(&store, &old, "invoice").await;
        bench.clock.advance(LEASE);
        let new = win(&store, "e1").await;
        let mut tx = bench.pool.begin().await.unwrap();
        let error = store.record_in(&mut tx, slot, "no. 1").await.unwrap_err();
        assert!(matches!(error.fault, RecordFault::LeaseLost));
        // The transaction has not failed.
        assert_eq!(number(&mut tx, "SELECT 1").await, 1);
        tx.rollback().await.unwrap();
        drop(due(&store, &new, "invoice").await);
        settle(&store, new, "").await;
        crash(old);
    });
}

/// A takeover that is not committed yet decides: the record waits, and is then refused or written.
#[test]
fn a_record_waits_for_an_open_takeover() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        for (id, commits) in [("rolled back", false), ("committed", true)] {
            let old = win(&store, id).await;
            let slot = due(&store, &old, "charge").await;
            bench.clock.advance(LEASE);
            let mut tx = bench.beside().await;
            batch(&mut tx, "BEGIN").await;
            let new = win_in(&store, &mut tx, id).await;
            let (recorded, ()) = tokio::join!(store.record(slot, "ch_123"), async {
                bench.waiting(1).await;
                if commits {
                    let done = Verdict::done("");
                    store.settle_in(&mut tx, new, done).await.unwrap();
                } else {
                    crash_in(new);
                }
                batch(&mut tx, if commits { "COMMIT" } else { "ROLLBACK" }).await;
            });
            match commits {
                true => assert!(matches!(
                    recorded.unwrap_err().fault,
                    RecordFault::LeaseLost
                )),
                false => assert_eq!(recorded.unwrap().text, "ch_123"),
            }
            crash(old);
        }
    });
}

fn crash_in(lease: hookproof::store::sql::TxLease) {
    std::mem::forget(lease);
}

/// A statement that deletes a receipt waits for a step that is being recorded, and takes it along
/// although it did not see it: no step is left for the event's next life.
#[test]
fn a_step_recorded_meanwhile_is_deleted_with_its_receipt() {
    for level in ["READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"] {
        let set = format!("SESSION TRANSACTION ISOLATION LEVEL {level}");
        let bench = Bench::with(super::url(), &[&set], 4);
        let store = bench.store();
        run(async {
            let lease = win(&store, "e1").await;
            let slot = due(&store, &lease, "charge").await;
            let mut tx = bench.beside().await;
            batch(&mut tx, "BEGIN").await;
            store.record_in(&mut tx, slot, "ch_123").await.unwrap();
            let key = key("e1");
            let (forgotten, ()) = tokio::join!(store.forget(&key), async {
                bench.waiting(1).await;
                batch(&mut tx, "COMMIT").await;
            });
            assert!(forgotten.unwrap().is_some());
            let left = "SELECT COUNT(*) FROM webhook_effect";
            assert_eq!(number(&mut tx, left).await, 0, "{level}");
            let again = win(&store, "e1").await;
            drop(due(&store, &again, "charge").await);
            settle(&store, again, "").await;
            crash(lease);
        });
    }
}

/// A purge passes over an event that somebody is at, as over one with a running lease.
#[test]
fn a_purge_does_not_wait_for_an_open_step() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        let claim = store.claim(ask("e1").retention(LEASE)).await.unwrap();
        let lease = super::won(claim);
        let slot = due(&store, &lease, "charge").await;
        bench.clock.advance(LEASE);
        let mut tx = bench.pool.begin().await.unwrap();
        store.record_in(&mut tx, slot, "ch_123").await.unwrap();
        assert_eq!(store.purge(10).await.unwrap(), 0);
        tx.commit().await.unwrap();
        assert_eq!(store.purge(10).await.unwrap(), 1);
        assert_eq!(store.effects(&key("e1")).await.unwrap(), []);
        crash(lease);
    });
}

#[test]
fn without_a_transaction_it_is_misuse() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        let lease = win(&store, "e1").await;
        let slot = due(&store, &lease, "charge").await;
        let mut other = bench.beside().await;
        let error = store.record_in(&mut other, slot, "").await.unwrap_err();
        assert!(
            matches!(&error.fault, RecordFault::Store(e) if e.kind() == StoreErrorKind::Misuse)
        );
        assert_eq!(error.slot.name(), "charge");
        assert_eq!(store.effects(&key("e1")).await.unwrap(), []);
        settle(&store, lease, "").await;
    });
}

/// A transaction whose snapshot is older than another's takeover records nothing either: what counts
/// is read as it is now.
#[test]
fn an_old_snapshot_records_nothing() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        let old = win(&store, "e1").await;
        let slot = due(&store, &old, "charge").await;
        let mut tx = old_snapshot(&bench).await;
        bench.clock.advance(LEASE);
        let new = win(&store, "e1").await;
        let error = store.record_in(&mut tx, slot, "").await.unwrap_err();
        assert!(matches!(error.fault, RecordFault::LeaseLost));
        batch(&mut tx, "ROLLBACK").await;
        drop(due(&store, &new, "charge").await);
        settle(&store, new, "").await;
        crash(old);
    });
}

async fn old_snapshot(bench: &Bench) -> MySqlConnection {
    let mut tx = bench.beside().await;
    batch(
        &mut tx,
        "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ; BEGIN",
    )
    .await;
    number(&mut tx, "SELECT COUNT(*) FROM webhook_effect").await;
    tx
}

/// Steps that its snapshot does not show are there all the same: the same step is not recorded twice,
/// and another one has the next number.
#[test]
fn steps_that_a_snapshot_does_not_show_count() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        let lease = win(&store, "e1").await;
        let (again, fourth) = (
            due(&store, &lease, "second").await,
            due(&store, &lease, "fourth").await,
        );
        let mut tx = old_snapshot(&bench).await;
        for name in ["first", "second", "third"] {
            let slot = due(&store, &lease, name).await;
            store.record(slot, name).await.unwrap();
        }
        let recorded = store.record_in(&mut tx, again, "twice").await.unwrap();
        assert_eq!((recorded.number, &*recorded.text), (2, "second"));
        let recorded = store.record_in(&mut tx, fourth, "new").await.unwrap();
        assert_eq!((recorded.number, &*recorded.text), (4, "new"));
        batch(&mut tx, "COMMIT").await;
        let effects = store.effects(&key("e1")).await.unwrap();
        let names: Vec<_> = effects.iter().map(|effect| &*effect.name).collect();
        assert_eq!(names, ["first", "second", "third", "fourth"]);
        settle(&store, lease, "").await;
    });
}

/// The last room was taken since the snapshot.
#[test]
fn a_snapshot_makes_no_room() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        let lease = win(&store, "e1").await;
        let late = due(&store, &lease, "late").await;
        let mut tx = old_snapshot(&bench).await;
        for n in 0..MAX_EFFECTS {
            let slot = due(&store, &lease, &format!("step {n}")).await;
            store.record(slot, "").await.unwrap();
        }
        let error = store.record_in(&mut tx, late, "").await.unwrap_err();
        assert!(matches!(error.fault, RecordFault::TooMany));
        batch(&mut tx, "ROLLBACK").await;
        settle(&store, lease, "").await;
    });
}

/// The event was forgotten, and came again, since the snapshot, which still shows the steps of its
/// former life: none of them is taken for one of the new one.
#[test]
fn steps_of_a_former_life_do_not_count() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        let former = win(&store, "e1").await;
        for name in ["charge", "email"] {
            let slot = due(&store, &former, name).await;
            store.record(slot, "former").await.unwrap();
        }
        let mut tx = old_snapshot(&bench).await;
        store.forget(&key("e1")).await.unwrap();
        let lease = win(&store, "e1").await;
        for name in ["charge", "email"] {
            let slot = due(&store, &lease, name).await;
            let recorded = store.record_in(&mut tx, slot, "new").await.unwrap();
            assert_eq!((&*recorded.text, recorded.fence), ("new", lease.fence()));
        }
        batch(&mut tx, "COMMIT").await;
        assert_eq!(done(&store, &lease, "charge").await, "new");
        let next = due(&store, &lease, "ship").await;
        store.record(next, "new").await.unwrap();
        settle(&store, lease, "").await;
        crash(former);
    });
}

/// Steps of different events do not get in each other's way, however their keys lie: no transaction
/// waits, and none is a deadlock's victim.
#[test]
fn steps_of_other_events_are_not_waited_for() {
    const EVENTS: usize = 8;
    let set = "SESSION innodb_lock_wait_timeout = 1";
    let bench = Bench::with(super::url(), &[set], EVENTS as u32 + 2);
    let store = bench.store();
    run(async {
        let mut open = Vec::new();
        for n in 0..EVENTS {
            let lease = win(&store, &format!("e{n}")).await;
            let mut tx = bench.pool.begin().await.unwrap();
            number(&mut tx, "SELECT COUNT(*) FROM webhook_effect").await;
            open.push((lease, tx));
        }
        for name in ["charge", "email"] {
            for (lease, tx) in &mut open {
                let slot = due(&store, lease, name).await;
                store.record_in(tx, slot, name).await.unwrap();
            }
        }
        for (lease, tx) in open {
            tx.commit().await.unwrap();
            settle(&store, lease, "").await;
        }
    });
}

/// Many connections with the steps of one event, on the pool and in transactions: each step is
/// recorded once, and all are numbered from 1.
#[test]
fn racing_steps_are_numbered_one_after_the_other() {
    for level in ["READ COMMITTED", "REPEATABLE READ"] {
        let set = format!("SESSION TRANSACTION ISOLATION LEVEL {level}");
        let bench = Bench::with(super::url(), &[&set], 8);
        let store = bench.store();
        run(async {
            let lease = win(&store, "e1").await;
            let (lease, store, bench) = (&lease, &store, &bench);
            let work = (0..24).map(|n| async move {
                // Each step is recorded by two.
                let slot = match store.effect(lease, &format!("step {}", n / 2)).await {
                    Ok(Effect::Due(slot)) => slot,
                    Ok(Effect::Done(_)) => return,
                    Err(error) => panic!("{error:?}"),
                };
                if n % 4 < 2 {
                    store.record(slot, "").await.unwrap();
                    return;
                }
                let mut slot = Some(slot);
                while let Some(due) = slot.take() {
                    let mut tx = bench.pool.begin().await.unwrap();
                    match store.record_in(&mut tx, due, "").await {
                        Ok(_) => tx.commit().await.unwrap(),
                        Err(error) => {
                            assert!(is(&error.fault, StoreErrorKind::Serialization), "{error:?}");
                            tx.rollback().await.unwrap();
                            slot = Some(*error.slot);
                        }
                    }
                }
            });
            tokio::time::timeout(PATIENCE, races::all(work))
                .await
                .unwrap();
            let effects = store.effects(&key("e1")).await.unwrap();
            let numbers: Vec<_> = effects.iter().map(|effect| effect.number).collect();
            assert_eq!(numbers, (1..=12).collect::<Vec<_>>());
            let names: std::collections::HashSet<_> =
                effects.into_iter().map(|effect| effect.name).collect();
            assert_eq!(names.len(), 12);
        });
        crash(run(async { busy_lease(&bench).await }));
    }
}

/// Takes over what the race has left in progress, so that nothing is dropped unsettled.
async fn busy_lease(bench: &Bench) -> Lease {
    bench.clock.advance(LEASE);
    win(&bench.store(), "e1").await
}

fn is(fault: &RecordFault, kind: StoreErrorKind) -> bool {
    matches!(fault, RecordFault::Store(error) if error.kind() == kind)
}

/// Without foreign keys a deletion would leave the steps to the event's next life.
#[test]
fn sessions_without_foreign_keys_delete_nothing() {
    let bench = Bench::new();
    let careless = Bench::of(&bench.url, &bench.schema, &["foreign_key_checks = 0"], 2);
    let store = bench.store();
    run(async {
        let lease = win(&store, "e1").await;
        let slot = due(&store, &lease, "charge").await;
        store.record(slot, "ch_123").await.unwrap();
        settle(&store, lease, "").await;
        bench.clock.advance(LEASE * 60 * 24 * 365);
        let other = careless.builder().clock(bench.clock.clone()).build();
        let purged = other.purge(10).await.unwrap_err();
        let forgotten = other.forget(&key("e1")).await.unwrap_err();
        for error in [purged, forgotten] {
            assert_eq!(error.kind(), StoreErrorKind::Misuse);
        }
        assert_eq!(store.effects(&key("e1")).await.unwrap().len(), 1);
        assert_eq!(store.purge(10).await.unwrap(), 1);
        assert_eq!(store.effects(&key("e1")).await.unwrap(), []);
    });
}

/// A server that cannot be reached hands the slot back.
#[test]
fn a_store_that_is_gone_hands_the_slot_back() {
    let bench = Bench::new();
    let store = bench.store();
    let again = Bench::of(&bench.url, &bench.schema, &[], 2);
    run(async {
        let lease = win(&store, "e1").await;
        let slot = due(&store, &lease, "charge").await;
        bench.pool.close().await;
        let error = store.record(slot, "ch_123").await.unwrap_err();
        assert!(
            matches!(&error.fault, RecordFault::Store(e) if e.kind() == StoreErrorKind::Unavailable)
        );
        assert_eq!(error.slot.effect_key(), lease.effect_key("charge"));
        let told = store.effect(&lease, "charge").await;
        assert!(
            matches!(&told, Err(EffectError::Store(e)) if e.kind() == StoreErrorKind::Unavailable)
        );
        // Another store on the same database, with the slot that came back.
        again.store().record(*error.slot, "ch_123").await.unwrap();
        let claim = again.store().claim(ask("e1")).await.unwrap();
        assert!(!matches!(claim, Claim::New(_)));
        settle(&again.store(), lease, "").await;
    });
}
