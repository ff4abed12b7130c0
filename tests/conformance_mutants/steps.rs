//! Ledgers with one rule broken, and the cases that must notice. The receipts beside them are kept
//! by the rules.

use std::{
    collections::HashMap,
    panic::catch_unwind,
    sync::{Mutex, MutexGuard},
    thread,
    time::Duration,
};

use hookproof::{
    Claim, Claiming, Effect, EffectLedger, EffectResult, EffectSlot, EventKey, Fence,
    IdempotencyStore, Lease, Receipt, StoreError, Verdict,
    store::{EffectError, Holder, MAX_EFFECTS, RecordError, RecordFault, SettleError, StoreFuture},
    testing::{
        ManualClock,
        conformance::{
            Backend, Witness,
            ledger::{ALL, Case},
        },
    },
};

use crate::own_store::OwnStore;

type Steps = HashMap<[u8; 16], Vec<EffectResult>>;

/// One rule per field, each a function that a mutant may replace.
#[derive(Clone, Copy)]
struct Rules {
    /// Whose steps they are.
    digest: fn(&EventKey) -> [u8; 16],
    /// What a step is found by.
    name: fn(&str) -> String,
    may_ask: fn(&Receipt, Fence) -> bool,
    may_record: fn(&Receipt, Fence) -> bool,
    /// Whether it looks at the receipt in one step and writes in another.
    looks_first: bool,
    /// How many steps there is room for.
    most: usize,
    /// What is kept of a result.
    kept: fn(&str) -> String,
    fits: fn(&str) -> bool,
    /// Whether a later record of a step stands.
    last_stands: bool,
    /// What is left of the steps when an attempt ends.
    settled: fn(&mut Vec<EffectResult>),
    /// Whether a receipt that goes takes its steps along.
    forgets: bool,
    purges: bool,
    listed: fn(&mut Vec<EffectResult>),
    /// Whether what was asked for counts as done.
    asking_records: bool,
}

/// Every rule kept.
const KEPT: Rules = Rules {
    digest: |key| *key.digest(),
    name: str::to_owned,
    may_ask: Receipt::stands,
    may_record: Receipt::stands,
    looks_first: false,
    most: MAX_EFFECTS,
    kept: str::to_owned,
    fits: EffectSlot::fits,
    last_stands: false,
    settled: |_| {},
    forgets: true,
    purges: true,
    listed: |_| {},
    asking_records: false,
};

struct Mutant {
    own: OwnStore,
    rules: Rules,
    steps: Mutex<Steps>,
}

impl Mutant {
    /// Always taken before the receipts' lock.
    fn steps(&self) -> MutexGuard<'_, Steps> {
        self.steps.lock().expect("nothing panics under the lock")
    }

    fn stands(&self, slot: &EffectSlot, rule: fn(&Receipt, Fence) -> bool) -> bool {
        let table = self.own.table();
        let row = table.rows.get(slot.key().digest());
        row.is_some_and(|row| rule(row, slot.fence()))
    }

    fn ask(&self, slot: EffectSlot) -> Result<Effect, EffectError> {
        let mut steps = self.steps();
        if !self.stands(&slot, self.rules.may_ask) {
            return Err(EffectError::LeaseLost);
        }
        let steps = steps.entry((self.rules.digest)(slot.key())).or_default();
        let name = (self.rules.name)(slot.name());
        if let Some(done) = steps.iter().find(|step| step.name == name) {
            return Ok(Effect::Done(done.clone()));
        }
        if steps.len() >= self.rules.most {
            return Err(EffectError::TooMany);
        }
        if self.rules.asking_records {
            steps.push(self.done(&slot, "", steps.len()));
        }
        Ok(Effect::Due(slot))
    }

    fn done(&self, slot: &EffectSlot, text: &str, before: usize) -> EffectResult {
        EffectResult {
            name: (self.rules.name)(slot.name()),
            text: (self.rules.kept)(text),
            number: u32::try_from(before).expect("it is small") + 1,
            fence: slot.fence(),
            recorded_at: self.own.now(),
        }
    }

    fn write(&self, slot: &EffectSlot, text: &str) -> Result<EffectResult, RecordFault> {
        if !(self.rules.fits)(text) {
            return Err(RecordFault::ResultTooLong);
        }
        let mut steps = self.steps();
        if !self.stands(slot, self.rules.may_record) {
            return Err(RecordFault::LeaseLost);
        }
        if self.rules.looks_first {
            drop(steps);
            // Time for others.
            thread::sleep(Duration::from_millis(2));
            steps = self.steps();
        }
        let steps = steps.entry((self.rules.digest)(slot.key())).or_default();
        let name = (self.rules.name)(slot.name());
        if let Some(done) = steps.iter_mut().find(|step| step.name == name) {
            if self.rules.last_stands {
                done.text = (self.rules.kept)(text);
            }
            return Ok(done.clone());
        }
        if steps.len() >= self.rules.most {
            return Err(RecordFault::TooMany);
        }
        let done = self.done(slot, text, steps.len());
        steps.push(done.clone());
        Ok(done)
    }
}

