//! Reading timestamps and judging their age. Nothing here re-prints a number: what was signed is
//! the text, and the text goes into the MAC as it came.

use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use crate::{scheme::Unit, secrets::Freshness};

const NANOS_PER_SECOND: i128 = 1_000_000_000;
const NANOS_PER_MILLI: i128 = 1_000_000;

/// 9999-12-31T23:59:59Z, the last second that dates are written for.
const LAST_SECOND: u64 = 253_402_300_799;

/// Milliseconds up to that second are 15 digits; no timestamp has more.
const MOST_DIGITS: usize = 15;

/// A date and time with nanoseconds and no zone has 29 characters.
const MOST_DATE: usize = 32;

/// Reads a timestamp's text. `None` for a sign, a blank, an exponent, a leading zero, a fraction
/// where whole numbers are due, more digits than fit, or a date that does not exist.
pub(crate) fn parse(text: &[u8], unit: Unit) -> Option<i128> {
    match unit {
        Unit::Seconds => from_number(digits(text)?, unit),
        Unit::Millis => from_number(digits(text)?, unit),
        Unit::SecondsOrMillis => {
            let number = digits(text)?;
            from_number(number, either(number))
        }
        Unit::DateTimeUtc => {
            // A zone of its own would make two.
            let zoned = |byte: &u8| matches!(byte, b'Z' | b'z' | b'+');
            if text.len() > MOST_DATE || text.iter().any(zoned) {
                return None;
            }
            let mut room = [0; MOST_DATE + 1];
            let bytes = text.iter().chain(b"Z");
            room.iter_mut()
                .zip(bytes)
                .for_each(|(to, from)| *to = *from);
            parse(room.get(..=text.len())?, Unit::Rfc3339)
        }
        Unit::Rfc3339 => {
            let text = std::str::from_utf8(text).ok()?;
            // RFC 3339 §5.6 lets a blank stand for the T; no sender does, so no parser need agree.
            let strict = text.bytes().all(|byte| byte.is_ascii_graphic());
            let at = OffsetDateTime::parse(text, &Rfc3339)
                .ok()
                .filter(|_| strict)?;
            Some(at.unix_timestamp_nanos())
        }
    }
}

/// Turns a whole number in `unit` into nanoseconds since 1970, up to the year 9999.
pub(crate) fn from_number(number: u64, unit: Unit) -> Option<i128> {
    let (scale, last) = match unit {
        Unit::Seconds => (NANOS_PER_SECOND, LAST_SECOND),
        Unit::Millis => (NANOS_PER_MILLI, LAST_SECOND.saturating_mul(1000)),
        Unit::SecondsOrMillis => return from_number(number, either(number)),
        Unit::Rfc3339 | Unit::DateTimeUtc => return None,
    };
    (number <= last).then(|| i128::from(number).saturating_mul(scale))
}

/// What a number of [`Unit::SecondsOrMillis`] counts.
fn either(number: u64) -> Unit {
    if number < 100_000_000_000 {
        Unit::Seconds
    } else {
        Unit::Millis
    }
}

/// Hands the time back unless it is before that second.
pub(crate) fn not_before(at: i128, second: u64) -> Option<i128> {
    (at >= i128::from(second).saturating_mul(NANOS_PER_SECOND)).then_some(at)
}

fn digits(text: &[u8]) -> Option<u64> {
    let leading_zero = text.len() > 1 && text.first() == Some(&b'0');
    if text.is_empty() || text.len() > MOST_DIGITS || leading_zero {
        return None;
    }
    let mut number = 0_u64;
    let mut digits = true;
    for byte in text {
        digits &= byte.is_ascii_digit();
        let digit = u64::from(byte.wrapping_sub(b'0'));
        // Cannot wrap while all bytes are digits, since there are so few of them.
        number = number.wrapping_mul(10).wrapping_add(digit);
    }
    digits.then_some(number)
}

/// Whether a timestamp lies within the window around `now`, edges included. `now` is first cut
/// down to the timestamp's own unit, as every sender does, so that a window of 300 s means 300 s
/// at any fraction of a second.
pub(crate) fn is_fresh(stamp: i128, unit: Unit, now: OffsetDateTime, allowed: Freshness) -> bool {
    let Freshness::Within(window) = allowed else {
        return true;
    };
    let seconds = i128::from(now.unix_timestamp()).saturating_mul(NANOS_PER_SECOND);
    let now = match unit {
        Unit::Seconds => seconds,
        Unit::Millis | Unit::SecondsOrMillis => {
            let millis = i128::from(now.millisecond()).saturating_mul(NANOS_PER_MILLI);
            seconds.saturating_add(millis)
        }
        Unit::Rfc3339 | Unit::DateTimeUtc => now.unix_timestamp_nanos(),
    };
    let window = i128::try_from(window.as_nanos()).unwrap_or(i128::MAX);
    now.saturating_sub(stamp).saturating_abs() <= window
}

/// `now - stamp`; negative for a timestamp that lies ahead.
pub(crate) fn age(stamp: i128, now: OffsetDateTime) -> time::Duration {
    let nanos = now.unix_timestamp_nanos().saturating_sub(stamp);
    let seconds = i64::try_from(nanos.div_euclid(NANOS_PER_SECOND)).unwrap_or(i64::MAX);
    let rest = i32::try_from(nanos.rem_euclid(NANOS_PER_SECOND)).unwrap_or(0);
    time::Duration::new(seconds, rest)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn numbers_of_up_to_fifteen_digits_are_read() {
        assert_eq!(digits(b"0"), Some(0));
        assert_eq!(digits(b"999999999999999"), Some(999_999_999_999_999));
        for text in [
            &b""[..],
            b"00",
            b"01",
            b"1000000000000000",
            b"-1",
            b"+1",
            b"1 ",
            b"1e3",
            b"1/",
        ] {
            assert_eq!(digits(text), None, "{text:?}");
        }
    }

    /// `now` is cut down to the timestamp's unit, before 1970 too.
    #[test]
    fn the_window_is_judged_in_whole_units() {
        let window = Freshness::Within(Duration::from_secs(300));
        for start in [1_800_000_000_i64, 0, -1_000_000_000] {
            let now = OffsetDateTime::from_unix_timestamp(start).unwrap();
            let now = now.replace_nanosecond(999_999_999).unwrap();
            for (unit, scale, cut) in [
                (Unit::Seconds, NANOS_PER_SECOND, 0),
                (Unit::Millis, NANOS_PER_MILLI, 999_000_000),
                (Unit::Rfc3339, 1, 999_999_999),
            ] {
                let edge = i128::from(start - 300) * NANOS_PER_SECOND + cut;
                assert!(is_fresh(edge, unit, now, window), "{start} {unit:?}");
                assert!(
                    !is_fresh(edge - scale, unit, now, window),
                    "{start} {unit:?}"
                );
            }
        }
    }
}
