//! Rows that a database may hold, and the rules of their life.

use std::time::Duration;

use arbitrary::{Arbitrary as _, Result, Unstructured};
use hookproof::{
    Claim, Claiming, EventKey, Fingerprint, Receipt, State, Verdict,
    store::{Ruling, StoredRow},
};
use time::{OffsetDateTime, PrimitiveDateTime, UtcOffset};

use crate::input::{bytes, moment};

/// A row, what is asked of it, and when.
struct Case {
    row: StoredRow,
    claiming: Claiming,
    lease: Duration,
    now: OffsetDateTime,
    verdict: Verdict,
    max_attempts: u32,
}

fn duration(input: &mut Unstructured<'_>) -> Result<Duration> {
    Ok(Duration::new(
        u64::arbitrary(input)?,
        u32::arbitrary(input)? % 1_000_000_000,
    ))
}

fn key() -> EventKey {
    EventKey::business("tenant", "fuzz", "1").expect("a sound key")
}

/// The bytes of a [`Case`]: numbers in the order of the row, then the questions.
fn read(data: &[u8]) -> Result<Case> {
    let mut input = Unstructured::new(data);
    let input = &mut input;
    let [state, flags] = <[u8; 2]>::arbitrary(input)?;
    let row = StoredRow {
        // Codes of states and a few that are none.
        state: i64::from(state as i8 % 8),
        attempts: i64::arbitrary(input)?,
        fence: i64::arbitrary(input)?,
        received_at: i64::arbitrary(input)?,
        changed_at: i64::arbitrary(input)?,
        until: (flags & 1 != 0).then_some(i64::arbitrary(input)?),
        expires_at: i64::arbitrary(input)?,
        fingerprint: bytes(input)?.to_vec(),
        result: (flags & 2 != 0).then_some(bytes(input)?.to_vec()),
    };
    // The clocks of stores tell the time in UTC.
    let now = moment(input)?.to_offset(UtcOffset::UTC);
    let max_attempts = u32::arbitrary(input)?;
    let presented = if flags & 4 != 0 {
        Fingerprint::of(bytes(input)?)
    } else {
        let stored = <[u8; 16]>::try_from(&row.fingerprint[..]);
        stored.map_or(Fingerprint::IGNORED, Fingerprint::from_bytes)
    };
    let lease = duration(input)?;
    let claiming = Claiming::business(key())
        .fingerprint(presented)
        .lease(lease)
        .retention(duration(input)?)
        .max_attempts(max_attempts);
    let verdict = match flags >> 3 & 3 {
        0 => Verdict::done(bytes(input)?),
        1 => Verdict::dead(bytes(input)?),
        _ => Verdict::retry(duration(input)?),
    };
    Ok(Case {
        row,
        claiming,
        lease,
        now,
        verdict,
        max_attempts: max_attempts.max(1),
    })
}

/// The input that reads as a row and a claim of it with the same content, or with other content.
pub fn seed(row: &StoredRow, now: i64, lease: u64, same: bool) -> Vec<u8> {
    let text = |bytes: &[u8]| {
        let length = u16::try_from(bytes.len()).expect("short").to_le_bytes();
        [&length[..], bytes].concat()
    };
    let flags = u8::from(row.until.is_some()) | u8::from(row.result.is_some()) << 1;
    let mut data = vec![row.state as u8, flags | u8::from(!same) << 2 | 2 << 3];
    data.extend(row.attempts.to_le_bytes());
    data.extend(row.fence.to_le_bytes());
    data.extend(row.received_at.to_le_bytes());
    data.extend(row.changed_at.to_le_bytes());
    data.extend(row.until.unwrap_or_default().to_le_bytes());
    data.extend(row.expires_at.to_le_bytes());
    data.extend(text(&row.fingerprint));
    data.extend(text(row.result.as_deref().unwrap_or_default()));
    data.extend(now.to_le_bytes());
    data.push(0);
    data.extend(20_u32.to_le_bytes());
    if !same {
        data.extend(text(b"other content"));
    }
    for seconds in [lease, 30 * 24 * 60 * 60, 45] {
        data.extend(seconds.to_le_bytes());
        data.extend([0; 4]);
    }
    data
}

/// Target: [`StoredRow`], [`Receipt`] and [`Verdict`] over any numbers, bytes and times.
pub fn stored(data: &[u8]) {
    let Ok(case) = read(data) else { return };
    if let Ok(stored) = case.row.clone().into_receipt(key()) {
        same_row(&StoredRow::of(&stored), &case.row);
        let nanos = stored.received_at.unix_timestamp_nanos();
        assert_eq!(nanos, i128::from(case.row.received_at) * 1000);
        rule(&stored, &case);
        settle(&stored, case);
    } else {
        // The first claim of an event has no row before it.
        let used = hookproof::Fence(case.row.fence);
        let first = Receipt::first(&case.claiming, case.now, used);
        assert!(first.fence > used || used.0 == i64::MAX);
        running(&first, &case);
    }
}

/// A while after a moment, or the last moment of all.
fn later(now: OffsetDateTime, wait: Duration) -> OffsetDateTime {
    let nanos = now
        .unix_timestamp_nanos()
        .saturating_add_unsigned(wait.as_nanos());
    let later = OffsetDateTime::from_unix_timestamp_nanos(nanos);
    later.unwrap_or(PrimitiveDateTime::MAX.assume_utc())
}

