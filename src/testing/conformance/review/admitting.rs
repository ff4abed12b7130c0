//! What is accepted as new.

use std::{future::poll_fn, pin::pin, task::Poll, thread};

use super::{
    super::{
        bench::{DAY, HOUR, LEASE, key, secs},
        inbox::bench::body,
        post,
        racing::PATIENCE,
    },
    bench::Desk,
};
use crate::{
    Claiming, EventKey, Fingerprint, Receipt, State, Verdict,
    inbox::{Accepted, Parcel},
    review::{Admission, Case, ReviewId, ReviewStatus},
};

/// Leases what is due, which must be this alone, and does it.
#[track_caller]
fn works(desk: &Desk<'_>, event: &EventKey, body: &[u8]) -> Receipt {
    let mut due = desk.due();
    assert_eq!(due.len(), 1, "{due:?}");
    let (lease, parked) = due.remove(0);
    assert_eq!((lease.key(), &parked.key), (event, event));
    assert!(parked.body == body, "the body has changed");
    desk.settle(lease, Verdict::done("worked on"))
}

/// The second content is acted on once, under a key that names both, and the first record stands.
pub(super) fn admitted_conflict_is_an_event_of_its_own(desk: &Desk<'_>) {
    desk.take_in("e1");
    let done = desk.done("e1");
    let kept = desk.kept(desk.conflict_case("e1", "other"));
    desk.at(secs(60));
    let (review, receipt) = desk.admitted(&kept.id);
    assert_eq!(review.status, ReviewStatus::Admitted);
    assert_eq!(
        (review.kept_at, review.resolved_at),
        (kept.kept_at, Some(desk.now()))
    );
    assert_eq!(desk.bare(&kept.id), review);
    let event = receipt.key.clone();
    assert_eq!(event, review.admitted_key());
    assert_ne!(event, key("e1"));
    assert_eq!((event.tenant(), event.provider()), ("tenant", "suite"));
    assert_eq!(event.id(), format!("e1#{}", kept.id));
    assert_eq!((receipt.state, receipt.attempts), (State::Received, 0));
    assert_eq!(receipt.fingerprint, Fingerprint::of(b"other"));
    assert_eq!(receipt.received_at, desk.now());
    assert_eq!(desk.get(&event), Some(receipt));
    works(desk, &event, b"other");
    desk.none_due();
    assert_eq!(desk.row("e1"), done);
    // It is still a conflict when it comes again, and a known one.
    assert_eq!(desk.known(desk.conflict_case("e1", "other")), review);
}

/// The first event may be gone by the time that somebody looks.
pub(super) fn admitted_conflict_outlives_the_first(desk: &Desk<'_>) {
    desk.take_in("e1");
    let review = desk.kept(desk.conflict_case("e1", "other"));
    assert!(desk.forget(&key("e1")).is_some());
    let (review, _) = desk.admitted(&review.id);
    works(desk, &review.admitted_key(), b"other");
    assert_eq!(desk.get(&key("e1")), None);
}

/// A stale delivery becomes the event that it tells of, and a later one is a duplicate of it.
pub(super) fn admitted_stale_delivery_is_its_own_event(desk: &Desk<'_>) {
    let review = desk.kept(desk.stale_case("e1", &body("e1")));
    let (review, receipt) = desk.admitted(&review.id);
    assert_eq!(
        (&receipt.key, review.admitted_key()),
        (&key("e1"), key("e1"))
    );
    assert_eq!(desk.pending(desk.parcel("e1")), receipt);
    works(desk, &key("e1"), body("e1").as_bytes());
    match desk.accept(desk.parcel("e1")) {
        Accepted::Duplicate(receipt) => assert_eq!(receipt.result, b"worked on"),
        other => panic!("expected Duplicate, got {other:?}"),
    }
}

