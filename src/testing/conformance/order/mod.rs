//! The contract of [`OrderGuard`], executed: run it over a guard of your own.
//!
//! ```
//! use hookproof::{MemoryStore, testing::{ManualClock, conformance::order::{self, GuardBackend}}};
//!
//! struct Memory;
//!
//! impl GuardBackend for Memory {
//!     type Guard = MemoryStore;
//!
//!     fn open_guard(&self, clock: ManualClock) -> MemoryStore {
//!         MemoryStore::builder().clock(clock).build()
//!     }
//!
//!     fn guard_rounds(&self) -> usize { 3 }
//! }
//!
//! hookproof::order_conformance! { memory: Memory } // in tests: `memory::late_create_is_older` …
//!
//! for case in order::ALL {
//!     case.run(&Memory);
//! }
//! ```

#[macro_use]
mod list;

mod deletions;
mod races;
mod versions;

use std::{
    future::Future,
    pin::{Pin, pin},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use super::{
    Backend,
    bench::{Drive, start},
    racing,
};
use crate::{
    Advance, ObjectKey, OrderGuard, StoreError, Version,
    testing::{ManualClock, block_on},
};

/// A kind of guard that the suite can open and wait for. Every [`Backend`] whose store is one is
/// this as well.
pub trait GuardBackend: Sync {
    /// The guard.
    type Guard: OrderGuard + 'static;

    /// Opens a fresh, empty guard whose retention is judged by `clock`. Called once per case.
    fn open_guard(&self, clock: ManualClock) -> Self::Guard;

    /// See [`Backend::block_on`].
    fn guard_block_on<F: Future>(&self, future: F) -> F::Output {
        block_on(future)
    }

    /// How often each race is run.
    fn guard_rounds(&self) -> usize {
        20
    }
}

impl<B: Backend> GuardBackend for B
where
    B::Store: OrderGuard,
{
    type Guard = B::Store;

    fn open_guard(&self, clock: ManualClock) -> B::Store {
        self.open(clock, super::Witness::default())
    }

    fn guard_block_on<F: Future>(&self, future: F) -> F::Output {
        self.block_on(future)
    }

    fn guard_rounds(&self) -> usize {
        self.race_rounds().min(20)
    }
}

/// One rule of the contract.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    name: &'static str,
    case: fn(&Bench<'_>),
}

impl Case {
    /// Its name, such as `late_create_is_older`.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Finds a case by its name.
    pub fn by_name(name: &str) -> Option<&'static Case> {
        ALL.iter().find(|case| case.name == name)
    }

    /// Opens a guard of `backend` and runs the case on it.
    ///
    /// # Panics
    ///
    /// If the guard does not keep the rule.
    pub fn run<B: GuardBackend>(&self, backend: &B) {
        let clock = ManualClock::at(start());
        let bench = Bench {
            guard: Arc::new(backend.open_guard(clock.clone())),
            clock,
            rounds: backend.guard_rounds().max(1),
            drive: &|future: Pin<&mut (dyn Future<Output = ()> + '_)>| {
                backend.guard_block_on(future);
            },
            races: AtomicUsize::new(0),
        };
        (self.case)(&bench);
    }
}

/// What the tests of [`order_conformance!`](crate::order_conformance) call.
#[doc(hidden)]
pub fn __run<B: GuardBackend>(name: &str, backend: &B) {
    let case = Case::by_name(name).expect("the list of cases is one and the same");
    case.run(backend);
}

macro_rules! all {
    ($($file:ident { $($case:ident)* })*) => {
        /// Every case, for a harness of your own; for `#[test]`s there is
        /// [`order_conformance!`](crate::order_conformance).
        pub const ALL: &[Case] = &[$($(
            Case {
                name: stringify!($case),
                case: $file::$case,
            },
        )*)*];
    };
}

__order_cases! { [all] }

/// One opened guard with its clock, and the verbs as cases speak them.
struct Bench<'b> {
    guard: Arc<dyn OrderGuard>,
    clock: ManualClock,
    rounds: usize,
    drive: Drive<'b>,
    races: AtomicUsize,
}

fn object(id: &str) -> ObjectKey {
    ObjectKey::new("tenant", "order", id).unwrap()
}

const fn v(number: i64) -> Version {
    Version::number(number)
}

impl Bench<'_> {
    fn wait<T>(&self, future: impl Future<Output = T>) -> T {
        let mut output = None;
        (self.drive)(pin!(async { output = Some(future.await) }));
        output.expect("block_on returned before the future was done")
    }

    fn try_advance(&self, object: &ObjectKey, version: Version) -> Result<Advance, StoreError> {
        self.wait(async { self.guard.advance(object, version).await })
    }

    /// Advances, as often as the engine says that it is too busy.
    fn advance_of(&self, object: &ObjectKey, version: &Version) -> Advance {
        racing::patiently(|| self.try_advance(object, version.clone()))
    }

    fn advance(&self, id: &str, version: &Version) -> Advance {
        self.advance_of(&object(id), version)
    }

    /// Expects a version to be newer than all before, and to stand from then on.
    #[track_caller]
    fn applied(&self, id: &str, version: &Version, previous: Option<&Version>) {
        let previous = previous.cloned();
        assert_eq!(self.advance(id, version), Advance::Applied { previous });
        assert_eq!(self.current(id).as_ref(), Some(version));
    }

    /// Expects something newer to stand, unchanged.
    #[track_caller]
    fn older(&self, id: &str, version: &Version, current: &Version) {
        let answer = self.advance(id, version);
        assert_eq!(
            answer,
            Advance::Older {
                current: current.clone()
            }
        );
        assert_eq!(self.current(id).as_ref(), Some(current));
    }

    /// Expects this very version to stand.
    #[track_caller]
    fn same(&self, id: &str, version: &Version) {
        let current = version.clone();
        assert_eq!(self.advance(id, version), Advance::Same { current });
        assert_eq!(self.current(id).as_ref(), Some(version));
    }

    fn current_of(&self, object: &ObjectKey) -> Option<Version> {
        self.wait(async { self.guard.current(object).await })
            .expect("cannot read")
    }

    fn current(&self, id: &str) -> Option<Version> {
        self.current_of(&object(id))
    }

    fn forget(&self, id: &str) -> Option<Version> {
        let object = object(id);
        racing::patiently(|| self.wait(async { self.guard.forget_object(&object).await }))
    }

    fn purge(&self, retention: Duration, at_most: usize) -> usize {
        racing::patiently(|| {
            self.wait(async { self.guard.purge_deleted(retention, at_most).await })
        })
    }

    fn race<T: Send>(&self, racers: usize, run: impl Fn(usize) -> T + Sync) -> Vec<T> {
        let reversed = self.races.fetch_add(1, Relaxed) % 2 == 1;
        racing::race(racers, reversed, run)
    }
}
