//! Batches of deliveries on MySQL: what holds them up, and what fails alone.

use std::collections::HashMap;

use hookproof::{
    EventKey, IdempotencyStore, MySqlStore,
    inbox::{Accepted, BatchInbox, InboxStore, Leasing, Parcel},
    store::StoreErrorKind,
};

use super::{Bench, batch, crash, inbox::parcel, key, number, run, win_in};

fn parcels(events: std::ops::Range<usize>) -> Vec<Parcel> {
    events.map(|n| parcel(&format!("e{n}"))).collect()
}

async fn accept_many(store: &MySqlStore, parcels: Vec<Parcel>) -> Vec<Accepted> {
    let answers = store.accept_many(parcels).await.unwrap();
    answers.into_iter().map(Result::unwrap).collect()
}

fn are_new(answers: &[Accepted]) -> bool {
    let is_new = |answer| matches!(answer, &Accepted::New(_));
    answers.iter().all(is_new)
}

async fn due(store: &MySqlStore) -> usize {
    let leased = store.lease_due(Leasing::up_to(1000)).await.unwrap();
    let events = leased.events.into_iter();
    events.map(|(lease, _)| crash(lease)).count()
}

/// Ids of two events of one slot.
fn pair() -> (String, String) {
    let mut slots: HashMap<[u8; 2], String> = HashMap::new();
    (0..)
        .find_map(|n| {
            let id = format!("slot {n}");
            let digest: EventKey = key(&id);
            let [high, low, ..] = *digest.digest();
            slots
                .insert([high, low], id.clone())
                .map(|first| (first, id))
        })
        .unwrap()
}

/// An event that is new in it is in progress, whose delivery is not stored, and so is one whose receipt
/// it has locked. The others are accepted without waiting for it.
#[test]
fn a_transaction_that_lasts_does_not_hold_up_deliveries() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        let claimed = parcel("e3").claiming().clone();
        let hookproof::Claim::New(lease) = store.claim(claimed).await.unwrap() else {
            panic!("a new event");
        };
        crash(lease);
        let mut tx = bench.pool.begin().await.unwrap();
        let held = win_in(&store, &mut tx, "e2").await;
        // By its key, or the gaps between all keys are locked as well.
        let digest: String = key("e3")
            .digest()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let lock = format!(
            "SELECT COUNT(*) FROM (SELECT r.mark FROM webhook_receipt r \
             WHERE r.`key` = UNHEX('{digest}') FOR UPDATE) r"
        );
        assert_eq!(number(&mut tx, &lock).await, 1);
        let mut answers = accept_many(&store, parcels(0..6)).await;
        for answer in answers.drain(2..4) {
            assert!(matches!(answer, Accepted::InProgress { .. }), "{answer:?}");
        }
        assert!(are_new(&answers));
        for id in ["e2", "e3"] {
            assert!(store.parked(&key(id)).await.unwrap().is_none());
        }
        drop(held);
        tx.rollback().await.unwrap();
        let answers = accept_many(&store, parcels(0..6)).await;
        assert!(matches!(answers[2], Accepted::New(_)));
        assert!(matches!(answers[3], Accepted::Pending(_)));
        assert!(store.parked(&key("e3")).await.unwrap().is_some());
        assert_eq!(due(&store).await, 5, "all but the one that is claimed");
    });
}

/// Another event of the same slot is in somebody's transaction: it has nothing to do with the batch's,
/// which is stored when that ends, or busy if it does not. Two of one slot in one batch are both stored.
#[test]
fn deliveries_of_one_slot_are_told_apart() {
    let bench = Bench::new();
    let store = bench.store();
    let (first, second) = pair();
    run(async {
        let mut tx = bench.pool.begin().await.unwrap();
        let held = win_in(&store, &mut tx, &first).await;
        let asked = vec![parcel("e0"), parcel(&second), parcel("e1")];
        let mut answers = store.accept_many(asked).await.unwrap();
        let error = answers.remove(1).unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Busy);
        let answers: Vec<_> = answers.into_iter().map(Result::unwrap).collect();
        assert!(are_new(&answers));
        drop(held);
        tx.rollback().await.unwrap();
        let answers = accept_many(&store, vec![parcel(&second), parcel(&first)]).await;
        assert!(are_new(&answers));
        assert_eq!(due(&store).await, 4);
    });
}

/// A row of the queue that is left of a receipt that is gone gives way.
#[test]
fn a_leftover_of_the_queue_gives_way() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        let left = "INSERT INTO webhook_inbox_due (`key`, due_at, tenant) \
             SELECT `key`, 9e15, tenant FROM webhook_receipt; DELETE FROM webhook_receipt";
        let hookproof::Claim::New(lease) =
            store.claim(parcel("e1").claiming().clone()).await.unwrap()
        else {
            panic!("a new event");
        };
        crash(lease);
        batch(&mut bench.pool.acquire().await.unwrap(), left).await;
        assert!(are_new(&accept_many(&store, parcels(0..3)).await));
        assert_eq!(due(&store).await, 3);
    });
}

/// One row that cannot be read does not keep the other deliveries out.
#[test]
fn a_corrupt_row_fails_alone() {
    let bench = Bench::new();
    let store = bench.store();
    run(async {
        assert!(are_new(&accept_many(&store, vec![parcel("e1")]).await));
        let other = "UPDATE webhook_receipt SET event_id = 'of another event'";
        batch(&mut bench.pool.acquire().await.unwrap(), other).await;
        let mut answers = store.accept_many(parcels(0..3)).await.unwrap();
        let error = answers.remove(1).unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Corrupt);
        let answers: Vec<_> = answers.into_iter().map(Result::unwrap).collect();
        assert!(are_new(&answers));
    });
}
