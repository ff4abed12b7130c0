//! What a batch takes over or buries, and its fences.

use std::collections::BTreeMap;

use super::{
    batches::{Store, all_won, asks, claim_many, names},
    bench::{Bench, LEASE, ask_for, key, secs, unexpected},
};
use crate::{Claim, EventKey, Fence, State, Verdict};

/// Leases that have run out and retries that are due are taken over, with the next fence.
pub(super) fn lapsed_leases_are_taken_over(bench: &Bench<'_>, store: Store<'_>) {
    let first = all_won(claim_many(bench, store, asks(0..20)));
    let mut fences = BTreeMap::new();
    for (number, lease) in first.into_iter().enumerate() {
        fences.insert(number, lease.fence());
        match number % 3 {
            0 => bench.stall(lease),
            1 => drop(bench.settle(lease, Verdict::retry(secs(30)))),
            _ => drop(bench.settle(lease, Verdict::done("done"))),
        }
    }
    bench.at(LEASE);
    for (number, claim) in claim_many(bench, store, asks(0..20))
        .into_iter()
        .enumerate()
    {
        match (number % 3, claim) {
            (0 | 1, Claim::New(lease)) => {
                assert_eq!(lease.attempt(), 2);
                assert_eq!(lease.fence(), Fence(fences[&number].0 + 1));
                assert_eq!(
                    bench.row(&format!("e{number}")).until,
                    Some(bench.now() + LEASE)
                );
                bench.stall(lease);
            }
            (2, Claim::Duplicate(receipt)) => assert_eq!(receipt.result, b"done"),
            (_, other) => unexpected("New or Duplicate", &other),
        }
    }
}

/// The last allowed attempt that ran out without a word ends its event, each by its own limit.
pub(super) fn last_attempts_are_buried(bench: &Bench<'_>, store: Store<'_>) {
    for lease in all_won(claim_many(bench, store, asks(0..4))) {
        bench.stall(lease);
    }
    bench.at(LEASE);
    let limits = [1, 2, 1, 20];
    let claimings = asks(0..4).into_iter().zip(limits);
    let claimings = claimings
        .map(|(ask, most)| ask.max_attempts(most))
        .collect();
    let answers = names(bench, claim_many(bench, store, claimings));
    assert_eq!(answers, ["dead", "new", "dead", "new"]);
    let row = bench.row("e0");
    assert_eq!((row.state, row.attempts, row.until), (State::Dead, 1, None));
    assert_ne!(row.result, b"", "a death has a reason");
}

/// Names that a list of values could be read wrongly for.
pub(super) fn odd_ids_in_a_batch(bench: &Bench<'_>, store: Store<'_>) {
    let odd = [
        "NULL", "null", "a,b", "{a}", "{}", "\"", "\\", "'", "(1,2)", "a b", " ", "é🎉", "%s",
        "$1", "0", "00", "-1", "1e3",
    ];
    let scopes = [("", "suite"), ("te,nant", "pro{vider}"), ("NULL", "NULL")];
    let keys: Vec<_> = scopes
        .iter()
        .flat_map(|(tenant, provider)| odd.map(|id| EventKey::business(tenant, provider, id)))
        .map(|key| key.unwrap())
        .collect();
    let claimings: Vec<_> = keys.iter().cloned().map(ask_for).collect();
    let leases = all_won(claim_many(bench, store, claimings.clone()));
    for (key, lease) in keys.iter().zip(leases) {
        assert_eq!(lease.key(), key);
        bench.settle(lease, Verdict::done(key.id()));
    }
    for (key, claim) in keys.iter().zip(claim_many(bench, store, claimings)) {
        match claim {
            Claim::Duplicate(receipt) => {
                assert_eq!(&receipt.key, key);
                assert_eq!(receipt.result, key.id().as_bytes());
            }
            other => unexpected("Duplicate", &other),
        }
    }
}

/// Not even after the rows were purged or forgotten within one moment.
pub(super) fn fences_in_batches_are_not_reused(bench: &Bench<'_>, store: Store<'_>) {
    let asks = || {
        asks(0..10)
            .into_iter()
            .map(|ask| ask.retention(secs(0)))
            .collect::<Vec<_>>()
    };
    let mut highest = vec![Fence(i64::MIN); 10];
    for round in 0..5 {
        for (lease, highest) in all_won(claim_many(bench, store, asks()))
            .into_iter()
            .zip(&mut highest)
        {
            assert!(lease.fence() > *highest, "a fence came twice");
            *highest = lease.fence();
            bench.settle(lease, Verdict::done("x"));
        }
        if round % 2 == 0 {
            assert_eq!(bench.purge(100), 10);
        } else {
            (0..10).for_each(|n| drop(bench.forget(&key(&format!("e{n}")))));
        }
    }
}
