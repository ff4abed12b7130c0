//! How long a failed event waits.

use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::{
    event::{EventKey, feed, first_half},
    store::Fence,
};

/// Exponential backoff with full jitter: after attempt n an event waits between nothing and
/// `base` · 2ⁿ⁻¹, at most `most`, each length as likely as any other.
///
/// The whole range, because events that failed together (the system behind them was down) would
/// otherwise come back together. No random numbers are needed: the wait is a hash of event,
/// attempt and fence, so it is another for each and the same when it is asked again.
///
/// ```
/// use std::time::Duration;
/// use hookproof::{EventKey, Fence, inbox::Backoff};
///
/// let backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(60));
/// let key = EventKey::business("", "shop", "e1")?;
/// assert!(backoff.wait(&key, 1, Fence(7)) <= Duration::from_secs(1));
/// assert!(backoff.wait(&key, 3, Fence(9)) <= Duration::from_secs(4));
/// assert_eq!(backoff.longest(10), Duration::from_secs(60));
/// # Ok::<(), hookproof::KeyError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    base: Duration,
    most: Duration,
}

impl Default for Backoff {
    /// From 2 s to an hour: twenty attempts then take four and a half hours on average, nine
    /// at most.
    fn default() -> Self {
        Self::new(Duration::from_secs(2), Duration::from_secs(60 * 60))
    }
}

impl Backoff {
    /// The longest wait after the first attempt, and the longest of all.
    pub fn new(base: Duration, most: Duration) -> Self {
        Self { base, most }
    }

    /// The longest wait after attempt `attempt`, counted from 1.
    pub fn longest(&self, attempt: u32) -> Duration {
        let factor = 1_u32.checked_shl(attempt.saturating_sub(1));
        let grown = factor.and_then(|factor| self.base.checked_mul(factor));
        grown.unwrap_or(self.most).min(self.most)
    }

    /// How long the event waits after attempt `attempt`, which had this fence.
    pub fn wait(&self, key: &EventKey, attempt: u32, fence: Fence) -> Duration {
        self.part(key.digest(), attempt, fence.0)
    }

    /// A part of the longest wait, by a hash.
    pub(super) fn part(&self, seed: &[u8], attempt: u32, number: i64) -> Duration {
        let mut hash = Sha256::new();
        for part in [
            &b"backoff-1"[..],
            seed,
            &attempt.to_be_bytes(),
            &number.to_be_bytes(),
        ] {
            feed(&mut hash, part);
        }
        let [a, b, c, d, ..] = first_half(hash);
        let part = u128::from(u32::from_be_bytes([a, b, c, d]));
        // Nanoseconds of a `Duration` take less than 96 bits, so this cannot overflow.
        let nanos = self.longest(attempt).as_nanos().saturating_mul(part) >> 32;
        u64::try_from(nanos).map_or(self.most, Duration::from_nanos)
    }
}

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing
)]
mod tests {
    use super::*;

    const BASE: Duration = Duration::from_secs(1);
    const MOST: Duration = Duration::from_secs(600);

    fn key(n: usize) -> EventKey {
        EventKey::business("", "shop", &format!("e{n}")).unwrap()
    }

    #[test]
    fn bounds_double_up_to_the_longest() {
        let backoff = Backoff::new(BASE, MOST);
        let bounds: Vec<_> = (0..13).map(|n| backoff.longest(n).as_secs()).collect();
        assert_eq!(bounds, [1, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600]);
        for attempt in [31, 32, 33, 64, 65, u32::MAX] {
            assert_eq!(backoff.longest(attempt), MOST);
        }
        assert_eq!(Backoff::new(MOST, BASE).longest(1), BASE);
        let endless = Backoff::new(Duration::MAX, Duration::MAX);
        assert_eq!(endless.longest(u32::MAX), Duration::MAX);
        assert!(endless.wait(&key(1), 1, Fence(1)) <= Duration::MAX);
    }

    #[test]
    fn no_wait_is_over_its_bound_and_each_tenth_has_its_share() {
        let backoff = Backoff::new(BASE, MOST);
        for attempt in [1, 4, 12] {
            let bound = backoff.longest(attempt);
            let mut tenths = [0_usize; 10];
            for n in 0..10_000 {
                let wait = backoff.wait(&key(n), attempt, Fence(7));
                assert!(wait < bound, "{wait:?} of {bound:?}");
                tenths[usize::try_from(wait.as_nanos() * 10 / bound.as_nanos()).unwrap()] += 1;
            }
            // A thousand each, and a standard deviation of thirty.
            assert!(
                tenths.iter().all(|n| (850..1150).contains(n)),
                "attempt {attempt}: {tenths:?}"
            );
        }
    }

    #[test]
    fn event_attempt_and_fence_each_make_another_wait() {
        let backoff = Backoff::new(MOST, MOST);
        let wait = backoff.wait(&key(1), 1, Fence(1));
        assert_eq!(wait, backoff.wait(&key(1), 1, Fence(1)));
        for other in [
            backoff.wait(&key(2), 1, Fence(1)),
            backoff.wait(&key(1), 2, Fence(1)),
            backoff.wait(&key(1), 1, Fence(2)),
        ] {
            assert_ne!(wait, other);
        }
    }
}
