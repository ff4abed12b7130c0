//! The contract of stores, executed: run it over a store of your own.
//!
//! Every backend of this crate passes these cases. They speak to a store through
//! [`IdempotencyStore`](crate::IdempotencyStore) alone, as a trait object. Say how your store is
//! opened ([`Backend`]), and [`store_conformance!`](crate::store_conformance) makes one `#[test]`
//! of each case:
//!
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/own_store/mod.rs"));
//! # fn main() {
//! use hookproof::testing::{ManualClock, conformance::{self, Backend, Witness}};
//!
//! struct Own;
//!
//! impl Backend for Own {
//!     type Store = OwnStore; // a map and `Receipt::ruling`: see tests/own_store in the source
//!
//!     fn open(&self, clock: ManualClock, witness: Witness) -> OwnStore {
//!         OwnStore::new(clock, witness)
//!     }
//!
//!     // Fewer than by default, since this is a page of documentation.
//!     fn race_rounds(&self) -> usize { 3 }
//!     fn many_keys(&self) -> usize { 300 }
//! }
//!
//! hookproof::store_conformance! { own: Own } // in tests: `own::s16_two_at_once` and so on
//!
//! // Or in a harness of your own:
//! for case in conformance::ALL {
//!     case.run(&Own);
//! }
//! # }
//! ```
//!
//! What stores may keep beside receipts has suites of its own, made in the same way and over the same
//! backends: [`order`] (versions of objects, [`order_conformance!`](crate::order_conformance)) and
//! [`ledger`] (steps of events, [`ledger_conformance!`](crate::ledger_conformance)).
//!
//! A case that fails panics and says what it expected. Its documentation in the source says which
//! rule that is.
//!
//! # Which scenario is where
//!
//! Cases that play one of the project's numbered scenarios begin with its number. Some scenarios
//! are about more than one process and its store; they are tested elsewhere, as noted.
//!
//! | scenario | cases |
//! |---|---|
//! | S-01 new id, same signed bytes | `s01_new_id_same_signed_bytes` |
//! | S-02 id header removed | `s02_id_header_removed` |
//! | S-03 replay inside the window | `s03_replay_inside_the_window` |
//! | S-04 one-time token | `s04_one_time_token` |
//! | S-05 no usable key | no store is involved: [`KeyError::NoId`](crate::KeyError::NoId), tests of `verify` |
//! | S-06 attempt id against event id | `s06_attempt_id_against_event_id` |
//! | S-07 scheme without time | `s07_scheme_without_time` |
//! | S-08 retention shorter than the window | `s08_retention_shorter_than_the_window` |
//! | S-09 equal bodies on purpose | `s09_equal_bodies_on_purpose` |
//! | S-10 scope | `s10_scopes_are_kept_apart` |
//! | S-11 retry after success | `s11_retry_after_success` |
//! | S-12 restart | each backend's own tests: memory forgets, SQL does not |
//! | S-13 no sliding retention | `s13_*` |
//! | S-14 outage longer than retention | `s14_outage_longer_than_retention` |
//! | S-15 retry header, and the boundary of retention | `s15_*` |
//! | S-16 two at once | `s16_*` in one process; two processes in the SQL backends' tests |
//! | S-17 two retries at once | `s17_two_retries_at_once` |
//! | S-18 crash after the claim | `s18_crash_after_claim`; with a killed process in the SQL backends' tests |
//! | S-19 webhook against another code path | `s19_webhook_against_another_code_path`; in the caller's transaction in the SQL backends' tests |
//! | S-20 answer for a duplicate | that it is no error: `s11_retry_after_success`; the status: tests of the gate |
//! | S-21 conflict row | SQL backends' tests |
//! | S-22 caller's transaction | SQL backends' tests |
//! | S-23 lost lease | `s23_*` |
//! | S-24 zero is not "none" | `s24_zero_lease_is_over_at_once` |
//! | S-25 lease longer than the request | `s25_lease_longer_than_the_request` |
//! | S-26 handler fails | `s26_handler_fails` |
//! | S-27 store down | tests of the gate, and of each engine that can be down |
//! | S-28 collation | `s28_ids_that_collations_confuse` |
//! | S-29 long keys, NUL, emoji, nothing | `s29_*` |
//! | S-30 same key, other body | `s30_*` |
//! | S-31 order | `s31_order_does_not_hide_an_event`; the guard that compares versions has a suite of its own: [`order`] |
//! | S-32 manual redelivery | `s32_*` |
//! | S-33 claim before verification | `s33_forged_delivery_touches_nothing`; that the wrong order does not compile: [`Claiming::new`](crate::Claiming::new) |
//! | S-34 heartbeat | `s34_*` |
//! | S-35 cancelled task | `s35_*` |
//! | S-36 bounded memory store | tests of [`MemoryStore`](crate::MemoryStore) |
//! | S-37 clock | set back: `s37_*`; a server's clock against the process's: SQL backends' tests |
//! | S-38 purge | `s38_*` |
//! | S-39 schema, S-40 SQLite busy | SQL backends' tests |
//!
//! What only some stores can do has lists of its own: [`batch_conformance!`](crate::batch_conformance)
//! for [`BatchStore`], [`stats_conformance!`](crate::stats_conformance) for
//! [`StatsStore`].
//!
//! Events in state `Received` come from an inbox only, and so do their cases: with the feature
//! `inbox` they are in `conformance::inbox`, for stores that are an
//! `InboxStore`. A store with a limit
//! (`Full`), a transaction or a schema of its own has more to prove than this.

