//! Proof that the conformance suite can fail: stores with one rule broken, and the cases that must
//! notice.
#![cfg(feature = "testing")]
#![allow(
    clippy::expect_used,
    clippy::arithmetic_side_effects,
    reason = "a mutex of a test is not poisoned but by a failed test; mutants count carelessly"
)]

mod claiming;
mod conflicts;
mod naming;
mod objects;
#[path = "../own_store/mod.rs"]
mod own_store;
mod remembering;
#[cfg(feature = "inbox")]
mod reviews;
mod rules;
mod settling;
mod steps;
mod store;
mod writing;

use std::panic::catch_unwind;

use hookproof::testing::{
    ManualClock,
    conformance::{ALL, Backend, Case, Witness},
};
use rules::{KEPT, Rules};
use store::Mutant;

impl Backend for Rules {
    type Store = Mutant;

    fn open(&self, clock: ManualClock, witness: Witness) -> Mutant {
        Mutant::new(*self, clock, witness)
    }

    fn race_rounds(&self) -> usize {
        self.rounds
    }

    fn many_keys(&self) -> usize {
        50
    }
}

/// The names of all cases that a store with these rules fails.
fn failures(rules: Rules) -> Vec<&'static str> {
    let fails = |case: &&Case| catch_unwind(|| case.run(&rules)).is_err();
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

/// What the mutants are made from is sound, so that each fails for its own fault.
#[test]
fn nothing_is_noticed_where_every_rule_is_kept() {
    assert_eq!(failures(KEPT), [""; 0]);
}
