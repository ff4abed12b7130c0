//! What is the memory store's own. The contract that it shares with all stores is the conformance
//! suite's.
#![cfg(feature = "testing")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

mod bound;
mod leases;
mod model;
mod ops;

use std::{
    pin::pin,
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
    time::Duration,
};

use hookproof::{
    Claim, Claiming, EventKey, Fence, IdempotencyStore, Lease, MemoryStore, Receipt, Verdict,
    store::{Abandoned, OnAbandoned, StoreFuture},
    testing::ManualClock,
};
use time::macros::datetime;

const HOUR: Duration = Duration::from_secs(3600);

/// The store's futures never wait.
fn ready<T>(future: StoreFuture<'_, T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("the memory store waited"),
    }
}

fn key(event: usize) -> EventKey {
    EventKey::business("tenant", "memory", &format!("evt_{event}")).unwrap()
}

fn asking(event: usize) -> Claiming {
    Claiming::business(key(event))
}

fn claim(store: &MemoryStore, event: usize) -> Lease {
    won(ready(store.claim(asking(event))).unwrap())
}

fn won(claim: Claim) -> Lease {
    match claim {
        Claim::New(lease) => lease,
        other => panic!("not won: {other:?}"),
    }
}

fn done(store: &MemoryStore, lease: Lease) -> Receipt {
    ready(store.settle(lease, Verdict::done(""))).unwrap()
}

fn clock() -> ManualClock {
    ManualClock::at(datetime!(2027-01-15 08:00 UTC))
}

/// A store with a clock to turn, and nobody to tell of dropped leases.
fn store(capacity: usize, clock: &ManualClock) -> MemoryStore {
    MemoryStore::builder()
        .capacity(capacity)
        .clock(clock.clone())
        .on_abandoned(Told::default())
        .build()
}

/// Takes down which leases were dropped.
#[derive(Clone, Default)]
struct Told(Arc<Mutex<Vec<(EventKey, Fence, u32)>>>);

impl OnAbandoned for Told {
    fn abandoned(&self, lease: &Abandoned<'_>) {
        let told = (lease.key.clone(), lease.fence, lease.attempt);
        self.0.lock().unwrap().push(told);
    }
}
