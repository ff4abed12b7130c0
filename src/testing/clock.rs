//! A clock to turn by hand.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use time::OffsetDateTime;

use crate::clock::{Clock, after};

/// A clock that stands still until it is moved. Clones share the same time.
///
/// ```
/// use std::time::Duration;
/// use hookproof::{clock::Clock, testing::ManualClock};
/// use time::macros::datetime;
///
/// let clock = ManualClock::at(datetime!(2027-01-15 08:00 UTC));
/// let same = clock.clone();
/// clock.advance(Duration::from_secs(61));
/// assert_eq!(same.now(), datetime!(2027-01-15 08:01:01 UTC));
/// ```
#[derive(Debug, Clone)]
pub struct ManualClock(Arc<Mutex<OffsetDateTime>>);

impl ManualClock {
    /// A clock that shows `now`.
    pub fn at(now: OffsetDateTime) -> Self {
        Self(Arc::new(Mutex::new(now)))
    }

    /// Moves it on.
    pub fn advance(&self, by: Duration) {
        let mut now = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *now = after(*now, by);
    }

    /// Sets it, forwards or back.
    pub fn set(&self, now: OffsetDateTime) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = now;
    }
}

impl Clock for ManualClock {
    fn now(&self) -> OffsetDateTime {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
