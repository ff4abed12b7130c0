//! The table of claims, its column *same content*, row by row.

use super::bench::{Bench, DAY, HOUR, LEASE, TICK, ask, key, secs};
use crate::{Fence, Receipt, State, Verdict, store::DEFAULT_MAX_ATTEMPTS};

/// An event that was never seen is new, and the lease says what was won.
pub(super) fn unknown_event_is_new(bench: &Bench<'_>) {
    let lease = bench.win(ask("e1").retention(DAY).max_attempts(7));
    let now = bench.now();
    assert_eq!(lease.key(), &key("e1"));
    assert_eq!((lease.attempt(), lease.max_attempts()), (1, 7));
    assert_eq!(lease.until(), now + LEASE);

    let row = bench.row("e1");
    assert_eq!((row.state, row.attempts), (State::InProgress, 1));
    assert_eq!((&row.key, row.fence), (lease.key(), lease.fence()));
    assert_eq!(row.fingerprint, ask("e1").content());
    assert_eq!((row.received_at, row.changed_at), (now, now));
    assert_eq!(row.until, Some(now + LEASE));
    assert_eq!(row.expires_at, now + DAY);
    assert_eq!(row.result, b"");
    bench.stall(lease);

    let other = bench.win(ask("e2"));
    assert_eq!(other.max_attempts(), DEFAULT_MAX_ATTEMPTS);
    bench.stall(other);
}

/// Asking for a receipt that nobody wrote is no error and writes none.
pub(super) fn unknown_event_has_no_receipt(bench: &Bench<'_>) {
    assert_eq!(bench.get(&key("e1")), None);
    assert_eq!(bench.get(&key("e1")), None);
    bench.stall(bench.win(ask("e1")));
}

/// What a won claim of a stored event must leave: the first record with one more attempt.
#[track_caller]
fn takes_over(bench: &Bench<'_>, before: &Receipt) {
    let lease = bench.win(ask("e1").retention(HOUR));
    let now = bench.now();
    assert_eq!(lease.attempt(), before.attempts + 1);
    assert_eq!(lease.fence(), Fence(before.fence.0 + 1));
    assert_eq!(lease.until(), now + LEASE);
    let mut wanted = before.clone();
    wanted.state = State::InProgress;
    wanted.attempts = lease.attempt();
    wanted.fence = lease.fence();
    wanted.changed_at = now;
    wanted.until = Some(now + LEASE);
    wanted.result = Vec::new();
    assert_eq!(bench.row("e1"), wanted);
    bench.stall(lease);
}

/// While the lease runs, others are told when to ask again, and nothing is written.
pub(super) fn running_lease_is_in_progress(bench: &Bench<'_>) {
    let lease = bench.win(ask("e1"));
    let before = bench.row("e1");
    for passed in [secs(0), secs(20), LEASE - TICK] {
        bench.at(passed);
        let (_, receipt) = bench.busy(ask("e1"), LEASE);
        assert_eq!(receipt, before);
        assert_eq!(bench.row("e1"), before);
    }
    bench.stall(lease);
}

/// A lease is over at its end, not after it; the event is then claimable, with its first record.
pub(super) fn lapsed_lease_is_new(bench: &Bench<'_>) {
    bench.stall(bench.win(ask("e1")));
    let before = bench.row("e1");
    bench.at(LEASE);
    takes_over(bench, &before);
}

/// A lease that ran out in the last allowed attempt buries the event: a delivery that kills its
/// worker each time must end as well.
pub(super) fn lapsed_last_attempt_is_dead(bench: &Bench<'_>) {
    let worker = bench.win(ask("e1").max_attempts(2));
    bench.at(LEASE);
    let second = bench.win(ask("e1").max_attempts(2));
    bench.lost(worker);
    let before = bench.row("e1");
    bench.at(LEASE * 2);
    let receipt = bench.dead(ask("e1").max_attempts(2));
    assert_eq!((receipt.state, receipt.until), (State::Dead, None));
    assert_eq!((receipt.attempts, receipt.fence), (2, before.fence));
    assert_eq!(receipt.changed_at, bench.now());
    assert_ne!(receipt.result, b"", "a death has a reason");
    assert_eq!(bench.row("e1"), receipt);
    assert_eq!(
        bench.dead(ask("e1")),
        receipt,
        "whatever the limit is later"
    );
    bench.lost(second);
}

