//! The contract of [`EffectLedger`], executed: run it over a store of your own.
//!
//! ```
//! use hookproof::{MemoryStore, testing::{ManualClock, conformance::{Backend, Witness, ledger}}};
//!
//! struct Memory;
//!
//! impl Backend for Memory {
//!     type Store = MemoryStore;
//!
//!     fn open(&self, clock: ManualClock, witness: Witness) -> MemoryStore {
//!         MemoryStore::builder().clock(clock).on_abandoned(witness).build()
//!     }
//!
//!     fn race_rounds(&self) -> usize { 3 }
//! }
//!
//! hookproof::ledger_conformance! { memory: Memory } // in tests: `memory::step_is_due_then_done` …
//!
//! for case in ledger::ALL {
//!     case.run(&Memory);
//! }
//! ```

#[macro_use]
mod list;

mod fencing;
mod keeping;
mod races;
mod steps;

use std::{ops::Deref, sync::Arc};

use super::{
    Backend,
    bench::{self, Bench},
};
use crate::{
    Effect, EffectLedger, EffectResult, EffectSlot, EventKey,
    store::{EffectError, Holder, RecordError, RecordFault},
};

/// One rule of the contract.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    name: &'static str,
    case: fn(&Ledger<'_>),
}

impl Case {
    /// Its name, such as `lost_lease_cannot_record`.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Finds a case by its name.
    pub fn by_name(name: &str) -> Option<&'static Case> {
        ALL.iter().find(|case| case.name == name)
    }

    /// Opens a store of `backend` and runs the case on it.
    ///
    /// # Panics
    ///
    /// If the store does not keep the rule.
    pub fn run<B: Backend>(&self, backend: &B)
    where
        B::Store: EffectLedger,
    {
        bench::opened(backend, |bench, store| {
            (self.case)(&Ledger { bench, store });
        });
    }
}

/// What the tests of [`ledger_conformance!`](crate::ledger_conformance) call.
#[doc(hidden)]
pub fn __run<B: Backend>(name: &str, backend: &B)
where
    B::Store: EffectLedger,
{
    let case = Case::by_name(name).expect("the list of cases is one and the same");
    case.run(backend);
}

macro_rules! all {
    ($($file:ident { $($case:ident)* })*) => {
        /// Every case, for a harness of your own; for `#[test]`s there is
        /// [`ledger_conformance!`](crate::ledger_conformance).
        pub const ALL: &[Case] = &[$($(
            Case {
                name: stringify!($case),
                case: $file::$case,
            },
        )*)*];
    };
}

__ledger_cases! { [all] }

/// One opened store, as a ledger too.
struct Ledger<'b> {
    bench: &'b Bench<'b>,
    store: Arc<dyn EffectLedger>,
}

impl<'b> Deref for Ledger<'b> {
    type Target = Bench<'b>;

    fn deref(&self) -> &Bench<'b> {
        self.bench
    }
}

impl Ledger<'_> {
    fn try_effect(&self, holder: &dyn Holder, name: &str) -> Result<Effect, EffectError> {
        self.wait(self.store.effect(holder, name))
    }

    /// Expects a step not to be recorded.
    #[track_caller]
    fn due(&self, holder: &dyn Holder, name: &str) -> EffectSlot {
        match self.try_effect(holder, name) {
            Ok(Effect::Due(slot)) => slot,
            other => panic!("expected Due, got {other:?}"),
        }
    }

    /// Expects a step to be recorded.
    #[track_caller]
    fn done(&self, holder: &dyn Holder, name: &str) -> EffectResult {
        match self.try_effect(holder, name) {
            Ok(Effect::Done(done)) => done,
            other => panic!("expected Done, got {other:?}"),
        }
    }

    fn try_record(&self, slot: EffectSlot, result: &str) -> Result<EffectResult, RecordError> {
        self.wait(self.store.record(slot, result))
    }

    #[track_caller]
    fn record(&self, slot: EffectSlot, result: &str) -> EffectResult {
        self.try_record(slot, result).expect("cannot record")
    }

    /// Does a step that is due.
    #[track_caller]
    fn step(&self, holder: &dyn Holder, name: &str, result: &str) -> EffectResult {
        let slot = self.due(holder, name);
        self.record(slot, result)
    }

    fn list(&self, key: &EventKey) -> Vec<EffectResult> {
        self.wait(self.store.effects(key)).expect("cannot list")
    }

    /// Expects a slot not to be recorded, since its lease is over, and to be handed back.
    #[track_caller]
    fn refused(&self, slot: EffectSlot) {
        let key = slot.key().clone();
        let (name, fence, before) = (slot.name().to_owned(), slot.fence(), self.list(&key));
        let slot = match self.try_record(slot, "too late") {
            Err(RecordError {
                slot,
                fault: RecordFault::LeaseLost,
            }) => slot,
            other => panic!("expected LeaseLost, got {other:?}"),
        };
        assert_eq!((slot.name(), slot.fence()), (&*name, fence));
        assert_eq!(self.list(&key), before, "a lost lease recorded");
    }

    /// Expects a holder to be told that its lease is over.
    #[track_caller]
    fn told(&self, holder: &dyn Holder, name: &str) {
        let told = self.try_effect(holder, name);
        assert!(matches!(told, Err(EffectError::LeaseLost)), "{told:?}");
    }
}
