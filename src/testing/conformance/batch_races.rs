//! Batches beside batches, single claims and deletions.

use std::{collections::BTreeMap, future::poll_fn, task::Poll};

use super::{
    abandoned::soon,
    batches::{Store, all_won, asks, claim_many, insist},
    bench::{Bench, LEASE, ask, key, secs, unexpected},
    racing::winner,
};
use crate::{Claim, Fence, Verdict};

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
            let id = format!("e{number}");
            // The engine may still be at it: what it writes late has a lease of its own to run out.
            bench.stall(soon(bench, &id, || bench.clock.advance(LEASE)));
            bench.forget(&key(&id));
        }
    }
}
