//! What is due.

use std::time::Duration;

use super::{
    super::{
        DroppedLease,
        bench::{DAY, HOUR, LEASE, TICK, key, secs},
    },
    bench::Inbox,
};
use crate::{State, Verdict, inbox::Leasing};

/// Who came first is leased first, and a failed event has its place by the end of its wait.
pub(super) fn longest_due_is_first(inbox: &Inbox<'_>) {
    inbox.take_in("e0");
    inbox.fail("e0", secs(25));
    for n in 1..5 {
        inbox.at(secs(10 * n));
        inbox.take_in(&format!("e{n}"));
    }
    let next = || {
        let leased = inbox.leasing(Leasing::up_to(1));
        let (lease, _) = leased.events.into_iter().next().expect("one is due");
        let id = lease.key().id().to_owned();
        inbox.settle(lease, Verdict::done(""));
        id
    };
    let order: Vec<_> = (0..5).map(|_| next()).collect();
    assert_eq!(order, ["e1", "e2", "e0", "e3", "e4"]);
}

/// No more are leased than asked for.
pub(super) fn limit_is_kept(inbox: &Inbox<'_>) {
    for n in 0..5 {
        inbox.take_in(&format!("e{n}"));
    }
    assert!(inbox.leasing(Leasing::up_to(0)).events.is_empty());
    for expected in [3, 2, 0] {
        let leased = inbox.leasing(Leasing::up_to(3).lease(LEASE));
        assert_eq!(leased.events.len(), expected);
        for (lease, _) in leased.events {
            inbox.stall(lease);
        }
    }
}

/// An empty inbox has nothing to offer, and neither have receipts that came by claims.
pub(super) fn nothing_is_due(inbox: &Inbox<'_>) {
    inbox.none_due();
    let lease = inbox.win(crate::Claiming::business(key("e1")).lease(LEASE));
    inbox.settle(lease, Verdict::retry(Duration::ZERO));
    inbox.none_due();
}

/// Nobody else gets what is leased.
pub(super) fn leased_event_is_not_due(inbox: &Inbox<'_>) {
    inbox.take_in("e1");
    let lease = inbox.one("e1");
    assert_eq!(lease.until(), inbox.now() + LEASE);
    inbox.none_due();
    inbox.at(LEASE - TICK);
    inbox.none_due();
    inbox.settle(lease, Verdict::done(""));
}

/// A lease that ran out: the next one has the next fence, and the first one is lost.
pub(super) fn lapsed_lease_is_due(inbox: &Inbox<'_>) {
    inbox.take_in("e1");
    let first = inbox.one("e1");
    inbox.at(LEASE);
    let second = inbox.one("e1");
    assert_eq!(second.fence(), first.fence().next());
    assert_eq!((first.attempt(), second.attempt()), (1, 2));
    inbox.lost(first);
    inbox.settle(second, Verdict::done(""));
}

/// A renewal holds the event for longer.
pub(super) fn renewed_lease_is_not_due(inbox: &Inbox<'_>) {
    inbox.take_in("e1");
    let lease = inbox.one("e1");
    inbox.at(secs(50));
    let lease = inbox.renew(lease, LEASE);
    inbox.at(secs(50) + LEASE - TICK);
    inbox.none_due();
    inbox.at(secs(50) + LEASE);
    let next = inbox.one("e1");
    inbox.lost(lease);
    inbox.settle(next, Verdict::done(""));
}

/// A failed event is due when its wait is over: neither earlier nor with the lease's end.
pub(super) fn failed_event_waits(inbox: &Inbox<'_>) {
    inbox.take_in("e1");
    inbox.fail("e1", secs(10));
    inbox.at(secs(10) - TICK);
    inbox.none_due();
    inbox.at(secs(10));
    let lease = inbox.one("e1");
    assert_eq!(lease.attempt(), 2);
    inbox.settle(lease, Verdict::retry(HOUR));
    inbox.at(HOUR);
    inbox.none_due();
    inbox.at(secs(10) + HOUR);
    inbox.done("e1");
}

