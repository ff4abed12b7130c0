//! The bound, the room that is used again, and fences that are not.

use std::collections::HashSet;

use hookproof::{
    StoreError,
    store::{SettleFault, StoreErrorKind},
};

use super::*;

fn is_full<T>(answer: Result<T, StoreError>) -> bool {
    matches!(answer, Err(error) if error.kind() == StoreErrorKind::Full)
}

#[test]
fn a_full_store_refuses_and_keeps_what_it_has() {
    for capacity in [0, 1, 7, 100, 20_000] {
        let store = store(capacity, &clock());
        let leases: Vec<_> = (0..capacity).map(|event| claim(&store, event)).collect();
        assert!(is_full(ready(store.claim(asking(capacity)))), "{capacity}");

        for (event, lease) in leases.into_iter().enumerate() {
            // Leased or settled, it is in no one's way and known all the same.
            let again = ready(store.claim(asking(event))).unwrap();
            assert!(matches!(again, Claim::InProgress { .. }), "{again:?}");
            done(&store, lease);
            let again = ready(store.claim(asking(event))).unwrap();
            assert!(matches!(again, Claim::Duplicate(_)), "{again:?}");
            assert!(is_full(ready(store.claim(asking(capacity + event)))));
        }
        if capacity > 0 {
            ready(store.forget(&key(0))).unwrap().unwrap();
            done(&store, claim(&store, capacity));
            assert!(is_full(ready(store.claim(asking(0)))));
        }
        let shown = format!("receipts: {capacity}, capacity: {capacity},");
        assert!(format!("{store:?}").contains(&shown), "{store:?}");
    }
}

#[test]
fn threads_share_the_room_to_the_last_receipt() {
    for _ in 0..500 {
        let store = store(48, &clock());
        // More shards than most of these have receipts, so that room is moved all the time.
        std::thread::scope(|scope| {
            for first in 0..4 {
                let store = &store;
                scope.spawn(move || {
                    for event in (first..48).step_by(4) {
                        done(store, claim(store, event));
                    }
                });
            }
        });
        assert!(is_full(ready(store.claim(asking(48)))));
    }
}

#[test]
fn one_of_many_threads_wins() {
    let store = store(100, &clock());
    for event in 0..100 {
        let leases: Vec<Lease> = std::thread::scope(|scope| {
            let claim = || match ready(store.claim(asking(event))).unwrap() {
                Claim::New(lease) => Some(lease),
                Claim::InProgress { .. } => None,
                other => panic!("{other:?}"),
            };
            let running = [(); 4].map(|()| scope.spawn(claim));
            let claims = running.map(|thread| thread.join().unwrap());
            claims.into_iter().flatten().collect()
        });
        assert_eq!(leases.len(), 1);
    }
}

#[test]
fn a_full_store_makes_room_once_retention_is_over() {
    let clock = clock();
    let store = store(1000, &clock);
    for event in 0..1000 {
        let lease = won(ready(store.claim(asking(event).retention(HOUR))).unwrap());
        done(&store, lease);
    }
    clock.advance(HOUR - Duration::from_micros(1));
    assert!(is_full(ready(store.claim(asking(1000)))));
    clock.advance(Duration::from_micros(1));
    for event in 1000..2000 {
        done(&store, claim(&store, event));
    }
    assert!(is_full(ready(store.claim(asking(2000)))));
    for event in 0..1000 {
        assert_eq!(ready(store.get(&key(event))).unwrap(), None);
        assert!(ready(store.get(&key(1000 + event))).unwrap().is_some());
    }
}

#[test]
fn the_one_receipt_that_may_go_is_found() {
    let clock = clock();
    let store = store(3000, &clock);
    for event in 0..3000 {
        let retention = if event == 1234 { HOUR } else { 9 * HOUR };
        let lease = won(ready(store.claim(asking(event).retention(retention))).unwrap());
        done(&store, lease);
    }
    clock.advance(HOUR);
    done(&store, claim(&store, 3000));
    assert_eq!(ready(store.get(&key(1234))).unwrap(), None);
    assert!(is_full(ready(store.claim(asking(1234)))));
}

#[test]
fn a_running_lease_outlives_its_retention() {
    let clock = clock();
    let store = store(50, &clock);
    let asking = |event| asking(event).retention(HOUR).lease(2 * HOUR);
    let mut leases: Vec<_> = (0..50)
        .map(|event| won(ready(store.claim(asking(event))).unwrap()))
        .collect();
    clock.advance(HOUR);
    assert_eq!(ready(store.purge(1000)).unwrap(), 0);
    assert!(is_full(ready(store.claim(asking(50)))));

    // A claim never looks at retention: the late duplicate is one.
    done(&store, leases.pop().unwrap());
    let late = ready(store.claim(asking(49))).unwrap();
    assert!(matches!(late, Claim::Duplicate(_)), "{late:?}");
    done(&store, claim(&store, 50));
    assert_eq!(ready(store.get(&key(49))).unwrap(), None);

    clock.advance(HOUR);
    assert_eq!(ready(store.purge(1000)).unwrap(), 49);
    let lost = ready(store.settle(leases.pop().unwrap(), Verdict::done(""))).unwrap_err();
    assert!(matches!(lost.fault, SettleFault::LeaseLost));
}

#[test]
fn a_purge_keeps_to_its_number_and_its_room_is_used_again() {
    let clock = clock();
    let store = store(10_000, &clock);
    let mut next = 0;
    for _ in 0..3 {
        for _ in 0..10_000 {
            let lease = won(ready(store.claim(asking(next).retention(HOUR))).unwrap());
            ready(store.settle(lease, Verdict::done("kept until purged"))).unwrap();
            next += 1;
        }
        assert_eq!(ready(store.purge(usize::MAX)).unwrap(), 0);
        clock.advance(HOUR);
        assert_eq!(ready(store.purge(0)).unwrap(), 0);
        let purges: Vec<_> = (0..5).map(|_| ready(store.purge(3333)).unwrap()).collect();
        assert_eq!(purges, [3333, 3333, 3333, 1, 0]);
        assert!(format!("{store:?}").contains("receipts: 0,"), "{store:?}");
    }
}

#[test]
fn a_fence_is_never_used_twice_for_a_key() {
    let clock = clock();
    // Of 200 events some share a shard, and all of them share time: it stands still, then goes back.
    let store = store(100, &clock);
    let mut seen = HashSet::new();
    let mut highest = vec![Fence(0); 200];
    for round in 0..20 {
        for event in (round % 2..200).step_by(2) {
            let lease = won(ready(store.claim(asking(event).retention(Duration::ZERO))).unwrap());
            assert!(seen.insert((event, lease.fence())));
            assert!(lease.fence() > highest[event], "{event} in round {round}");
            highest[event] = lease.fence();
            if event % 3 == 0 {
                ready(store.forget(&key(event))).unwrap().unwrap();
                let lost = ready(store.release(lease)).unwrap_err();
                assert!(matches!(lost.fault, SettleFault::LeaseLost));
            } else {
                done(&store, lease);
            }
        }
        ready(store.purge(usize::MAX)).unwrap();
        if round == 10 {
            clock.set(datetime!(2020-01-01 00:00 UTC));
        }
    }
}
