//! What is not acted on, and what is deleted.

use super::{
    super::bench::{DAY, key, secs},
    bench::Desk,
};
use crate::review::{Admission, Discarding, ReviewId, ReviewPurge, ReviewStatus};

/// Its body goes, the rest stays, and the same delivery is known.
pub(super) fn discarded_review_stays_known(desk: &Desk<'_>) {
    let first = desk.take_in("e1");
    let kept = desk.kept(desk.conflict_case("e1", "other"));
    desk.at(secs(60));
    let review = desk.discarded(&kept.id);
    assert_eq!(review.status, ReviewStatus::Discarded);
    assert_eq!(review.resolved_at, Some(desk.now()));
    let as_it_was = crate::review::Review {
        status: kept.status,
        resolved_at: None,
        ..review.clone()
    };
    assert_eq!(as_it_was, kept);
    assert_eq!(desk.bare(&kept.id), review);
    assert_eq!(desk.known(desk.conflict_case("e1", "other")), review);
    assert_eq!(desk.get(&review.admitted_key()), None);
    assert_eq!(desk.row("e1"), first);
    desk.done("e1");
    desk.none_due();
}

/// A decision is not taken back.
pub(super) fn resolved_once(desk: &Desk<'_>) {
    let discarded = desk.kept(desk.stale_case("e1", "late"));
    let discarded = desk.discarded(&discarded.id);
    let admitted = desk.kept(desk.stale_case("e2", "late"));
    let (admitted, _) = desk.admitted(&admitted.id);
    desk.at(secs(60));
    for review in [&discarded, &admitted] {
        match desk.admit(&review.id) {
            Admission::Resolved(again) => assert_eq!(&again, review),
            other => panic!("expected Resolved, got {other:?}"),
        }
        let again = desk.discard(&review.id);
        assert_eq!(again, Discarding::Resolved(review.clone()));
        assert_eq!(&desk.bare(&review.id), review);
    }
    assert_eq!(desk.get(&key("e1")), None);
    assert_eq!(desk.due().len(), 1);
}

/// There is nothing to be found, admitted or discarded.
pub(super) fn nothing_under_an_unknown_id(desk: &Desk<'_>) {
    let review = desk.kept(desk.stale_case("e1", "late"));
    let id = ReviewId::from_bytes([7; 16]);
    assert_eq!(desk.review(&id), None);
    assert!(matches!(desk.admit(&id), Admission::Unknown));
    assert_eq!(desk.discard(&id), Discarding::Unknown);
    assert_eq!(desk.open(), [review]);
    desk.none_due();
}

/// The age is that of the decision.
pub(super) fn resolved_reviews_are_purged_by_age(desk: &Desk<'_>) {
    let [early, late, open] = ["e1", "e2", "e3"].map(|id| desk.kept(desk.stale_case(id, "late")));
    desk.at(DAY);
    desk.discarded(&early.id);
    desk.at(DAY * 2);
    desk.admitted(&late.id);
    let purge = ReviewPurge::resolved(DAY * 30);
    desk.at(DAY * 31 - secs(1));
    assert_eq!(desk.purge_reviews(purge), 0);
    desk.at(DAY * 31);
    assert_eq!(desk.purge_reviews(purge), 1);
    assert_eq!(desk.review(&early.id), None);
    desk.at(DAY * 365);
    assert_eq!(desk.purge_reviews(purge), 1);
    assert_eq!(desk.review(&late.id), None);
    // What was admitted is an event, and none of the reviews' business.
    assert!(desk.get(&key("e2")).is_some());
    assert_eq!(desk.open(), [open]);
}

/// What nobody has looked at stays, unless it is asked for by name.
pub(super) fn unresolved_reviews_are_purged_only_by_name(desk: &Desk<'_>) {
    let [old, discarded] = ["e1", "e2"].map(|id| desk.kept(desk.stale_case(id, "late")));
    let discarded = desk.discarded(&discarded.id);
    desk.at(DAY);
    let young = desk.kept(desk.stale_case("e3", "late"));
    desk.at(DAY * 30);
    assert_eq!(desk.purge_reviews(ReviewPurge::unresolved(DAY * 30)), 1);
    assert_eq!(desk.review(&old.id), None);
    assert_eq!(desk.open(), [young]);
    assert_eq!(desk.bare(&discarded.id), discarded);
}

/// As many as asked for, oldest or not, and then none are left.
pub(super) fn purging_reviews_is_bounded(desk: &Desk<'_>) {
    for n in 0..5 {
        let review = desk.kept(desk.stale_case(&format!("e{n}"), "late"));
        desk.discarded(&review.id);
        desk.kept(desk.stale_case(&format!("o{n}"), "late"));
    }
    desk.at(DAY);
    for purge in [ReviewPurge::resolved(DAY), ReviewPurge::unresolved(DAY)] {
        let purged: Vec<_> = (0..4)
            .map(|_| desk.purge_reviews(purge.at_most(2)))
            .collect();
        assert_eq!(purged, [2, 2, 1, 0]);
    }
    assert_eq!(desk.open(), []);
}

/// Forgotten, it is new, and reported again.
pub(super) fn purged_review_is_new_again(desk: &Desk<'_>) {
    desk.take_in("e1");
    let review = desk.kept(desk.conflict_case("e1", "other"));
    desk.discarded(&review.id);
    desk.at(DAY);
    assert_eq!(desk.purge_reviews(ReviewPurge::resolved(DAY)), 1);
    let again = desk.kept(desk.conflict_case("e1", "other"));
    assert_eq!((again.id, again.status), (review.id, ReviewStatus::Open));
    assert_eq!(again.kept_at, desk.now());
    assert_eq!(desk.delivery(&again.id).body, b"other");
}
