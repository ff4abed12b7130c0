//! What an operator does.

use std::time::Duration;

use super::{
    super::bench::{DAY, HOUR, key, secs},
    bench::Inbox,
};
use crate::{
    EventKey, State, Verdict,
    inbox::{Dropping, Listing, Requeued},
};

/// A dead event that is sent back has its body and all its attempts, and its fence goes on.
pub(super) fn requeued_event_starts_anew(inbox: &Inbox<'_>) {
    inbox.take_in("e1");
    let dead = inbox.bury("e1");
    inbox.at(HOUR);
    let Requeued::Waiting(receipt) = inbox.requeue("e1") else {
        panic!("it was not sent back");
    };
    assert_eq!(receipt, inbox.row("e1"));
    assert_eq!((receipt.state, receipt.attempts), (State::Received, 0));
    assert_eq!((receipt.until, &*receipt.result), (None, &b""[..]));
    assert_eq!(receipt.received_at, dead.received_at);
    let lease = inbox.one("e1");
    assert_eq!((lease.attempt(), lease.fence()), (1, dead.fence.next()));
    inbox.settle(lease, Verdict::done("in the end"));
}

/// One that waits after a failure need not wait any more.
pub(super) fn failed_event_is_requeued_before_its_wait(inbox: &Inbox<'_>) {
    inbox.take_in("e1");
    inbox.fail("e1", DAY);
    inbox.none_due();
    assert!(matches!(inbox.requeue("e1"), Requeued::Waiting(_)));
    inbox.done("e1");
    inbox.at(DAY * 2);
    inbox.none_due();
}

/// Whatever else there is stays as it is.
pub(super) fn only_failures_are_requeued(inbox: &Inbox<'_>) {
    assert_eq!(inbox.requeue("e1"), Requeued::Unknown);
    let refused = || {
        let stored = inbox.row("e1");
        assert_eq!(inbox.requeue("e1"), Requeued::NotFailed(stored.clone()));
        assert_eq!(inbox.row("e1"), stored);
    };
    inbox.take_in("e1");
    refused();
    let lease = inbox.one("e1");
    refused();
    inbox.settle(lease, Verdict::done(""));
    refused();
    inbox.none_due();
}

/// Without its body nobody could act on it.
pub(super) fn requeue_needs_a_body(inbox: &Inbox<'_>) {
    let lease = inbox.win(crate::Claiming::business(key("e1")));
    let dead = inbox.settle(lease, Verdict::dead("no"));
    assert_eq!(inbox.requeue("e1"), Requeued::NoBody(dead.clone()));
    assert_eq!(inbox.row("e1"), dead);
    inbox.none_due();
}

fn by_digest(ids: &[&str]) -> Vec<EventKey> {
    let mut keys: Vec<_> = ids.iter().map(|id| key(id)).collect();
    keys.sort_by_key(|key| *key.digest());
    keys
}

/// Each event is listed under its state, with its receipt, and under no other.
pub(super) fn list_is_by_state(inbox: &Inbox<'_>) {
    inbox.take_in("done");
    inbox.done("done");
    inbox.take_in("dead");
    inbox.bury("dead");
    inbox.take_in("failed");
    inbox.fail("failed", HOUR);
    inbox.take_in("running");
    let lease = inbox.one("running");
    inbox.take_in("waiting");
    inbox.take_in("too");
    let lists = [
        (State::Processed, &["done"][..]),
        (State::Dead, &["dead"]),
        (State::Failed, &["failed"]),
        (State::InProgress, &["running"]),
        (State::Received, &["waiting", "too"]),
    ];
    for (state, ids) in lists {
        assert_eq!(inbox.listed(state), by_digest(ids), "{state:?}");
        for receipt in inbox.list(Listing::of(state)) {
            assert_eq!(Some(&receipt), inbox.get(&receipt.key).as_ref());
        }
    }
    inbox.stall(lease);
}

/// Pages follow each other without gap or overlap.
pub(super) fn list_is_paged(inbox: &Inbox<'_>) {
    let ids: Vec<_> = (0..25).map(|n| format!("e{n}")).collect();
    for id in &ids {
        inbox.take_in(id);
    }
    let mut listing = Listing::of(State::Received).limit(10);
    let mut seen = Vec::new();
    loop {
        let page = inbox.list(listing);
        assert!(page.len() <= 10);
        seen.extend(page.iter().map(|receipt| receipt.key.clone()));
        match page.last() {
            Some(last) => listing = listing.after(&last.key),
            None => break,
        }
    }
    let ids: Vec<_> = ids.iter().map(|id| &**id).collect();
    assert_eq!(seen, by_digest(&ids));
}

