//! How much memory a receipt takes. In a process of its own, because it counts allocations.
#![allow(clippy::unwrap_used, clippy::panic, clippy::arithmetic_side_effects)]

use std::{
    pin::pin,
    task::{Context, Poll, Waker},
    time::Duration,
};

use hookproof::{
    Claim, Claiming, EventKey, IdempotencyStore, Lease, MemoryStore, Verdict, store::StoreFuture,
};

const BUDGET: i64 = 64;

/// The store's futures never wait.
fn ready<T>(future: StoreFuture<'_, T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("the memory store waited"),
    }
}

fn claim(store: &MemoryStore, event: u32) -> Lease {
    let key = EventKey::business("tenant", "size", &format!("evt_{event}")).unwrap();
    match ready(store.claim(Claiming::business(key))).unwrap() {
        Claim::New(lease) => lease,
        other => panic!("{other:?}"),
    }
}

fn bytes_of(work: impl FnOnce()) -> i64 {
    allocation_counter::measure(work).bytes_current
}

#[test]
fn a_settled_receipt_takes_64_bytes_at_most() {
    let mut store = None;
    let mut bytes = bytes_of(|| store = Some(MemoryStore::new()));
    let store = store.unwrap();
    // Every now and then, since an index that doubled would be within the budget half of the time.
    let step = 20_000;
    for first in (0..1_000_000).step_by(step) {
        bytes += bytes_of(|| {
            for event in (first..).take(step) {
                ready(store.settle(claim(&store, event), Verdict::done(""))).unwrap();
            }
        });
        let receipts = i64::from(first) + step as i64;
        if receipts >= 100_000 {
            assert!(
                bytes <= BUDGET * receipts,
                "{receipts} receipts take {bytes} bytes"
            );
        }
    }
    assert_eq!(
        format!("{store:?}"),
        "MemoryStore { receipts: 1000000, capacity: 1000000, .. }"
    );
}

#[test]
fn a_bad_day_leaves_nothing_behind() {
    let receipts: u32 = 150_000;
    let mut store = None;
    let mut bytes = bytes_of(|| store = Some(MemoryStore::new()));
    let store = store.unwrap();
    bytes += bytes_of(|| {
        for event in 0..receipts {
            let failed = Verdict::retry(Duration::ZERO);
            ready(store.settle(claim(&store, event), failed)).unwrap();
        }
    });
    assert!(
        bytes > BUDGET * i64::from(receipts),
        "waiting takes room, which is to be given back"
    );
    bytes += bytes_of(|| {
        for event in 0..receipts {
            let lease = ready(store.renew(claim(&store, event), Duration::from_secs(9))).unwrap();
            ready(store.settle(lease, Verdict::done(""))).unwrap();
        }
    });
    assert!(
        bytes <= BUDGET * i64::from(receipts),
        "{receipts} receipts take {bytes} bytes"
    );
}

#[test]
fn a_purged_receipt_leaves_its_room_to_another() {
    let receipts: u32 = 20_000;
    let mut store = None;
    let mut bytes = bytes_of(|| store = Some(MemoryStore::new()));
    let store = store.unwrap();
    for _ in 0..5 {
        bytes += bytes_of(|| {
            for event in 0..receipts {
                let key = EventKey::business("tenant", "purged", &format!("evt_{event}")).unwrap();
                let asking = Claiming::business(key).retention(Duration::ZERO);
                let Claim::New(lease) = ready(store.claim(asking)).unwrap() else {
                    panic!("not purged: {event}");
                };
                let verdict = match event % 2 {
                    0 => Verdict::done("a result"),
                    _ => Verdict::retry(Duration::from_secs(60)),
                };
                ready(store.settle(lease, verdict)).unwrap();
            }
            assert_eq!(ready(store.purge(usize::MAX)).unwrap(), receipts as usize);
        });
    }
    bytes += bytes_of(|| {
        for event in 0..receipts {
            ready(store.settle(claim(&store, event), Verdict::done(""))).unwrap();
        }
    });
    // So few receipts also carry what each shard keeps for a start.
    let each = bytes / i64::from(receipts);
    assert!((50..90).contains(&each), "{each} bytes each");
}
