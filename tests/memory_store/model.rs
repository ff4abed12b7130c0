//! The store against a model of it: a map of receipts that asks the same pure rules. After any
//! sequence of verbs both must have given the same answers and hold the same receipts.

use std::collections::HashMap;

use hookproof::{
    Fingerprint, State,
    clock::Clock,
    store::{Ruling, SettleError, SettleFault, StoreErrorKind},
};
use proptest::{collection::vec, prelude::*, strategy::ValueTree, test_runner::TestRunner};

use super::{
    ops::{Ask, Op, op},
    *,
};

struct Both {
    store: MemoryStore,
    capacity: usize,
    clock: ManualClock,
    rows: HashMap<EventKey, Receipt>,
    /// The highest fence of each key, for ever.
    fences: HashMap<EventKey, Fence>,
    leases: Vec<Lease>,
}

impl Both {
    fn new(capacity: usize) -> Self {
        let clock = clock();
        let store = store(capacity, &clock);
        Self {
            store,
            capacity,
            clock,
            rows: HashMap::new(),
            fences: HashMap::new(),
            leases: Vec::new(),
        }
    }

    fn get(&self, key: &EventKey) -> Option<Receipt> {
        ready(self.store.get(key)).unwrap()
    }

    /// Takes one of the leases that are held.
    fn lease(&mut self, any: usize) -> Option<Lease> {
        let held = self.leases.len();
        (held > 0).then(|| self.leases.swap_remove(any % held))
    }

    /// The row that the lease still stands for, stamped with the time of a write.
    fn stands(&mut self, lease: &Lease) -> Option<&mut Receipt> {
        let now = self.clock.now();
        let row = self.rows.get_mut(lease.key())?;
        row.stands(lease.fence()).then(|| {
            row.changed_at = now;
            row
        })
    }

    /// Lets go of the receipts that the store purged, and returns how many. Each had to be one of
    /// those that may be.
    fn purged(&mut self) -> usize {
        let (now, before) = (self.clock.now(), self.rows.len());
        let store = &self.store;
        self.rows
            .retain(|key, row| !row.is_purgeable(now) || ready(store.get(key)).unwrap().is_some());
        before - self.rows.len()
    }

    fn purgeable(&self) -> usize {
        let now = self.clock.now();
        self.rows
            .values()
            .filter(|row| row.is_purgeable(now))
            .count()
    }

    fn claim(&mut self, ask: &Ask) {
        let now = self.clock.now();
        let key = key(ask.event);
        let asking = Claiming::business(key.clone())
            .fingerprint(Fingerprint::of(&[ask.content]))
            .lease(ask.lease)
            .retention(ask.retention)
            .max_attempts(ask.max_attempts);
        let answer = ready(self.store.claim(asking.clone()));
        let mut row = match self.rows.get(&key).map(|row| row.ruling(&asking, now)) {
            Some(Ruling::Answer(expected)) => {
                return assert_eq!(format!("{:?}", answer.unwrap()), format!("{expected:?}"));
            }
            Some(Ruling::Bury(row)) => {
                assert!(matches!(answer.unwrap(), Claim::Dead(dead) if dead == row));
                self.rows.insert(key, row);
                return;
            }
            Some(Ruling::Take(row)) => row,
            None if self.rows.len() == self.capacity && self.purgeable() == 0 => {
                return assert_eq!(answer.unwrap_err().kind(), StoreErrorKind::Full);
            }
            None => {
                if self.rows.len() == self.capacity {
                    assert!(self.purged() > 0);
                }
                let used = self.fences.get(&key).copied();
                Receipt::first(&asking, now, used.unwrap_or(Fence(0)))
            }
        };
        let Claim::New(lease) = answer.unwrap() else {
            panic!("not given: {row:?}");
        };
        let told = (lease.key(), lease.attempt(), Some(lease.until()));
        assert_eq!(told, (&key, row.attempts, row.until));
        // A store may skip fences, and for a new row this one does, but only for that.
        let fence = lease.fence();
        assert!(fence == row.fence || fence > row.fence && row.attempts == 1);
        self.fences.insert(key.clone(), fence);
        row.fence = fence;
        self.rows.insert(key, row);
        self.leases.push(lease);
    }