/// The bodies of processed events go with time; their receipts stay, and so does the answer.
pub(super) fn bodies_are_dropped_by_age(inbox: &Inbox<'_>) {
    inbox.take_in("e1");
    let done = inbox.done("e1");
    inbox.at(HOUR);
    inbox.take_in("e2");
    inbox.done("e2");
    inbox.at(DAY);
    assert_eq!(inbox.drop_bodies(Dropping::processed(DAY + secs(1))), 0);
    assert_eq!(inbox.drop_bodies(Dropping::processed(DAY)), 1);
    assert_eq!(inbox.parked("e1"), None);
    assert!(inbox.parked("e2").is_some());
    assert_eq!(inbox.row("e1"), done);
    assert!(matches!(
        inbox.accept(inbox.parcel("e1")),
        crate::inbox::Accepted::Duplicate(_)
    ));
    assert_eq!(inbox.drop_bodies(Dropping::processed(Duration::ZERO)), 1);
    assert_eq!(inbox.drop_bodies(Dropping::processed(Duration::ZERO)), 0);
}

/// What is still to be done needs its body.
pub(super) fn pending_bodies_are_not_dropped(inbox: &Inbox<'_>) {
    inbox.take_in("failed");
    inbox.fail("failed", HOUR);
    inbox.take_in("running");
    let lease = inbox.one("running");
    inbox.take_in("waiting");
    inbox.at(DAY);
    let all = Dropping::processed(Duration::ZERO).and_dead();
    assert_eq!(inbox.drop_bodies(all), 0);
    for id in ["failed", "running", "waiting"] {
        assert!(inbox.parked(id).is_some());
    }
    inbox.stall(lease);
}

/// Dead events keep their bodies, so that they can be sent back, unless asked for.
pub(super) fn dead_bodies_are_dropped_when_asked_for(inbox: &Inbox<'_>) {
    inbox.take_in("e1");
    let dead = inbox.bury("e1");
    let processed = Dropping::processed(Duration::ZERO);
    assert_eq!(inbox.drop_bodies(processed), 0);
    assert_eq!(inbox.drop_bodies(processed.and_dead()), 1);
    assert_eq!(inbox.parked("e1"), None);
    assert_eq!(inbox.requeue("e1"), Requeued::NoBody(dead));
}

/// No more go than asked for.
pub(super) fn dropping_is_bounded(inbox: &Inbox<'_>) {
    for n in 0..5 {
        let id = format!("e{n}");
        inbox.take_in(&id);
        inbox.done(&id);
    }
    let dropping = Dropping::processed(Duration::ZERO).at_most(3);
    assert_eq!(inbox.drop_bodies(dropping), 3);
    assert_eq!(inbox.drop_bodies(dropping), 2);
}

/// What was answered 200 and is not done is kept, however long it takes.
pub(super) fn what_waits_is_not_purged(inbox: &Inbox<'_>) {
    inbox.take_in("failed");
    inbox.fail("failed", DAY * 100);
    inbox.take_in("running");
    let lease = inbox.one("running");
    inbox.take_in("waiting");
    inbox.at(DAY * 60);
    assert_eq!(inbox.purge(10), 0);
    let mut leased = inbox.due();
    assert_eq!(leased.len(), 2, "{leased:?}");
    leased.retain(|(lease, _)| lease.key() == &key("running"));
    inbox.lost(lease);
    for (lease, _) in leased {
        inbox.stall(lease);
    }
    inbox.at(DAY * 100);
    assert_eq!(inbox.purge(10), 0);
    for id in ["failed", "running", "waiting"] {
        inbox.row(id);
        assert!(inbox.parked(id).is_some());
    }
}

/// What has ended goes with its retention, and its body with it.
pub(super) fn what_has_ended_is_purged_with_its_body(inbox: &Inbox<'_>) {
    inbox.take_in("done");
    inbox.done("done");
    inbox.take_in("dead");
    inbox.bury("dead");
    inbox.at(DAY * 29);
    assert_eq!(inbox.purge(10), 0);
    inbox.at(DAY * 31);
    assert_eq!(inbox.purge(10), 2);
    for id in ["done", "dead"] {
        assert_eq!(inbox.parked(id), None);
        inbox.take_in(id);
    }
    assert_eq!(inbox.due().len(), 2);
}
