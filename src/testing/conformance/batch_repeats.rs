//! An event that is asked for twice in one batch.

use super::{
    batches::{Store, all_won, asks, claim_many, names, won},
    bench::{Bench, LEASE, ask, ask_otherwise, other_content, secs, unexpected},
};
use crate::{Claim, Fence, Lease, Verdict};

/// An event that is asked for twice is won once, by the first claim.
pub(super) fn repeated_event_is_won_once(bench: &Bench<'_>, store: Store<'_>) {
    let claims = claim_many(bench, store, asks([1, 2, 1, 3, 2, 1]));
    let receipts: Vec<_> = claims
        .iter()
        .map(|claim| match claim {
            Claim::InProgress {
                retry_after,
                receipt,
            } => {
                assert!(*retry_after > secs(0) && *retry_after <= LEASE);
                Some(receipt.clone())
            }
            _ => None,
        })
        .collect();
    let expected = [None, None, Some("e1"), None, Some("e2"), Some("e1")];
    assert_eq!(receipts, expected.map(|id| id.map(|id| bench.row(id))));
    assert_eq!(
        names(bench, claims),
        [
            "new",
            "new",
            "in progress",
            "new",
            "in progress",
            "in progress"
        ]
    );
    assert_eq!(bench.row("e1").attempts, 1);
}

/// If it comes with other content the second time, that is a conflict, and the first stands.
pub(super) fn repeated_event_with_other_content(bench: &Bench<'_>, store: Store<'_>) {
    let claimings = vec![
        ask_otherwise("e1"),
        ask("e1"),
        ask_otherwise("e1"),
        ask("e2"),
    ];
    let mut claims = claim_many(bench, store, claimings);
    match &claims[1] {
        Claim::Conflict(conflict) => {
            assert_eq!(conflict.receipt.fingerprint, other_content());
            assert_eq!(conflict.receipt, bench.row("e1"));
            assert_eq!(conflict.presented, ask("e1").content());
        }
        other => unexpected("Conflict", other),
    }
    bench.settle(won(claims.remove(0)), Verdict::done("first"));
    assert_eq!(names(bench, claims), ["conflict", "in progress", "new"]);
    assert_eq!(bench.duplicate(ask_otherwise("e1")).result, b"first");
}

/// A known event that is asked for twice has the same answer twice.
pub(super) fn repeated_known_event(bench: &Bench<'_>, store: Store<'_>) {
    let lease = bench.win(ask("done"));
    bench.settle(lease, Verdict::done("x"));
    let claimings = vec![ask("done"), ask("new"), ask_otherwise("done"), ask("done")];
    let answers = names(bench, claim_many(bench, store, claimings));
    assert_eq!(answers, ["duplicate", "new", "conflict", "duplicate"]);
}

/// A lease of nothing is over when the same event is asked for next, in the same batch.
pub(super) fn repeated_event_without_a_lease(bench: &Bench<'_>, store: Store<'_>) {
    let ask = || ask("e1").lease(secs(0)).max_attempts(3);
    let mut claims = claim_many(bench, store, vec![ask(), ask(), ask(), ask(), ask()]);
    let dead = claims.split_off(3);
    assert_eq!(names(bench, dead), ["dead", "dead"]);
    let leases = all_won(claims);
    let attempts: Vec<_> = leases.iter().map(Lease::attempt).collect();
    assert_eq!(attempts, [1, 2, 3]);
    let fence = leases[0].fence();
    let expected = [fence, Fence(fence.0 + 1), Fence(fence.0 + 2)];
    assert!(leases.iter().map(Lease::fence).eq(expected));
    leases.into_iter().for_each(|lease| bench.lost(lease));
}
