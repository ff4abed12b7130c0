//! Stores in memory, to be filled and timed alike.

use std::{
    collections::HashMap,
    hint::black_box,
    sync::{Barrier, Mutex},
    task::{Context, Poll, Waker},
    time::Duration,
};

use dashmap::DashMap;
use hookproof::{
    Claim, Claiming, EventKey, IdempotencyStore, Lease, MemoryStore, Verdict, store::StoreFuture,
};
use hookproof_benches::clock;

/// What all of them hold beside the key, where they hold but one thing.
const EXPIRES_AT: u64 = 1_800_000_000;

/// A store to be timed. Batches of several threads begin together.
pub trait Store: Sync {
    fn name(&self) -> &'static str;

    /// Times the insertion of events that are new and stay, as processed.
    fn keep(&self, keys: &[EventKey], start: &Barrier) -> Duration;

    /// Times the insertion of events that are new, and takes them out again.
    fn insert_new(&self, keys: &[EventKey], start: &Barrier) -> Duration;

    /// Times the insertion of events that are there.
    fn insert_again(&self, keys: &[EventKey], start: &Barrier) -> Duration;
}

/// All of them, the floor first.
pub fn all(capacity: usize) -> Vec<Box<dyn Store>> {
    let dash = DashMap::<[u8; 16], u64>::new();
    let hash = Mutex::new(HashMap::<[u8; 16], u64>::new());
    let moka = moka::sync::Cache::<[u8; 16], u64>::builder()
        .max_capacity(capacity as u64)
        .time_to_live(Duration::from_secs(30 * 24 * 60 * 60))
        .build();
    vec![
        Box::new(Bare {
            name: "dashmap insert",
            map: dash,
            insert: |map: &DashMap<_, _>, key| {
                black_box(map.insert(key, EXPIRES_AT));
            },
            remove: |map: &DashMap<_, _>, key| {
                map.remove(&key);
            },
        }),
        Box::new(Ours(MemoryStore::builder().capacity(capacity).build())),
        Box::new(Bare {
            name: "Mutex<HashMap> insert",
            map: hash,
            insert: |map: &Mutex<HashMap<_, _>>, key| {
                black_box(map.lock().expect("no panic").insert(key, EXPIRES_AT));
            },
            remove: |map: &Mutex<HashMap<_, _>>, key| {
                map.lock().expect("no panic").remove(&key);
            },
        }),
        Box::new(Bare {
            name: "moka insert",
            map: moka,
            insert: |map: &moka::sync::Cache<_, _>, key| map.insert(key, EXPIRES_AT),
            remove: |map: &moka::sync::Cache<_, _>, key| map.invalidate(&key),
        }),
    ]
}

fn time(start: &Barrier, run: impl FnOnce()) -> Duration {
    start.wait();
    let begin = clock();
    run();
    let taken = clock() - begin;
    start.wait();
    taken
}

/// A map of digests, with what it does for each.
struct Bare<M, I, R> {
    name: &'static str,
    map: M,
    insert: I,
    remove: R,
}

impl<M, I, R> Bare<M, I, R>
where
    M: Sync,
    I: Fn(&M, [u8; 16]) + Sync,
    R: Fn(&M, [u8; 16]) + Sync,
{
    fn insert(&self, keys: &[EventKey], start: &Barrier) -> Duration {
        let digests: Vec<[u8; 16]> = keys.iter().map(|key| *key.digest()).collect();
        time(start, || {
            for digest in digests {
                (self.insert)(&self.map, digest);
            }
        })
    }
}

impl<M, I, R> Store for Bare<M, I, R>
where
    M: Sync,
    I: Fn(&M, [u8; 16]) + Sync,
    R: Fn(&M, [u8; 16]) + Sync,
{
    fn name(&self) -> &'static str {
        self.name
    }

    fn keep(&self, keys: &[EventKey], start: &Barrier) -> Duration {
        self.insert(keys, start)
    }

    fn insert_new(&self, keys: &[EventKey], start: &Barrier) -> Duration {
        let taken = self.insert(keys, start);
        for key in keys {
            (self.remove)(&self.map, *key.digest());
        }
        taken
    }

    fn insert_again(&self, keys: &[EventKey], start: &Barrier) -> Duration {
        self.insert(keys, start)
    }
}

struct Ours(MemoryStore);

impl Ours {
    /// Times the claims alone; their leases are settled later.
    fn claim(&self, keys: &[EventKey], start: &Barrier) -> (Duration, Vec<Lease>) {
        let claimings: Vec<_> = keys.iter().cloned().map(Claiming::business).collect();
        let mut leases = Vec::with_capacity(keys.len());
        let taken = time(start, || {
            for claiming in claimings {
                match at_once(self.0.claim(claiming)) {
                    Ok(Claim::New(lease)) => leases.push(lease),
                    other => panic!("a new event, not {other:?}"),
                }
            }
        });
        (taken, leases)
    }
}

impl Store for Ours {
    fn name(&self) -> &'static str {
        "MemoryStore claim"
    }

    fn keep(&self, keys: &[EventKey], start: &Barrier) -> Duration {
        let (taken, leases) = self.claim(keys, start);
        for lease in leases {
            at_once(self.0.settle(lease, Verdict::done(""))).expect("the lease stands");
        }
        taken
    }

    fn insert_new(&self, keys: &[EventKey], start: &Barrier) -> Duration {
        let (taken, leases) = self.claim(keys, start);
        for lease in leases {
            let key = lease.key().clone();
            at_once(self.0.settle(lease, Verdict::done(""))).expect("the lease stands");
            at_once(self.0.forget(&key)).expect("memory answers");
        }
        taken
    }

    fn insert_again(&self, keys: &[EventKey], start: &Barrier) -> Duration {
        let claimings: Vec<_> = keys.iter().cloned().map(Claiming::business).collect();
        time(start, || {
            for claiming in claimings {
                match at_once(self.0.claim(claiming)) {
                    Ok(Claim::Duplicate(receipt)) => drop(black_box(receipt)),
                    other => panic!("a duplicate, not {other:?}"),
                }
            }
        })
    }
}

/// Memory has nothing to wait for, so one poll is the whole call.
fn at_once<T>(mut future: StoreFuture<'_, T>) -> T {
    match future
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
    {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("a store in memory waits for nothing"),
    }
}
