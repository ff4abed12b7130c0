//! Races, counted: whatever the order, what stands in the end is the newest, and what was applied
//! was newer than all before it.

use std::collections::HashMap;

use super::{Bench, v};
use crate::{Advance, Version, testing::conformance::bench::DAY};

/// Numbers from 1 on in some order, another one each time.
fn shuffled(numbers: usize, seed: usize) -> Vec<Version> {
    let mut state = seed as u64 ^ 0x9e37_79b9_7f4a_7c15;
    let mut order: Vec<_> = (1..).take(numbers).map(v).collect();
    for last in (1..numbers).rev() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        order.swap(last, state as usize % (last + 1));
    }
    order
}

/// From nothing to `last`, each applied version follows from the one that it says stood before it,
/// and is newer; and no other was applied.
#[track_caller]
fn is_one_chain(answers: &[(Version, Advance)], last: &Version) {
    let mut next = HashMap::new();
    for (version, answer) in answers {
        match answer {
            Advance::Applied { previous } => {
                assert!(previous.as_ref().is_none_or(|before| before < version));
                let other = next.insert(previous.clone(), version.clone());
                assert_eq!(other, None, "two followed {previous:?}");
            }
            Advance::Older { current } => assert!(current > version),
            Advance::Same { current } => assert_eq!(current, version),
        }
    }
    let applied = next.len();
    let mut links = 0;
    let mut at = None;
    while let Some(version) = next.remove(&at) {
        (at, links) = (Some(version), links + 1);
    }
    assert_eq!((at.as_ref(), links), (Some(last), applied), "not one chain");
}

/// Many versions at once, in random order: the newest stands, and exactly those were applied that
/// were newer than all before them.
pub(super) fn versions_in_any_order(bench: &Bench<'_>) {
    const VERSIONS: usize = 60;
    const RACERS: usize = 6;
    for round in 0..bench.rounds {
        let (id, versions) = (format!("o{round}"), shuffled(VERSIONS, round));
        let answers = bench.race(RACERS, |racer| {
            let mine = versions.iter().skip(racer).step_by(RACERS);
            let ask = |version: &Version| (version.clone(), bench.advance(&id, version));
            mine.map(ask).collect::<Vec<_>>()
        });
        let answers: Vec<_> = answers.into_iter().flatten().collect();
        let last = v(VERSIONS as i64);
        assert_eq!(answers.len(), VERSIONS);
        is_one_chain(&answers, &last);
        assert_eq!(bench.current(&id), Some(last));
        // Each alone was asked with once, so none stood already.
        let same = |(_, answer): &&(_, _)| matches!(answer, Advance::Same { .. });
        assert_eq!(answers.iter().filter(same).count(), 0);
    }
}

/// One version by many at once: it is applied once, and the others are told that it stands.
pub(super) fn one_version_by_many(bench: &Bench<'_>) {
    for round in 0..bench.rounds {
        let id = format!("o{round}");
        for (version, previous) in [(v(1), None), (v(2), Some(v(1)))] {
            let answers = bench.race(20, |_| bench.advance(&id, &version));
            let (applied, same): (Vec<_>, Vec<_>) = answers
                .into_iter()
                .partition(|answer| matches!(answer, Advance::Applied { .. }));
            assert_eq!(applied, [Advance::Applied { previous }]);
            let current = version;
            assert!(same.iter().all(|answer| *answer
                == Advance::Same {
                    current: current.clone()
                }));
        }
    }
}

/// A deletion among late updates: it stands in the end.
pub(super) fn deletion_against_updates(bench: &Bench<'_>) {
    for round in 0..bench.rounds {
        let id = format!("o{round}");
        let answers = bench.race(8, |racer| {
            let version = match racer {
                0 => v(10).deletion(),
                _ => v(racer as i64),
            };
            (version.clone(), bench.advance(&id, &version))
        });
        is_one_chain(&answers, &v(10).deletion());
        assert_eq!(bench.current(&id), Some(v(10).deletion()));
    }
}

/// Many advance many objects in different orders, and nobody waits for anybody.
pub(super) fn many_objects_in_different_orders(bench: &Bench<'_>) {
    const OBJECTS: usize = 50;
    bench.race(8, |racer| {
        for step in 0..OBJECTS {
            let number = match racer % 2 {
                0 => step,
                _ => OBJECTS - 1 - step,
            };
            let _ = bench.advance(&format!("o{number}"), &v(racer as i64));
        }
    });
    for number in 0..OBJECTS {
        assert_eq!(bench.current(&format!("o{number}")), Some(v(7)));
    }
}

/// Deletions are purged while updates come in. What is newer than what was purged stands.
pub(super) fn purge_against_updates(bench: &Bench<'_>) {
    for round in 0..bench.rounds {
        let id = format!("o{round}");
        bench.applied(&id, &v(1).deletion(), None);
        bench.clock.advance(DAY);
        let answers = bench.race(4, |racer| match racer {
            0 => {
                bench.purge(DAY, 10);
                None
            }
            _ => Some(bench.advance(&id, &v(racer as i64 + 1))),
        });
        assert_eq!(bench.current(&id), Some(v(4)));
        let is_applied = |answer: &&Advance| matches!(answer, Advance::Applied { .. });
        assert!(answers.iter().flatten().filter(is_applied).count() >= 1);
        assert_eq!(bench.purge(DAY, 10), 0);
    }
}
