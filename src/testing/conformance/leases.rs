//! Leases: how long they last, who may still write, and what loses them.

use super::bench::{Bench, HOUR, LEASE, TICK, ask, ask_otherwise, key, secs};
use crate::{State, Verdict};

/// S-23: a worker stalls past its lease and another takes over. The first may not write any more;
/// the second may.
pub(super) fn s23_lost_lease(bench: &Bench<'_>) {
    let first = bench.win(ask("e1").lease(secs(30)));
    bench.at(secs(35));
    let second = bench.win(ask("e1").lease(secs(30)));
    bench.at(secs(40));
    bench.lost(first);
    bench.settle(second, Verdict::done("second"));
    assert_eq!(bench.duplicate(ask("e1")).result, b"second");
}

/// A lease stays lost whatever the one that took over has done with the event since.
pub(super) fn lost_lease_stays_lost(bench: &Bench<'_>) {
    for (id, verdict) in [
        ("done", Verdict::done("second")),
        ("retry", Verdict::retry(secs(5))),
        ("dead", Verdict::dead("second")),
    ] {
        let first = bench.win(ask(id).lease(secs(0)));
        let second = bench.win(ask(id));
        bench.settle(second, verdict);
        bench.lost(first);
    }
    let first = bench.win(ask("released").lease(secs(0)));
    let second = bench.win(ask("released"));
    bench.release(second);
    bench.lost(first);

    let first = bench.win(ask("lapsed").lease(secs(0)));
    bench.stall(bench.win(ask("lapsed").lease(secs(0))));
    bench.lost(first);
}

/// A lease that a later claim buried is lost as well.
pub(super) fn buried_lease_is_lost(bench: &Bench<'_>) {
    let lease = bench.win(ask("e1").max_attempts(1));
    bench.at(LEASE);
    let buried = bench.dead(ask("e1").max_attempts(1));
    bench.lost(lease);
    assert_eq!(bench.dead(ask("e1")), buried);
}

/// S-24: a lease of nothing is over at once, and is not "none": the row has an end and an expiry.
pub(super) fn s24_zero_lease_is_over_at_once(bench: &Bench<'_>) {
    let first = bench.win(ask("e1").lease(secs(0)).retention(HOUR));
    assert_eq!(first.until(), bench.now());
    let row = bench.row("e1");
    assert_eq!(row.until, Some(bench.now()));
    assert_eq!(row.expires_at, bench.now() + HOUR);
    let second = bench.win(ask("e1"));
    assert_eq!(second.attempt(), 2);
    bench.lost(first);
    bench.settle(second, Verdict::done("second"));
}

/// S-34: a heartbeat keeps a lease for as long as it beats, and no longer.
pub(super) fn s34_heartbeat(bench: &Bench<'_>) {
    let ask = || ask("e1").lease(secs(30));
    let mut lease = bench.win(ask());
    let (fence, attempt) = (lease.fence(), lease.attempt());
    for beat in 1..=12 {
        bench.at(secs(beat * 10));
        lease = bench.renew(lease, secs(30));
        assert_eq!((lease.fence(), lease.attempt()), (fence, attempt));
        let (_, row) = bench.busy(ask(), secs(30));
        assert_eq!(row.until, Some(lease.until()));
        assert_eq!(lease.until(), bench.now() + secs(30));
    }
    bench.at(secs(150));
    let second = bench.win(ask());
    bench.lost(lease);
    bench.settle(second, Verdict::done("second"));
}

/// A renewal counts from now, be it longer or shorter than what was left, and writes nothing else.
pub(super) fn renewal_counts_from_now(bench: &Bench<'_>) {
    let lease = bench.win(ask("e1"));
    let mut wanted = bench.row("e1");
    bench.at(secs(10));
    let lease = bench.renew(lease, HOUR);
    wanted.changed_at = bench.now();
    wanted.until = Some(bench.now() + HOUR);
    assert_eq!(bench.row("e1"), wanted);
    bench.at(HOUR);
    bench.busy(ask("e1"), HOUR);

    let lease = bench.renew(lease, secs(5));
    bench.busy(ask("e1"), secs(5));
    bench.at(HOUR + secs(5) - TICK);
    bench.busy(ask("e1"), secs(5));
    bench.at(HOUR + secs(5));
    assert_eq!(bench.attempt(ask("e1")), 2);
    bench.lost(lease);
}

