//! A store of your own, and the suite that says whether it keeps the contract.
//!
//! `cargo run --example own_store`
//!
//! The store is `tests/own_store/mod.rs`: a map behind a mutex. Every rule is a function of the
//! crate, so that a backend only reads, asks and writes, in one atomic step of its engine. In a
//! test you would write `hookproof::store_conformance! { own: Own }`, which makes a `#[test]` of
//! each case.
#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a mutex of an example is not poisoned but by a failed case"
)]

#[path = "../tests/own_store/mod.rs"]
mod own_store;

use hookproof::testing::{
    ManualClock,
    conformance::{self, Backend, Witness},
};
use own_store::OwnStore;

/// How the suite opens the store.
struct Own;

impl Backend for Own {
    type Store = OwnStore;

    fn open(&self, clock: ManualClock, witness: Witness) -> OwnStore {
        OwnStore::new(clock, witness)
    }

    /// A tenth of the usual, for an example.
    fn race_rounds(&self) -> usize {
        20
    }

    fn many_keys(&self) -> usize {
        1_000
    }
}

fn main() {
    for case in conformance::ALL {
        case.run(&Own);
    }
    let cases = conformance::ALL.len();
    assert!(cases > 100, "the suite has shrunk to {cases} cases");
    println!("all {cases} cases hold");
}
