//! Many claims in one call: each is answered as it would be alone, one after the other, and won by
//! one at most.

use std::{collections::BTreeMap, future::poll_fn, task::Poll, thread};

use super::{
    bench::{
        Bench, DAY, HOUR, LEASE, TICK, ask, ask_for, ask_otherwise, key, other_content, secs,
        unexpected,
    },
    racing::winner,
};
use crate::{
    Claim, Claiming, EventKey, Fence, Lease, State, StoreError, Verdict,
    store::{BatchStore, MAX_BATCH, StoreErrorKind},
};

type Store<'s> = &'s dyn BatchStore;

/// Claims a batch, whose every event must be answered.
fn claim_many(bench: &Bench<'_>, store: Store<'_>, claimings: Vec<Claiming>) -> Vec<Claim> {
    let asked = claimings.len();
    let answers = bench
        .wait(async { store.claim_many(claimings).await })
        .expect("the store could not answer a batch");
    assert_eq!(answers.len(), asked, "one answer to each claim");
    let answer = |claim: Result<_, _>| claim.expect("the store could not answer a claim");
    answers.into_iter().map(answer).collect()
}

/// The same in a race, as often as the engine says that it is too busy.
fn insist(bench: &Bench<'_>, store: Store<'_>, claimings: &[Claiming]) -> Vec<Claim> {
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

fn or_alone(bench: &Bench<'_>, claiming: &Claiming, claim: Result<Claim, StoreError>) -> Claim {
    match claim {
        Ok(claim) => claim,
        Err(error) if error.kind().is_transient() => bench.insist(claiming),
        Err(error) => panic!("the store could not answer: {error:?}"),
    }
}

fn asks(ids: impl IntoIterator<Item = usize>) -> Vec<Claiming> {
    ids.into_iter().map(|n| ask(&format!("e{n}"))).collect()
}

#[track_caller]
fn won(claim: Claim) -> Lease {
    match claim {
        Claim::New(lease) => lease,
        other => unexpected("New", &other),
    }
}

fn all_won(claims: Vec<Claim>) -> Vec<Lease> {
    claims.into_iter().map(won).collect()
}

fn name(claim: &Claim) -> &'static str {
    match claim {
        Claim::New(_) => "new",
        Claim::Duplicate(_) => "duplicate",
        Claim::InProgress { .. } => "in progress",
        Claim::Conflict(_) => "conflict",
        Claim::Dead(_) => "dead",
    }
}