/// Databases keep microseconds, so a time and a wait may each lose less than one.
fn near(kept: OffsetDateTime, exact: OffsetDateTime) -> bool {
    (exact - kept).abs() < time::Duration::microseconds(2)
}

/// What was read is written again as it was, but for an empty result, which is none.
fn same_row(written: &StoredRow, read: &StoredRow) {
    let numbers = |row: &StoredRow| {
        let StoredRow {
            state,
            attempts,
            fence,
            received_at,
            changed_at,
            until,
            expires_at,
            ..
        } = *row;
        (
            state,
            attempts,
            fence,
            received_at,
            changed_at,
            until,
            expires_at,
        )
    };
    assert_eq!(numbers(written), numbers(read));
    assert_eq!(written.fingerprint, read.fingerprint);
    assert_eq!(
        written.result,
        read.result.clone().filter(|result| !result.is_empty())
    );
}

/// A claim of a stored event: the table of the design, in other words.
fn rule(stored: &Receipt, case: &Case) {
    let Case { claiming, now, .. } = case;
    let other = claiming.content() != stored.fingerprint;
    let waiting = stored.is_waiting(*now);
    assert!(!waiting || stored.remaining(*now) > Duration::ZERO);
    assert!(!(waiting && stored.state == State::InProgress && stored.is_purgeable(*now)));
    assert!(stored.is_purgeable(*now) <= (stored.expires_at <= *now));
    let ruling = stored.ruling(claiming, *now);
    assert_eq!(other, matches!(ruling, Ruling::Answer(Claim::Conflict(_))));
    match ruling {
        Ruling::Answer(Claim::Conflict(conflict)) => {
            assert_eq!(conflict.receipt, *stored);
            assert_eq!(conflict.presented, claiming.content());
        }
        Ruling::Answer(Claim::Duplicate(receipt)) => {
            assert_eq!((receipt.state, &receipt), (State::Processed, stored));
        }
        Ruling::Answer(Claim::Dead(receipt)) => {
            assert_eq!((receipt.state, &receipt), (State::Dead, stored));
        }
        Ruling::Answer(Claim::InProgress {
            retry_after,
            receipt,
        }) => {
            assert!(waiting && retry_after > Duration::ZERO);
            let full = stored.until.expect("waits for something") - stored.changed_at;
            assert!(retry_after.as_nanos() as i128 <= full.whole_nanoseconds().max(1000));
            assert_eq!(receipt, *stored);
        }
        Ruling::Answer(Claim::New(lease)) => panic!("only a store hands out {lease:?}"),
        Ruling::Bury(dead) => {
            assert_eq!(stored.state, State::InProgress);
            assert!(!waiting && stored.attempts >= case.max_attempts);
            assert_eq!(
                (dead.state, dead.until, dead.fence),
                (State::Dead, None, stored.fence)
            );
            unchanged(&dead, stored);
        }
        Ruling::Take(taken) => {
            assert!(!waiting || stored.state == State::Received);
            // Claims alone never get to the last number of all, behind which there is none.
            assert_eq!(taken.fence.0, stored.fence.0.saturating_add(1));
            assert_eq!(taken.attempts, stored.attempts.saturating_add(1));
            unchanged(&taken, stored);
            running(&taken, case);
        }
    }
}

/// What the first record said stays.
fn unchanged(after: &Receipt, before: &Receipt) {
    let first = |row: &Receipt| {
        (
            row.key.clone(),
            row.fingerprint,
            row.received_at,
            row.expires_at,
        )
    };
    assert_eq!(first(after), first(before));
}

/// A row that was claimed just now is claimed by nobody else until its lease is over.
fn running(row: &Receipt, case: &Case) {
    assert_eq!(row.state, State::InProgress);
    assert!(near(row.changed_at, case.now));
    let until = row.until.expect("a lease has an end");
    assert!(near(until, later(case.now, case.lease)));
    let readable = StoredRow::of(row).into_receipt(key()).is_ok();
    assert!(readable, "what was written cannot be read");
    let again = row.ruling(&case.claiming, case.now);
    if row.fingerprint == case.claiming.content() && until > case.now {
        assert!(matches!(again, Ruling::Answer(Claim::InProgress { .. })));
        let over = until.checked_add(time::Duration::NANOSECOND);
        let over = over.unwrap_or(PrimitiveDateTime::MAX.assume_utc());
        let again = row.ruling(&case.claiming, over);
        assert!(
            matches!(again, Ruling::Take(_) | Ruling::Bury(_)),
            "stuck: {again:?}"
        );
    }
}

fn settle(stored: &Receipt, case: Case) {
    let Case {
        verdict,
        max_attempts,
        now,
        ..
    } = case;
    let last = stored.attempts >= max_attempts;
    let (state, until, result) = verdict.clone().outcome(stored.attempts, max_attempts, now);
    match verdict {
        Verdict::Done(done) => assert_eq!((state, until, result), (State::Processed, None, done)),
        Verdict::Dead(why) => assert_eq!((state, until, result), (State::Dead, None, why)),
        Verdict::Retry { .. } if last => {
            assert_eq!((state, until), (State::Dead, None));
            assert!(!result.is_empty(), "a death has a reason");
        }
        Verdict::Retry { after: wait } => {
            assert_eq!(state, State::Failed);
            assert!(until.is_some_and(|until| near(until, later(now, wait))) && result.is_empty());
        }
    }
}