/// Without a wait it is due at once.
pub(super) fn failed_event_without_wait_is_due(inbox: &Inbox<'_>) {
    inbox.take_in("e1");
    for attempt in 1..5 {
        let lease = inbox.one("e1");
        assert_eq!(lease.attempt(), attempt);
        inbox.settle(lease, Verdict::retry(Duration::ZERO));
    }
}

/// What was given back is due at once.
pub(super) fn released_event_is_due(inbox: &Inbox<'_>) {
    inbox.take_in("e1");
    let lease = inbox.one("e1");
    inbox.release(lease);
    inbox.done("e1");
}

/// A dropped lease is reported, and its event is due as the backend says.
pub(super) fn dropped_lease_is_due(inbox: &Inbox<'_>) {
    inbox.take_in("e1");
    let lease = inbox.one("e1");
    let fence = lease.fence();
    inbox.drop_lease(lease);
    assert!(inbox.witness.saw(&key("e1"), fence));
    match inbox.dropped {
        DroppedLease::AtOnce => {}
        // What writes it is asked to do something else after it.
        DroppedLease::Soon => drop(inbox.forget(&key("no such event"))),
        DroppedLease::ByLeaseEnd => inbox.at(LEASE),
    }
    let lease = inbox.one("e1");
    assert_eq!(lease.attempt(), 2);
    inbox.settle(lease, Verdict::done(""));
}

/// Done is done.
pub(super) fn processed_event_is_never_due(inbox: &Inbox<'_>) {
    inbox.take_in("e1");
    inbox.done("e1");
    for later in [LEASE, HOUR, DAY * 365] {
        inbox.at(later);
        inbox.none_due();
    }
}

/// So is dead.
pub(super) fn dead_event_is_never_due(inbox: &Inbox<'_>) {
    inbox.take_in("e1");
    inbox.bury("e1");
    for later in [LEASE, HOUR, DAY * 365] {
        inbox.at(later);
        inbox.none_due();
    }
}

/// After the last attempt a failure is the end.
pub(super) fn last_failure_is_dead(inbox: &Inbox<'_>) {
    inbox.take_in("e1");
    let two = || Leasing::up_to(9).lease(LEASE).max_attempts(2);
    for expected in [State::Failed, State::Dead] {
        let (lease, _) = inbox.leasing(two()).events.remove(0);
        let receipt = inbox.settle(lease, Verdict::retry(Duration::ZERO));
        assert_eq!(receipt.state, expected);
    }
    assert!(inbox.leasing(two()).events.is_empty());
}

/// So is a last attempt that says nothing until its lease is over: whoever kills its worker each
/// time must end as well, and somebody is told.
pub(super) fn last_lapsed_attempt_is_buried(inbox: &Inbox<'_>) {
    inbox.take_in("e1");
    let once = || Leasing::up_to(9).lease(LEASE).max_attempts(1);
    let (lease, _) = inbox.leasing(once()).events.remove(0);
    inbox.at(LEASE - TICK);
    assert_eq!(inbox.leasing(once()).buried, []);
    inbox.at(LEASE);
    let leased = inbox.leasing(once());
    assert!(leased.events.is_empty());
    let dead = inbox.row("e1");
    assert_eq!((dead.state, dead.attempts), (State::Dead, 1));
    assert_eq!(dead.result, b"too many attempts");
    assert_eq!(leased.buried, [dead]);
    assert_eq!(inbox.leasing(once()).buried, []);
    inbox.lost(lease);
}

/// As with claims, who leases says how many attempts there are.
pub(super) fn limit_of_attempts_is_the_leasing_s_own(inbox: &Inbox<'_>) {
    inbox.take_in("e1");
    let with = |most| Leasing::up_to(9).lease(LEASE).max_attempts(most);
    let (lease, _) = inbox.leasing(with(1)).events.remove(0);
    inbox.stall(lease);
    inbox.at(LEASE);
    let (lease, _) = inbox.leasing(with(2)).events.remove(0);
    assert_eq!((lease.attempt(), lease.max_attempts()), (2, 2));
    let receipt = inbox.settle(lease, Verdict::retry(Duration::ZERO));
    assert_eq!(receipt.state, State::Dead);
}
