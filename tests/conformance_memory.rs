//! The store contract over the memory store, and over a store as a user would write one.
#![cfg(feature = "testing")]
#![allow(
    clippy::expect_used,
    reason = "a mutex of a test is not poisoned but by a failed test"
)]

mod own_store;

use std::sync::Arc;

use hookproof::{
    IdempotencyStore, MemoryStore,
    testing::{
        ManualClock,
        conformance::{Backend, DroppedLease, Witness},
    },
};
use own_store::OwnStore;

fn memory_store(clock: ManualClock, witness: Witness) -> MemoryStore {
    MemoryStore::builder()
        .clock(clock)
        .on_abandoned(witness)
        .build()
}

struct Memory;

impl Backend for Memory {
    type Store = MemoryStore;

    fn open(&self, clock: ManualClock, witness: Witness) -> MemoryStore {
        memory_store(clock, witness)
    }

    fn dropped_lease(&self) -> DroppedLease {
        DroppedLease::AtOnce
    }
}

/// The same behind the pointers that an application chooses and shares a store through.
struct Boxed;

impl Backend for Boxed {
    type Store = Arc<Box<dyn IdempotencyStore>>;

    fn open(&self, clock: ManualClock, witness: Witness) -> Self::Store {
        Arc::new(Box::new(memory_store(clock, witness)))
    }

    fn dropped_lease(&self) -> DroppedLease {
        DroppedLease::AtOnce
    }

    fn race_rounds(&self) -> usize {
        10
    }
}

struct Own;

impl Backend for Own {
    type Store = OwnStore;

    fn open(&self, clock: ManualClock, witness: Witness) -> OwnStore {
        OwnStore::new(clock, witness)
    }
}

hookproof::store_conformance! { memory: Memory, boxed: Boxed, own: Own }

#[cfg(feature = "inbox")]
hookproof::inbox_conformance! { memory_inbox: Memory }