impl EffectLedger for Mutant {
    fn effect<'a>(
        &'a self,
        holder: &dyn Holder,
        name: &str,
    ) -> StoreFuture<'a, Result<Effect, EffectError>> {
        let slot = EffectSlot::new(holder, name);
        Box::pin(async move { self.ask(slot?) })
    }

    fn record(
        &self,
        slot: EffectSlot,
        result: &str,
    ) -> StoreFuture<'_, Result<EffectResult, RecordError>> {
        let text = result.to_owned();
        Box::pin(async move {
            let written = self.write(&slot, &text);
            written.map_err(|fault| RecordError::new(slot, fault))
        })
    }

    fn effects<'a>(
        &'a self,
        key: &'a EventKey,
    ) -> StoreFuture<'a, Result<Vec<EffectResult>, StoreError>> {
        Box::pin(async move {
            let steps = self.steps();
            let mut list = steps.get(&(self.rules.digest)(key)).cloned();
            list.iter_mut().for_each(self.rules.listed);
            Ok(list.unwrap_or_default())
        })
    }
}

impl IdempotencyStore for Mutant {
    fn claim(&self, claiming: Claiming) -> StoreFuture<'_, Result<Claim, StoreError>> {
        Box::pin(async move {
            // A claim and a record are one after the other.
            let _steps = self.steps();
            now(self.own.claim(claiming))
        })
    }

    fn settle(
        &self,
        lease: Lease,
        verdict: Verdict,
    ) -> StoreFuture<'_, Result<Receipt, SettleError>> {
        Box::pin(async move {
            let steps = &mut *self.steps();
            let digest = (self.rules.digest)(lease.key());
            steps.entry(digest).and_modify(self.rules.settled);
            now(self.own.settle(lease, verdict))
        })
    }

    fn renew(&self, lease: Lease, length: Duration) -> StoreFuture<'_, Result<Lease, SettleError>> {
        self.own.renew(lease, length)
    }

    fn release(&self, lease: Lease) -> StoreFuture<'_, Result<Receipt, SettleError>> {
        self.own.release(lease)
    }

    fn get<'a>(
        &'a self,
        key: &'a EventKey,
    ) -> StoreFuture<'a, Result<Option<Receipt>, StoreError>> {
        self.own.get(key)
    }

    fn forget<'a>(
        &'a self,
        key: &'a EventKey,
    ) -> StoreFuture<'a, Result<Option<Receipt>, StoreError>> {
        Box::pin(async move {
            let mut steps = self.steps();
            if self.rules.forgets {
                steps.remove(&(self.rules.digest)(key));
            }
            now(self.own.forget(key))
        })
    }

    fn purge(&self, at_most: usize) -> StoreFuture<'_, Result<usize, StoreError>> {
        Box::pin(async move {
            let mut steps = self.steps();
            let purged = now(self.own.purge(at_most));
            if self.rules.purges {
                let table = self.own.table();
                steps.retain(|digest, _| table.rows.contains_key(digest));
            }
            purged
        })
    }
}

/// `OwnStore` is done when first polled.
fn now<F: Future>(future: F) -> F::Output {
    hookproof::testing::block_on(future)
}

/// Not the mutants of receipts, which are a backend already.
struct Ledger(Rules);

impl Backend for Ledger {
    type Store = Mutant;

    fn open(&self, clock: ManualClock, witness: Witness) -> Mutant {
        Mutant {
            own: OwnStore::new(clock, witness),
            rules: self.0,
            steps: Mutex::default(),
        }
    }

    fn race_rounds(&self) -> usize {
        // In each the record may come before the others or after them.
        if self.0.looks_first { 50 } else { 8 }
    }
}

fn failures(rules: Rules) -> Vec<&'static str> {
    let fails = |case: &&Case| catch_unwind(|| case.run(&Ledger(rules))).is_err();
    ALL.iter().filter(fails).map(Case::name).collect()
}

