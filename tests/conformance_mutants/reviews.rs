//! Reviews with one rule broken, and the cases that must notice: a sound store, and something done
//! to its answers or behind its back.

use std::{panic::catch_unwind, time::Duration};

use hookproof::{
    Claim, Claiming, EventKey, IdempotencyStore, Lease, MemoryStore, Receipt, StoreError, Verdict,
    inbox::{Accepted, Dropping, InboxStore, Leased, Leasing, Listing, Parcel, Parked, Requeued},
    review::{
        Admission, Discarding, Kept, Review, ReviewId, ReviewListing, ReviewPurge, ReviewStatus,
        ReviewStore, WithDelivery,
    },
    store::{SettleError, StoreFuture},
    testing::{
        ManualClock, block_on,
        conformance::{
            Backend, DroppedLease, Witness,
            review::{ALL, Case},
        },
    },
};

/// One rule per field, each a function that a mutant may replace.
#[derive(Clone, Copy)]
struct Rules {
    keep: fn(&MemoryStore, Kept) -> Kept,
    admit: fn(&MemoryStore, Admission) -> Admission,
    discard: fn(&MemoryStore, Discarding) -> Discarding,
    listing: fn(ReviewListing) -> ReviewListing,
    page: fn(Vec<Review>) -> Vec<Review>,
    delivery: fn(&mut Parked),
    purge: fn(&MemoryStore, ReviewPurge) -> usize,
}

/// Every rule kept.
const KEPT: Rules = Rules {
    keep: |_, kept| kept,
    admit: |_, admission| admission,
    discard: |_, discarding| discarding,
    listing: |listing| listing,
    page: |page| page,
    delivery: |_| {},
    purge,
};

fn purge(store: &MemoryStore, purge: ReviewPurge) -> usize {
    block_on(store.purge_reviews(purge)).expect("memory answers")
}

struct Mutant {
    sound: MemoryStore,
    rules: Rules,
}

impl IdempotencyStore for Mutant {
    fn claim(&self, claiming: Claiming) -> StoreFuture<'_, Result<Claim, StoreError>> {
        self.sound.claim(claiming)
    }

    fn settle(
        &self,
        lease: Lease,
        verdict: Verdict,
    ) -> StoreFuture<'_, Result<Receipt, SettleError>> {
        self.sound.settle(lease, verdict)
    }

    fn renew(&self, lease: Lease, length: Duration) -> StoreFuture<'_, Result<Lease, SettleError>> {
        self.sound.renew(lease, length)
    }

    fn release(&self, lease: Lease) -> StoreFuture<'_, Result<Receipt, SettleError>> {
        self.sound.release(lease)
    }

    fn get<'a>(
        &'a self,
        key: &'a EventKey,
    ) -> StoreFuture<'a, Result<Option<Receipt>, StoreError>> {
        self.sound.get(key)
    }

    fn forget<'a>(
        &'a self,
        key: &'a EventKey,
    ) -> StoreFuture<'a, Result<Option<Receipt>, StoreError>> {
        self.sound.forget(key)
    }

    fn purge(&self, at_most: usize) -> StoreFuture<'_, Result<usize, StoreError>> {
        self.sound.purge(at_most)
    }
}

impl InboxStore for Mutant {
    fn accept(&self, parcel: Parcel) -> StoreFuture<'_, Result<Accepted, StoreError>> {
        self.sound.accept(parcel)
    }

    fn lease_due(&self, leasing: Leasing) -> StoreFuture<'_, Result<Leased, StoreError>> {
        self.sound.lease_due(leasing)
    }

    fn requeue<'a>(&'a self, key: &'a EventKey) -> StoreFuture<'a, Result<Requeued, StoreError>> {
        self.sound.requeue(key)
    }

    fn list(&self, listing: Listing) -> StoreFuture<'_, Result<Vec<Receipt>, StoreError>> {
        self.sound.list(listing)
    }

    fn parked<'a>(
        &'a self,
        key: &'a EventKey,
    ) -> StoreFuture<'a, Result<Option<Parked>, StoreError>> {
        self.sound.parked(key)
    }

    fn drop_bodies(&self, dropping: Dropping) -> StoreFuture<'_, Result<usize, StoreError>> {
        self.sound.drop_bodies(dropping)
    }
}

impl ReviewStore for Mutant {
    fn keep(&self, case: hookproof::review::Case) -> StoreFuture<'_, Result<Kept, StoreError>> {
        Box::pin(async move {
            let kept = self.sound.keep(case).await?;
            Ok((self.rules.keep)(&self.sound, kept))
        })
    }

    fn reviews(&self, listing: ReviewListing) -> StoreFuture<'_, Result<Vec<Review>, StoreError>> {
        Box::pin(async move {
            let page = self.sound.reviews((self.rules.listing)(listing)).await?;
            Ok((self.rules.page)(page))
        })
    }

    fn review<'a>(
        &'a self,
        id: &'a ReviewId,
    ) -> StoreFuture<'a, Result<Option<WithDelivery>, StoreError>> {
        Box::pin(async move {
            let mut found = self.sound.review(id).await?;
            if let Some((_, Some(parked))) = &mut found {
                (self.rules.delivery)(parked);
            }
            Ok(found)
        })
    }

    fn admit<'a>(&'a self, id: &'a ReviewId) -> StoreFuture<'a, Result<Admission, StoreError>> {
        Box::pin(async move {
            let admission = self.sound.admit(id).await?;
            Ok((self.rules.admit)(&self.sound, admission))
        })
    }

    fn discard<'a>(&'a self, id: &'a ReviewId) -> StoreFuture<'a, Result<Discarding, StoreError>> {
        Box::pin(async move {
            let discarding = self.sound.discard(id).await?;
            Ok((self.rules.discard)(&self.sound, discarding))
        })
    }

    fn purge_reviews(&self, purge: ReviewPurge) -> StoreFuture<'_, Result<usize, StoreError>> {
        Box::pin(async move { Ok((self.rules.purge)(&self.sound, purge)) })
    }
}