    fn settle(&mut self, lease: Lease, verdict: Verdict) {
        let (now, most) = (self.clock.now(), lease.max_attempts());
        let expected = self.stands(&lease).map(|row| {
            (row.state, row.until, row.result) = verdict.clone().outcome(row.attempts, most, now);
            row.clone()
        });
        let settled = ready(self.store.settle(lease, verdict));
        same(settled, expected);
    }

    fn renew(&mut self, lease: Lease, length: Duration) {
        let until = self.clock.now() + length;
        let expected = self.stands(&lease).map(|row| row.until = Some(until));
        match ready(self.store.renew(lease, length)) {
            Ok(lease) => {
                assert_eq!((expected, lease.until()), (Some(()), until));
                self.leases.push(lease);
            }
            Err(lost) => {
                assert!(matches!(lost.fault, SettleFault::LeaseLost));
                assert_eq!(expected, None);
            }
        }
    }

    fn release(&mut self, lease: Lease) {
        let expected = self.stands(&lease).map(|row| {
            (row.state, row.until) = (State::Failed, None);
            row.clone()
        });
        same(ready(self.store.release(lease)), expected);
    }

    fn drop(&mut self, lease: Lease) {
        let now = self.clock.now();
        let row = self.rows.get_mut(lease.key());
        if let Some(row) = row.filter(|row| row.stands(lease.fence())) {
            row.until = Some(now);
        }
        drop(lease);
    }

    fn step(&mut self, op: Op) {
        match op {
            Op::Claim(ask) => self.claim(&ask),
            Op::Settle(any, verdict) => {
                if let Some(lease) = self.lease(any) {
                    self.settle(lease, verdict);
                }
            }
            Op::Renew(any, length) => {
                if let Some(lease) = self.lease(any) {
                    self.renew(lease, length);
                }
            }
            Op::Release(any) => {
                if let Some(lease) = self.lease(any) {
                    self.release(lease);
                }
            }
            Op::Drop(any) => {
                if let Some(lease) = self.lease(any) {
                    self.drop(lease);
                }
            }
            Op::Forget(event) => {
                let forgotten = ready(self.store.forget(&key(event))).unwrap();
                assert_eq!(forgotten, self.rows.remove(&key(event)));
            }
            Op::Purge(at_most) => {
                let expected = self.purgeable().min(at_most);
                assert_eq!(ready(self.store.purge(at_most)).unwrap(), expected);
                assert_eq!(self.purged(), expected);
            }
            Op::Advance(by) => self.clock.advance(by),
            Op::SetBack(by) => self.clock.set(self.clock.now() - by),
        }
    }

    fn check(&self, event: usize) {
        assert_eq!(self.get(&key(event)).as_ref(), self.rows.get(&key(event)));
    }
}

fn same(written: Result<Receipt, SettleError>, expected: Option<Receipt>) {
    match written {
        Ok(receipt) => assert_eq!(Some(receipt), expected),
        Err(lost) => {
            assert!(matches!(lost.fault, SettleFault::LeaseLost));
            assert_eq!(expected, None);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn few_events_in_any_order(
        capacity in prop_oneof![Just(2_usize), Just(4), Just(1000)],
        ops in vec(op(6), 1..120),
    ) {
        let mut both = Both::new(capacity);
        for op in ops {
            both.step(op);
            (0..6).for_each(|event| both.check(event));
        }
    }
}

/// Enough events for indexes that grow, chains that close up again and slots that are reused.
#[test]
fn many_events_in_any_order() {
    let events = 5000;
    let mut runner = TestRunner::deterministic();
    for capacity in [3000, 1_000_000] {
        let mut both = Both::new(capacity);
        let ops = op(events);
        for _ in 0..30_000 {
            let op = ops.new_tree(&mut runner).unwrap().current();
            // Years would end all retentions at once, and purge all there is.
            let op = match op {
                Op::Advance(by) => Op::Advance(by.min(Duration::from_millis(50))),
                Op::SetBack(by) => Op::SetBack(by.min(Duration::from_secs(1))),
                op => op,
            };
            both.step(op);
        }
        assert!(both.rows.len() > 1000, "{}", both.rows.len());
        (0..events).for_each(|event| both.check(event));
    }
}
