//! Purges beside traffic, and beside each other.

use std::{
    sync::atomic::{AtomicUsize, Ordering::SeqCst},
    thread,
};

use super::{
    bench::{Bench, DAY, ask, key, secs, unexpected},
    racing::winner_or_next,
};
use crate::{Claim, State, Verdict};

/// S-38: purges run while an event is claimed, done and claimed again, over and over: its receipt
/// is purgeable as soon as it is written, and only the running lease protects it. No lease is lost,
/// and each receipt is purged once.
pub(super) fn s38_claims_against_purges(bench: &Bench<'_>) {
    const CLAIMANTS: usize = 5;
    const PURGERS: usize = 3;
    const WINS: usize = 50;
    // Only a store that purges nothing makes it so often.
    const TRIES: usize = 1_000;
    let ask = ask("e1").retention(secs(0));
    let [wins, losses, purges, purged, gone] = [const { AtomicUsize::new(0) }; 5];
    let outlast = |count| {
        let over = purges.load(SeqCst) + count;
        while purges.load(SeqCst) < over && gone.load(SeqCst) < CLAIMANTS {
            thread::yield_now();
        }
    };
    bench.race(CLAIMANTS + PURGERS, |racer| {
        let _leaving = Leaving(&gone);
        if racer >= CLAIMANTS {
            while gone.load(SeqCst) < CLAIMANTS {
                purged.fetch_add(bench.insist_on_purge(10), SeqCst);
                purges.fetch_add(1, SeqCst);
                thread::yield_now();
            }
            return;
        }
        for _ in 0..TRIES {
            match bench.insist(&ask) {
                Claim::New(lease) => {
                    wins.fetch_add(1, SeqCst);
                    // The work lasts until those purges are over that may have begun before it.
                    outlast(2 * PURGERS);
                    let stood = bench.insist_on_settling(lease, &Verdict::done("done"));
                    losses.fetch_add(usize::from(!stood), SeqCst);
                }
                Claim::Duplicate(_) | Claim::InProgress { .. } => outlast(1),
                other => unexpected("New, Duplicate or InProgress", &other),
            }
            if wins.load(SeqCst) >= WINS {
                break;
            }
        }
    });
    assert_eq!(losses.into_inner(), 0, "a running lease was lost");
    let left = bench.purge(10);
    assert_eq!(wins.into_inner(), purged.into_inner() + left);
}

/// Counts a racer as gone, even if it panics: others run for as long as it does.
struct Leaving<'a>(&'a AtomicUsize);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

/// S-38: purges run while a lapsed lease is taken over. One claim is new, and its row is not purged
/// from under it.
pub(super) fn s38_takeover_against_purges(bench: &Bench<'_>) {
    for round in 0..bench.rounds {
        let id = format!("e{round}");
        let ask = ask(&id).retention(secs(0));
        let old = bench.win(ask.clone().lease(secs(0)));
        let purged = AtomicUsize::new(0);
        let claims = bench.race(16, |racer| {
            if racer % 4 == 0 {
                purged.fetch_add(bench.insist_on_purge(10), SeqCst);
                return None;
            }
            Some(bench.insist(&ask))
        });
        assert!(purged.into_inner() <= 1, "one row was purged twice");
        let claims = claims.into_iter().flatten().collect();
        let lease = winner_or_next(claims, || bench.win(ask.clone()));
        assert!(lease.fence() > old.fence());
        assert_eq!(bench.row(&id).state, State::InProgress);
        bench.lost(old);
        bench.settle(lease, Verdict::done("new"));
        bench.forget(&key(&id));
    }
}

/// S-38: two purges at once do no harm: each row goes once, and the young ones stay.
pub(super) fn s38_two_purges_at_once(bench: &Bench<'_>) {
    for round in 0..bench.rounds.div_ceil(10) {
        for number in 0..20 {
            for (age, retention) in [("old", secs(0)), ("young", DAY)] {
                let id = format!("{age} {round} {number}");
                let lease = bench.win(ask(&id).retention(retention));
                bench.settle(lease, Verdict::done(age));
            }
        }
        let taken = bench.race(4, |_| {
            (0..5).map(|_| bench.insist_on_purge(4)).sum::<usize>()
        });
        // Purges may step around each other's rows; one more finds what they left.
        let left = bench.purge(100);
        assert_eq!(taken.iter().sum::<usize>() + left, 20);
        for number in 0..20 {
            bench.duplicate(ask(&format!("young {round} {number}")));
        }
    }
}
