//! What a store says that it holds.

use super::bench::{Bench, DAY, HOUR, LEASE, TICK, ask, key, secs};
use crate::{
    Verdict,
    store::{StatsStore, StoreStats},
};

type Store<'s> = &'s dyn StatsStore;

fn stats(bench: &Bench<'_>, store: Store<'_>) -> StoreStats {
    bench
        .wait(async { store.stats().await })
        .expect("the store has no numbers")
}

/// The numbers of a small store are exact, and those of its receipts.
#[track_caller]
fn agree(bench: &Bench<'_>, store: Store<'_>, ids: &[&str]) -> StoreStats {
    let mut expected = StoreStats::at(bench.now());
    for id in ids {
        expected.add(&bench.row(id));
    }
    let stats = stats(bench, store);
    assert_eq!(stats, expected);
    stats
}

/// An empty store has nothing old in it.
pub(super) fn empty_store_has_no_numbers(bench: &Bench<'_>, store: Store<'_>) {
    let stats = stats(bench, store);
    assert_eq!(stats, StoreStats::at(bench.now()));
    assert_eq!(stats.total(), 0);
    let none = (secs(0), secs(0), secs(0));
    assert_eq!((stats.oldest_age(), stats.lag(), stats.purge_lag()), none);
}

fn one_of_each(bench: &Bench<'_>) -> [&'static str; 6] {
    bench.stall(bench.win(ask("running")));
    let verdicts = [
        ("done", Verdict::done("x")),
        ("also done", Verdict::done("y")),
        ("dead", Verdict::dead("x")),
        ("waiting", Verdict::retry(HOUR)),
    ];
    for (id, verdict) in verdicts {
        let lease = bench.win(ask(id));
        bench.settle(lease, verdict);
    }
    let lease = bench.win(ask("released"));
    bench.release(lease);
    [
        "running",
        "done",
        "also done",
        "dead",
        "waiting",
        "released",
    ]
}

/// Each receipt counts once, in the state that it has now.
pub(super) fn receipts_are_counted_by_state(bench: &Bench<'_>, store: Store<'_>) {
    let ids = one_of_each(bench);
    let stats = agree(bench, store, &ids);
    assert_eq!((stats.in_progress, stats.processed), (1, 2));
    assert_eq!((stats.failed, stats.dead, stats.received), (2, 1, 0));
    assert_eq!(stats.total(), 6);
    bench.forget(&key("done"));
    assert_eq!(
        agree(
            bench,
            store,
            &["running", "also done", "dead", "waiting", "released"]
        )
        .processed,
        1
    );
    bench.at(HOUR);
    bench.stall(bench.win(ask("late")));
    let ids = [
        "running",
        "also done",
        "dead",
        "waiting",
        "released",
        "late",
    ];
    assert_eq!(agree(bench, store, &ids).oldest_age(), HOUR);
}

/// A lease that is over and a retry that is due could be taken over since then.
pub(super) fn lag_is_of_the_longest_overdue(bench: &Bench<'_>, store: Store<'_>) {
    bench.stall(bench.win(ask("lapsed").lease(secs(60))));
    let lease = bench.win(ask("due"));
    bench.settle(lease, Verdict::retry(secs(90)));
    bench.at(secs(60));
    let stats = agree(bench, store, &["lapsed", "due"]);
    assert_eq!((stats.overdue, stats.lag()), (1, secs(0)));
    bench.at(secs(100));
    let stats = agree(bench, store, &["lapsed", "due"]);
    assert_eq!((stats.overdue, stats.lag()), (2, secs(40)));
    let lease = bench.win(ask("lapsed"));
    let stats = agree(bench, store, &["lapsed", "due"]);
    assert_eq!((stats.overdue, stats.lag()), (1, secs(10)));
    bench.release(lease);
    bench.stall(bench.win(ask("due")));
    bench.at(secs(107));
    let stats = agree(bench, store, &["lapsed", "due"]);
    assert_eq!((stats.overdue, stats.lag()), (1, secs(7)));
}

/// What is as it should be is no lag: running leases, waits, and what is done or dead.
pub(super) fn running_leases_and_waits_are_not_overdue(bench: &Bench<'_>, store: Store<'_>) {
    let ids = one_of_each(bench);
    bench.forget(&key("released"));
    bench.at(LEASE - TICK);
    let stats = agree(bench, store, &ids[..5]);
    assert_eq!((stats.overdue, stats.overdue_since), (0, None));
    bench.at(LEASE);
    assert_eq!(agree(bench, store, &ids[..5]).overdue, 1);
}

/// Receipts past their retention are counted until they are purged, but not those with a running
/// lease.
pub(super) fn expired_receipts_are_counted_until_purged(bench: &Bench<'_>, store: Store<'_>) {
    for (id, retention) in [("one", HOUR), ("two", HOUR * 2), ("three", DAY)] {
        let lease = bench.win(ask(id).retention(retention));
        bench.settle(lease, Verdict::done("x"));
    }
    bench.stall(bench.win(ask("running").retention(secs(0)).lease(DAY)));
    let ids = ["one", "two", "three", "running"];
    bench.at(HOUR - TICK);
    let stats = agree(bench, store, &ids);
    assert_eq!((stats.expired, stats.expired_since), (0, None));
    bench.at(HOUR * 3);
    let stats = agree(bench, store, &ids);
    assert_eq!((stats.expired, stats.purge_lag()), (2, HOUR * 2));
    assert_eq!(bench.purge(10), 2);
    assert_eq!(agree(bench, store, &["three", "running"]).expired, 0);
}

/// A clock that was set back makes no negative ages, and a lease that it seems to stretch is over.
pub(super) fn numbers_while_the_clock_is_set_back(bench: &Bench<'_>, store: Store<'_>) {
    let ids = one_of_each(bench);
    bench.before_start(HOUR * 5);
    let stats = agree(bench, store, &ids);
    assert_eq!(stats.oldest_age(), secs(0));
    assert_eq!((stats.overdue, stats.lag()), (3, secs(0)));
}

/// Whatever has become of events, and whenever it is asked.
pub(super) fn numbers_agree_with_the_receipts(bench: &Bench<'_>, store: Store<'_>) {
    let ids: Vec<_> = (0..60_u32).map(|number| format!("e{number}")).collect();
    for (number, id) in (0_u32..).zip(&ids) {
        let retention = secs(u64::from(number % 7) * 60);
        let lease = bench.win(
            ask(id)
                .retention(retention)
                .lease(secs(u64::from(number % 5) * 50)),
        );
        match number % 6 {
            0 => drop(bench.settle(lease, Verdict::done("x"))),
            1 => drop(bench.settle(lease, Verdict::dead("x"))),
            2 => drop(bench.settle(lease, Verdict::retry(secs(number.into())))),
            3 => drop(bench.release(lease)),
            4 => bench.stall(bench.renew(lease, secs(u64::from(number) * 10))),
            _ => bench.stall(lease),
        }
        bench.clock.advance(secs(1));
    }
    let ids: Vec<_> = ids.iter().map(String::as_str).collect();
    for moment in [0, 1, 59, 60, 61, 120, 200, 333, 600, 1_000] {
        bench.at(secs(moment));
        agree(bench, store, &ids);
    }
    bench.before_start(secs(100));
    agree(bench, store, &ids);
}
