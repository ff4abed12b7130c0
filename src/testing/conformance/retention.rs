//! Retention, purge and forgetting: how long an event is remembered, and what ends that.

use std::time::Duration;

use super::bench::{Bench, DAY, HOUR, LEASE, TICK, ask, key, secs};
use crate::{State, Verdict};

/// Claims an event and says that it is done.
#[track_caller]
fn done(bench: &Bench<'_>, id: &str, retention: Duration) {
    let lease = bench.win(ask(id).retention(retention));
    bench.settle(lease, Verdict::done("done"));
}

/// The end of retention means that a receipt may be purged and nothing else: a late duplicate is a
/// duplicate until the purge.
pub(super) fn late_duplicate_until_the_purge(bench: &Bench<'_>) {
    done(bench, "e1", DAY);
    let before = bench.row("e1");
    bench.at(DAY * 9);
    assert_eq!(bench.duplicate(ask("e1")), before);
    assert_eq!(bench.purge(10), 1);
    assert_eq!(bench.get(&key("e1")), None);
    assert_eq!(bench.attempt(ask("e1")), 1);
}

/// S-13: retention counts from the first sight. Neither duplicates nor conflicts nor another
/// retention asked for later move its end.
pub(super) fn s13_retention_does_not_slide(bench: &Bench<'_>) {
    done(bench, "e1", secs(300));
    let expires_at = bench.now() + secs(300);
    bench.at(secs(240));
    bench.duplicate(ask("e1").retention(secs(300)));
    bench.duplicate(ask("e1").retention(DAY));
    bench.duplicate(ask("e1").retention(secs(0)));
    assert_eq!(bench.row("e1").expires_at, expires_at);
    bench.at(secs(300));
    assert_eq!(bench.purge(10), 1);
    bench.stall(bench.win(ask("e1")));
}

/// S-13: a later attempt does not move the end of retention either.
pub(super) fn s13_retention_counts_from_the_first_attempt(bench: &Bench<'_>) {
    let expires_at = bench.now() + DAY;
    let lease = bench.win(ask("e1").retention(DAY));
    bench.settle(lease, Verdict::retry(secs(0)));
    bench.at(HOUR);
    let lease = bench.win(ask("e1").retention(DAY));
    bench.stall(lease);
    assert_eq!(bench.row("e1").expires_at, expires_at);
    bench.at(HOUR * 2);
    let lease = bench.renew(bench.win(ask("e1").retention(DAY * 9)), HOUR);
    bench.settle(lease, Verdict::done("done"));
    assert_eq!(bench.row("e1").expires_at, expires_at);
    bench.at(DAY);
    assert_eq!(bench.purge(10), 1);
}

/// S-14: a sender comes back after a longer outage than the retention; its event counts as new.
pub(super) fn s14_outage_longer_than_retention(bench: &Bench<'_>) {
    done(bench, "e1", DAY * 2);
    bench.at(DAY * 10);
    assert_eq!(bench.purge(10), 1);
    bench.stall(bench.win(ask("e1")));
}

/// S-15: a receipt may be purged exactly when its retention is over, not before.
pub(super) fn s15_boundary_of_retention(bench: &Bench<'_>) {
    done(bench, "e1", HOUR);
    bench.at(HOUR - TICK);
    assert_eq!(bench.purge(10), 0);
    bench.duplicate(ask("e1"));
    bench.at(HOUR);
    assert_eq!(bench.purge(10), 1);
    bench.stall(bench.win(ask("e1")));
}

/// Retention of nothing: purgeable at once, but a duplicate until purged.
pub(super) fn zero_retention(bench: &Bench<'_>) {
    done(bench, "e1", secs(0));
    assert_eq!(bench.row("e1").expires_at, bench.now());
    bench.duplicate(ask("e1"));
    assert_eq!(bench.purge(10), 1);
    bench.stall(bench.win(ask("e1")));
}

/// S-38: a purge leaves running leases alone, however old their receipts; when they have run out,
/// it does not.
pub(super) fn s38_purge_spares_running_leases(bench: &Bench<'_>) {
    let lease = bench.win(ask("running").retention(secs(0)));
    let renewed = bench.win(ask("renewed").retention(secs(0)));
    let renewed = bench.renew(renewed, HOUR);
    bench.stall(bench.win(ask("lapsed").retention(secs(0)).lease(secs(0))));
    assert_eq!(bench.purge(10), 1);
    assert_eq!(bench.get(&key("lapsed")), None);
    bench.at(LEASE - TICK);
    assert_eq!(bench.purge(10), 0);
    bench.busy(ask("running"), LEASE);
    bench.at(LEASE);
    assert_eq!(bench.purge(10), 1);
    assert_eq!(bench.get(&key("running")), None);
    bench.lost(lease);
    bench.settle(renewed, Verdict::done("done"));
    assert_eq!(bench.purge(10), 1);
}

