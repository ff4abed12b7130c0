//! The same for batches, numbers, steps and objects.

use hookproof::{
    Advance, Claim, Effect, EffectLedger, IdempotencyStore, ObjectKey, OrderGuard, Verdict,
    Version,
    store::{BatchStore, StatsStore, StoreErrorKind},
};

use super::{ROLES, Shop, later, refused};
use crate::{LEASE, ask, key, run, won};

#[test]
fn each_does_its_part_with_batches_and_steps() {
    let shop = Shop::new();
    let (gateway, worker) = (shop.role("gateway"), shop.role("worker"));
    let (janitor, auditor) = (shop.role("janitor"), shop.role("auditor"));
    run(async {
        let lease = won(gateway.claim(ask("e1")).await.unwrap());
        let Effect::Due(slot) = worker.effect(&lease, "charge").await.unwrap() else {
            panic!("nothing is recorded");
        };
        worker.record(slot, "ch_1").await.unwrap();
        let Effect::Due(slot) = gateway.effect(&lease, "mail").await.unwrap() else {
            panic!("nothing is recorded");
        };
        gateway.record(slot, "m_1").await.unwrap();
        for role in [&janitor, &auditor] {
            let Effect::Due(slot) = role.effect(&lease, "ship").await.unwrap() else {
                panic!("nothing is recorded");
            };
            role.record(slot, "s_1").await.unwrap_err();
        }
        worker.settle(lease, Verdict::done("done")).await.unwrap();
        assert_eq!(auditor.effects(&key("e1")).await.unwrap().len(), 2);

        let batch = vec![ask("e1"), ask("e2"), ask("e3")];
        let mut claims = gateway.claim_many(batch).await.unwrap().into_iter();
        assert!(matches!(claims.next(), Some(Ok(Claim::Duplicate(_)))));
        for claim in claims {
            gateway.release(won(claim.unwrap())).await.unwrap();
        }
        for role in [&worker, &janitor, &auditor] {
            let batch = vec![ask("new"), ask("newer")];
            role.claim_many(batch)
                .await
                .unwrap()
                .into_iter()
                .for_each(refused);
        }
        for role in [&janitor, &auditor] {
            let batch = vec![ask("e2"), ask("e3")];
            role.claim_many(batch)
                .await
                .unwrap()
                .into_iter()
                .for_each(refused);
        }
        // Some are there and some are not.
        let batch = vec![ask("e2"), ask("e3"), ask("e4")];
        let claims = gateway.claim_many(batch).await.unwrap();
        let attempts = claims.into_iter().map(|claim| {
            let lease = won(claim.unwrap());
            let attempt = lease.attempt();
            crate::crash(lease);
            attempt
        });
        assert_eq!(attempts.collect::<Vec<_>>(), [2, 2, 1]);
        for role in ROLES {
            assert_eq!(shop.role(role).stats().await.unwrap().total(), 4, "{role}");
        }
        later(&shop.bench.clock);
        assert_eq!(janitor.purge(10).await.unwrap(), 4);
        assert_eq!(auditor.effects(&key("e1")).await.unwrap(), []);
    });
}

#[test]
fn each_does_its_part_with_objects() {
    let shop = Shop::new();
    let (gateway, worker) = (shop.role("gateway"), shop.role("worker"));
    let (janitor, auditor) = (shop.role("janitor"), shop.role("auditor"));
    run(async {
        let order = ObjectKey::new("a", "order", "o1").unwrap();
        let first = gateway.advance(&order, Version::number(1)).await.unwrap();
        assert!(matches!(first, Advance::Applied { .. }), "{first:?}");
        let next = Version::number(2).deletion();
        let next = worker.advance(&order, next).await.unwrap();
        assert!(matches!(next, Advance::Applied { .. }), "{next:?}");
        for role in [&auditor, &janitor] {
            assert!(role.current(&order).await.unwrap().is_some());
            let error = role.advance(&order, Version::number(3)).await.unwrap_err();
            assert_eq!(error.kind(), StoreErrorKind::Misuse);
        }
        for role in [&gateway, &worker, &auditor] {
            refused(role.forget_object(&order).await);
            refused(role.purge_deleted(LEASE, 10).await);
        }
        later(&shop.bench.clock);
        assert_eq!(janitor.purge_deleted(LEASE, 10).await.unwrap(), 1);
        let anew = worker.advance(&order, Version::number(3)).await.unwrap();
        assert!(matches!(anew, Advance::Applied { .. }), "{anew:?}");
        assert!(janitor.forget_object(&order).await.unwrap().is_some());
    });
}
