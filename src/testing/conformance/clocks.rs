//! Clocks that are set back (S-37). One clock judges a store, and it may be wrong for a while.

use super::bench::{Bench, DAY, HOUR, LEASE, ask, secs};
use crate::Verdict;

/// S-37: a clock set back by an hour does not make a lease of a minute last for an hour.
pub(super) fn s37_set_back_clock_does_not_stretch_a_lease(bench: &Bench<'_>) {
    let first = bench.win(ask("e1"));
    bench.before_start(HOUR);
    let second = bench.win(ask("e1"));
    assert_eq!(second.attempt(), 2);
    assert_eq!(second.until(), bench.now() + LEASE);
    bench.lost(first);
    bench.busy(ask("e1"), LEASE);
    bench.settle(second, Verdict::done("second"));
}

/// S-37: a lease that had run out stays reclaimable when the clock is set back.
pub(super) fn s37_lapsed_lease_stays_reclaimable(bench: &Bench<'_>) {
    bench.stall(bench.win(ask("e1")));
    bench.at(LEASE);
    bench.before_start(HOUR);
    assert_eq!(bench.attempt(ask("e1")), 2);
}

/// S-37: nor does the wait of a failed attempt last an hour longer.
pub(super) fn s37_set_back_clock_does_not_stretch_a_wait(bench: &Bench<'_>) {
    let lease = bench.win(ask("e1"));
    bench.settle(lease, Verdict::retry(secs(30)));
    bench.before_start(HOUR);
    assert_eq!(bench.attempt(ask("e1")), 2);
}

/// S-37: a clock that is put right by less than the lease takes nothing away, and nobody is told
/// to wait for longer than a lease.
pub(super) fn s37_small_correction_keeps_the_lease(bench: &Bench<'_>) {
    let lease = bench.win(ask("e1"));
    bench.before_start(secs(30));
    bench.busy(ask("e1"), LEASE);
    bench.settle(lease, Verdict::done("done"));
}

/// S-37: what a holder writes while the clock is set back is written, and what was done stays so.
pub(super) fn s37_holder_writes_while_set_back(bench: &Bench<'_>) {
    let lease = bench.win(ask("e1"));
    bench.before_start(HOUR);
    let lease = bench.renew(lease, LEASE);
    assert_eq!(lease.until(), bench.now() + LEASE);
    bench.busy(ask("e1"), LEASE);
    bench.settle(lease, Verdict::done("done"));
    bench.before_start(DAY);
    assert_eq!(bench.duplicate(ask("e1")).result, b"done");
}

/// S-37: a clock set back purges nothing early; put right again, it purges what is due.
pub(super) fn s37_purge_while_set_back(bench: &Bench<'_>) {
    let lease = bench.win(ask("e1").retention(HOUR));
    bench.settle(lease, Verdict::done("done"));
    bench.before_start(HOUR);
    assert_eq!(bench.purge(10), 0);
    bench.at(HOUR);
    assert_eq!(bench.purge(10), 1);
}

/// A clock that jumps far ahead ends leases and waits, and nothing that was done.
pub(super) fn clock_far_ahead(bench: &Bench<'_>) {
    let done = bench.win(ask("done"));
    bench.settle(done, Verdict::done("done"));
    let failed = bench.win(ask("failed"));
    bench.settle(failed, Verdict::retry(HOUR));
    bench.stall(bench.win(ask("running")));
    bench.at(DAY * 365 * 100);
    bench.duplicate(ask("done"));
    bench.stall(bench.win(ask("failed")));
    bench.stall(bench.win(ask("running")));
}