/// A failed attempt may not be repeated before its wait is over, and nothing is written.
pub(super) fn failed_attempt_waits(bench: &Bench<'_>) {
    let lease = bench.win(ask("e1"));
    let before = bench.settle(lease, Verdict::retry(secs(30)));
    for passed in [secs(0), secs(10), secs(30) - TICK] {
        bench.at(passed);
        let (_, receipt) = bench.busy(ask("e1"), secs(30));
        assert_eq!((receipt.state, &receipt), (State::Failed, &before));
        assert_eq!(bench.row("e1"), before);
    }
}

/// A failed attempt may be repeated exactly when its wait is over.
pub(super) fn failed_attempt_is_new_when_due(bench: &Bench<'_>) {
    let lease = bench.win(ask("e1"));
    let before = bench.settle(lease, Verdict::retry(secs(30)));
    bench.at(secs(30));
    takes_over(bench, &before);
}

/// A claim that was given back can be claimed again at once.
pub(super) fn released_claim_is_new(bench: &Bench<'_>) {
    let lease = bench.win(ask("e1"));
    let before = bench.release(lease);
    takes_over(bench, &before);
}

/// What was done stays done and answers with its result, without a write.
pub(super) fn processed_event_is_a_duplicate(bench: &Bench<'_>) {
    let lease = bench.win(ask("e1"));
    let done = bench.settle(lease, Verdict::done("invoice 123"));
    for passed in [secs(0), LEASE, DAY * 7] {
        bench.at(passed);
        let receipt = bench.duplicate(ask("e1"));
        assert_eq!(receipt.result, b"invoice 123");
        assert_eq!(receipt, done);
        assert_eq!(bench.row("e1"), done);
    }
}

/// What was given up stays given up and answers with its reason, without a write.
pub(super) fn dead_event_is_dead(bench: &Bench<'_>) {
    let lease = bench.win(ask("e1"));
    let died = bench.settle(lease, Verdict::dead("unknown customer"));
    for passed in [secs(0), LEASE, DAY * 7] {
        bench.at(passed);
        let receipt = bench.dead(ask("e1"));
        assert_eq!(receipt.result, b"unknown customer");
        assert_eq!(receipt, died);
        assert_eq!(bench.row("e1"), died);
    }
}

/// Whoever asks again after exactly the wait that was named finds the event claimable, if nobody
/// else was quicker.
pub(super) fn retry_after_is_when_to_ask_again(bench: &Bench<'_>) {
    let lease = bench.win(ask("e1"));
    bench.at(secs(20));
    let (wait, _) = bench.busy(ask("e1"), LEASE);
    bench.at(secs(20) + wait);
    let second = bench.win(ask("e1"));
    bench.lost(lease);

    bench.settle(second, Verdict::retry(secs(45)));
    bench.clock.advance(secs(5));
    let (wait, _) = bench.busy(ask("e1"), secs(45));
    bench.clock.advance(wait);
    bench.stall(bench.win(ask("e1")));
}

/// S-18: a worker is killed after its claim. The event is never stuck and never taken as done.
pub(super) fn s18_crash_after_claim(bench: &Bench<'_>) {
    let killed = bench.win(ask("e1"));
    let fence = killed.fence();
    bench.stall(killed);
    bench.at(secs(10));
    bench.busy(ask("e1"), LEASE);
    bench.at(secs(61));
    let lease = bench.win(ask("e1"));
    assert!(lease.fence() > fence);
    bench.settle(lease, Verdict::done("by the second worker"));
    assert_eq!(bench.duplicate(ask("e1")).result, b"by the second worker");
}

/// S-25: the lease is as long as the work may take, whatever the request's own time limit.
pub(super) fn s25_lease_longer_than_the_request(bench: &Bench<'_>) {
    let lease = bench.win(ask("e1").lease(HOUR));
    bench.at(secs(31));
    bench.busy(ask("e1"), HOUR);
    bench.at(HOUR - TICK);
    bench.busy(ask("e1"), HOUR);
    bench.settle(lease, Verdict::done("paid"));
    bench.duplicate(ask("e1"));
}

/// S-31: an event that is older than another, but comes later, is an event of its own.
pub(super) fn s31_order_does_not_hide_an_event(bench: &Bench<'_>) {
    let updated = bench.win(ask("updated"));
    bench.settle(updated, Verdict::done("updated"));
    let created = bench.win(ask("created"));
    bench.settle(created, Verdict::done("created"));
    assert_eq!(bench.duplicate(ask("updated")).result, b"updated");
    assert_eq!(bench.duplicate(ask("created")).result, b"created");
}
