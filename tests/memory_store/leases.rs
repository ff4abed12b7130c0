//! What becomes of leases that are dropped, and of futures; what answers say.

use std::{
    future::pending,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::OnceLock,
};

use hookproof::{Fingerprint, State, store::MAX_RESULT_BYTES};

use super::*;

#[test]
fn a_dropped_lease_is_reported_and_claimable_at_once() {
    let told = Told::default();
    let store = MemoryStore::builder()
        .clock(clock())
        .on_abandoned(told.clone())
        .build();
    let drops: [fn(Lease); 3] = [
        drop,
        |lease| {
            let panicked = catch_unwind(AssertUnwindSafe(move || {
                let _held = lease;
                std::panic::resume_unwind(Box::new("the handler's bug"));
            }));
            assert!(panicked.is_err());
        },
        |lease| {
            let mut future = Box::pin(async move {
                pending::<()>().await;
                drop(lease);
            });
            let polled = future
                .as_mut()
                .poll(&mut Context::from_waker(Waker::noop()));
            assert!(polled.is_pending());
        },
    ];
    for (attempt, drop) in (1..).zip(drops) {
        let lease = claim(&store, 1);
        assert_eq!(lease.attempt(), attempt);
        let expected = (key(1), lease.fence(), attempt);
        drop(lease);
        assert_eq!(told.0.lock().unwrap().pop(), Some(expected));
    }
    let receipt = done(&store, claim(&store, 1));
    assert_eq!((receipt.state, receipt.attempts), (State::Processed, 4));
    assert!(told.0.lock().unwrap().is_empty());
}

#[test]
fn a_dropped_lease_that_was_lost_takes_nothing_from_its_successor() {
    let clock = clock();
    let told = Told::default();
    let store = MemoryStore::builder()
        .clock(clock.clone())
        .on_abandoned(told.clone())
        .build();
    let lost = claim(&store, 1);
    clock.advance(HOUR);
    let successor = claim(&store, 1);
    drop(lost);
    assert_eq!(told.0.lock().unwrap().len(), 1);
    let again = ready(store.claim(asking(1))).unwrap();
    assert!(matches!(again, Claim::InProgress { .. }), "{again:?}");
    assert_eq!(done(&store, successor).attempts, 2);
}

#[test]
fn the_report_may_use_the_store() {
    struct Retry(Arc<OnceLock<MemoryStore>>);
    impl OnAbandoned for Retry {
        fn abandoned(&self, lease: &Abandoned<'_>) {
            let store = self.0.get().unwrap();
            let again = Claiming::business(lease.key.clone());
            done(store, won(ready(store.claim(again)).unwrap()));
        }
    }
    let place = Arc::new(OnceLock::new());
    let store = MemoryStore::builder()
        .on_abandoned(Retry(place.clone()))
        .build();
    place.set(store).unwrap();
    let store = place.get().unwrap();
    drop(claim(store, 1));
    let receipt = ready(store.get(&key(1))).unwrap().unwrap();
    assert_eq!((receipt.state, receipt.attempts), (State::Processed, 2));
}

#[test]
fn a_lease_may_outlive_its_store() {
    let told = Told::default();
    let store = MemoryStore::builder().on_abandoned(told.clone()).build();
    let lease = claim(&store, 1);
    drop(store);
    drop(lease);
    assert_eq!(told.0.lock().unwrap().len(), 1);
}

#[test]
fn nothing_happens_before_the_first_poll() {
    let told = Told::default();
    let store = MemoryStore::builder().on_abandoned(told.clone()).build();
    drop(store.claim(asking(1)));
    assert_eq!(ready(store.get(&key(1))).unwrap(), None);

    let lease = claim(&store, 1);
    drop(store.settle(lease, Verdict::done("")));
    let receipt = ready(store.get(&key(1))).unwrap().unwrap();
    assert_eq!(receipt.state, State::InProgress);
    assert_eq!(
        told.0.lock().unwrap().len(),
        1,
        "the lease went with the future"
    );
}

#[test]
fn answers_say_what_is_stored() {
    let odd = Duration::from_nanos(1_234_567_891);
    let ages = 500 * 365 * 24 * HOUR;
    for retention in [Duration::ZERO, odd, HOUR, ages, Duration::MAX] {
        for length in [
            Duration::ZERO,
            odd,
            HOUR,
            24_000 * HOUR,
            240_000 * HOUR,
            Duration::MAX,
        ] {
            let clock = clock();
            let store = store(10, &clock);
            let stored = || ready(store.get(&key(1))).unwrap().unwrap();
            let asking = asking(1)
                .retention(retention)
                .lease(length)
                .fingerprint(Fingerprint::of(b"content"));
            let lease = won(ready(store.claim(asking.clone())).unwrap());
            assert_eq!(Some(lease.until()), stored().until);
            assert_eq!(lease.fence(), stored().fence);
            clock.advance(odd);
            let lease = ready(store.renew(lease, length)).unwrap();
            assert_eq!(Some(lease.until()), stored().until);
            let expected = ready(store.settle(lease, Verdict::retry(odd))).unwrap();
            assert_eq!(stored(), expected);
            clock.advance(odd);
            let lease = won(ready(store.claim(asking.clone())).unwrap());
            assert_eq!(ready(store.release(lease)).unwrap(), stored());
            let lease = won(ready(store.claim(asking.clone())).unwrap());
            assert_eq!(Some(lease.until()), stored().until);
            clock.advance(ages);
            let result = vec![7; MAX_RESULT_BYTES];
            let expected = ready(store.settle(lease, Verdict::done(result.clone()))).unwrap();
            assert_eq!(stored(), expected);
            assert_eq!((expected.attempts, expected.result), (3, result));
            assert_eq!(ready(store.forget(&key(1))).unwrap().unwrap().attempts, 3);
        }
    }
}

#[test]
fn times_are_cut_to_microseconds_on_either_side_of_1970() {
    for (now, cut) in [
        (
            datetime!(1969-12-31 23:59:59.999_999_999 UTC),
            datetime!(1969-12-31 23:59:59.999_999 UTC),
        ),
        (
            datetime!(2027-01-15 08:00:00.123_456_789 +02:00),
            datetime!(2027-01-15 06:00:00.123_456 UTC),
        ),
    ] {
        let store = store(1, &ManualClock::at(now));
        let receipt = done(&store, claim(&store, 1));
        assert_eq!((receipt.received_at, receipt.changed_at), (cut, cut));
        assert_eq!(
            receipt.fence,
            Fence(cut.unix_timestamp_nanos() as i64 / 1000)
        );
        assert_eq!(ready(store.get(&key(1))).unwrap(), Some(receipt));
    }
}

#[test]
fn a_receipt_carries_the_key_that_was_asked_for() {
    let store = MemoryStore::new();
    let receipt = done(&store, claim(&store, 1));
    let parts = (
        receipt.key.tenant(),
        receipt.key.provider(),
        receipt.key.id(),
    );
    assert_eq!(parts, ("tenant", "memory", "evt_1"));
}
