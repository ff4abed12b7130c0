//! Races, counted.

use std::{collections::HashMap, sync::Mutex};

use super::{
    super::{
        bench::{LEASE, key},
        racing::{Handed, RACERS},
    },
    bench::Inbox,
};
use crate::{
    Verdict,
    inbox::{Accepted, Leased, Leasing, Parcel},
};

impl Inbox<'_> {
    /// Accepts, as often as the engine says that it is too busy.
    pub(super) fn insist_on_accepting(&self, parcel: &Parcel) -> Accepted {
        loop {
            match self.wait(async { self.store.accept(parcel.clone()).await }) {
                Ok(accepted) => return accepted,
                Err(error) if error.kind().is_transient() => {}
                Err(error) => panic!("the store could not answer: {error:?}"),
            }
        }
    }

    /// Leases, as often as the engine says that it is too busy.
    pub(super) fn insist_on_leasing(&self, leasing: Leasing) -> Leased {
        loop {
            match self.wait(async { self.store.lease_due(leasing).await }) {
                Ok(leased) => return leased,
                Err(error) if error.kind().is_transient() => {}
                Err(error) => panic!("the store could not answer: {error:?}"),
            }
        }
    }
}

/// Many deliveries of one event at once: it is stored once, and each of the others is told that it
/// is, unless it came before the first was committed.
pub(super) fn one_is_first_to_accept(inbox: &Inbox<'_>) {
    for round in 0..inbox.rounds.min(50) {
        let id = format!("e{round}");
        let parcel = inbox.parcel(&id);
        let answers = inbox.race(RACERS, |_| match inbox.insist_on_accepting(&parcel) {
            Accepted::New(_) => 1,
            Accepted::Pending(_) | Accepted::InProgress { .. } => 0,
            other => panic!("an answer out of nowhere: {other:?}"),
        });
        assert_eq!(answers.iter().sum::<u32>(), 1);
        inbox.done(&id);
    }
}

/// Many fetchers at once: each event goes to one of them.
pub(super) fn each_is_leased_to_one(inbox: &Inbox<'_>) {
    let events = inbox.many.min(400);
    for n in 0..events {
        inbox.take_in(&format!("e{n}"));
    }
    let leasing = Leasing::up_to(7).lease(LEASE);
    let fetched = inbox.race(8, |_| {
        let mut mine = Vec::new();
        // Each may see nothing while the others hold what is left.
        for _ in 0..events {
            mine.extend(inbox.insist_on_leasing(leasing).events);
        }
        mine
    });
    let mut leases: Vec<_> = fetched.into_iter().flatten().collect();
    leases.extend(inbox.due());
    let mut times = HashMap::<_, usize>::new();
    for (lease, _) in &leases {
        assert_eq!(lease.attempt(), 1);
        *times.entry(lease.key().clone()).or_default() += 1;
    }
    assert_eq!(times.len(), events, "none is left");
    assert!(times.values().all(|times| *times == 1));
    for (lease, _) in leases {
        inbox.stall(lease);
    }
}

/// The holder of a lapsed lease settles while others lease what is due: either it is done, or the
/// event is theirs, and nothing in between.
pub(super) fn settle_against_lease_due(inbox: &Inbox<'_>) {
    for round in 0..inbox.rounds.min(50) {
        let id = format!("e{round}");
        inbox.take_in(&id);
        let handed = Handed::new(inbox.one(&id));
        inbox.clock.advance(LEASE);
        let taken = Mutex::new(Vec::new());
        let settled = inbox.race(8, |racer| {
            if racer == 0 {
                return inbox.insist_on_settling(handed.take(), &Verdict::done("late"));
            }
            let leased = inbox.insist_on_leasing(Leasing::up_to(1).lease(LEASE));
            taken.lock().unwrap().extend(leased.events);
            false
        });
        let mut taken = taken.into_inner().unwrap();
        if settled[0] {
            assert_eq!(taken.len(), 0, "done and leased");
            assert_eq!(inbox.row(&id).result, b"late");
        } else {
            assert_eq!(taken.len(), 1, "neither done nor leased");
            inbox.settle(taken.remove(0).0, Verdict::done("taken over"));
        }
        inbox.none_due();
    }
}

/// Whatever the order, an event that is there afterwards has a body and is leased, and one that is
/// not has none.
pub(super) fn accept_against_forget(inbox: &Inbox<'_>) {
    for round in 0..inbox.rounds.min(50) {
        let id = format!("e{round}");
        inbox.take_in(&id);
        let parcel = inbox.parcel(&id);
        inbox.race(9, |racer| match racer % 3 {
            0 => drop(inbox.insist_on_accepting(&parcel)),
            1 => drop(inbox.insist_on_forgetting(&key(&id))),
            // A lease that is forgotten meanwhile is lost.
            _ => {
                for (lease, _) in inbox
                    .insist_on_leasing(Leasing::up_to(1).lease(LEASE))
                    .events
                {
                    inbox.insist_on_settling(lease, &Verdict::retry(std::time::Duration::ZERO));
                }
            }
        });
        let there = inbox.get(&key(&id)).is_some();
        assert_eq!(inbox.parked(&id).is_some(), there);
        let due = inbox.due();
        assert_eq!(due.len(), usize::from(there), "stuck, or out of nowhere");
        for (lease, _) in due {
            inbox.settle(lease, Verdict::done(""));
        }
    }
}
