//! Many claims in one call: each is answered as it would be alone, one after the other, and won by
//! one at most. What may come up twice in a batch is in `batch_repeats.rs`, races in `batch_races.rs`.

use std::thread;

use super::bench::{
    Bench, DAY, HOUR, LEASE, TICK, ask, ask_otherwise, key, other_content, secs, unexpected,
};
use crate::{
    Claim, Claiming, Lease, State, StoreError, Verdict,
    store::{BatchStore, MAX_BATCH, StoreErrorKind},
};

pub(super) type Store<'s> = &'s dyn BatchStore;

/// Claims a batch, whose every event must be answered.
pub(super) fn claim_many(
    bench: &Bench<'_>,
    store: Store<'_>,
    claimings: Vec<Claiming>,
) -> Vec<Claim> {
    let asked = claimings.len();
    let answers = bench
        .wait(async { store.claim_many(claimings).await })
        .expect("the store could not answer a batch");
    assert_eq!(answers.len(), asked, "one answer to each claim");
    let answer = |claim: Result<_, _>| claim.expect("the store could not answer a claim");
    answers.into_iter().map(answer).collect()
}

/// The same in a race, as often as the engine says that it is too busy.
pub(super) fn insist(bench: &Bench<'_>, store: Store<'_>, claimings: &[Claiming]) -> Vec<Claim> {
    for _ in 0..1_000 {
        match bench.wait(async { store.claim_many(claimings.to_vec()).await }) {
            Ok(answers) => {
                assert_eq!(answers.len(), claimings.len());
                let each = claimings.iter().zip(answers);
                return each
                    .map(|(claiming, claim)| or_alone(bench, claiming, claim))
                    .collect();
            }
            Err(error) if error.kind().is_transient() => thread::sleep(secs(1) / 1000),
            Err(error) => panic!("the store could not answer: {error:?}"),
        }
    }
    panic!("the store stayed busy");
}

pub(super) fn or_alone(
    bench: &Bench<'_>,
    claiming: &Claiming,
    claim: Result<Claim, StoreError>,
) -> Claim {
    match claim {
        Ok(claim) => claim,
        Err(error) if error.kind().is_transient() => bench.insist(claiming),
        Err(error) => panic!("the store could not answer: {error:?}"),
    }
}

pub(super) fn asks(ids: impl IntoIterator<Item = usize>) -> Vec<Claiming> {
    ids.into_iter().map(|n| ask(&format!("e{n}"))).collect()
}

#[track_caller]
pub(super) fn won(claim: Claim) -> Lease {
    match claim {
        Claim::New(lease) => lease,
        other => unexpected("New", &other),
    }
}

pub(super) fn all_won(claims: Vec<Claim>) -> Vec<Lease> {
    claims.into_iter().map(won).collect()
}

pub(super) fn name(claim: &Claim) -> &'static str {
    match claim {
        Claim::New(_) => "new",
        Claim::Duplicate(_) => "duplicate",
        Claim::InProgress { .. } => "in progress",
        Claim::Conflict(_) => "conflict",
        Claim::Dead(_) => "dead",
    }
}

