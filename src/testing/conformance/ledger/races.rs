//! Races, counted.

use std::sync::Mutex;

use super::Ledger;
use crate::{
    Claim, Effect, EffectResult, EffectSlot, Lease,
    store::{MAX_EFFECTS, RecordError, RecordFault},
    testing::conformance::{
        bench::{LEASE, ask, key},
        racing::winner_or_next,
    },
};

/// A slot that one of the racers takes along.
struct Taken(Mutex<Option<EffectSlot>>);

impl Taken {
    fn new(slot: EffectSlot) -> Self {
        Self(Mutex::new(Some(slot)))
    }

    fn take(&self) -> EffectSlot {
        let slot = self.0.lock().unwrap().take();
        slot.expect("it is handed out once")
    }
}

impl Ledger<'_> {
    /// Records, as often as the engine says that it is too busy.
    fn insist_on_recording(
        &self,
        slot: EffectSlot,
        result: &str,
    ) -> Result<EffectResult, RecordFault> {
        let mut slot = slot;
        for _ in 0..1_000 {
            match self.try_record(slot, result) {
                Ok(done) => return Ok(done),
                Err(RecordError {
                    slot: again,
                    fault: RecordFault::Store(busy),
                }) if busy.kind().is_transient() => slot = *again,
                Err(RecordError { fault, .. }) => return Err(fault),
            }
        }
        panic!("the store stayed busy");
    }
}

/// One step recorded by many at once, each with a result of its own: all are told the one that
/// stands.
pub(super) fn one_step_by_many(ledger: &Ledger<'_>) {
    for round in 0..ledger.rounds.min(20) {
        let id = format!("e{round}");
        let lease = ledger.win(ask(&id));
        let slots: Vec<_> = (0..8)
            .map(|_| Taken::new(ledger.due(&lease, "charge")))
            .collect();
        let told = ledger.race(slots.len(), |racer| {
            ledger
                .insist_on_recording(slots[racer].take(), &format!("ch_{racer}"))
                .expect("the lease stands")
        });
        assert_eq!(ledger.list(&key(&id)), [told[0].clone()]);
        assert!(told.iter().all(|done| *done == told[0]), "{told:?}");
        ledger.stall(lease);
    }
}

/// Steps of one event that run beside each other: all are recorded, each with a number of its own.
pub(super) fn many_steps_at_once(ledger: &Ledger<'_>) {
    for round in 0..ledger.rounds.min(20) {
        let id = format!("e{round}");
        let lease = ledger.win(ask(&id));
        let slots: Vec<_> = (0..8)
            .map(|n| Taken::new(ledger.due(&lease, &format!("step {n}"))))
            .collect();
        ledger.race(slots.len(), |racer| {
            let slot = slots[racer].take();
            let name = slot.name().to_owned();
            let done = ledger.insist_on_recording(slot, &name);
            assert_eq!(done.expect("the lease stands").text, name);
        });
        let numbers: Vec<_> = ledger.list(&key(&id)).iter().map(|e| e.number).collect();
        assert_eq!(numbers, [1, 2, 3, 4, 5, 6, 7, 8]);
        ledger.stall(lease);
    }
}

/// Many want the last room there is. One gets it.
pub(super) fn last_room_by_many(ledger: &Ledger<'_>) {
    for round in 0..ledger.rounds.min(5) {
        let id = format!("e{round}");
        let lease = ledger.win(ask(&id));
        let slots: Vec<_> = (0..6)
            .map(|n| Taken::new(ledger.due(&lease, &format!("late {n}"))))
            .collect();
        for n in 1..MAX_EFFECTS {
            ledger.step(&lease, &format!("step {n}"), "");
        }
        let went = ledger.race(slots.len(), |racer| {
            ledger.insist_on_recording(slots[racer].take(), "")
        });
        assert_eq!(
            went.iter().filter(|went| went.is_ok()).count(),
            1,
            "{went:?}"
        );
        let refused = |went: &&_| matches!(went, Err(RecordFault::TooMany));
        assert_eq!(went.iter().filter(refused).count(), 5, "{went:?}");
        assert_eq!(ledger.list(&key(&id)).len(), MAX_EFFECTS);
        ledger.stall(lease);
    }
}

/// S-23: the old holder records while others take over. If it is told that the record stands, the
/// new holder finds the step done; if it is refused, due. Never a record by the old holder after
/// the new one has looked.
pub(super) fn record_against_takeover(ledger: &Ledger<'_>) {
    for round in 0..ledger.rounds.min(50) {
        let id = format!("e{round}");
        let old = ledger.win(ask(&id));
        let slot = Taken::new(ledger.due(&old, "charge"));
        ledger.clock.advance(LEASE);
        let recorded = Mutex::new(None);
        let looked = Mutex::new(None);
        let look = |lease: &Lease| {
            let look = ledger.try_effect(lease, "charge").expect("it stands");
            *looked.lock().unwrap() = Some(matches!(look, Effect::Done(_)));
        };
        let claims = ledger.race(3, |racer| {
            if racer == 0 {
                let tried = ledger.insist_on_recording(slot.take(), "old");
                *recorded.lock().unwrap() = Some(tried);
                return None;
            }
            let claim = ledger.insist(&ask(&id));
            if let Claim::New(lease) = &claim {
                look(lease);
            }
            Some(claim)
        });
        let new = winner_or_next(claims.into_iter().flatten().collect(), || {
            let new = ledger.win(ask(&id));
            look(&new);
            new
        });
        let recorded = recorded.into_inner().unwrap().expect("it was tried");
        let was_done = looked.into_inner().unwrap().expect("somebody took over");
        match recorded {
            Ok(done) => assert_eq!((&*done.text, done.fence), ("old", old.fence())),
            Err(RecordFault::LeaseLost) => {
                ledger.step(&new, "charge", "new");
            }
            Err(fault) => panic!("neither done nor lost: {fault:?}"),
        }
        let text = &ledger.done(&new, "charge").text;
        assert_eq!(text, if was_done { "old" } else { "new" });
        ledger.stall(old);
        ledger.stall(new);
    }
}
