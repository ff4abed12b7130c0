//! Events that a batch has twice, or that are known before it comes.

use super::{
    super::bench::{HOUR, LEASE, key, secs},
    batches::{Store, accept_many, lease_all, names, parcels, receipt},
    bench::{Inbox, body},
};
use crate::{Claim, Claiming, Fence, Fingerprint, State, Verdict, inbox::Accepted};

/// An event that comes twice is stored once, by the first delivery, and the next are told so.
pub(super) fn repeated_event_is_stored_once(inbox: &Inbox<'_>, store: Store<'_>) {
    let answers = accept_many(inbox, store, parcels(inbox, [1, 2, 1, 3, 2, 1]));
    let expected = ["new", "new", "pending", "new", "pending", "pending"];
    assert_eq!(names(&answers), expected);
    for (id, answer) in ["e1", "e2", "e1", "e3", "e2", "e1"]
        .into_iter()
        .zip(answers)
    {
        assert_eq!(receipt(answer), inbox.row(id));
    }
    assert_eq!(lease_all(inbox), ["e1", "e2", "e3"]);
}

/// If it comes with other content the second time, that is a conflict, and the first stands.
pub(super) fn repeated_event_with_other_content(inbox: &Inbox<'_>, store: Store<'_>) {
    let parcels = vec![
        inbox.parcel_of("e1", "first"),
        inbox.parcel_of("e1", "second"),
        inbox.parcel_of("e1", "first"),
        inbox.parcel("e2"),
    ];
    let answers = accept_many(inbox, store, parcels);
    assert_eq!(names(&answers), ["new", "conflict", "pending", "new"]);
    match &answers[1] {
        Accepted::Conflict(conflict) => {
            assert_eq!(conflict.receipt, inbox.row("e1"));
            assert_eq!(conflict.presented, Fingerprint::of(b"second"));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(inbox.parked("e1").unwrap().body, b"first");
    assert_eq!(lease_all(inbox), ["e1", "e2"]);
}

/// A known event that comes twice has the same answer twice.
pub(super) fn repeated_known_event(inbox: &Inbox<'_>, store: Store<'_>) {
    inbox.take_in("done");
    let done = inbox.done("done");
    inbox.at(HOUR);
    let parcels = vec![
        inbox.parcel("done"),
        inbox.parcel("new"),
        inbox.parcel_of("done", "other"),
        inbox.parcel("done"),
    ];
    let answers = accept_many(inbox, store, parcels);
    let expected = ["duplicate", "new", "conflict", "duplicate"];
    assert_eq!(names(&answers), expected);
    assert_eq!(inbox.row("done"), done);
    inbox.done("new");
    inbox.none_due();
}

/// Events that were claimed elsewhere and are not done: their bodies are stored, once, and if nothing
/// comes of the claim the inbox has them.
pub(super) fn claimed_events_are_adopted(inbox: &Inbox<'_>, store: Store<'_>) {
    let ask = |id| inbox.parcel(id).claiming().clone().lease(LEASE);
    let running = inbox.win(ask("running"));
    let failed = inbox.win(ask("failed"));
    inbox.settle(failed, Verdict::retry(secs(30)));
    inbox.stall(inbox.win(ask("changed")));
    let parcels = vec![
        inbox.parcel_of("changed", "other"),
        inbox.parcel("running"),
        inbox.parcel("new"),
        inbox.parcel("running"),
        inbox.parcel("failed"),
        inbox.parcel_of("running", "other"),
    ];
    let answers = accept_many(inbox, store, parcels);
    let expected = [
        "conflict", "pending", "new", "pending", "pending", "conflict",
    ];
    assert_eq!(names(&answers), expected);
    for (id, answer) in ["changed", "running", "new", "running", "failed", "running"]
        .into_iter()
        .zip(answers)
    {
        assert_eq!(receipt(answer), inbox.row(id));
        assert_eq!(inbox.parked(id).is_some(), id != "changed");
    }
    inbox.done("new");
    inbox.none_due();
    inbox.release(running);
    assert_eq!(lease_all(inbox), ["running"]);
    inbox.at(secs(30));
    assert_eq!(lease_all(inbox), ["failed"]);
    for id in ["running", "failed"] {
        assert_eq!(inbox.row(id).attempts, 2);
    }
}

/// In conflict with a claim elsewhere, the first delivery says nothing of the second, which is
/// adopted.
pub(super) fn conflict_then_adoption_in_one_batch(inbox: &Inbox<'_>, store: Store<'_>) {
    let ask = inbox.parcel("e1").claiming().clone().lease(LEASE);
    let elsewhere = inbox.win(ask);
    let parcels = vec![inbox.parcel_of("e1", "other"), inbox.parcel("e1")];
    let answers = accept_many(inbox, store, parcels);
    assert_eq!(names(&answers), ["conflict", "pending"]);
    assert_eq!(inbox.parked("e1").unwrap().body, body("e1").as_bytes());
    inbox.release(elsewhere);
    inbox.done("e1");
}

/// A fence never comes twice, whether the event came in by a batch or by a claim.
pub(super) fn fences_in_accepted_batches_are_not_reused(inbox: &Inbox<'_>, store: Store<'_>) {
    let mut last = Fence(0);
    for round in 0..6 {
        if round % 2 == 0 {
            for answer in accept_many(inbox, store, parcels(inbox, [1, 2])) {
                let received = receipt(answer);
                assert_eq!(received.state, State::Received);
                assert!(received.key != key("e1") || received.fence > last);
            }
            let due = inbox.due();
            assert_eq!(due.len(), 2);
            for (lease, _) in due {
                if lease.key() == &key("e1") {
                    last = lease.fence();
                }
                inbox.stall(lease);
            }
        } else {
            let Claim::New(lease) = inbox.claim(Claiming::business(key("e1"))) else {
                panic!("it was forgotten");
            };
            assert!(lease.fence() > last, "{} after {last}", lease.fence());
            last = lease.fence();
            inbox.stall(lease);
        }
        inbox.forget(&key("e1"));
        inbox.forget(&key("e2"));
    }
}