/// Names of the answers; leases among them are held until the case is over.
pub(super) fn names(bench: &Bench<'_>, claims: Vec<Claim>) -> Vec<&'static str> {
    let name = |claim| {
        let name = name(&claim);
        if let Claim::New(lease) = claim {
            bench.stall(lease);
        }
        name
    };
    claims.into_iter().map(name).collect()
}
/// Whatever is stored of an event, the batch answers what a single claim would, in the order asked.
pub(super) fn answers_are_in_the_order_asked(bench: &Bench<'_>, store: Store<'_>) {
    let lease = bench.win(ask("done"));
    bench.settle(lease, Verdict::done("the result"));
    let lease = bench.win(ask("dead"));
    bench.settle(lease, Verdict::dead("no"));
    bench.stall(bench.win(ask("running")));
    let lease = bench.win(ask("waiting"));
    bench.settle(lease, Verdict::retry(HOUR));
    let lease = bench.win(ask("released"));
    bench.release(lease);
    bench.stall(bench.win(ask("changed")));
    bench.stall(bench.win(ask("lapsed").lease(secs(0))));

    let ids = [
        "z", "done", "running", "a", "waiting", "dead", "released", "m", "lapsed",
    ];
    let mut claimings: Vec<_> = ids.iter().map(|id| ask(id)).collect();
    claimings.insert(3, ask_otherwise("changed"));
    let claims = claim_many(bench, store, claimings);
    for claim in &claims {
        match claim {
            Claim::Duplicate(receipt) => assert_eq!(*receipt, bench.row("done")),
            Claim::Dead(receipt) => assert_eq!(*receipt, bench.row("dead")),
            Claim::Conflict(conflict) => {
                assert_eq!(conflict.receipt, bench.row("changed"));
                assert_eq!(conflict.presented, other_content());
            }
            Claim::InProgress {
                retry_after,
                receipt,
            } => {
                let longest = if receipt.key == key("running") {
                    LEASE
                } else {
                    HOUR
                };
                assert!(*retry_after > secs(0) && *retry_after <= longest);
                assert_eq!(Some(receipt), bench.get(&receipt.key).as_ref());
            }
            Claim::New(_) => {}
        }
    }
    let leases: Vec<_> = claims
        .iter()
        .enumerate()
        .filter_map(|(at, claim)| match claim {
            Claim::New(lease) => Some((at, lease.key().id().to_owned(), lease.attempt())),
            _ => None,
        })
        .collect();
    let expected = [
        (0, "z", 1),
        (4, "a", 1),
        (7, "released", 2),
        (8, "m", 1),
        (9, "lapsed", 2),
    ];
    assert_eq!(
        leases,
        expected.map(|(at, id, attempt)| (at, id.to_owned(), attempt))
    );
    let expected = [
        "new",
        "duplicate",
        "in progress",
        "conflict",
        "new",
        "in progress",
        "dead",
        "new",
        "new",
        "new",
    ];
    assert_eq!(names(bench, claims), expected);
}

/// Nothing asked, nothing answered.
pub(super) fn no_event_is_no_batch(bench: &Bench<'_>, store: Store<'_>) {
    assert_eq!(claim_many(bench, store, Vec::new()).len(), 0);
    let lease = won(claim_many(bench, store, vec![ask("e1")]).remove(0));
    bench.settle(lease, Verdict::done("alone"));
    assert_eq!(bench.duplicate(ask("e1")).result, b"alone");
}

/// The largest batch that is allowed is answered, and then known.
pub(super) fn largest_batch(bench: &Bench<'_>, store: Store<'_>) {
    let leases = all_won(claim_many(bench, store, asks(0..MAX_BATCH)));
    for (number, lease) in leases.into_iter().enumerate() {
        assert_eq!(lease.key(), &key(&format!("e{number}")));
        assert_eq!(lease.attempt(), 1);
        bench.stall(lease);
    }
    let again = names(bench, claim_many(bench, store, asks((0..MAX_BATCH).rev())));
    assert!(again.iter().all(|name| *name == "in progress"));
}

/// One more is refused as a whole, and nothing was claimed.
pub(super) fn batch_too_large_claims_nothing(bench: &Bench<'_>, store: Store<'_>) {
    let refused = bench.wait(async { store.claim_many(asks(0..=MAX_BATCH)).await });
    let kind = refused.expect_err("a batch without a bound").kind();
    assert_eq!(kind, StoreErrorKind::BatchTooLarge);
    assert!(!kind.is_transient());
    for number in [0, 1, MAX_BATCH - 1, MAX_BATCH] {
        assert_eq!(bench.get(&key(&format!("e{number}"))), None);
    }
}

/// Lease, retention and limit are those of each claim.
pub(super) fn each_claim_has_its_own_settings(bench: &Bench<'_>, store: Store<'_>) {
    let settings = [(LEASE, DAY, 1), (HOUR, HOUR, 2), (secs(1), DAY * 9, 3)];
    let claimings = settings
        .iter()
        .enumerate()
        .map(|(number, (lease, retention, most))| {
            let ask = ask(&format!("e{number}"));
            ask.lease(*lease).retention(*retention).max_attempts(*most)
        });
    let leases = all_won(claim_many(bench, store, claimings.collect()));
    for ((number, lease), (length, retention, most)) in leases.into_iter().enumerate().zip(settings)
    {
        let row = bench.row(&format!("e{number}"));
        assert_eq!(row.state, State::InProgress);
        assert_eq!(row.received_at, bench.now());
        assert_eq!(row.until, Some(bench.now() + length));
        assert_eq!(row.expires_at, bench.now() + retention);
        assert_eq!(
            (row.fence, lease.until()),
            (lease.fence(), bench.now() + length)
        );
        assert_eq!(lease.max_attempts(), most);
        bench.settle(lease, Verdict::done("done"));
    }
}

/// What is done with one lease of a batch leaves the others alone.
pub(super) fn each_lease_is_its_own(bench: &Bench<'_>, store: Store<'_>) {
    let mut leases = all_won(claim_many(bench, store, asks(0..5))).into_iter();
    let mut next = || leases.next().unwrap();
    bench.settle(next(), Verdict::done("zero"));
    bench.release(next());
    bench.settle(next(), Verdict::dead("two"));
    let renewed = bench.renew(next(), HOUR);
    assert_eq!(bench.duplicate(ask("e0")).result, b"zero");
    assert_eq!(bench.attempt(ask("e1")), 2);
    assert_eq!(bench.dead(ask("e2")).result, b"two");
    bench.at(LEASE);
    bench.busy(ask("e3"), HOUR);
    // The last one's lease is over, and somebody else takes its event.
    bench.stall(bench.win(ask("e4")));
    bench.lost(next());
    bench.settle(renewed, Verdict::done("three"));
    assert_eq!(bench.witness.count(), 0, "a settled lease was reported");
}

/// Leases of a batch that are dropped are reported each by itself, and none counts as done.
pub(super) fn dropped_leases_of_a_batch(bench: &Bench<'_>, store: Store<'_>) {
    let mut leases = all_won(claim_many(bench, store, asks(0..3)));
    let kept = leases.remove(1);
    let fences: Vec<_> = leases
        .iter()
        .map(|lease| (lease.key().clone(), lease.fence()))
        .collect();
    bench.wait(async { drop(leases) });
    assert_eq!(bench.witness.count(), 2);
    for (key, fence) in &fences {
        assert!(bench.witness.saw(key, *fence));
    }
    bench.at(LEASE - TICK);
    let kept = bench.renew(kept, HOUR);
    bench.at(LEASE);
    let again = names(bench, claim_many(bench, store, asks(0..3)));
    assert_eq!(again, ["new", "in progress", "new"]);
    bench.settle(kept, Verdict::done("one"));
}
