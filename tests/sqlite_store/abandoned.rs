//! Leases dropped unsettled, and calls that nobody waits for any more.

use hookproof::{Claim, Fence, IdempotencyStore, Verdict, store::SettleFault};

use super::{Bench, ask, at_the_writer, block_on, busy, claim, duplicate, flush, key, settle, win};

#[test]
fn a_dropped_lease_is_given_back() {
    let bench = Bench::new();
    let store = bench.open();
    let lease = win(&store, "e1");
    let fence = lease.fence();
    busy(&store, "e1");
    drop(lease);
    assert_eq!(bench.abandoned.count(), 1);
    flush(&store);
    let lease = win(&store, "e1");
    assert_eq!((lease.attempt(), lease.fence()), (2, Fence(fence.0 + 1)));
    settle(&store, lease, "done");
}

#[test]
fn a_lost_lease_gives_nothing_back() {
    let bench = Bench::new();
    let store = bench.open();
    let first = win(&store, "e1");
    bench.clock.advance(super::LEASE);
    let second = win(&store, "e1");
    drop(first);
    flush(&store);
    busy(&store, "e1");
    settle(&store, second, "second");
    assert_eq!(duplicate(&store, "e1").result, b"second");
}

#[test]
fn a_lease_dropped_after_the_store_is_still_reported() {
    let bench = Bench::new();
    let store = bench.open();
    let lease = win(&store, "e1");
    store.close();
    drop(lease);
    assert_eq!(bench.abandoned.count(), 1);
    let store = bench.open();
    busy(&store, "e1");
    bench.clock.advance(super::LEASE);
    super::crash(win(&store, "e1"));
}

#[test]
fn a_store_that_closes_still_gives_leases_back() {
    let bench = Bench::new();
    let store = bench.open();
    drop(win(&store, "e1"));
    store.close();
    let store = bench.open();
    assert_eq!(win(&store, "e1").attempt(), 2);
}

#[test]
fn a_claim_cancelled_before_the_writer_is_not_made() {
    let bench = Bench::new();
    let store = bench.open_with_one_reader();
    let other = bench.beside();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    // The first may be in the writer's hand already; the second is behind it.
    let mut calls = vec![store.claim(ask("e1"))];
    at_the_writer(&store, &mut calls);
    calls.push(store.claim(ask("e2")));
    at_the_writer(&store, &mut calls[1..]);
    drop(calls);
    other.execute_batch("COMMIT").unwrap();
    flush(&store);
    assert_eq!(block_on(store.get(&key("e2"))).unwrap(), None);
    assert_eq!(bench.abandoned.count(), 0);
}

#[test]
fn a_claim_cancelled_after_the_writer_is_given_back() {
    let bench = Bench::new();
    let store = bench.open_with_one_reader();
    let other = bench.beside();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut calls = vec![store.claim(ask("e1"))];
    at_the_writer(&store, &mut calls);
    other.execute_batch("COMMIT").unwrap();
    flush(&store);
    // Won and committed, and its answer is never looked at.
    assert!(block_on(store.get(&key("e1"))).unwrap().is_some());
    drop(calls);
    assert_eq!(bench.abandoned.count(), 1);
    flush(&store);
    assert_eq!(win(&store, "e1").attempt(), 2);
}

#[test]
fn a_settlement_cancelled_midway_still_counts() {
    let bench = Bench::new();
    let store = bench.open();
    let lease = win(&store, "e1");
    let other = bench.beside();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut call = store.settle(lease, Verdict::done("acted"));
    super::begin(call.as_mut());
    drop(call);
    other.execute_batch("COMMIT").unwrap();
    flush(&store);
    // The lease was dropped unsettled as far as its holder knows, so it is reported; but its
    // give-back comes after the settlement and is fenced off.
    assert_eq!(bench.abandoned.count(), 1);
    assert_eq!(duplicate(&store, "e1").result, b"acted");
}

#[test]
fn a_lost_lease_is_handed_back_quiet() {
    let bench = Bench::new();
    let store = bench.open();
    let lease = win(&store, "e1");
    block_on(store.forget(&key("e1"))).unwrap().unwrap();
    let error = block_on(store.settle(lease, Verdict::done(""))).unwrap_err();
    assert!(matches!(error.fault, SettleFault::LeaseLost));
    drop(error);
    assert_eq!(bench.abandoned.count(), 0);
    assert!(matches!(claim(&store, "e1"), Claim::New(lease) if lease.attempt() == 1));
}

#[test]
fn a_lease_that_was_taken_over_writes_nothing() {
    let bench = Bench::new();
    let store = bench.open();
    let first = win(&store, "e1");
    bench.clock.advance(super::LEASE);
    let second = win(&store, "e1");
    let before = block_on(store.get(&key("e1"))).unwrap();

    let error = block_on(store.settle(first, Verdict::done("stale"))).unwrap_err();
    assert!(matches!(error.fault, SettleFault::LeaseLost));
    let error = block_on(store.renew(*error.lease, super::LEASE)).unwrap_err();
    assert!(matches!(error.fault, SettleFault::LeaseLost));
    let error = block_on(store.release(*error.lease)).unwrap_err();
    assert!(matches!(error.fault, SettleFault::LeaseLost));
    assert_eq!(block_on(store.get(&key("e1"))).unwrap(), before);
    settle(&store, second, "done");
}
