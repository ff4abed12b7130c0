//! What comes in.

use super::{
    super::{
        bench::{DAY, HOUR, LEASE, key, secs},
        post,
    },
    bench::{Inbox, body},
};
use crate::{Claim, Claiming, Fence, Fingerprint, State, Verdict, inbox::Accepted};

/// A new event is stored with its body, under no lease, and can be leased.
pub(super) fn accepted_event_is_received(inbox: &Inbox<'_>) {
    let receipt = inbox.take_in("e1");
    assert_eq!((receipt.state, receipt.attempts), (State::Received, 0));
    assert_eq!((receipt.until, &*receipt.result), (None, &b""[..]));
    assert_eq!(receipt.received_at, inbox.now());
    assert_eq!(receipt.expires_at, inbox.now() + DAY * 30);
    assert_eq!(inbox.row("e1"), receipt);
    let parked = inbox.parked("e1").expect("its body is kept");
    assert_eq!(parked.key, key("e1"));
    assert_eq!(parked.body, body("e1").as_bytes());
    assert_eq!(parked.accepted_at, inbox.now());
    let lease = inbox.one("e1");
    assert_eq!((lease.attempt(), lease.fence()), (1, receipt.fence.next()));
    assert_eq!(inbox.row("e1").state, State::InProgress);
    inbox.settle(lease, Verdict::done("done"));
}

/// A duplicate changes nothing while the event waits, runs, or has failed.
pub(super) fn accepted_again_is_pending(inbox: &Inbox<'_>) {
    let first = inbox.take_in("e1");
    inbox.at(secs(10));
    assert_eq!(inbox.pending(inbox.parcel("e1")), first);
    let lease = inbox.one("e1");
    let running = inbox.pending(inbox.parcel("e1"));
    assert_eq!(running, inbox.row("e1"));
    assert_eq!(running.state, State::InProgress);
    inbox.settle(lease, Verdict::retry(HOUR));
    assert_eq!(inbox.pending(inbox.parcel("e1")).state, State::Failed);
    inbox.none_due();
    let parked = inbox.parked("e1").expect("its body is kept");
    assert_eq!(parked.accepted_at, first.received_at);
}

/// What has ended answers with how it ended.
pub(super) fn accepted_after_the_end(inbox: &Inbox<'_>) {
    inbox.take_in("e1");
    let done = inbox.done("e1");
    inbox.take_in("e2");
    let dead = inbox.bury("e2");
    inbox.at(secs(60));
    match inbox.accept(inbox.parcel("e1")) {
        Accepted::Duplicate(receipt) => assert_eq!(receipt, done),
        other => panic!("expected Duplicate, got {other:?}"),
    }
    match inbox.accept(inbox.parcel("e2")) {
        Accepted::Dead(receipt) => assert_eq!(receipt, dead),
        other => panic!("expected Dead, got {other:?}"),
    }
    inbox.none_due();
}

/// Other content under a known id touches neither receipt nor body, whatever the state.
pub(super) fn conflict_in_the_inbox(inbox: &Inbox<'_>) {
    let conflict = |state| {
        match inbox.accept(inbox.parcel_of("e1", "other")) {
            Accepted::Conflict(conflict) => {
                assert_eq!(conflict.receipt.state, state);
                assert_eq!(conflict.receipt, inbox.row("e1"));
                assert_eq!(conflict.presented, Fingerprint::of(b"other"));
            }
            other => panic!("expected Conflict, got {other:?}"),
        }
        let parked = inbox.parked("e1").expect("the first body is kept");
        assert_eq!(parked.body, body("e1").as_bytes());
    };
    inbox.take_in("e1");
    conflict(State::Received);
    let lease = inbox.one("e1");
    conflict(State::InProgress);
    inbox.settle(lease, Verdict::retry(secs(0)));
    conflict(State::Failed);
    inbox.done("e1");
    conflict(State::Processed);
    inbox.none_due();
}

/// Bodies are bytes.
pub(super) fn bodies_are_kept_byte_for_byte(inbox: &Inbox<'_>) {
    let long: String = std::iter::repeat_n("0123456789abcde\n", 20_000).collect();
    let bodies = [
        "",
        "\0",
        "a\0b",
        "\r\n",
        "'; DROP TABLE x; --",
        "é🦀",
        &long,
    ];
    for (n, body) in bodies.iter().enumerate() {
        let id = format!("e{n}");
        let accepted = inbox.accept(inbox.parcel_of(&id, body));
        assert!(matches!(accepted, Accepted::New(_)), "{accepted:?}");
        let parked = inbox.parked(&id).expect("its body is kept");
        assert!(parked.body == body.as_bytes(), "body {n} has changed");
    }
    let mut leased = inbox.due();
    leased.sort_by_key(|(lease, _)| lease.key().id().to_owned());
    for (n, (lease, parked)) in leased.into_iter().enumerate() {
        assert!(parked.body == bodies[n].as_bytes(), "body {n} has changed");
        inbox.settle(lease, Verdict::done(""));
    }
}

