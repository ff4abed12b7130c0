//! The same for the inbox.

use hookproof::{
    IdempotencyStore, State, Verdict,
    inbox::{Accepted, Dropping, InboxStore, Leasing, Listing, Requeued},
};

use super::{Shop, later, refused};
use crate::{LEASE, crash, inbox::parcel, key, run, won};

#[test]
fn each_does_its_part_of_the_inbox() {
    let shop = Shop::new();
    let (gateway, worker) = (shop.role("gateway"), shop.role("worker"));
    let (janitor, auditor) = (shop.role("janitor"), shop.role("auditor"));
    run(async {
        let accepted = gateway.accept(parcel("e1")).await.unwrap();
        assert!(matches!(accepted, Accepted::New(_)), "{accepted:?}");
        refused(worker.accept(parcel("e2")).await);
        let again = gateway.accept(parcel("e1")).await.unwrap();
        assert!(matches!(again, Accepted::Pending(_)), "{again:?}");

        for role in [&auditor, &janitor] {
            let page = role.list(Listing::of(State::Received)).await.unwrap();
            assert_eq!(page.len(), 1);
            assert!(role.parked(&key("e1")).await.unwrap().is_some());
            refused(role.lease_due(Leasing::up_to(1)).await);
            refused(role.accept(parcel("e2")).await);
        }

        let mut leased = worker.lease_due(Leasing::up_to(8)).await.unwrap();
        let (lease, parked) = leased.events.pop().unwrap();
        assert_eq!(parked.body, b"e1");
        let lease = worker.renew(lease, LEASE).await.unwrap();
        worker.settle(lease, Verdict::dead("no")).await.unwrap();
        for role in [&auditor, &janitor] {
            refused(role.requeue(&key("e1")).await);
        }
        let sent_back = worker.requeue(&key("e1")).await.unwrap();
        assert!(matches!(sent_back, Requeued::Waiting(_)), "{sent_back:?}");
        let mut leased = worker.lease_due(Leasing::up_to(8)).await.unwrap();
        let (lease, _) = leased.events.pop().unwrap();
        worker.settle(lease, Verdict::done("done")).await.unwrap();

        for role in [&gateway, &worker, &auditor] {
            refused(role.drop_bodies(Dropping::processed(LEASE)).await);
            refused(role.purge(10).await);
        }
        later(&shop.bench.clock);
        let dropped = janitor.drop_bodies(Dropping::processed(LEASE)).await;
        assert_eq!(dropped.unwrap(), 1);
        assert_eq!(janitor.purge(10).await.unwrap(), 1);
    });
}

/// What is rarer: adopted, put off, buried, left over in the queue, forgotten.
#[test]
fn each_does_its_part_of_what_is_rarer() {
    let shop = Shop::new();
    let (gateway, worker, janitor) = (
        shop.role("gateway"),
        shop.role("worker"),
        shop.role("janitor"),
    );
    run(async {
        let claim = gateway.claim(parcel("adopted").claiming().clone()).await;
        crash(won(claim.unwrap()));
        let adopted = gateway.accept(parcel("adopted")).await.unwrap();
        assert!(matches!(adopted, Accepted::Pending(_)), "{adopted:?}");
        for id in ["buried", "gone", "ended", "forgotten"] {
            drop(gateway.accept(parcel(id)).await.unwrap());
        }
        let mut owner = shop.bench.beside().await;
        super::batch(
            &mut owner,
            "DELETE FROM webhook_inbox WHERE body = 'buried'; \
             DELETE FROM webhook_receipt WHERE event_id = 'gone'; \
             UPDATE webhook_receipt SET state = 2 WHERE event_id = 'ended'",
        )
        .await;
        assert!(janitor.forget(&key("forgotten")).await.unwrap().is_some());
        let leased = worker.lease_due(Leasing::up_to(8)).await.unwrap();
        assert_eq!((leased.events.len(), leased.buried.len()), (0, 1));
        let left = "SELECT count(*) FROM webhook_inbox_due";
        assert_eq!(crate::number(&mut owner, left).await, 1);
        shop.bench.clock.advance(LEASE);
        let mut leased = worker.lease_due(Leasing::up_to(8)).await.unwrap();
        let (lease, _) = leased.events.pop().unwrap();
        worker.release(lease).await.unwrap();
    });
}
