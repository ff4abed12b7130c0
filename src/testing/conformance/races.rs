//! Races, counted: whatever the order, exactly one may act, and what it writes stands.
//!
//! Each race is run many times over ([`Backend::race_rounds`](super::Backend::race_rounds)), each
//! time with a new key. Nothing here waits for a moment: every outcome that is allowed is named,
//! and none is likelier than another.

use std::sync::Mutex;

use super::{
    bench::{Bench, HOUR, LEASE, ask, key, secs},
    racing::{Handed, RACERS, winner, winners},
};
use crate::{Claim, Fence, Lease, Verdict};

/// S-16: many get the same delivery at once. One may act, the others are told to wait; when it is
/// done, all are told so.
pub(super) fn s16_two_at_once(bench: &Bench<'_>) {
    for round in 0..bench.rounds {
        let ask = || ask(&format!("e{round}"));
        let lease = winner(bench.race(RACERS, |_| bench.insist(&ask())));
        assert_eq!(lease.attempt(), 1);
        bench.settle(lease, Verdict::done("once"));
        assert_eq!(bench.duplicate(ask()).result, b"once");
    }
}

/// S-16: the same with the work in between: it is done once, and whoever comes later is given its
/// result.
pub(super) fn s16_work_is_done_once(bench: &Bench<'_>) {
    for round in 0..bench.rounds {
        let ask = || ask(&format!("e{round}"));
        let answers = bench.race(RACERS, |racer| match bench.insist(&ask()) {
            Claim::New(lease) => {
                let result = racer.to_string().into_bytes();
                assert!(bench.insist_on_settling(lease, &Verdict::done(result.clone())));
                Some((true, result))
            }
            Claim::Duplicate(receipt) => Some((false, receipt.result)),
            Claim::InProgress { .. } => None,
            other => panic!("an answer out of nowhere: {other:?}"),
        });
        let answers: Vec<_> = answers.into_iter().flatten().collect();
        assert_eq!(answers.iter().filter(|(acted, _)| *acted).count(), 1);
        let result = bench.duplicate(ask()).result;
        assert!(answers.iter().all(|(_, seen)| *seen == result));
    }
}

/// S-17: a failed event is retried by many at once. One may act.
pub(super) fn s17_two_retries_at_once(bench: &Bench<'_>) {
    for round in 0..bench.rounds {
        let ask = || ask(&format!("e{round}"));
        let lease = bench.win(ask());
        if round % 2 == 0 {
            bench.release(lease);
        } else {
            bench.settle(lease, Verdict::retry(secs(0)));
        }
        let lease = winner(bench.race(RACERS, |_| bench.insist(&ask())));
        assert_eq!(lease.attempt(), 2);
        bench.settle(lease, Verdict::done("once"));
    }
}

/// S-23: many want to take over a lease that ran out. One does, generation after generation.
pub(super) fn s23_takeover_race(bench: &Bench<'_>) {
    let ask = || ask("e1").lease(LEASE).max_attempts(u32::MAX);
    let mut lease = bench.win(ask());
    for _ in 0..bench.rounds {
        bench.clock.advance(LEASE);
        let next = winner(bench.race(RACERS, |_| bench.insist(&ask())));
        assert_eq!(next.fence(), Fence(lease.fence().0 + 1));
        assert_eq!(next.attempt(), lease.attempt() + 1);
        bench.stall(std::mem::replace(&mut lease, next));
    }
    bench.settle(lease, Verdict::done("in the end"));
}

/// The first racer does something with a lapsed lease while the others claim the event.
fn against_takeover<T: Send>(
    bench: &Bench<'_>,
    id: &str,
    write: impl Fn(Lease) -> T + Sync,
) -> (T, Vec<Claim>) {
    let lease = Handed::new(bench.win(ask(id)));
    bench.clock.advance(LEASE);
    let written = Mutex::new(None);
    let claims = bench.race(8, |racer| {
        if racer == 0 {
            *written.lock().unwrap() = Some(write(lease.take()));
            return None;
        }
        Some(bench.insist(&ask(id)))
    });
    let written = written.into_inner().unwrap().unwrap();
    (written, claims.into_iter().flatten().collect())
}

/// S-23: the old holder settles while others take over. Either its result stands and nobody acts
/// again, or it has lost the lease and one does; never both, never neither.
pub(super) fn s23_settle_against_takeover(bench: &Bench<'_>) {
    for round in 0..bench.rounds {
        let id = format!("e{round}");
        let settle = |lease| bench.insist_on_settling(lease, &Verdict::done("old"));
        let (stood, claims) = against_takeover(bench, &id, settle);
        if stood {
            let new = claims.iter().filter(|claim| matches!(claim, Claim::New(_)));
            assert_eq!(new.count(), 0, "settled and claimed");
            assert_eq!(bench.duplicate(ask(&id)).result, b"old");
        } else {
            bench.settle(winner(claims), Verdict::done("new"));
            assert_eq!(bench.duplicate(ask(&id)).result, b"new");
        }
    }
}

/// S-34: the old holder renews while others take over. One of them has the event afterwards.
pub(super) fn s34_renew_against_takeover(bench: &Bench<'_>) {
    for round in 0..bench.rounds {
        let id = format!("e{round}");
        let renew = |lease| bench.insist_on_renewing(lease, HOUR);
        let (renewed, claims) = against_takeover(bench, &id, renew);
        let lease = match renewed {
            Some(lease) => {
                assert_eq!(winners(claims).len(), 0, "renewed and claimed");
                lease
            }
            None => winner(claims),
        };
        bench.settle(lease, Verdict::done("the holder"));
    }
}

/// S-23: the old and the new holder settle at once. The new one's result stands.
pub(super) fn s23_both_holders_settle(bench: &Bench<'_>) {
    for round in 0..bench.rounds {
        let id = format!("e{round}");
        let old = bench.win(ask(&id).lease(secs(0)));
        let new = bench.win(ask(&id));
        let leases = [old, new].map(Handed::new);
        let went = bench.race(2, |racer| {
            let verdict = Verdict::done(["old", "new"][racer]);
            bench.insist_on_settling(leases[racer].take(), &verdict)
        });
        assert_eq!(went, [false, true]);
        assert_eq!(bench.duplicate(ask(&id)).result, b"new");
    }
}

/// S-32: an operator forgets an event while its holder settles. It is forgotten either way.
pub(super) fn s32_forget_against_settle(bench: &Bench<'_>) {
    for round in 0..bench.rounds {
        let id = format!("e{round}");
        let lease = Handed::new(bench.win(ask(&id)));
        bench.race(2, |racer| {
            if racer == 0 {
                bench.insist_on_settling(lease.take(), &Verdict::done("done"))
            } else {
                bench.insist_on_forgetting(&key(&id)).is_some()
            }
        });
        assert_eq!(bench.get(&key(&id)), None);
        assert_eq!(bench.attempt(ask(&id)), 1);
    }
}

/// Many claim many events in different orders: each event goes to one, and nobody waits for
/// anybody.
pub(super) fn many_events_in_different_orders(bench: &Bench<'_>) {
    const EVENTS: usize = 100;
    let claims = bench.race(8, |racer| {
        let claim = |step| {
            let number = if racer % 2 == 0 {
                step
            } else {
                EVENTS - 1 - step
            };
            bench.insist(&ask(&format!("e{number}")))
        };
        (0..EVENTS).map(claim).collect::<Vec<_>>()
    });
    let leases = winners(claims.into_iter().flatten().collect());
    assert_eq!(leases.len(), EVENTS);
    for lease in leases {
        bench.settle(lease, Verdict::done("once"));
    }
}
