//! The same for reviews.

use hookproof::{
    Claiming, EventKey, IdempotencyStore, PostgresStore, Secrets, Verdict,
    inbox::{InboxStore, Leasing},
    review::{
        Admission, Case, Discarding, Kept, Review, ReviewListing, ReviewPurge, ReviewStatus,
        ReviewStore,
    },
    scheme,
    store::StoreErrorKind,
    testing::sign,
};

use super::{REFUSED, Shop, later, refusal};
use crate::{LEASE, START, number, run};

/// A delivery that came an hour late.
fn stale(tenant: &str, id: &str) -> Case {
    const SECRET: &str = "a-secret-of-sufficient-length";
    let sent = START - std::time::Duration::from_secs(3600);
    let signed = sign(&scheme::STRIPE, SECRET, id.as_bytes(), sent).unwrap();
    let secrets = Secrets::new(&scheme::STRIPE, [SECRET]).unwrap();
    let rejection = hookproof::verify(&signed.body, &signed, &secrets, START).unwrap_err();
    let key = EventKey::business(tenant, "shop", id).unwrap();
    Case::stale(&rejection.into_stale().unwrap(), key)
}

async fn kept(store: &PostgresStore, tenant: &str, id: &str) -> Review {
    match store.keep(stale(tenant, id)).await.unwrap() {
        Kept::New(review) => review,
        other => panic!("{other:?}"),
    }
}

#[test]
fn each_does_its_part_of_a_review() {
    let shop = Shop::new(false);
    let (gateway, worker) = (shop.role("gateway"), shop.role("worker"));
    let (janitor, auditor) = (shop.role("janitor"), shop.role("auditor"));
    let both = shop.pool("operator", None);
    let operator = shop.store(&both);
    run(async {
        gateway.migrate().await.unwrap();
        // A gateway keeps, and nobody else does.
        let [first, second] = [
            kept(&gateway, "a", "e1").await,
            kept(&gateway, "a", "e2").await,
        ];
        let again = gateway.keep(stale("a", "e1")).await.unwrap();
        assert_eq!(again, Kept::Known(first.clone()));
        for role in [&worker, &janitor, &auditor] {
            let refused = role.keep(stale("a", "new")).await.unwrap_err();
            assert_eq!(refused.kind(), StoreErrorKind::Misuse);
            let open = role.reviews(ReviewListing::open()).await.unwrap();
            assert_eq!(open.len(), 2);
            let (_, delivery) = role.review(&first.id).await.unwrap().unwrap();
            assert_eq!(delivery.unwrap().body, b"e1");
        }
        // A worker discards. To admit is to insert an event too, so it takes both roles.
        for role in [&gateway, &janitor, &auditor] {
            let refused = role.discard(&first.id).await.unwrap_err();
            assert_eq!(refused.kind(), StoreErrorKind::Misuse);
        }
        for role in [&gateway, &worker, &janitor, &auditor] {
            let refused = role.admit(&second.id).await.unwrap_err();
            assert_eq!(refused.kind(), StoreErrorKind::Misuse);
        }
        let discarded = worker.discard(&first.id).await.unwrap();
        assert!(matches!(discarded, Discarding::Discarded(_)));
        let admission = operator.admit(&second.id).await.unwrap();
        assert!(matches!(admission, Admission::Accepted(..)));
        let mut leased = worker.lease_due(Leasing::up_to(8)).await.unwrap();
        let (lease, parked) = leased.events.pop().unwrap();
        assert_eq!(parked.body, b"e2");
        worker.settle(lease, Verdict::done("done")).await.unwrap();
        // A delivery of what is known is admitted in the other way.
        let key = EventKey::business("a", "shop", "e3").unwrap();
        let claiming = Claiming::business(key).lease(LEASE);
        let third = stale("a", "e3").fingerprint(claiming.content());
        let lease = super::super::won(gateway.claim(claiming).await.unwrap());
        let Kept::New(third) = gateway.keep(third).await.unwrap() else {
            panic!("it is new");
        };
        let admission = operator.admit(&third.id).await.unwrap();
        assert!(matches!(admission, Admission::Known(..)), "{admission:?}");
        worker.settle(lease, Verdict::done("done")).await.unwrap();
        // A janitor deletes.
        later(&shop.bench.clock);
        for role in [&gateway, &worker, &auditor, &operator] {
            let refused = role.purge_reviews(ReviewPurge::resolved(LEASE)).await;
            assert_eq!(refused.unwrap_err().kind(), StoreErrorKind::Misuse);
        }
        let open = kept(&gateway, "a", "e4").await;
        let purge = ReviewPurge::resolved(LEASE);
        assert_eq!(janitor.purge_reviews(purge).await.unwrap(), 3);
        let left = auditor.reviews(ReviewListing::open()).await.unwrap();
        assert_eq!(left, [open]);
        both.close().await;
    });
}

