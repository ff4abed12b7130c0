//! The contract of reviews, executed, beside that of inboxes: the same [`Backend`] serves, if its
//! store is a [`ReviewStore`], with [`review_conformance!`](crate::review_conformance).
//!
//! ```
//! use hookproof::{MemoryStore, testing::{ManualClock, conformance::{Backend, Witness, review}}};
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
//! hookproof::review_conformance! { memory: Memory } // in tests: `memory::kept_case_is_open` …
//!
//! # fn main() {
//! for case in review::ALL {
//!     case.run(&Memory);
//! }
//! # }
//! ```

#[macro_use]
mod list;

mod admitting;
mod bench;
mod discarding;
mod keeping;
mod racing;

use super::{Backend, bench::opened, inbox::bench::Inbox};
use crate::review::ReviewStore;
use bench::Desk;

/// One rule of the contract.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    name: &'static str,
    case: fn(&Desk<'_>),
}

impl Case {
    /// Its name, such as `kept_case_is_open`.
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
        B::Store: ReviewStore,
    {
        opened(backend, |bench, store| {
            let inbox = Inbox {
                bench,
                store: store.clone(),
            };
            (self.case)(&Desk { inbox, store });
        });
    }
}

/// What the tests of [`review_conformance!`](crate::review_conformance) call.
#[doc(hidden)]
pub fn __run<B>(name: &str, backend: &B)
where
    B: Backend,
    B::Store: ReviewStore,
{
    let case = Case::by_name(name).expect("the list of cases is one and the same");
    case.run(backend);
}

macro_rules! all {
    ($($file:ident { $($case:ident)* })*) => {
        /// Every case, for a harness of your own; for `#[test]`s there is
        /// [`review_conformance!`](crate::review_conformance).
        pub const ALL: &[Case] = &[$($(
            Case {
                name: stringify!($case),
                case: $file::$case,
            },
        )*)*];
    };
}

__review_cases! { [all] }
