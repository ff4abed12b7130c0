//! Verdicts: what they write, what they keep, and how often an event may fail.

use std::time::Duration;

use super::bench::{Bench, DAY, HOUR, LEASE, TICK, ask, key, secs};
use crate::{
    Claim, Receipt, State, Verdict,
    store::{MAX_RESULT_BYTES, SettleError, SettleFault},
};

/// Settling writes the verdict and the time, and nothing else of the row.
#[track_caller]
fn settles_to(bench: &Bench<'_>, id: &str, verdict: Verdict, wanted: (State, Option<Duration>)) {
    let lease = bench.win(ask(id).retention(DAY));
    let before = bench.row(id);
    bench.clock.advance(secs(10));
    let after = bench.settle(lease, verdict);
    let (state, wait) = wanted;
    assert_eq!(after.state, state);
    assert_eq!(after.until, wait.map(|wait| bench.now() + wait));
    assert_eq!(after.changed_at, bench.now());
    let rest = |row: &Receipt| {
        let key = row.key.clone();
        let times = (row.received_at, row.expires_at);
        (key, row.fingerprint, row.attempts, row.fence, times)
    };
    assert_eq!(rest(&after), rest(&before));
}

/// Each verdict leads to its state, and the first record stands.
pub(super) fn verdicts_write_their_state(bench: &Bench<'_>) {
    let wait = Some(secs(30));
    settles_to(bench, "e1", Verdict::done("x"), (State::Processed, None));
    settles_to(bench, "e2", Verdict::dead("x"), (State::Dead, None));
    settles_to(bench, "e3", Verdict::retry(secs(30)), (State::Failed, wait));
}

/// The result comes back byte for byte, whatever it holds.
pub(super) fn result_is_kept(bench: &Bench<'_>) {
    let every_byte: Vec<u8> = (0..=255).collect();
    let results = [
        ("empty", Vec::new()),
        ("text", "Rechnung Nr. 123 für Zoë 🎉".into()),
        ("zeros", vec![0; 3]),
        ("every byte", every_byte),
        ("longest", vec![0xFF; MAX_RESULT_BYTES]),
    ];
    for (id, result) in results {
        let lease = bench.win(ask(id));
        bench.settle(lease, Verdict::done(result.clone()));
        assert_eq!(bench.duplicate(ask(id)).result, result, "{id}");

        let id = format!("dead: {id}");
        let lease = bench.win(ask(&id));
        bench.settle(lease, Verdict::dead(result.clone()));
        assert_eq!(bench.dead(ask(&id)).result, result, "{id}");
    }
}

/// A result over the limit is refused, not cut: nothing is written, and the lease that is handed
/// back still stands.
pub(super) fn result_too_long_hands_the_lease_back(bench: &Bench<'_>) {
    let long = vec![b'x'; MAX_RESULT_BYTES + 1];
    let mut lease = bench.win(ask("e1"));
    let before = bench.row("e1");
    for verdict in [Verdict::done(long.clone()), Verdict::dead(long)] {
        lease = match bench.try_settle(lease, verdict) {
            Err(SettleError {
                lease,
                fault: SettleFault::ResultTooLong,
            }) => *lease,
            other => panic!("expected ResultTooLong, got {other:?}"),
        };
        assert_eq!(bench.row("e1"), before);
    }
    assert_eq!(lease.fence(), before.fence);
    bench.settle(lease, Verdict::done("short"));
    assert_eq!(bench.duplicate(ask("e1")).result, b"short");
}

/// A wait of nothing makes the event due at once.
pub(super) fn retry_at_once(bench: &Bench<'_>) {
    let lease = bench.win(ask("e1"));
    let row = bench.settle(lease, Verdict::retry(secs(0)));
    assert_eq!(row.state, State::Failed);
    assert_eq!(bench.attempt(ask("e1")), 2);
}

/// A wait may be longer than the lease, or without an end in sight.
pub(super) fn retry_much_later(bench: &Bench<'_>) {
    let lease = bench.win(ask("e1").retention(DAY * 9));
    bench.settle(lease, Verdict::retry(DAY));
    bench.at(DAY - TICK);
    bench.busy(ask("e1"), DAY);
    bench.at(DAY);
    let lease = bench.win(ask("e1"));
    bench.settle(lease, Verdict::retry(Duration::MAX));
    bench.at(DAY * 8);
    bench.busy(ask("e1"), Duration::MAX);
}

/// S-26: after a failure that may pass, the event comes again; after one that will not, never.
pub(super) fn s26_handler_fails(bench: &Bench<'_>) {
    let lease = bench.win(ask("e1"));
    bench.release(lease);
    let lease = bench.win(ask("e1"));
    bench.settle(lease, Verdict::retry(secs(1)));
    bench.clock.advance(secs(1));
    let lease = bench.win(ask("e1"));
    bench.settle(lease, Verdict::dead("unknown customer"));
    assert_eq!(bench.dead(ask("e1")).result, b"unknown customer");
}