#[test]
fn nothing_else_of_a_review_changes() {
    let shop = Shop::new(false);
    let gateway = shop.role("gateway");
    run(async {
        kept(&gateway, "a", "e1").await;
        for (role, columns) in [
            (
                "gateway",
                &[
                    "status",
                    "resolved_at",
                    "body",
                    "headers",
                    "presented",
                    "tenant",
                ][..],
            ),
            (
                "worker",
                &[
                    "id",
                    "presented",
                    "stored",
                    "reason",
                    "tenant",
                    "provider",
                    "event_id",
                    "kept_at",
                ],
            ),
            ("janitor", &["id", "status", "body", "tenant", "kept_at"]),
            ("auditor", &["status", "body"]),
        ] {
            for column in columns {
                let sql = format!("UPDATE webhook_review SET {column} = {column}");
                assert_eq!(
                    shop.sql(role, &sql).await.as_deref(),
                    REFUSED,
                    "{role}: {sql}"
                );
            }
        }
        for role in ["gateway", "worker", "auditor"] {
            for sql in ["DELETE FROM webhook_review", "TRUNCATE webhook_review"] {
                assert_eq!(
                    shop.sql(role, sql).await.as_deref(),
                    REFUSED,
                    "{role}: {sql}"
                );
            }
        }
        let sql = "UPDATE webhook_review SET janitor = TRUE";
        assert_eq!(shop.sql("janitor", sql).await.as_deref(), Some("23514"));
    });
}

#[test]
fn tenants_share_no_review() {
    let shop = Shop::new(true);
    let pools = ["a", "b"].map(|tenant| shop.pool("operator", Some(tenant)));
    let nobody = shop.pool("operator", None);
    let [of_a, of_b] = [0, 1].map(|tenant: usize| shop.store(&pools[tenant]));
    run(async {
        let mine = kept(&of_a, "a", "e1").await;
        let theirs = kept(&of_b, "b", "e1").await;
        let refused = of_b.keep(stale("a", "e2")).await.unwrap_err();
        assert_eq!(refused.kind(), StoreErrorKind::Misuse);
        assert_eq!(
            of_b.reviews(ReviewListing::open()).await.unwrap(),
            std::slice::from_ref(&theirs)
        );
        assert_eq!(of_b.review(&mine.id).await.unwrap(), None);
        assert!(matches!(
            of_b.admit(&mine.id).await.unwrap(),
            Admission::Unknown
        ));
        assert_eq!(of_b.discard(&mine.id).await.unwrap(), Discarding::Unknown);
        let hand_over = "UPDATE webhook_review SET tenant = 'b'";
        assert_eq!(refusal(&pools[0], hand_over).await.as_deref(), REFUSED);
        let discard = "UPDATE webhook_review SET status = 2, resolved_at = 0, body = NULL";
        assert_eq!(refusal(&pools[1], discard).await, None);
        let (untouched, _) = of_a.review(&mine.id).await.unwrap().unwrap();
        assert_eq!(untouched, mine);

        let admission = of_a.admit(&mine.id).await.unwrap();
        assert!(matches!(admission, Admission::Accepted(..)));
        let leased = of_b.lease_due(Leasing::up_to(8)).await.unwrap();
        assert!(leased.events.is_empty());
        // Without a tenant there is nothing; the others look after all.
        let mut connection = nobody.acquire().await.unwrap();
        let count = "SELECT count(*) FROM webhook_review";
        assert_eq!(number(&mut connection, count).await, 0);
        drop(connection);
        let auditor = shop.role("auditor");
        for (status, review) in [
            (ReviewStatus::Admitted, &mine),
            (ReviewStatus::Discarded, &theirs),
        ] {
            let page = auditor.reviews(ReviewListing::of(status)).await.unwrap();
            assert_eq!(page.len(), 1);
            assert_eq!(page[0].id, review.id);
        }
        later(&shop.bench.clock);
        let purge = ReviewPurge::resolved(LEASE);
        assert_eq!(shop.role("janitor").purge_reviews(purge).await.unwrap(), 2);
        nobody.close().await;
        for pool in &pools {
            pool.close().await;
        }
    });
}