/// Names of the answers; leases among them are held until the case is over.
fn names(bench: &Bench<'_>, claims: Vec<Claim>) -> Vec<&'static str> {
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

/// Two claim the same 500 events at once, in opposite orders. Each event is won once, and neither
/// waits for the other for ever.
pub(super) fn two_batches_in_opposite_order(bench: &Bench<'_>, store: Store<'_>) {
    const EVENTS: usize = 500;
    for round in 0..bench.rounds.div_ceil(20) {
        let id = |number: usize| ask(&format!("{round}/{number}"));
        let up: Vec<_> = (0..EVENTS).map(id).collect();
        let down: Vec<_> = (0..EVENTS).rev().map(id).collect();
        let mut claims = bench.race(2, |racer| match racer {
            0 => insist(bench, store, &up),
            _ => insist(bench, store, &down).into_iter().rev().collect(),
        });
        let (first, second) = (claims.remove(0), claims.remove(0));
        for (number, pair) in first.into_iter().zip(second).enumerate() {
            let lease = winner(vec![pair.0, pair.1]);
            assert_eq!(lease.key(), id(number).key());
            bench.stall(lease);
        }
    }
}

/// Many claim overlapping batches at once. Each event is won once.
pub(super) fn many_batches_at_once(bench: &Bench<'_>, store: Store<'_>) {
    const EVENTS: usize = 60;
    const RACERS: usize = 6;
    for round in 0..bench.rounds.div_ceil(10) {
        let claims = bench.race(RACERS, |racer| {
            // Each begins elsewhere, and every other one goes backwards.
            let mut numbers: Vec<_> = (0..EVENTS).collect();
            numbers.rotate_left(racer * EVENTS / RACERS);
            if racer % 2 == 1 {
                numbers.reverse();
            }
            let ids: Vec<_> = numbers.iter().map(|n| format!("{round}/{n}")).collect();
            let asks: Vec<_> = ids.iter().map(|id| ask(id)).collect();
            ids.into_iter()
                .zip(insist(bench, store, &asks))
                .collect::<Vec<_>>()
        });
        let mut by_event: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (id, claim) in claims.into_iter().flatten() {
            by_event.entry(id).or_default().push(claim);
        }
        assert_eq!(by_event.len(), EVENTS);
        for claims in by_event.into_values() {
            bench.stall(winner(claims));
        }
    }
}

/// A batch and single claims of its events at once. Each event is won once.
pub(super) fn batches_against_single_claims(bench: &Bench<'_>, store: Store<'_>) {
    const EVENTS: usize = 20;
    for round in 0..bench.rounds.div_ceil(10) {
        let id = |number: usize| ask(&format!("{round}/{number}"));
        let claims = bench.race(4, |racer| match racer % 2 {
            0 => insist(bench, store, &(0..EVENTS).map(id).collect::<Vec<_>>()),
            _ => (0..EVENTS)
                .map(|number| bench.insist(&id(number)))
                .collect(),
        });
        let mut racers: Vec<_> = claims.into_iter().map(Vec::into_iter).collect();
        for _ in 0..EVENTS {
            let claims = racers.iter_mut().map(|claims| claims.next().unwrap());
            bench.stall(winner(claims.collect()));
        }
    }
}

/// Many take over the same lapsed leases at once. One does, and the fence grows by one.
pub(super) fn takeover_by_batches_at_once(bench: &Bench<'_>, store: Store<'_>) {
    const EVENTS: usize = 20;
    let asks: Vec<_> = asks(0..EVENTS)
        .into_iter()
        .map(|ask| ask.max_attempts(u32::MAX))
        .collect();
    let mut leases = all_won(claim_many(bench, store, asks.clone()));
    for _ in 0..bench.rounds.div_ceil(10) {
        bench.clock.advance(LEASE);
        let claims = bench.race(4, |_| insist(bench, store, &asks));
        let mut racers: Vec<_> = claims.into_iter().map(Vec::into_iter).collect();
        for lease in &mut leases {
            let claims = racers.iter_mut().map(|claims| claims.next().unwrap());
            let next = winner(claims.collect());
            assert_eq!(next.fence(), Fence(lease.fence().0 + 1));
            bench.stall(std::mem::replace(lease, next));
        }
    }
    for lease in leases {
        bench.settle(lease, Verdict::done("in the end"));
    }
}

/// Purges run while batches claim the same events, over and over, whose receipts are purgeable at
/// once. Nothing that is leased goes, and no fence comes twice.
pub(super) fn batches_against_purges(bench: &Bench<'_>, store: Store<'_>) {
    deleted_beside_batches(bench, store, |_| {
        bench.insist_on_purge(100);
    });
}

/// The same with an operator, who forgets what is leased as well.
pub(super) fn batches_against_forgetting(bench: &Bench<'_>, store: Store<'_>) {
    deleted_beside_batches(bench, store, |number| {
        bench.insist_on_forgetting(&key(&format!("e{number}")));
    });
}

fn deleted_beside_batches(bench: &Bench<'_>, store: Store<'_>, delete: impl Fn(usize) + Sync) {
    const EVENTS: usize = 10;
    let asks: Vec<_> = asks(0..EVENTS)
        .into_iter()
        .map(|ask| ask.retention(secs(0)).max_attempts(u32::MAX))
        .collect();
    let rounds = bench.rounds.div_ceil(5);
    let fences = bench.race(4, |racer| {
        let mut fences = Vec::new();
        for round in 0..rounds {
            if racer % 2 == 0 {
                (0..EVENTS).for_each(|number| delete((number + round) % EVENTS));
                continue;
            }
            for claim in insist(bench, store, &asks) {
                match claim {
                    Claim::New(lease) => {
                        fences.push((lease.key().id().to_owned(), lease.fence()));
                        // Lost, where an operator forgot it.
                        bench.insist_on_settling(lease, &Verdict::done("done"));
                    }
                    Claim::InProgress { .. } | Claim::Duplicate(_) => {}
                    other => unexpected("New, Duplicate or InProgress", &other),
                }
            }
        }
        fences
    });
    let mut fences = fences.concat();
    let won = fences.len();
    assert!(won >= EVENTS, "each event was new once");
    fences.sort();
    fences.dedup();
    assert_eq!(fences.len(), won, "a fence came twice");
}

/// A batch is cancelled before its answer, at any point. Each event is claimable again by the end of
/// the lease that may or may not have been written.
pub(super) fn batch_cancelled_midway(bench: &Bench<'_>, store: Store<'_>) {
    for polls in 0..8 {
        bench.wait(async {
            let mut call = store.claim_many(asks(0..3));
            let mut left = polls;
            poll_fn(|context| {
                if left == 0 || call.as_mut().poll(context).is_ready() {
                    return Poll::Ready(());
                }
                left -= 1;
                Poll::Pending
            })
            .await;
            drop(call);
        });
        for number in 0..3 {
            bench.stall(by_lease_end(bench, &format!("e{number}")));
            bench.forget(&key(&format!("e{number}")));
        }
    }
}

/// The engine may still be at it: what it writes late has a lease of its own to run out.
fn by_lease_end(bench: &Bench<'_>, id: &str) -> Lease {
    for _ in 0..100 {
        match bench.claim(ask(id)) {
            Claim::New(lease) => return lease,
            Claim::InProgress { .. } => bench.clock.advance(LEASE),
            other => unexpected("New or InProgress", &other),
        }
    }
    panic!("the event stayed stuck");
}