/// A refusal for good ends the event in its first attempt, however many it was allowed.
pub(super) fn dead_at_once(bench: &Bench<'_>) {
    let lease = bench.win(ask("e1").max_attempts(100));
    let row = bench.settle(lease, Verdict::dead("malformed order"));
    assert_eq!((row.state, row.attempts), (State::Dead, 1));
    assert_eq!(bench.dead(ask("e1").max_attempts(100)), row);
}

/// Attempts are counted over failures, releases and lapsed leases alike, and the failure of the
/// last allowed one is final.
pub(super) fn last_failure_is_dead(bench: &Bench<'_>) {
    let ask = || ask("e1").max_attempts(4);
    let first = bench.win(ask());
    bench.settle(first, Verdict::retry(secs(0)));
    let second = bench.win(ask());
    assert_eq!((second.attempt(), second.max_attempts()), (2, 4));
    bench.release(second);
    let third = bench.win(ask());
    assert_eq!(third.attempt(), 3);
    bench.stall(third);
    bench.clock.advance(LEASE);
    let fourth = bench.win(ask());
    assert_eq!(fourth.attempt(), 4);
    let row = bench.settle(fourth, Verdict::retry(secs(30)));
    assert_eq!((row.state, row.attempts, row.until), (State::Dead, 4, None));
    assert_ne!(row.result, b"", "a death has a reason");
    bench.clock.advance(HOUR);
    assert_eq!(bench.dead(ask()), row);
}

/// The limit counts attempts: with one allowed, the first failure is final, and zero counts as one.
pub(super) fn single_attempt(bench: &Bench<'_>) {
    for (id, most) in [("zero", 0), ("one", 1)] {
        let lease = bench.win(ask(id).max_attempts(most));
        assert_eq!(lease.max_attempts(), 1);
        let row = bench.settle(lease, Verdict::retry(secs(30)));
        assert_eq!(row.state, State::Dead, "{id}");
        bench.dead(ask(id));
    }
}

/// The last allowed attempt may succeed.
pub(super) fn last_attempt_may_succeed(bench: &Bench<'_>) {
    let ask = || ask("e1").max_attempts(2);
    let lease = bench.win(ask());
    let row = bench.settle(lease, Verdict::retry(secs(0)));
    assert_eq!(row.state, State::Failed);
    let lease = bench.win(ask());
    bench.settle(lease, Verdict::done("in the end"));
    assert_eq!(bench.duplicate(ask()).result, b"in the end");
}

/// Giving a claim back untried is no failure, not even in the last allowed attempt.
pub(super) fn release_is_no_failure(bench: &Bench<'_>) {
    let lease = bench.win(ask("e1").max_attempts(1));
    let row = bench.release(lease);
    assert_ne!(row.state, State::Dead);
    let lease = bench.win(ask("e1").max_attempts(1));
    bench.settle(lease, Verdict::done("after all"));
}

/// The limit in force is the one that the failing attempt was claimed with.
pub(super) fn limit_is_the_claims_own(bench: &Bench<'_>) {
    let lease = bench.win(ask("e1").max_attempts(2));
    bench.settle(lease, Verdict::retry(secs(0)));
    let lease = bench.win(ask("e1").max_attempts(3));
    let row = bench.settle(lease, Verdict::retry(secs(0)));
    assert_eq!((row.state, row.attempts), (State::Failed, 2));
    let lease = bench.win(ask("e1").max_attempts(3));
    assert_eq!(
        bench.settle(lease, Verdict::retry(secs(0))).state,
        State::Dead
    );
}

/// Settling ends the lease quietly; so do a release and a drop after it.
pub(super) fn settled_lease_is_quiet(bench: &Bench<'_>) {
    let lease = bench.win(ask("e1"));
    bench.settle(lease, Verdict::done("done"));
    let lease = bench.win(ask("e2"));
    bench.settle(lease, Verdict::retry(secs(30)));
    let lease = bench.win(ask("e3"));
    bench.release(lease);
    let lease = bench.renew(bench.win(ask("e4")), HOUR);
    assert_eq!(bench.witness.count(), 0, "a settled lease was reported");
    bench.stall(lease);
}

/// What is done with one event leaves the others alone.
pub(super) fn events_are_kept_apart(bench: &Bench<'_>) {
    let (one, two) = (bench.win(ask("e1")), bench.win(ask("e2")));
    let untouched = bench.row("e2");
    bench.settle(one, Verdict::done("one"));
    bench.forget(&key("e1"));
    let one = bench.win(ask("e1"));
    let one = bench.renew(one, HOUR);
    bench.release(one);
    assert_eq!(bench.row("e2"), untouched);
    assert!(matches!(bench.claim(ask("e2")), Claim::InProgress { .. }));
    bench.settle(two, Verdict::done("two"));
}
