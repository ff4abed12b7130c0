//! Fencing tokens: one more with each won claim of an event, and never the same one twice.

use super::bench::{Bench, HOUR, ask, key, secs};
use crate::{Fence, Lease, Verdict};

/// The first fence is no smaller than the first receipt's microseconds since 1970, so that it also
/// grows where a store has lost its rows.
pub(super) fn first_fence_comes_from_the_clock(bench: &Bench<'_>) {
    let lease = bench.win(ask("e1"));
    let micros = bench.now().unix_timestamp_nanos() / 1000;
    assert!(i128::from(lease.fence().0) >= micros);
    bench.stall(lease);
}

/// Each won claim of a row adds exactly one; nothing else adds anything.
pub(super) fn fence_grows_by_one_per_claim(bench: &Bench<'_>) {
    let ask = || ask("e1").max_attempts(100);
    let mut lease = bench.win(ask());
    for step in 0..12 {
        let Fence(fence) = lease.fence();
        assert_eq!(bench.row("e1").fence.0, fence);
        bench.busy(ask(), HOUR);
        // Each way in which an event can become claimable again.
        match step % 4 {
            0 => drop(bench.release(lease)),
            1 => drop(bench.settle(lease, Verdict::retry(secs(0)))),
            2 => {
                let lease = bench.renew(lease, HOUR);
                bench.clock.advance(HOUR);
                bench.stall(lease);
            }
            _ => {
                bench.clock.advance(HOUR);
                bench.stall(lease);
            }
        }
        assert_eq!(bench.row("e1").fence.0, fence);
        lease = bench.win(ask());
        assert_eq!(lease.fence(), Fence(fence + 1));
    }
    bench.settle(lease, Verdict::done("done"));
}

/// Wins event `e1` three times over at one moment, above every fence it had before.
#[track_caller]
fn climbs(bench: &Bench<'_>, past: &mut Vec<Lease>) {
    for _ in 0..3 {
        let lease = bench.win(ask("e1").lease(secs(0)).retention(secs(0)));
        let highest = past.iter().map(Lease::fence).max();
        assert!(Some(lease.fence()) > highest, "a fence was used again");
        past.push(lease);
    }
}

/// Once a row is gone, none of its leases may write, least of all into the row that came after.
#[track_caller]
fn all_but_the_last_are_lost(bench: &Bench<'_>, mut past: Vec<Lease>) {
    let last = past.pop();
    past.into_iter().for_each(|lease| bench.lost(lease));
    bench.settle(last.unwrap(), Verdict::done("the last"));
}

/// A fence does not come again after a purge, though the clock has not moved.
pub(super) fn fence_is_not_reused_after_a_purge(bench: &Bench<'_>) {
    let mut past = Vec::new();
    for _ in 0..5 {
        climbs(bench, &mut past);
        assert_eq!(bench.purge(10), 1);
    }
    climbs(bench, &mut past);
    all_but_the_last_are_lost(bench, past);
}

/// A fence does not come again after an operator forgot the event, though the clock has not moved.
pub(super) fn fence_is_not_reused_after_forgetting(bench: &Bench<'_>) {
    let mut past = Vec::new();
    for _ in 0..5 {
        climbs(bench, &mut past);
        assert!(bench.forget(&key("e1")).is_some());
    }
    climbs(bench, &mut past);
    all_but_the_last_are_lost(bench, past);
}

/// A fence does not come again though the clock was set back in between.
pub(super) fn fence_is_not_reused_after_the_clock_is_set_back(bench: &Bench<'_>) {
    let mut past = Vec::new();
    bench.at(HOUR);
    climbs(bench, &mut past);
    assert_eq!(bench.purge(10), 1);
    bench.at(secs(0));
    climbs(bench, &mut past);
    assert!(bench.forget(&key("e1")).is_some());
    bench.before_start(HOUR);
    climbs(bench, &mut past);
    all_but_the_last_are_lost(bench, past);
}

/// Many rows are dropped at once: each of their events goes on above its own fences.
pub(super) fn fences_of_many_events_are_kept_apart(bench: &Bench<'_>) {
    let ids: Vec<_> = (0..20).map(|number| format!("e{number}")).collect();
    let ask = |id: &String| ask(id).lease(secs(0)).retention(secs(0)).max_attempts(100);
    let mut past = Vec::new();
    for (wins, id) in ids.iter().enumerate() {
        (0..=wins).for_each(|_| past.push(bench.win(ask(id))));
    }
    assert_eq!(bench.purge(100), ids.len());
    for id in &ids {
        let lease = bench.win(ask(id));
        let mut own = past.iter().filter(|past| past.key() == lease.key());
        assert!(own.all(|past| past.fence() < lease.fence()));
        bench.stall(lease);
    }
    past.into_iter().for_each(|lease| bench.lost(lease));
}
