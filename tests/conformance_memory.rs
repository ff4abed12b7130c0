//! The store contract over the memory store, and over a store as a user would write one.
#![cfg(feature = "testing")]
#![allow(
    clippy::expect_used,
    reason = "a mutex of a test is not poisoned but by a failed test"
)]

mod own_store;

use std::sync::Arc;

use hookproof::{
    EffectLedger, IdempotencyStore, MemoryStore, OrderGuard,
    testing::{
        ManualClock,
        conformance::{Backend, DroppedLease, Witness, order::GuardBackend},
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

/// What is kept beside receipts, behind pointers too.
struct Ledger;

impl Backend for Ledger {
    type Store = Arc<Box<dyn EffectLedger>>;

    fn open(&self, clock: ManualClock, witness: Witness) -> Self::Store {
        Arc::new(Box::new(memory_store(clock, witness)))
    }

    fn race_rounds(&self) -> usize {
        10
    }
}

struct Guard;

impl GuardBackend for Guard {
    type Guard = Arc<Box<dyn OrderGuard>>;

    fn open_guard(&self, clock: ManualClock) -> Self::Guard {
        Arc::new(Box::new(memory_store(clock, Witness::default())))
    }
}

hookproof::order_conformance! { order: Memory, order_boxed: Guard }
hookproof::ledger_conformance! { ledger: Memory, ledger_boxed: Ledger }
hookproof::batch_conformance! { memory_batches: Memory }
hookproof::stats_conformance! { memory_stats: Memory }
#[cfg(feature = "inbox")]
hookproof::inbox_conformance! { memory_inbox: Memory }

/// Behind the pointers that an application chooses and shares a store through.
#[cfg(feature = "inbox")]
struct BoxedReviews;

#[cfg(feature = "inbox")]
impl Backend for BoxedReviews {
    type Store = Arc<Box<dyn hookproof::review::ReviewStore>>;

    fn open(&self, clock: ManualClock, witness: Witness) -> Self::Store {
        Arc::new(Box::new(memory_store(clock, witness)))
    }

    fn race_rounds(&self) -> usize {
        10
    }
}

#[cfg(feature = "inbox")]
hookproof::review_conformance! { memory_reviews: Memory, boxed_reviews: BoxedReviews }
