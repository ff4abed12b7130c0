//! The same for reviews.

use hookproof::{
    Claiming, IdempotencyStore, MySqlStore, Verdict,
    inbox::{InboxStore, Leasing},
    review::{Admission, Discarding, Kept, ReviewListing, ReviewPurge, ReviewStore},
};
use sqlx::{MySqlPool, mysql::MySqlPoolOptions};

use super::{Shop, later, refused};
use crate::{
    LEASE, key, options,
    review::{kept, stale},
    run, won,
};

#[test]
fn each_does_its_part_of_a_review() {
    let shop = Shop::new();
    let (gateway, worker) = (shop.role("gateway"), shop.role("worker"));
    let (janitor, auditor) = (shop.role("janitor"), shop.role("auditor"));
    let operator = shop.role("operator");
    run(async {
        gateway.migrate().await.unwrap();
        // A gateway keeps, and nobody else does.
        let [first, second] = [
            kept(&gateway, stale("e1")).await,
            kept(&gateway, stale("e2")).await,
        ];
        let again = gateway.keep(stale("e1")).await.unwrap();
        assert_eq!(again, Kept::Known(first.clone()));
        for role in [&worker, &janitor, &auditor] {
            refused(role.keep(stale("new")).await);
            let open = role.reviews(ReviewListing::open()).await.unwrap();
            assert_eq!(open.len(), 2);
            let (_, delivery) = role.review(&first.id).await.unwrap().unwrap();
            assert_eq!(delivery.unwrap().body, b"e1");
        }
        // A worker discards. To admit is to insert an event too, so it takes both roles.
        for role in [&gateway, &janitor, &auditor] {
            refused(role.discard(&first.id).await);
        }
        for role in [&gateway, &worker, &janitor, &auditor] {
            refused(role.admit(&second.id).await);
        }
        let discarded = worker.discard(&first.id).await.unwrap();
        assert!(matches!(discarded, Discarding::Discarded(_)));
        let admission = operator.admit(&second.id).await.unwrap();
        assert!(matches!(admission, Admission::Accepted(..)));
        let mut leased = worker.lease_due(Leasing::up_to(8)).await.unwrap();
        let (lease, parked) = leased.events.pop().unwrap();
        assert_eq!(parked.body, b"e2");
        worker.settle(lease, Verdict::done("done")).await.unwrap();
        // A delivery of what is known is admitted in the other way, in which its body is stored.
        let claiming = Claiming::business(key("e3")).lease(LEASE);
        let third = stale("e3").fingerprint(claiming.content());
        let lease = won(gateway.claim(claiming).await.unwrap());
        let third = kept(&gateway, third).await;
        for role in [&gateway, &worker, &janitor, &auditor] {
            refused(role.admit(&third.id).await);
        }
        let admission = operator.admit(&third.id).await.unwrap();
        assert!(matches!(admission, Admission::Known(..)), "{admission:?}");
        assert!(auditor.parked(&key("e3")).await.unwrap().is_some());
        worker.settle(lease, Verdict::done("done")).await.unwrap();
        // A janitor deletes.
        later(&shop.bench.clock);
        for role in [&gateway, &worker, &auditor, &operator] {
            refused(role.purge_reviews(ReviewPurge::resolved(LEASE)).await);
        }
        let open = kept(&gateway, stale("e4")).await;
        let purge = ReviewPurge::resolved(LEASE);
        assert_eq!(janitor.purge_reviews(purge).await.unwrap(), 3);
        let left = auditor.reviews(ReviewListing::open()).await.unwrap();
        assert_eq!(left, [open]);
    });
}

/// Who is told that it may not has its connection as before, and nothing is locked by then.
#[test]
fn a_refusal_holds_nothing() {
    let shop = Shop::new();
    let (gateway, operator) = (shop.role("gateway"), shop.role("operator"));
    let options = options(&shop.bench.url, &shop.bench.schema).username("shop_worker");
    let one = MySqlPoolOptions::new().max_connections(1);
    run(async {
        let one = one.connect_with(options).await.unwrap();
        let worker = MySqlStore::builder(one.clone())
            .clock(shop.bench.clock.clone())
            .build();
        for event in ["new", "known"] {
            let claiming = Claiming::business(key(event)).lease(LEASE);
            let review = stale(event).fingerprint(claiming.content());
            if event == "known" {
                let lease = won(gateway.claim(claiming).await.unwrap());
                gateway.release(lease).await.unwrap();
            }
            let review = kept(&gateway, review).await;
            let before = connection_id(&one).await;
            refused(worker.admit(&review.id).await);
            let admission = operator.admit(&review.id).await.unwrap();
            let is_in = matches!(admission, Admission::Accepted(..) | Admission::Known(..));
            assert!(is_in, "{event}: {admission:?}");
            assert_eq!(connection_id(&one).await, before, "{event}");
        }
        one.close().await;
    });
}

async fn connection_id(pool: &MySqlPool) -> u64 {
    let asked = sqlx::query_scalar("SELECT CONNECTION_ID()");
    asked.fetch_one(pool).await.unwrap()
}

#[test]
fn nothing_else_of_a_review_changes() {
    let shop = Shop::new();
    let gateway = shop.role("gateway");
    run(async {
        kept(&gateway, stale("e1")).await;
        let resolving = ["status", "resolved_at", "headers", "body"];
        let others = [
            "id",
            "retention",
            "body_bytes",
            "kept_at",
            "received_at",
            "sent_at",
            "coverage",
            "reason",
            "stored",
            "presented",
            "tenant",
            "provider",
            "event_id",
            "scheme",
            "event_type",
            "key_id",
            "delivery_id",
        ];
        for column in others {
            let sql = format!("UPDATE webhook_review SET {column} = {column}");
            shop.refused_to(
                &["gateway", "worker", "janitor", "auditor", "operator"],
                &sql,
            )
            .await;
        }
        for column in resolving {
            let sql = format!("UPDATE webhook_review SET {column} = {column}");
            shop.refused_to(&["gateway", "janitor", "auditor"], &sql)
                .await;
        }
        for sql in ["DELETE FROM webhook_review", "TRUNCATE webhook_review"] {
            shop.refused_to(&["gateway", "worker", "auditor", "operator"], sql)
                .await;
        }
    });
}
