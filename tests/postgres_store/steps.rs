//! Steps of events: in the caller's own transaction, and beside those who claim, forget and purge.

use hookproof::{
    Claim, Effect, EffectLedger, EffectSlot, IdempotencyStore, Lease, PostgresStore, Verdict,
    store::{EffectError, RecordFault, StoreErrorKind},
};

use super::{Bench, LEASE, ask, batch, busy, crash, key, number, run, settle, win, win_in};

pub(crate) async fn due(store: &PostgresStore, lease: &Lease, name: &str) -> EffectSlot {
    match store.effect(lease, name).await.unwrap() {
        Effect::Due(slot) => slot,
        other => panic!("expected Due, got {other:?}"),
    }
}

pub(crate) async fn done(store: &PostgresStore, lease: &Lease, name: &str) -> String {
    match store.effect(lease, name).await.unwrap() {
        Effect::Done(done) => done.text,
        other => panic!("expected Done, got {other:?}"),
    }
}

const INVOICE: &str = "CREATE TABLE invoice (event text)";
const INSERT: &str = "INSERT INTO invoice VALUES ('e1')";
const INVOICES: &str = "SELECT count(*) FROM invoice";

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
        busy(&store, "e1").await;
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
        assert_eq!(number(&mut tx, "SELECT 1::bigint").await, 1);
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
                bench.waiting(1, "transactionid").await;
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
    for level in ["read committed", "repeatable read", "serializable"] {
        let bench = Bench::with(super::url(), &[("default_transaction_isolation", level)], 4);
        let store = bench.store();
        run(async {
            let lease = win(&store, "e1").await;
            let slot = due(&store, &lease, "charge").await;
            let mut tx = bench.beside().await;
            batch(&mut tx, "BEGIN").await;
            store.record_in(&mut tx, slot, "ch_123").await.unwrap();
            let key = key("e1");
            let (forgotten, ()) = tokio::join!(store.forget(&key), async {
                bench.waiting(1, "any").await;
                batch(&mut tx, "COMMIT").await;
            });
            assert!(forgotten.unwrap().is_some());
            let left = "SELECT count(*) FROM webhook_effect";
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

/// A record in a transaction whose snapshot is older than another's takeover is not written.
#[test]
fn an_old_snapshot_records_nothing() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        for level in ["REPEATABLE READ", "SERIALIZABLE"] {
            let old = win(&store, level).await;
            let slot = due(&store, &old, "charge").await;
            let mut tx = bench.beside().await;
            batch(&mut tx, &format!("BEGIN ISOLATION LEVEL {level}")).await;
            number(&mut tx, "SELECT count(*) FROM webhook_receipt").await;
            bench.clock.advance(LEASE);
            let new = win(&store, level).await;
            let error = store.record_in(&mut tx, slot, "").await.unwrap_err();
            assert!(
                matches!(&error.fault, RecordFault::Store(e) if e.kind() == StoreErrorKind::Serialization)
            );
            batch(&mut tx, "ROLLBACK").await;
            drop(due(&store, &new, "charge").await);
            settle(&store, new, "").await;
            crash(old);
        }
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