/// What the worker gets is what was kept: body, headers, facts.
pub(super) fn admitted_bytes_are_the_kept_ones(desk: &Desk<'_>) {
    let long: String = std::iter::repeat_n("0123456789abcde\n", 20_000).collect();
    for (n, body) in ["", "a\0b", &long].iter().enumerate() {
        let id = format!("e{n}");
        let mut signed = post::attempt(desk.now() - HOUR, &id, "a7", body);
        signed.headers.push(("X-Kept".into(), "a\tvalue".into()));
        let case = Case::stale(&desk.late(&signed), key(&id)).keep(&signed, "X-Kept");
        let review = desk.kept(case);
        let kept = desk.delivery(&review.id);
        desk.at(secs(10));
        desk.admitted(&review.id);
        let parked = desk.parked(&id).expect("it is in the inbox");
        assert!(parked.body == body.as_bytes(), "body {n} has changed");
        assert_eq!(
            (&parked.headers, &parked.facts),
            (&kept.headers, &kept.facts)
        );
        assert_eq!(parked.accepted_at, desk.now());
        works(desk, &key(&id), body.as_bytes());
        desk.at(secs(0));
    }
}

/// However often it is asked for, and whatever became of the event since.
pub(super) fn admitted_once(desk: &Desk<'_>) {
    desk.take_in("e1");
    desk.done("e1");
    let conflict = desk.kept(desk.conflict_case("e1", "other"));
    let stale = desk.kept(desk.stale_case("e2", "late"));
    for (id, body) in [(conflict.id, &b"other"[..]), (stale.id, b"late")] {
        let again = || match desk.admit(&id) {
            Admission::Resolved(review) => assert_eq!(review, desk.bare(&id)),
            other => panic!("expected Resolved, got {other:?}"),
        };
        let (review, _) = desk.admitted(&id);
        again();
        let done = works(desk, &review.admitted_key(), body);
        desk.at(HOUR);
        again();
        assert_eq!(desk.get(&review.admitted_key()), Some(done));
        desk.forget(&review.admitted_key());
        again();
        desk.none_due();
        assert_eq!(desk.get(&review.admitted_key()), None);
        desk.at(secs(0));
    }
}

/// The receipt is kept as long as that of any event of the claim's, from the admission on.
pub(super) fn retention_of_an_admitted_event(desk: &Desk<'_>) {
    desk.take_in("e1");
    let parcel = |retention| {
        let signed = post::attempt(desk.now(), "e1", "a1", "other");
        let secrets = post::secrets(&post::ATTEMPTS);
        let delivery = crate::verify(&signed.body, &signed, &secrets, desk.now())
            .expect("the delivery is authentic");
        let claiming = Claiming::new(&delivery, key("e1")).retention(retention);
        Parcel::new(&delivery, claiming)
    };
    let review = desk.kept(desk.conflict_of(parcel(DAY * 90)));
    assert_eq!(review.retention, DAY * 90);
    desk.at(DAY);
    let (_, receipt) = desk.admitted(&review.id);
    assert_eq!(receipt.expires_at, desk.now() + DAY * 90);
}

/// An event that came in time after all, or that is under way, is not acted on a second time.
pub(super) fn what_is_known_is_not_done_again(desk: &Desk<'_>) {
    let known = |id: &str| {
        let review = desk.kept(desk.stale_case(id, &body(id)));
        match desk.admit(&review.id) {
            Admission::Known(review, receipt) => {
                assert_eq!(review.status, ReviewStatus::Admitted);
                assert_eq!(desk.bare(&review.id), review);
                assert_eq!(desk.row(id), receipt);
                receipt
            }
            other => panic!("expected Known, got {other:?}"),
        }
    };
    let waits = desk.take_in("e1");
    assert_eq!(known("e1"), waits);
    assert_eq!(desk.done("e1").attempts, 1);
    desk.take_in("e2");
    let done = desk.done("e2");
    assert_eq!(known("e2"), done);
    desk.take_in("e3");
    let failed = desk.fail("e3", HOUR);
    assert_eq!(known("e3"), failed);
    // Its wait is its own.
    desk.none_due();
    desk.at(HOUR);
    assert_eq!(desk.done("e3").attempts, 2);
    desk.take_in("e4");
    let lease = desk.one("e4");
    assert_eq!(known("e4").state, State::InProgress);
    desk.none_due();
    desk.settle(lease, Verdict::done("by its holder"));
    desk.at(HOUR * 2);
    desk.none_due();
}

