//! What is kept.

use super::{
    super::{
        bench::{HOUR, key, secs},
        inbox::bench::body,
        post,
    },
    bench::Desk,
};
use crate::{
    Fingerprint, State,
    review::{Case, Reason, ReviewListing, ReviewStatus},
};

/// A conflict is kept with both fingerprints, why, when, and its body.
pub(super) fn kept_case_is_open(desk: &Desk<'_>) {
    let first = desk.take_in("e1");
    desk.at(secs(7));
    let case = desk.conflict_case("e1", "other");
    let id = case.id();
    let review = desk.kept(case);
    assert_eq!(review.id, id);
    assert_eq!(review.reason, Reason::Conflict);
    assert_eq!(review.status, ReviewStatus::Open);
    assert_eq!(review.key, key("e1"));
    assert_eq!(review.stored, Some(first.fingerprint));
    assert_eq!(review.presented, Fingerprint::of(b"other"));
    assert_eq!(review.body_bytes, 5);
    assert_eq!((review.kept_at, review.resolved_at), (desk.now(), None));
    let (again, parked) = desk.review(&id).expect("it is kept");
    assert_eq!(again, review);
    let parked = parked.expect("its body is kept");
    assert_eq!(parked.body, b"other");
    assert_eq!((parked.key, parked.accepted_at), (key("e1"), desk.now()));
    assert_eq!(parked.facts, review.facts);
}

/// A stale delivery is kept with the time at which it was sent, and no event is made of it.
pub(super) fn stale_delivery_is_kept(desk: &Desk<'_>) {
    let review = desk.kept(desk.stale_case("e1", "late"));
    assert_eq!(review.reason, Reason::Stale);
    assert_eq!((review.stored, review.body_bytes), (None, 4));
    assert_eq!(review.facts.sent_at, Some(desk.now() - HOUR));
    assert_eq!(review.facts.received_at, desk.now());
    assert_eq!(desk.delivery(&review.id).body, b"late");
    assert_eq!(desk.get(&key("e1")), None);
    desk.none_due();
}

/// Fifty times the same delivery is one review, which stays as it was.
pub(super) fn same_delivery_is_kept_once(desk: &Desk<'_>) {
    desk.take_in("e1");
    let conflict = desk.kept(desk.conflict_case("e1", "other"));
    let stale = desk.kept(desk.stale_case("e2", "late"));
    for second in 1..=50 {
        desk.at(secs(second));
        assert_eq!(desk.known(desk.conflict_case("e1", "other")), conflict);
        // Signed anew each time, as by a sender whose clock is wrong.
        assert_eq!(desk.known(desk.stale_case("e2", "late")), stale);
    }
    let mut open = desk.open();
    open.sort_by_key(|review| review.reason.code());
    assert_eq!(open, [conflict, stale]);
}

/// Another reason, event or content is another review.
pub(super) fn reason_event_and_content_tell_apart(desk: &Desk<'_>) {
    desk.take_in("e1");
    desk.take_in("e2");
    for case in [
        desk.conflict_case("e1", "other"),
        desk.conflict_case("e1", "yet another"),
        desk.conflict_case("e2", "other"),
        desk.stale_case("e1", "other"),
        desk.stale_case("e1", "yet another"),
        desk.stale_case("e2", "other"),
    ] {
        desk.kept(case);
    }
    assert_eq!(desk.open().len(), 6);
}

/// Bodies are bytes.
pub(super) fn kept_byte_for_byte(desk: &Desk<'_>) {
    let long: String = std::iter::repeat_n("0123456789abcde\n", 20_000).collect();
    for (n, body) in ["", "\0", "a\0b", "\r\n", "é🦀", &long].iter().enumerate() {
        let review = desk.kept(desk.stale_case(&format!("e{n}"), body));
        assert_eq!(review.body_bytes, body.len());
        let parked = desk.delivery(&review.id);
        assert!(parked.body == body.as_bytes(), "body {n} has changed");
    }
}

/// Of the headers only those that were chosen.
pub(super) fn facts_and_chosen_headers_are_kept_for_review(desk: &Desk<'_>) {
    let mut signed = post::attempt(desk.now() - HOUR, "e1", "a7", "late");
    signed.headers.push(("X-Kept".into(), "a\tvalue".into()));
    let late = desk.late(&signed);
    let case = Case::stale(&late, key("e1"))
        .keep(&signed, "x-kept")
        .keep(&signed, "X-Absent");
    let review = desk.kept(case);
    let parked = desk.delivery(&review.id);
    assert_eq!(
        parked.headers,
        [("x-kept".to_owned(), b"a\tvalue".to_vec())]
    );
    assert_eq!(review.facts.scheme, "attempts");
    assert_eq!(review.facts.delivery_id.as_deref(), Some("a7"));
    assert_eq!(review.facts.coverage, post::ATTEMPTS.coverage());
    assert_eq!(parked.facts, review.facts);
}

/// The first record stands, whatever is kept beside it.
pub(super) fn keeping_changes_no_receipt(desk: &Desk<'_>) {
    desk.take_in("e1");
    let done = desk.done("e1");
    desk.at(secs(60));
    desk.kept(desk.conflict_case("e1", "other"));
    desk.kept(desk.stale_case("e1", "late"));
    assert_eq!(desk.row("e1"), done);
    let parked = desk.parked("e1").expect("the first body is kept");
    assert_eq!(parked.body, body("e1").as_bytes());
    assert_eq!(desk.listed(State::Processed), [key("e1")]);
    desk.none_due();
}

/// Each status has its own list.
pub(super) fn reviews_are_listed_by_status(desk: &Desk<'_>) {
    let [open, admitted, discarded] =
        ["e1", "e2", "e3"].map(|id| desk.kept(desk.stale_case(id, "late")));
    let (admitted, _) = desk.admitted(&admitted.id);
    let discarded = desk.discarded(&discarded.id);
    for (status, review) in [
        (ReviewStatus::Open, open),
        (ReviewStatus::Admitted, admitted),
        (ReviewStatus::Discarded, discarded),
    ] {
        assert_eq!(review.status, status);
        assert_eq!(desk.reviews(ReviewListing::of(status)), [review]);
    }
}

/// Pages come in the order of ids, and none is on two.
pub(super) fn reviews_are_paged(desk: &Desk<'_>) {
    let mut all: Vec<_> = (0..7)
        .map(|n| desk.kept(desk.stale_case(&format!("e{n}"), "late")))
        .collect();
    all.sort_by_key(|review| review.id);
    let listing = ReviewListing::open().limit(3);
    let mut pages = vec![desk.reviews(listing)];
    // A store that ignores where a page begins would never come to an end.
    for _ in 0..3 {
        let Some(last) = pages.last().and_then(|page| page.last()) else {
            break;
        };
        let page = desk.reviews(listing.after(&last.id));
        pages.push(page);
    }
    let lengths: Vec<_> = pages.iter().map(Vec::len).collect();
    assert_eq!(lengths, [3, 3, 1, 0]);
    assert_eq!(pages.concat(), all);
    assert_eq!(desk.reviews(ReviewListing::open().limit(0)), []);
}