/// Retention ends every state but a running lease.
pub(super) fn purge_takes_every_other_state(bench: &Bench<'_>) {
    let verdicts = [
        ("done", Verdict::done("x"), State::Processed),
        ("dead", Verdict::dead("x"), State::Dead),
        ("waiting", Verdict::retry(DAY), State::Failed),
        ("due", Verdict::retry(secs(0)), State::Failed),
    ];
    for (id, verdict, state) in verdicts {
        let lease = bench.win(ask(id).retention(HOUR));
        assert_eq!(bench.settle(lease, verdict).state, state);
    }
    let lease = bench.win(ask("released").retention(HOUR));
    bench.release(lease);
    assert_eq!(bench.purge(10), 0);
    bench.at(HOUR);
    assert_eq!(bench.purge(10), 5);
    for id in ["done", "dead", "waiting", "due", "released"] {
        assert_eq!(bench.get(&key(id)), None, "{id}");
    }
}

/// A purge takes no more than it was told to, any number will do, and fewer means that was all.
pub(super) fn s38_purge_is_bounded(bench: &Bench<'_>) {
    for number in 0..25 {
        done(bench, &format!("old {number}"), HOUR);
        done(bench, &format!("young {number}"), DAY);
    }
    assert_eq!(bench.purge(usize::MAX), 0);
    bench.at(HOUR);
    assert_eq!(bench.purge(0), 0);
    for taken in [10, 10, 5, 0] {
        assert_eq!(bench.purge(10), taken);
    }
    for number in 0..25 {
        assert_eq!(bench.get(&key(&format!("old {number}"))), None);
        bench.duplicate(ask(&format!("young {number}")));
    }
    bench.at(DAY);
    assert_eq!(bench.purge(usize::MAX), 25);
}

/// S-32: an operator redelivers on purpose. It is a duplicate until the event is forgotten.
pub(super) fn s32_forget_lets_it_run_again(bench: &Bench<'_>) {
    done(bench, "e1", DAY);
    let before = bench.row("e1");
    bench.duplicate(ask("e1"));
    assert_eq!(bench.forget(&key("e1")), Some(before));
    assert_eq!(bench.get(&key("e1")), None);
    let lease = bench.win(ask("e1"));
    assert_eq!(lease.attempt(), 1);
    bench.settle(lease, Verdict::done("again"));
    assert_eq!(bench.duplicate(ask("e1")).result, b"again");
}

/// S-32: what is dead can be forgotten too, and forgetting what is unknown is no error.
pub(super) fn s32_forget_the_dead_and_the_unknown(bench: &Bench<'_>) {
    let lease = bench.win(ask("e1"));
    let died = bench.settle(lease, Verdict::dead("a bug of ours"));
    assert_eq!(bench.forget(&key("e1")), Some(died));
    assert_eq!(bench.forget(&key("e1")), None);
    bench.stall(bench.win(ask("e1")));
}

/// S-32: forgetting an event that is being acted on loses its lease, and the holder brings
/// nothing back, neither before nor after somebody else has claimed it.
pub(super) fn s32_forget_during_a_lease(bench: &Bench<'_>) {
    let holder = bench.win(ask("e1"));
    assert_eq!(
        bench.forget(&key("e1")).map(|row| row.fence),
        Some(holder.fence())
    );
    bench.lost(holder);
    assert_eq!(bench.get(&key("e1")), None);

    let holder = bench.win(ask("e1"));
    bench.forget(&key("e1"));
    let second = bench.win(ask("e1"));
    bench.lost(holder);
    bench.settle(second, Verdict::done("second"));
}

/// A purge that ends a lapsed lease loses it like a claim does.
pub(super) fn purged_lease_is_lost(bench: &Bench<'_>) {
    let holder = bench.win(ask("e1").retention(secs(0)));
    bench.at(LEASE);
    assert_eq!(bench.purge(10), 1);
    bench.lost(holder);
    assert_eq!(bench.get(&key("e1")), None);
}