/// An event that was claimed without an inbox gets its body there, so that it is not lost with the
/// review's if nothing comes of the claim.
pub(super) fn claimed_event_gets_the_admitted_body(desk: &Desk<'_>) {
    let ask = desk.parcel("e1").claiming().clone().lease(LEASE);
    let elsewhere = desk.win(ask);
    let review = desk.kept(desk.stale_case("e1", &body("e1")));
    assert!(matches!(desk.admit(&review.id), Admission::Known(..)));
    assert!(desk.parked("e1").is_some(), "admitted without its body");
    desk.none_due();
    desk.release(elsewhere);
    assert_eq!(desk.one("e1").attempt(), 2);
}

/// What was given up stays so, and the review stays open with its body.
pub(super) fn dead_event_is_not_admitted(desk: &Desk<'_>) {
    desk.take_in("e1");
    let dead = desk.bury("e1");
    let review = desk.kept(desk.stale_case("e1", &body("e1")));
    match desk.admit(&review.id) {
        Admission::Dead(open, receipt) => assert_eq!((open, receipt), (review.clone(), dead)),
        other => panic!("expected Dead, got {other:?}"),
    }
    assert_eq!(desk.delivery(&review.id).body, body("e1").as_bytes());
    desk.none_due();
}

/// Nor does a stale delivery change an event that is known with other content.
pub(super) fn stale_delivery_of_other_content_is_not_admitted(desk: &Desk<'_>) {
    let first = desk.take_in("e1");
    let review = desk.kept(desk.stale_case("e1", "late"));
    match desk.admit(&review.id) {
        Admission::Conflict(open, conflict) => {
            assert_eq!(open, review);
            assert_eq!(conflict.receipt, first);
            assert_eq!(conflict.presented, review.presented);
        }
        other => panic!("expected Conflict, got {other:?}"),
    }
    assert_eq!(desk.delivery(&review.id).body, b"late");
    assert_eq!(desk.row("e1"), first);
    desk.done("e1");
    desk.none_due();
}

/// A caller that is gone midway, as in a crash, leaves either an open review and no event, or an
/// admitted one and its event.
pub(super) fn dropped_admission_is_whole_or_nothing(desk: &Desk<'_>) {
    for polls in 0..8 {
        let id = format!("e{polls}");
        let review = desk.kept(desk.stale_case(&id, &body(&id)));
        desk.wait(async {
            let mut admitting = pin!(desk.store.admit(&review.id));
            for _ in 0..polls {
                let poll = poll_fn(|cx| Poll::Ready(admitting.as_mut().poll(cx).is_ready()));
                if poll.await {
                    break;
                }
            }
        });
        // What was begun may still be done meanwhile, but only once.
        match at_rest(desk, &review.id) {
            Admission::Accepted(..) | Admission::Resolved(_) => {}
            other => panic!("neither open nor admitted: {other:?}"),
        }
        assert_eq!(desk.bare(&review.id).status, ReviewStatus::Admitted);
        works(desk, &key(&id), body(&id).as_bytes());
        desk.none_due();
    }
}

/// The answer once the engine is not at the event any more.
#[track_caller]
fn at_rest(desk: &Desk<'_>, id: &ReviewId) -> Admission {
    for _ in 0..PATIENCE {
        match desk.admit(id) {
            Admission::InProgress { .. } => thread::sleep(secs(1) / 1000),
            admission => return admission,
        }
    }
    panic!("the event stayed stuck");
}
