//! The same for steps, objects and the inbox.

use hookproof::{
    Advance, Claiming, EffectLedger, IdempotencyStore, ObjectKey, OrderGuard, State, Verdict,
    Version,
    inbox::{Accepted, BatchInbox, Dropping, InboxStore, Leasing, Listing, Parcel, Requeued},
    store::{Effect, StoreErrorKind},
};

use super::{REFUSED, Shop, later, refusal};
use crate::{LEASE, inbox::verified, number, run};

fn parcel(tenant: &str, id: &str) -> Parcel {
    verified(id, |delivery| {
        let key = hookproof::EventKey::business(tenant, "shop", id).unwrap();
        Parcel::new(delivery, Claiming::new(delivery, key).lease(LEASE))
    })
}

fn ask(tenant: &str, id: &str) -> hookproof::EventKey {
    parcel(tenant, id).key().clone()
}

#[test]
fn each_does_its_part_of_the_inbox() {
    let shop = Shop::new(false);
    let (gateway, worker) = (shop.role("gateway"), shop.role("worker"));
    let (janitor, auditor) = (shop.role("janitor"), shop.role("auditor"));
    run(async {
        let accepted = gateway.accept(parcel("a", "e1")).await.unwrap();
        assert!(matches!(accepted, Accepted::New(_)), "{accepted:?}");
        let kind = worker.accept(parcel("a", "e2")).await.unwrap_err().kind();
        assert_eq!(kind, StoreErrorKind::Misuse);
        let again = gateway.accept(parcel("a", "e1")).await.unwrap();
        assert!(matches!(again, Accepted::Pending(_)), "{again:?}");

        for role in [&auditor, &janitor] {
            let page = role.list(Listing::of(State::Received)).await.unwrap();
            assert_eq!(page.len(), 1);
            let kind = role.lease_due(Leasing::up_to(1)).await.unwrap_err().kind();
            assert_eq!(kind, StoreErrorKind::Misuse);
        }

        let mut leased = worker.lease_due(Leasing::up_to(8)).await.unwrap();
        let (lease, parked) = leased.events.pop().unwrap();
        assert_eq!(parked.body, b"e1");
        let slot = match worker.effect(&lease, "charge").await.unwrap() {
            Effect::Due(slot) => slot,
            other => panic!("{other:?}"),
        };
        worker.record(slot, "ch_1").await.unwrap();
        worker.settle(lease, Verdict::dead("no")).await.unwrap();
        assert_eq!(auditor.effects(&ask("a", "e1")).await.unwrap().len(), 1);
        let sent_back = worker.requeue(&ask("a", "e1")).await.unwrap();
        assert!(matches!(sent_back, Requeued::Waiting(_)), "{sent_back:?}");
        let mut leased = worker.lease_due(Leasing::up_to(8)).await.unwrap();
        let (lease, _) = leased.events.pop().unwrap();
        worker.settle(lease, Verdict::done("done")).await.unwrap();

        let kind = worker.drop_bodies(Dropping::processed(LEASE)).await;
        assert_eq!(kind.unwrap_err().kind(), StoreErrorKind::Misuse);
        later(&shop.bench.clock);
        let dropped = janitor.drop_bodies(Dropping::processed(LEASE)).await;
        assert_eq!(dropped.unwrap(), 1);
        assert_eq!(janitor.purge(10).await.unwrap(), 1);
        assert_eq!(auditor.effects(&ask("a", "e1")).await.unwrap(), []);
    });
}

#[test]
fn each_does_its_part_with_objects() {
    let shop = Shop::new(false);
    let (gateway, worker) = (shop.role("gateway"), shop.role("worker"));
    let (janitor, auditor) = (shop.role("janitor"), shop.role("auditor"));
    run(async {
        let order = ObjectKey::new("a", "order", "o1").unwrap();
        let first = gateway.advance(&order, Version::number(1)).await.unwrap();
        assert!(matches!(first, Advance::Applied { .. }), "{first:?}");
        let next = Version::number(2).deletion();
        let next = worker.advance(&order, next).await.unwrap();
        assert!(matches!(next, Advance::Applied { .. }), "{next:?}");
        assert!(auditor.current(&order).await.unwrap().is_some());
        for role in [&auditor, &janitor] {
            let refused = role.advance(&order, Version::number(3)).await.unwrap_err();
            assert_eq!(refused.kind(), StoreErrorKind::Misuse);
        }
        for role in [&gateway, &worker, &auditor] {
            let refused = role.forget_object(&order).await.unwrap_err();
            assert_eq!(refused.kind(), StoreErrorKind::Misuse);
        }
        later(&shop.bench.clock);
        assert_eq!(janitor.purge_deleted(LEASE, 10).await.unwrap(), 1);
        for table in ["webhook_object", "webhook_inbox"] {
            let sql = format!("UPDATE {table} SET key = key");
            assert_eq!(shop.sql("janitor", &sql).await.as_deref(), REFUSED);
        }
    });
}

