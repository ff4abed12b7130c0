//! The clock of a store. `verify` takes the time as an argument and has none.

use time::OffsetDateTime;

/// Tells the time. One clock judges leases, retries and retention of one store: for memory and
/// SQLite the process's, for a database server the server's own.
///
/// For tests there is [`testing::ManualClock`](crate::testing) (feature `testing`).
pub trait Clock: Send + Sync {
    /// The time now, in UTC.
    fn now(&self) -> OffsetDateTime;
}

/// The operating system's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> OffsetDateTime {
        OffsetDateTime::now_utc()
    }
}

/// `at` and a while; the last moment that dates are written for, if that is beyond it.
pub(crate) fn after(at: OffsetDateTime, while_: std::time::Duration) -> OffsetDateTime {
    time::Duration::try_from(while_)
        .ok()
        .and_then(|while_| at.checked_add(while_))
        .unwrap_or(time::PrimitiveDateTime::MAX.assume_utc())
}

/// From `from` until `to`; zero if `to` is not later.
pub(crate) fn between(from: OffsetDateTime, to: OffsetDateTime) -> std::time::Duration {
    let nanos = to
        .unix_timestamp_nanos()
        .saturating_sub(from.unix_timestamp_nanos());
    let seconds = u64::try_from(nanos.div_euclid(1_000_000_000)).unwrap_or_default();
    let rest = u32::try_from(nanos.rem_euclid(1_000_000_000)).unwrap_or_default();
    if nanos <= 0 {
        std::time::Duration::ZERO
    } else {
        std::time::Duration::new(seconds, rest)
    }
}

/// Microseconds since 1970, as databases keep them; rounded down, saturating.
pub(crate) fn micros(at: OffsetDateTime) -> i64 {
    // Not by way of nanoseconds: a 128-bit division takes longer than all of this.
    at.unix_timestamp()
        .saturating_mul(1_000_000)
        .saturating_add(at.microsecond().into())
}

/// The inverse of [`micros`], where a date can be written for it.
pub(crate) fn from_micros(micros: i64) -> Option<OffsetDateTime> {
    OffsetDateTime::from_unix_timestamp_nanos(i128::from(micros).saturating_mul(1000)).ok()
}

/// [`after`] in [`micros`].
pub(crate) fn micros_after(at: i64, while_: std::time::Duration) -> i64 {
    /// The last microsecond of the year 9999.
    const LAST: i64 = 253_402_300_799_999_999;
    let later = i64::try_from(while_.as_micros()).ok();
    later
        .and_then(|later| at.checked_add(later))
        .map_or(LAST, |at| at.min(LAST))
}