/// What verification found out is kept, and of the headers only those that were chosen.
pub(super) fn facts_and_chosen_headers_are_kept(inbox: &Inbox<'_>) {
    let signed = post::attempt(inbox.now(), "e1", "a7", &body("e1"));
    let with_more = {
        let mut more = signed.clone();
        more.headers.push(("X-Kept".into(), "a value".into()));
        more.headers.push(("X-Twice".into(), "1".into()));
        more.headers.push(("X-Twice".into(), "2".into()));
        more
    };
    let parcel = inbox
        .parcel_from("e1", &with_more)
        .keep(&with_more, "x-kept")
        .keep(&with_more, "X-KEPT")
        .keep(&with_more, "X-Twice")
        .keep(&with_more, "X-Absent");
    inbox.at(secs(3));
    assert!(matches!(inbox.accept(parcel), Accepted::New(_)));
    let parked = inbox.parked("e1").expect("its body is kept");
    assert_eq!(parked.headers, [("x-kept".to_owned(), b"a value".to_vec())]);
    let facts = &parked.facts;
    assert_eq!(facts.scheme, "attempts");
    assert_eq!(facts.delivery_id.as_deref(), Some("a7"));
    assert_eq!(facts.key_id, None);
    assert_eq!(facts.sent_at, Some(facts.received_at));
    assert_eq!(facts.received_at + secs(3), parked.accepted_at);
    assert_eq!(facts.coverage, post::ATTEMPTS.coverage());
    let (lease, leased) = inbox.due().remove(0);
    assert_eq!(leased, parked);
    inbox.stall(lease);
}

/// An event that was claimed elsewhere: its body is stored, the claim goes on, and if nothing
/// comes of it the inbox has it.
pub(super) fn claimed_event_is_adopted(inbox: &Inbox<'_>) {
    let ask = || inbox.parcel("e1").claiming().clone().lease(LEASE);
    let elsewhere = inbox.win(ask());
    let receipt = inbox.pending(inbox.parcel("e1"));
    assert_eq!(receipt, inbox.row("e1"));
    assert!(inbox.parked("e1").is_some(), "200 without its body");
    inbox.none_due();
    inbox.release(elsewhere);
    assert_eq!(inbox.one("e1").attempt(), 2);
}

/// The same after the claim has failed, and where it succeeds in the end.
pub(super) fn failed_event_is_adopted(inbox: &Inbox<'_>) {
    let ask = || inbox.parcel("e1").claiming().clone().lease(LEASE);
    let elsewhere = inbox.win(ask());
    inbox.settle(elsewhere, Verdict::retry(secs(30)));
    assert_eq!(inbox.pending(inbox.parcel("e1")).state, State::Failed);
    inbox.none_due();
    inbox.at(secs(30));
    let again = inbox.win(ask());
    inbox.none_due();
    inbox.settle(again, Verdict::done("elsewhere"));
    inbox.at(HOUR);
    inbox.none_due();
    assert_eq!(inbox.row("e1").result, b"elsewhere");
}

/// A claim and a lease of the inbox are the same thing.
pub(super) fn accepted_event_may_be_claimed(inbox: &Inbox<'_>) {
    inbox.take_in("e1");
    let ask = || inbox.parcel("e1").claiming().clone().lease(LEASE);
    let lease = inbox.win(ask());
    assert_eq!(lease.attempt(), 1);
    inbox.none_due();
    inbox.settle(lease, Verdict::done("elsewhere"));
    inbox.at(HOUR);
    inbox.none_due();
    inbox.take_in("e2");
    let lease = inbox.one("e2");
    let ask = inbox.parcel("e2").claiming().clone();
    assert!(matches!(inbox.claim(ask), Claim::InProgress { .. }));
    inbox.settle(lease, Verdict::done(""));
}

/// A claim that comes to nothing gives the event back to the inbox.
pub(super) fn accepted_event_may_be_claimed_and_fail(inbox: &Inbox<'_>) {
    inbox.take_in("e1");
    let ask = inbox.parcel("e1").claiming().clone().lease(LEASE);
    let lease = inbox.win(ask);
    inbox.none_due();
    inbox.stall(lease);
    inbox.at(LEASE);
    assert_eq!(inbox.one("e1").attempt(), 2);
}

/// A forgotten event leaves nothing behind.
pub(super) fn forgetting_takes_the_body(inbox: &Inbox<'_>) {
    inbox.take_in("e1");
    inbox.take_in("e2");
    assert!(inbox.forget(&key("e1")).is_some());
    assert_eq!(inbox.parked("e1"), None);
    assert_eq!(inbox.listed(State::Received), [key("e2")]);
    let lease = inbox.one("e2");
    inbox.forget(&key("e2"));
    inbox.lost(lease);
    inbox.at(HOUR);
    inbox.none_due();
}

/// Accepted again it is new, with the body that comes then.
pub(super) fn accepted_anew_after_forgetting(inbox: &Inbox<'_>) {
    inbox.take_in("e1");
    inbox.done("e1");
    inbox.forget(&key("e1"));
    let other = inbox.parcel_of("e1", "another body");
    assert!(matches!(inbox.accept(other), Accepted::New(_)));
    let (lease, parked) = inbox.due().remove(0);
    assert_eq!(parked.body, b"another body");
    assert_eq!(lease.attempt(), 1);
    inbox.settle(lease, Verdict::done(""));
}

/// A fence never comes twice, whether the event came in by the inbox or by a claim.
pub(super) fn fence_is_not_reused_after_forgetting(inbox: &Inbox<'_>) {
    let mut last = Fence(0);
    for round in 0..6 {
        let fence = if round % 2 == 0 {
            let received = inbox.take_in("e1");
            assert!(received.fence > last);
            let lease = inbox.one("e1");
            let fence = lease.fence();
            inbox.stall(lease);
            fence
        } else {
            let lease = inbox.win(Claiming::business(key("e1")));
            let fence = lease.fence();
            inbox.stall(lease);
            fence
        };
        assert!(fence > last, "{fence} after {last}");
        last = fence;
        inbox.forget(&key("e1"));
    }
}