// The other half of the promise that no case can be forgotten: a case that the list below does not
// name is a function that nothing calls.
#![deny(dead_code)]
#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test suite fails by panicking"
)]

#[macro_use]
mod list;

pub mod ledger;
pub mod order;

mod backend;
mod bench;
mod post;
mod racing;

mod batch_races;
mod batch_repeats;
mod batch_takeovers;
mod batches;
mod stats;

mod abandoned;
mod claims;
mod clocks;
mod conflicts;
mod deliveries;
mod fences;
#[cfg(feature = "inbox")]
pub mod inbox;
mod keys;
mod leases;
mod purges;
mod races;
mod retention;
#[cfg(feature = "inbox")]
pub mod review;
mod settling;

pub use backend::{Backend, DroppedLease, Witness};
use bench::Bench;

use crate::store::{BatchStore, StatsStore};

/// One rule of the contract.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    name: &'static str,
    case: fn(&Bench<'_>),
}

impl Case {
    /// Its name, such as `s16_two_at_once`.
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
    pub fn run<B: Backend>(&self, backend: &B) {
        bench::on(backend, self.case);
    }
}

/// What the tests of [`store_conformance!`](crate::store_conformance) call.
#[doc(hidden)]
pub fn __run<B: Backend>(name: &str, backend: &B) {
    let case = Case::by_name(name).expect("the list of cases is one and the same");
    case.run(backend);
}

macro_rules! all {
    ($($file:ident { $($case:ident)* })*) => {
        /// Every case, for a harness of your own; for `#[test]`s there is
        /// [`store_conformance!`](crate::store_conformance).
        pub const ALL: &[Case] = &[$($(
            Case {
                name: stringify!($case),
                case: $file::$case,
            },
        )*)*];
    };
}

__conformance_cases! { [all] }

/// One rule for stores that claim in batches.
#[derive(Debug, Clone, Copy)]
pub struct BatchCase {
    name: &'static str,
    case: fn(&Bench<'_>, &dyn BatchStore),
}

/// One rule for stores that can say what they hold.
#[derive(Debug, Clone, Copy)]
pub struct StatsCase {
    name: &'static str,
    case: fn(&Bench<'_>, &dyn StatsStore),
}

macro_rules! more {
    ($case:ident, $all:ident, $store:ident, $run:ident) => {
        impl $case {
            /// Its name.
            pub const fn name(&self) -> &'static str {
                self.name
            }

            /// Opens a store of `backend` and runs the case on it.
            ///
            /// # Panics
            ///
            /// If the store does not keep the rule.
            pub fn run<B: Backend<Store: $store>>(&self, backend: &B) {
                bench::with(
                    backend,
                    |store| store,
                    |bench, store| (self.case)(bench, &store),
                );
            }
        }

        #[doc(hidden)]
        pub fn $run<B: Backend<Store: $store>>(name: &str, backend: &B) {
            let case = $all.iter().find(|case| case.name == name);
            let case = case.expect("the list of cases is one and the same");
            case.run(backend);
        }
    };
}

more! { BatchCase, ALL_OF_BATCHES, BatchStore, __run_batch }
more! { StatsCase, ALL_OF_STATS, StatsStore, __run_stats }

macro_rules! all_of_batches {
    ($($file:ident { $($case:ident)* })*) => {
        /// Every case for batches, for a harness of your own.
        pub const ALL_OF_BATCHES: &[BatchCase] = &[$($(
            BatchCase { name: stringify!($case), case: $file::$case },
        )*)*];
    };
}

macro_rules! all_of_stats {
    ($($file:ident { $($case:ident)* })*) => {
        /// Every case for numbers, for a harness of your own.
        pub const ALL_OF_STATS: &[StatsCase] = &[$($(
            StatsCase { name: stringify!($case), case: $file::$case },
        )*)*];
    };
}

__batch_cases! { [all_of_batches] }
__stats_cases! { [all_of_stats] }