/// What a tenant does not see of receipts it does not see of the rest either.
#[test]
fn tenants_share_no_inbox() {
    let shop = Shop::new(true);
    let pools =
        ["gateway", "worker"].map(|role| ["a", "b"].map(|tenant| shop.pool(role, Some(tenant))));
    let [[_, of_b], [worker_a, worker_b]] =
        [0, 1].map(|role: usize| [0, 1].map(|tenant: usize| shop.store(&pools[role][tenant])));
    run(async {
        let of_a = shop.store(&pools[0][0]);
        assert!(matches!(
            of_a.accept(parcel("a", "e1")).await.unwrap(),
            Accepted::New(_)
        ));
        assert!(matches!(
            of_b.accept(parcel("b", "e1")).await.unwrap(),
            Accepted::New(_)
        ));
        let kind = of_b.accept(parcel("a", "e2")).await.unwrap_err().kind();
        assert_eq!(kind, StoreErrorKind::Misuse);
        assert_eq!(of_b.parked(&ask("a", "e1")).await.unwrap(), None);

        let leased = worker_b.lease_due(Leasing::up_to(8)).await.unwrap().events;
        let keys: Vec<_> = leased
            .iter()
            .map(|(lease, _)| lease.key().tenant())
            .collect();
        assert_eq!(keys, ["b"]);
        for (lease, _) in leased {
            worker_b.settle(lease, Verdict::done("of b")).await.unwrap();
        }
        let (lease, _) = worker_a
            .lease_due(Leasing::up_to(8))
            .await
            .unwrap()
            .events
            .pop()
            .unwrap();
        let slot = match worker_a.effect(&lease, "charge").await.unwrap() {
            Effect::Due(slot) => slot,
            other => panic!("{other:?}"),
        };
        worker_a.record(slot, "ch_1").await.unwrap();
        assert_eq!(worker_b.effects(&ask("a", "e1")).await.unwrap(), []);
        assert_eq!(worker_a.effects(&ask("a", "e1")).await.unwrap().len(), 1);

        let order = ObjectKey::new("a", "order", "o1").unwrap();
        let first = worker_a.advance(&order, Version::number(1)).await.unwrap();
        assert!(matches!(first, Advance::Applied { .. }), "{first:?}");
        assert_eq!(worker_b.current(&order).await.unwrap(), None);
        let refused = worker_b.advance(&order, Version::number(2)).await;
        assert_eq!(refused.unwrap_err().kind(), StoreErrorKind::Misuse);

        let mut connection = pools[1][1].acquire().await.unwrap();
        for table in ["webhook_effect", "webhook_object", "webhook_inbox_due"] {
            let count = format!("SELECT count(*) FROM {table}");
            assert_eq!(number(&mut connection, &count).await, 0, "{table}");
        }
        assert_eq!(
            number(&mut connection, "SELECT count(*) FROM webhook_inbox").await,
            1
        );
        drop(connection);
        // Not even by naming another's event.
        let key: String = ask("a", "e1")
            .digest()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let sql = format!("INSERT INTO webhook_inbox_due VALUES ('{key}', 0, 'a')");
        assert_eq!(refusal(&pools[1][1], &sql).await.as_deref(), REFUSED);
        worker_a.settle(lease, Verdict::done("of a")).await.unwrap();
        for pool in pools.iter().flatten() {
            pool.close().await;
        }
    });
}

/// Batches ask for no more rights, and a tenant's for no other tenant's.
#[test]
fn the_gateway_accepts_batches() {
    let shop = Shop::new(true);
    let pools = ["gateway", "worker"].map(|role| shop.pool(role, Some("a")));
    let [gateway, worker] = [0, 1].map(|role: usize| shop.store(&pools[role]));
    run(async {
        let claim = gateway.claim(parcel("a", "adopted").claiming().clone());
        let hookproof::Claim::New(lease) = claim.await.unwrap() else {
            panic!("a new event");
        };
        crate::crash(lease);
        let batch = || vec![parcel("a", "e1"), parcel("a", "adopted"), parcel("a", "e2")];
        let mixed = vec![parcel("a", "e1"), parcel("b", "e1")];
        for refused in [worker.accept_many(batch()), gateway.accept_many(mixed)] {
            assert_eq!(refused.await.unwrap_err().kind(), StoreErrorKind::Misuse);
        }
        let answers = gateway.accept_many(batch()).await.unwrap();
        assert!(matches!(answers[0], Ok(Accepted::New(_))), "{answers:?}");
        assert!(
            matches!(answers[1], Ok(Accepted::Pending(_))),
            "{answers:?}"
        );
        assert!(matches!(answers[2], Ok(Accepted::New(_))), "{answers:?}");
        let leased = worker.lease_due(Leasing::up_to(8)).await.unwrap();
        assert_eq!(leased.events.len(), 2);
        leased
            .events
            .into_iter()
            .for_each(|(lease, _)| crate::crash(lease));
    });
}