struct Reviews(Rules);

impl Backend for Reviews {
    type Store = Mutant;

    fn open(&self, clock: ManualClock, witness: Witness) -> Mutant {
        let sound = MemoryStore::builder().clock(clock).on_abandoned(witness);
        Mutant {
            sound: sound.build(),
            rules: self.0,
        }
    }

    fn dropped_lease(&self) -> DroppedLease {
        DroppedLease::AtOnce
    }

    fn race_rounds(&self) -> usize {
        3
    }
}

fn failures(rules: Rules) -> Vec<&'static str> {
    let fails = |case: &&Case| catch_unwind(|| case.run(&Reviews(rules))).is_err();
    ALL.iter().filter(fails).map(Case::name).collect()
}

/// The suite must notice, and by these cases among others.
#[track_caller]
fn is_caught(rules: Rules, by: &[&str]) {
    let failures = failures(rules);
    assert!(!by.is_empty(), "name the cases");
    for name in by {
        assert!(Case::by_name(name).is_some(), "there is no case {name}");
        assert!(
            failures.contains(name),
            "{name} did not notice; {failures:?} did"
        );
    }
}

#[test]
fn nothing_is_noticed_where_every_rule_is_kept() {
    assert_eq!(failures(KEPT), [""; 0]);
}

#[test]
fn every_delivery_is_new() {
    let rules = Rules {
        keep: |_, kept| Kept::New(kept.review().clone()),
        ..KEPT
    };
    is_caught(
        rules,
        &[
            "same_delivery_is_kept_once",
            "one_is_first_to_keep",
            "discarded_review_stays_known",
        ],
    );
}

/// A late delivery passes as fresh.
#[test]
fn what_is_kept_is_acted_on_at_once() {
    let rules = Rules {
        keep: |store, kept| {
            let _ = block_on(store.admit(&kept.review().id)).expect("memory answers");
            kept
        },
        ..KEPT
    };
    is_caught(rules, &["stale_delivery_is_kept", "kept_case_is_open"]);
}

#[test]
fn the_second_content_replaces_the_first() {
    let rules = Rules {
        keep: |store, kept| {
            block_on(store.forget(&kept.review().key)).expect("memory answers");
            kept
        },
        ..KEPT
    };
    is_caught(rules, &["keeping_changes_no_receipt"]);
}

#[test]
fn everybody_who_admits_has_admitted() {
    let rules = Rules {
        admit: |store, admission| match admission {
            Admission::Resolved(review) if review.status == ReviewStatus::Admitted => {
                match block_on(store.get(&review.admitted_key())).expect("memory answers") {
                    Some(receipt) => Admission::Accepted(review, receipt),
                    None => Admission::Resolved(review),
                }
            }
            other => other,
        },
        ..KEPT
    };
    is_caught(rules, &["admitted_once", "one_admits", "resolved_once"]);
}

/// What cannot be admitted is lost with its body.
#[test]
fn whatever_is_admitted_is_resolved() {
    let rules = Rules {
        admit: |store, admission| {
            if let Admission::Dead(review, _) | Admission::Conflict(review, _) = &admission {
                let _ = block_on(store.discard(&review.id)).expect("memory answers");
            }
            admission
        },
        ..KEPT
    };
    is_caught(
        rules,
        &[
            "dead_event_is_not_admitted",
            "stale_delivery_of_other_content_is_not_admitted",
        ],
    );
}

#[test]
fn admitted_and_not_in_the_inbox() {
    let rules = Rules {
        admit: |store, admission| {
            if let Admission::Accepted(_, receipt) = &admission {
                block_on(store.forget(&receipt.key)).expect("memory answers");
            }
            admission
        },
        ..KEPT
    };
    is_caught(
        rules,
        &[
            "admitted_conflict_is_an_event_of_its_own",
            "admitted_stale_delivery_is_its_own_event",
            "dropped_admission_is_whole_or_nothing",
        ],
    );
}

#[test]
fn discarding_deletes() {
    let rules = Rules {
        discard: |store, discarding| {
            purge(store, ReviewPurge::resolved(Duration::ZERO));
            discarding
        },
        ..KEPT
    };
    is_caught(rules, &["discarded_review_stays_known", "resolved_once"]);
}

#[test]
fn bodies_are_text() {
    let rules = Rules {
        delivery: |parked| parked.body.retain(|byte| *byte != 0),
        ..KEPT
    };
    is_caught(rules, &["kept_byte_for_byte"]);
}

#[test]
fn purges_take_what_nobody_has_looked_at() {
    let rules = Rules {
        purge: |store, asked| {
            let all = purge(store, ReviewPurge::unresolved(asked.age()));
            all + purge(store, asked)
        },
        ..KEPT
    };
    is_caught(rules, &["resolved_reviews_are_purged_by_age"]);
}

#[test]
fn purges_have_no_bound() {
    let rules = Rules {
        purge: |store, asked| purge(store, asked.at_most(1000)),
        ..KEPT
    };
    is_caught(rules, &["purging_reviews_is_bounded"]);
}

#[test]
fn all_statuses_are_listed_as_open() {
    let rules = Rules {
        listing: |_| ReviewListing::open(),
        ..KEPT
    };
    is_caught(
        rules,
        &["reviews_are_listed_by_status", "reviews_are_paged"],
    );
}

#[test]
fn pages_come_in_any_order() {
    let rules = Rules {
        page: |mut page| {
            page.reverse();
            page
        },
        ..KEPT
    };
    is_caught(rules, &["reviews_are_paged"]);
}
