//! Batches of deliveries beside batches, single deliveries, claims and deletions.

use std::{collections::BTreeMap, future::poll_fn, task::Poll, thread};

use super::{
    super::bench::{LEASE, key, secs},
    batches::{Store, lease_all, parcels},
    bench::Inbox,
};
use crate::{
    Claim, State, Verdict,
    inbox::{Accepted, Parcel},
};

/// Accepts a batch, as often as the engine says that it is too busy, and each of its deliveries until
/// it is stored.
fn insist(inbox: &Inbox<'_>, store: Store<'_>, parcels: &[Parcel]) -> Vec<Accepted> {
    for _ in 0..1_000 {
        match inbox.wait(async { store.accept_many(parcels.to_vec()).await }) {
            Ok(answers) => {
                assert_eq!(answers.len(), parcels.len());
                let each = parcels.iter().zip(answers);
                return each
                    .map(|(parcel, answer)| match answer {
                        Ok(Accepted::InProgress { .. }) => alone(inbox, parcel),
                        Ok(accepted) => accepted,
                        Err(error) if error.kind().is_transient() => alone(inbox, parcel),
                        Err(error) => panic!("the store could not answer: {error:?}"),
                    })
                    .collect();
            }
            Err(error) if error.kind().is_transient() => thread::sleep(secs(1) / 1000),
            Err(error) => panic!("the store could not answer: {error:?}"),
        }
    }
    panic!("the store stayed busy");
}

fn alone(inbox: &Inbox<'_>, parcel: &Parcel) -> Accepted {
    for _ in 0..10_000 {
        match inbox.insist_on_accepting(parcel) {
            Accepted::InProgress { .. } => thread::sleep(secs(1) / 1000),
            accepted => return accepted,
        }
    }
    panic!("the event stayed in somebody's hands");
}

/// Counts how often each event was new. None was anything but new or waiting.
fn count<'a>(answers: impl IntoIterator<Item = &'a Accepted>) -> BTreeMap<String, usize> {
    let mut new = BTreeMap::new();
    for answer in answers {
        let (receipt, times) = match answer {
            Accepted::New(receipt) => (receipt, 1),
            Accepted::Pending(receipt) => (receipt, 0),
            other => panic!("an answer out of nowhere: {other:?}"),
        };
        *new.entry(receipt.key.id().to_owned()).or_default() += times;
    }
    new
}

/// Each of them was new once, and is leased now.
#[track_caller]
fn each_is_in_once(inbox: &Inbox<'_>, answers: &[Vec<Accepted>], events: usize) {
    let new = count(answers.iter().flatten());
    assert_eq!(new.len(), events);
    assert!(new.values().all(|times| *times == 1), "{new:?}");
    let ids: Vec<_> = new.into_keys().collect();
    assert_eq!(
        lease_all(inbox),
        ids,
        "stored and not leased, or the reverse"
    );
}

/// Two accept the same 500 events at once, in opposite orders. Each is new once, and neither waits for
/// the other for ever.
pub(super) fn two_accept_in_opposite_order(inbox: &Inbox<'_>, store: Store<'_>) {
    const EVENTS: usize = 500;
    for round in 0..inbox.rounds.div_ceil(20) {
        let parcel = |number| inbox.parcel(&format!("{round}/{number}"));
        let up: Vec<_> = (0..EVENTS).map(parcel).collect();
        let down: Vec<_> = up.iter().rev().cloned().collect();
        let answers = inbox.race(2, |racer| match racer {
            0 => insist(inbox, store, &up),
            _ => insist(inbox, store, &down),
        });
        each_is_in_once(inbox, &answers, EVENTS);
    }
}

/// Many accept overlapping batches at once. Each event is new once, none is lost, and all are leased.
pub(super) fn many_accept_overlapping_batches(inbox: &Inbox<'_>, store: Store<'_>) {
    const EVENTS: usize = 60;
    const RACERS: usize = 6;
    for round in 0..inbox.rounds.div_ceil(10) {
        let parcel = |number| inbox.parcel(&format!("{round}/{number}"));
        let all: Vec<_> = (0..EVENTS).map(parcel).collect();
        let answers = inbox.race(RACERS, |racer| {
            // Each begins elsewhere and leaves a part out, and every other one goes backwards.
            let mut mine = all.clone();
            mine.rotate_left(racer * EVENTS / RACERS);
            mine.truncate(EVENTS * 2 / 3);
            if racer % 2 == 1 {
                mine.reverse();
            }
            insist(inbox, store, &mine)
        });
        each_is_in_once(inbox, &answers, EVENTS);
    }
}

