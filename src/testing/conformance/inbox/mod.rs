//! The contract of inboxes, executed, beside that of stores: the same [`Backend`] serves, if its
//! store is an [`InboxStore`], with [`inbox_conformance!`](crate::inbox_conformance).
//!
//! ```
//! use hookproof::{MemoryStore, testing::{ManualClock, conformance::{Backend, Witness, inbox}}};
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
//!     fn many_keys(&self) -> usize { 100 }
//! }
//!
//! hookproof::inbox_conformance! { memory: Memory } // in tests: `memory::accepted_event_is_received` …
//!
//! # fn main() {
//! for case in inbox::ALL {
//!     case.run(&Memory);
//! }
//! # }
//! ```
//!
//! Inboxes that accept in batches ([`BatchInbox`]) have a list more, with
//! [`batch_inbox_conformance!`](crate::batch_inbox_conformance).

#[macro_use]
mod list;
#[macro_use]
mod batch_list;

mod accepting;
mod batch_known;
mod batch_races;
mod batches;
pub(super) mod bench;
mod leasing;
mod operating;
mod racing;
mod working;

use super::{Backend, bench::opened};
use crate::inbox::{BatchInbox, InboxStore};
use bench::Inbox;

/// One rule of the contract.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    name: &'static str,
    case: fn(&Inbox<'_>),
}

impl Case {
    /// Its name, such as `accepted_event_is_received`.
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
    pub fn run<B>(&self, backend: &B)
    where
        B: Backend,
        B::Store: InboxStore,
    {
        opened(backend, |bench, store| {
            (self.case)(&Inbox { bench, store });
        });
    }
}

/// What the tests of [`inbox_conformance!`](crate::inbox_conformance) call.
#[doc(hidden)]
pub fn __run<B>(name: &str, backend: &B)
where
    B: Backend,
    B::Store: InboxStore,
{
    let case = Case::by_name(name).expect("the list of cases is one and the same");
    case.run(backend);
}

macro_rules! all {
    ($($file:ident { $($case:ident)* })*) => {
        /// Every case, for a harness of your own; for `#[test]`s there is
        /// [`inbox_conformance!`](crate::inbox_conformance).
        pub const ALL: &[Case] = &[$($(
            Case {
                name: stringify!($case),
                case: $file::$case,
            },
        )*)*];
    };
}

__inbox_cases! { [all] }

/// One rule for inboxes that accept in batches.
#[derive(Debug, Clone, Copy)]
pub struct BatchCase {
    name: &'static str,
    case: fn(&Inbox<'_>, &dyn BatchInbox),
}

impl BatchCase {
    /// Its name.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Opens a store of `backend` and runs the case on it.
    ///
    /// # Panics
    ///
    /// If the store does not keep the rule.
    pub fn run<B>(&self, backend: &B)
    where
        B: Backend,
        B::Store: BatchInbox,
    {
        opened(backend, |bench, store| {
            let inbox = Inbox {
                bench,
                store: store.clone(),
            };
            (self.case)(&inbox, &store);
        });
    }
}

/// What the tests of [`batch_inbox_conformance!`](crate::batch_inbox_conformance) call.
#[doc(hidden)]
pub fn __run_batch<B>(name: &str, backend: &B)
where
    B: Backend,
    B::Store: BatchInbox,
{
    let case = ALL_OF_BATCHES.iter().find(|case| case.name == name);
    let case = case.expect("the list of cases is one and the same");
    case.run(backend);
}

macro_rules! all_of_batches {
    ($($file:ident { $($case:ident)* })*) => {
        /// Every case for batches, for a harness of your own.
        pub const ALL_OF_BATCHES: &[BatchCase] = &[$($(
            BatchCase { name: stringify!($case), case: $file::$case },
        )*)*];
    };
}

__batch_inbox_cases! { [all_of_batches] }