/// The suite must notice, and by these cases among others.
#[track_caller]
fn is_caught(rules: Rules, by: &[&str]) {
    let failures = failures(rules);
    assert!(!by.is_empty(), "name the cases");
    for name in by {
        assert!(Case::by_name(name).is_some(), "there is no case {name}");
        assert!(
            failures.contains(name),
            "{name} did not notice; {failures:?} did"
        );
    }
}

#[test]
fn nothing_is_noticed_where_every_rule_is_kept() {
    assert_eq!(failures(KEPT), [""; 0]);
}

#[test]
fn records_are_not_fenced() {
    let rules = Rules {
        may_record: |_, _| true,
        ..KEPT
    };
    is_caught(
        rules,
        &[
            "lost_lease_cannot_record",
            "settled_event_takes_no_steps",
            "steps_survive_a_takeover",
        ],
    );
}

#[test]
fn fence_is_compared_but_not_the_state() {
    let rules = Rules {
        may_record: |row, fence| row.fence == fence,
        ..KEPT
    };
    is_caught(
        rules,
        &[
            "settled_event_takes_no_steps",
            "released_event_takes_no_steps",
            "buried_event_takes_no_steps",
        ],
    );
}

#[test]
fn whoever_asks_is_told() {
    let rules = Rules {
        may_ask: |_, _| true,
        ..KEPT
    };
    is_caught(rules, &["lost_lease_is_not_told_what_is_due"]);
}

#[test]
fn check_then_record() {
    let rules = Rules {
        looks_first: true,
        ..KEPT
    };
    is_caught(rules, &["record_against_takeover"]);
}

#[test]
fn asking_is_doing() {
    let rules = Rules {
        asking_records: true,
        ..KEPT
    };
    is_caught(rules, &["step_is_due_then_done", "asking_writes_nothing"]);
}

#[test]
fn the_last_record_stands() {
    let rules = Rules {
        last_stands: true,
        ..KEPT
    };
    is_caught(
        rules,
        &["recording_again_keeps_the_first", "one_step_by_many"],
    );
}

#[test]
fn steps_end_with_their_attempt() {
    let rules = Rules {
        settled: Vec::clear,
        ..KEPT
    };
    is_caught(
        rules,
        &[
            "steps_survive_attempts",
            "steps_stay_when_the_event_is_over",
        ],
    );
}

#[test]
fn steps_outlive_a_forgotten_event() {
    let rules = Rules {
        forgets: false,
        ..KEPT
    };
    is_caught(
        rules,
        &[
            "steps_are_forgotten_with_the_event",
            "steps_of_events_are_kept_apart",
        ],
    );
}

#[test]
fn steps_outlive_a_purged_event() {
    let rules = Rules {
        purges: false,
        ..KEPT
    };
    is_caught(rules, &["steps_are_purged_with_the_event"]);
}

#[test]
fn events_share_steps() {
    let rules = Rules {
        digest: |key| {
            let shared = EventKey::business("", key.provider(), key.id());
            shared.map_or([0; 16], |key| *key.digest())
        },
        ..KEPT
    };
    is_caught(rules, &["steps_of_events_are_kept_apart"]);
}

#[test]
fn names_ignore_case() {
    let rules = Rules {
        name: str::to_lowercase,
        ..KEPT
    };
    is_caught(rules, &["names_are_told_apart_by_their_bytes"]);
}

#[test]
fn names_lose_their_last_spaces() {
    let rules = Rules {
        name: |name| name.trim_end().to_owned(),
        ..KEPT
    };
    is_caught(rules, &["names_are_told_apart_by_their_bytes"]);
}

#[test]
fn results_end_at_a_zero() {
    let rules = Rules {
        kept: |text| text.split('\0').next().unwrap_or_default().to_owned(),
        ..KEPT
    };
    is_caught(rules, &["results_are_kept"]);
}

#[test]
fn results_are_bounded_by_characters() {
    let rules = Rules {
        fits: |text| text.chars().count() <= hookproof::store::MAX_RESULT_BYTES,
        ..KEPT
    };
    is_caught(rules, &["result_too_long_hands_the_slot_back"]);
}

#[test]
fn steps_have_no_bound() {
    let rules = Rules {
        most: usize::MAX,
        ..KEPT
    };
    is_caught(rules, &["number_of_steps_is_bounded", "last_room_by_many"]);
}

#[test]
fn steps_are_listed_by_name() {
    let rules = Rules {
        listed: |steps| steps.sort_by(|a, b| a.name.cmp(&b.name)),
        ..KEPT
    };
    is_caught(rules, &["steps_are_listed_in_their_order"]);
}