/// A batch and single deliveries of its events at once.
pub(super) fn batches_against_single_deliveries(inbox: &Inbox<'_>, store: Store<'_>) {
    const EVENTS: usize = 20;
    for round in 0..inbox.rounds.div_ceil(10) {
        let parcel = |number| inbox.parcel(&format!("{round}/{number}"));
        let all: Vec<_> = (0..EVENTS).map(parcel).collect();
        let answers = inbox.race(4, |racer| match racer % 2 {
            0 => insist(inbox, store, &all),
            _ => all.iter().map(|parcel| alone(inbox, parcel)).collect(),
        });
        each_is_in_once(inbox, &answers, EVENTS);
    }
}

/// A batch, and claims of its events elsewhere, which are dropped or done. Whatever the order, each event
/// has its body in the end, and what is not done is leased.
pub(super) fn batches_against_claims(inbox: &Inbox<'_>, store: Store<'_>) {
    const EVENTS: usize = 20;
    for round in 0..inbox.rounds.div_ceil(10) {
        let ids: Vec<_> = (0..EVENTS).map(|n| format!("{round}/{n:02}")).collect();
        let all: Vec<_> = ids.iter().map(|id| inbox.parcel(id)).collect();
        inbox.race(3, |racer| match racer {
            0 => drop(insist(inbox, store, &all)),
            _ => {
                for (n, parcel) in all.iter().enumerate() {
                    let claiming = parcel.claiming().clone().lease(LEASE);
                    if let Claim::New(lease) = inbox.insist(&claiming) {
                        match n % 2 {
                            0 => inbox.stall(lease),
                            _ => drop(inbox.insist_on_settling(lease, &Verdict::done("claimed"))),
                        }
                    }
                }
            }
        });
        insist(inbox, store, &all);
        inbox.clock.advance(LEASE);
        // A claim may have been refused while the event was somebody else's for a moment.
        let is_done = |id: &String| inbox.row(id).state == State::Processed;
        let waiting: Vec<_> = ids.iter().filter(|id| !is_done(id)).cloned().collect();
        assert!(waiting.len() >= EVENTS / 2, "done by nobody");
        assert_eq!(lease_all(inbox), waiting);
        for id in &waiting {
            assert!(inbox.parked(id).is_some(), "leased without a body");
        }
    }
}

/// Whatever the order, an event that is there afterwards has a body and is leased, and one that is not
/// has none.
pub(super) fn batches_against_deletions(inbox: &Inbox<'_>, store: Store<'_>) {
    const EVENTS: usize = 12;
    for round in 0..inbox.rounds.div_ceil(10) {
        let ids: Vec<_> = (0..EVENTS).map(|n| format!("{round}/{n:02}")).collect();
        let all: Vec<_> = ids.iter().map(|id| inbox.parcel(id)).collect();
        inbox.race(4, |racer| match racer {
            0 | 1 => drop(insist(inbox, store, &all)),
            2 => {
                for id in &ids {
                    inbox.insist_on_forgetting(&key(id));
                }
            }
            // What waits is never purged.
            _ => drop(inbox.insist_on_purge(100)),
        });
        let mut there = Vec::new();
        for id in &ids {
            let is_there = inbox.get(&key(id)).is_some();
            assert_eq!(inbox.parked(id).is_some(), is_there);
            if is_there {
                there.push(id.clone());
            }
        }
        assert_eq!(lease_all(inbox), there, "stuck, or out of nowhere");
    }
}

/// A batch is cancelled before its answer, at any point. Sent again, all of it is in the inbox, once.
pub(super) fn batch_of_deliveries_cancelled_midway(inbox: &Inbox<'_>, store: Store<'_>) {
    for polls in 0..12 {
        inbox.wait(async {
            let mut call = store.accept_many(parcels(inbox, 0..3));
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
        let again = insist(inbox, store, &parcels(inbox, 0..3));
        assert_eq!(count(&again).len(), 3);
        assert_eq!(lease_all(inbox), ["e0", "e1", "e2"]);
        for number in 0..3 {
            inbox.insist_on_forgetting(&key(&format!("e{number}")));
        }
    }
}
