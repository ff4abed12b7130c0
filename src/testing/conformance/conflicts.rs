//! The table of claims, its column *other content*, row by row: content is compared before state,
//! and the first record stands.

use super::bench::{Bench, DAY, LEASE, ask, ask_otherwise, key, other_content, secs};
use crate::{Claim, Claiming, Fingerprint, State, Verdict};

/// Other content is a conflict that reports both fingerprints and leaves the row as it is.
#[track_caller]
fn clashes(bench: &Bench<'_>, state: State) {
    let before = bench.row("e1");
    assert_eq!(before.state, state, "the case is set up wrongly");
    for claiming in [
        ask_otherwise("e1"),
        // What else is asked for makes no difference.
        ask_otherwise("e1").max_attempts(1),
        ask_otherwise("e1").lease(secs(0)).retention(secs(0)),
    ] {
        let conflict = bench.conflict(claiming);
        assert_eq!(conflict.presented, other_content());
        assert_eq!(conflict.receipt.fingerprint, ask("e1").content());
        assert_eq!(conflict.receipt, before);
        assert_eq!(bench.row("e1"), before, "a conflict wrote");
    }
}

/// S-30: a conflict even while the first content is being acted on, and the holder is not
/// disturbed.
pub(super) fn s30_conflict_while_in_progress(bench: &Bench<'_>) {
    let lease = bench.win(ask("e1"));
    clashes(bench, State::InProgress);
    bench.settle(lease, Verdict::done("first"));
    assert_eq!(bench.duplicate(ask("e1")).result, b"first");
}

/// S-30: after completion the first content is a duplicate and the other a conflict.
pub(super) fn s30_conflict_after_completion(bench: &Bench<'_>) {
    let lease = bench.win(ask("e1"));
    bench.settle(lease, Verdict::done("first"));
    clashes(bench, State::Processed);
    assert_eq!(bench.duplicate(ask("e1")).result, b"first");
}

/// Other content does not take over a lease that ran out; the first content does.
pub(super) fn conflict_after_the_lease(bench: &Bench<'_>) {
    bench.stall(bench.win(ask("e1")));
    bench.at(LEASE);
    clashes(bench, State::InProgress);
    assert_eq!(bench.attempt(ask("e1")), 2);
}

/// Other content does not bury an event whose last attempt ran out.
pub(super) fn conflict_after_the_last_lease(bench: &Bench<'_>) {
    bench.stall(bench.win(ask("e1").max_attempts(1)));
    bench.at(LEASE);
    clashes(bench, State::InProgress);
    bench.dead(ask("e1").max_attempts(1));
}

/// Other content conflicts while a failed attempt waits.
pub(super) fn conflict_while_a_failure_waits(bench: &Bench<'_>) {
    let lease = bench.win(ask("e1"));
    bench.settle(lease, Verdict::retry(secs(30)));
    clashes(bench, State::Failed);
    bench.busy(ask("e1"), secs(30));
}

/// Other content does not repeat a failed attempt that is due.
pub(super) fn conflict_when_a_failure_is_due(bench: &Bench<'_>) {
    let lease = bench.win(ask("e1"));
    bench.settle(lease, Verdict::retry(secs(30)));
    bench.at(secs(30));
    clashes(bench, State::Failed);
    assert_eq!(bench.attempt(ask("e1")), 2);
}

/// Other content does not take what was given back.
pub(super) fn conflict_after_a_release(bench: &Bench<'_>) {
    let lease = bench.win(ask("e1"));
    bench.release(lease);
    clashes(bench, State::Failed);
    assert_eq!(bench.attempt(ask("e1")), 2);
}

/// Other content does not revive what was given up.
pub(super) fn conflict_when_dead(bench: &Bench<'_>) {
    let lease = bench.win(ask("e1"));
    bench.settle(lease, Verdict::dead("unknown customer"));
    clashes(bench, State::Dead);
    bench.dead(ask("e1"));
}

/// Content is compared for as long as the receipt is kept, past its retention too.
pub(super) fn conflict_until_the_purge(bench: &Bench<'_>) {
    let lease = bench.win(ask("e1").retention(DAY));
    bench.settle(lease, Verdict::done("first"));
    bench.at(DAY * 2);
    clashes(bench, State::Processed);
    assert_eq!(bench.purge(10), 1);
    let second = bench.win(ask_otherwise("e1"));
    assert_eq!(bench.row("e1").fingerprint, other_content());
    bench.stall(second);
}

/// Two events with the same content are two events, and no conflict.
pub(super) fn same_content_is_not_the_same_event(bench: &Bench<'_>) {
    bench.stall(bench.win(ask("e1")));
    bench.stall(bench.win(ask("e2")));
}

/// Work that has no content to compare never conflicts with itself, but does with content.
pub(super) fn ignored_content_agrees_with_itself_only(bench: &Bench<'_>) {
    let work = || Claiming::business(key("order"));
    bench.stall(bench.win(work()));
    assert!(matches!(bench.claim(work()), Claim::InProgress { .. }));
    let conflict = bench.conflict(ask("order"));
    assert_eq!(conflict.receipt.fingerprint, Fingerprint::IGNORED);
}