/// A renewal to nothing leaves the event claimable at once.
pub(super) fn renewal_to_nothing(bench: &Bench<'_>) {
    let lease = bench.renew(bench.win(ask("e1")), secs(0));
    assert_eq!(lease.until(), bench.now());
    bench.stall(bench.win(ask("e1")));
    bench.lost(lease);
}

/// A lease that ran out, but that nobody reclaimed, may still settle: the result is real.
pub(super) fn lapsed_lease_may_settle(bench: &Bench<'_>) {
    let lease = bench.win(ask("e1"));
    bench.at(HOUR);
    bench.settle(lease, Verdict::done("late"));
    assert_eq!(bench.duplicate(ask("e1")).result, b"late");
}

/// A lease that ran out, but that nobody reclaimed, may still be renewed.
pub(super) fn lapsed_lease_may_renew(bench: &Bench<'_>) {
    let lease = bench.win(ask("e1"));
    bench.at(HOUR);
    let lease = bench.renew(lease, LEASE);
    bench.busy(ask("e1"), LEASE);
    bench.settle(lease, Verdict::done("late"));
}

/// A lease that ran out, but that nobody reclaimed, may still be given back.
pub(super) fn lapsed_lease_may_release(bench: &Bench<'_>) {
    let lease = bench.win(ask("e1"));
    bench.at(HOUR);
    bench.release(lease);
    assert_eq!(bench.attempt(ask("e1")), 2);
}

/// Only a claim takes a lease away: asking, a conflict and a purge after its end do not.
pub(super) fn lapsed_lease_is_lost_to_claims_only(bench: &Bench<'_>) {
    let lease = bench.win(ask("e1"));
    bench.at(LEASE);
    bench.row("e1");
    bench.conflict(ask_otherwise("e1"));
    assert_eq!(bench.purge(10), 0);
    bench.settle(lease, Verdict::done("late"));
}

/// A release does not lose the event: it stays known, with its attempts and its first content.
pub(super) fn release_does_not_lose_the_event(bench: &Bench<'_>) {
    let lease = bench.win(ask("e1"));
    let before = bench.row("e1");
    bench.at(secs(10));
    let row = bench.release(lease);
    assert_eq!((row.attempts, row.fence), (1, before.fence));
    assert_eq!(row.received_at, before.received_at);
    assert_eq!(row.expires_at, before.expires_at);
    assert_eq!(row.fingerprint, before.fingerprint);
    bench.conflict(ask_otherwise("e1"));
    let lease = bench.win(ask("e1"));
    bench.settle(lease, Verdict::done("in the end"));
}

/// A lease without an end in sight is a lease: no arithmetic overflows, and it can be settled.
pub(super) fn endless_lease(bench: &Bench<'_>) {
    use std::time::Duration;
    let lease = bench.win(ask("e1").lease(Duration::MAX).retention(Duration::MAX));
    bench.at(HOUR * 24 * 365);
    bench.busy(ask("e1"), Duration::MAX);
    let lease = bench.renew(lease, Duration::MAX);
    bench.busy(ask("e1"), Duration::MAX);
    assert_eq!(bench.purge(10), 0);
    assert_eq!(bench.row("e1").state, State::InProgress);
    bench.settle(lease, Verdict::done("at last"));
    bench.duplicate(ask("e1"));
}

/// The idempotency key for another system is the same in each attempt, and differs by effect and
/// by event.
pub(super) fn effect_keys_are_stable_over_attempts(bench: &Bench<'_>) {
    let first = bench.win(ask("e1").lease(secs(0)));
    let second = bench.win(ask("e1").lease(secs(0)));
    let charge = first.effect_key("charge");
    assert_eq!(second.effect_key("charge"), charge);
    assert_ne!(second.effect_key("email"), charge);
    bench.forget(&key("e1"));
    let third = bench.win(ask("e1"));
    assert_eq!(third.effect_key("charge"), charge);
    let other = bench.win(ask("e2"));
    assert_ne!(other.effect_key("charge"), charge);
    for lease in [first, second, third, other] {
        bench.stall(lease);
    }
}
