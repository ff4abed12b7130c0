//! Which of two states of an object is newer.

use std::{cmp::Ordering, fmt, sync::Arc};

use time::OffsetDateTime;

use super::Advance;
use crate::{
    clock::{from_micros, micros},
    event::bearable,
    store::{StoreError, StoreErrorKind},
};

/// Longest tie-break, in bytes.
pub const MAX_TIE_BREAK_BYTES: usize = 255;

/// A version of an object: a whole number, or a time, with an optional tie-break; and whether the
/// object was deleted by it.
///
/// Versions of one kind are in a total order, compared by
///
/// 1. the number, or the time, of which whole microseconds are kept;
/// 2. the tie-break, byte by byte; none comes before any;
/// 3. whether it is a deletion, which comes after a change of the same number and tie-break, since
///    senders repeat the last version when they delete.
///
/// A number and a time are of different kinds and have no order: [`PartialOrd`] says `None`, and
/// an [`OrderGuard`](super::OrderGuard) refuses the second kind for an object.
///
/// ```
/// use hookproof::Version;
/// use time::macros::datetime;
///
/// assert!(Version::number(9) < Version::number(10));
/// assert!(Version::number(9) < Version::number(9).deletion());
///
/// // Times in whole seconds tie; a sequence number beside them tells two changes apart.
/// let at = Version::at(datetime!(2027-01-15 08:00 UTC));
/// assert!(at.clone().tie_number(9) < at.clone().tie_number(10));
/// assert!(at.clone().tie_break("evt_1")? < at.clone().tie_break("evt_2")?);
/// assert_eq!(at.partial_cmp(&Version::number(10)), None);
/// # Ok::<(), hookproof::order::VersionError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Version {
    point: Point,
    /// Never empty.
    tie: Option<Arc<str>>,
    deletion: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Point {
    Number(i64),
    /// Microseconds since 1970.
    Time(i64),
}

/// Why there is no such version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VersionError {
    /// The tie-break is longer than [`MAX_TIE_BREAK_BYTES`], or holds control characters.
    #[error("the tie-break is too long or holds control characters")]
    BadTieBreak,
}

impl Version {
    /// A number that grows with each change: a revision, a sequence number.
    pub const fn number(number: i64) -> Self {
        Self {
            point: Point::Number(number),
            tie: None,
            deletion: false,
        }
    }

    /// The time of the change, by the sender's clock, to the microsecond.
    pub fn at(time: OffsetDateTime) -> Self {
        Self {
            point: Point::Time(micros(time)),
            tie: None,
            deletion: false,
        }
    }

    /// Breaks a tie by a number, compared as a number: 9 before 10. Not to be mixed with
    /// [`tie_break`](Version::tie_break) for one object: it is kept as text of 20 digits.
    #[must_use]
    pub fn tie_number(mut self, number: u64) -> Self {
        self.tie = Some(format!("{number:020}").into());
        self
    }

    /// Breaks a tie by a text, compared byte by byte: "10" before "9". An empty text is none.
    ///
    /// # Errors
    ///
    /// [`VersionError::BadTieBreak`].
    pub fn tie_break(mut self, text: &str) -> Result<Self, VersionError> {
        if !bearable(text, MAX_TIE_BREAK_BYTES) {
            return Err(VersionError::BadTieBreak);
        }
        self.tie = (!text.is_empty()).then(|| text.into());
        Ok(self)
    }

    /// The object is deleted by this version.
    #[must_use]
    pub const fn deletion(mut self) -> Self {
        self.deletion = true;
        self
    }

    /// The number, if it is one.
    pub const fn as_number(&self) -> Option<i64> {
        match self.point {
            Point::Number(number) => Some(number),
            Point::Time(_) => None,
        }
    }

    /// The time, if it is one.
    pub fn as_time(&self) -> Option<OffsetDateTime> {
        match self.point {
            Point::Number(_) => None,
            Point::Time(at) => from_micros(at),
        }
    }

    /// The tie-break; empty if there is none.
    pub fn tie(&self) -> &str {
        self.tie.as_deref().unwrap_or_default()
    }

    /// Whether the object is deleted by this version.
    pub const fn is_deletion(&self) -> bool {
        self.deletion
    }

    /// What comes of asking with this version while `stored` stands: the table in the
    /// [module's documentation](super). On `Applied` a store writes, in the same atomic step.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::Misuse`] if the two are of different kinds.
    pub fn judge(&self, stored: Option<Version>) -> Result<Advance, StoreError> {
        let Some(current) = stored else {
            return Ok(Advance::Applied { previous: None });
        };
        match self.partial_cmp(&current) {
            Some(Ordering::Greater) => Ok(Advance::Applied {
                previous: Some(current),
            }),
            Some(Ordering::Equal) => Ok(Advance::Same { current }),
            Some(Ordering::Less) => Ok(Advance::Older { current }),
            None => Err(StoreError::with_source(
                StoreErrorKind::Misuse,
                "a number and a time are not versions of one object",
            )),
        }
    }
}

/// As databases keep it.
#[cfg(any(
    feature = "rusqlite",
    feature = "sqlx-postgres",
    feature = "sqlx-mysql"
))]
impl Version {
    /// The kind's code, and the number or the microseconds since 1970.
    pub(crate) const fn code(&self) -> (i64, i64) {
        match self.point {
            Point::Number(number) => (1, number),
            Point::Time(at) => (2, at),
        }
    }

    /// The inverse of [`code`](Version::code), with the rest; nothing if it is none of this crate's.
    pub(crate) fn from_code(kind: i64, number: i64, tie: &str, deletion: bool) -> Option<Self> {
        let point = match kind {
            1 => Point::Number(number),
            2 if from_micros(number).is_some() => Point::Time(number),
            _ => return None,
        };
        let version = Self {
            point,
            tie: None,
            deletion,
        };
        version.tie_break(tie).ok()
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        let points = match (self.point, other.point) {
            (Point::Number(a), Point::Number(b)) | (Point::Time(a), Point::Time(b)) => a.cmp(&b),
            (Point::Number(_), Point::Time(_)) | (Point::Time(_), Point::Number(_)) => return None,
        };
        let rest = |version: &Self| (version.tie.clone(), version.deletion);
        Some(points.then_with(|| rest(self).cmp(&rest(other))))
    }
}

impl fmt::Debug for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.point {
            Point::Number(number) => write!(f, "Version({number}")?,
            Point::Time(at) => match from_micros(at) {
                Some(at) => write!(f, "Version({at}")?,
                None => write!(f, "Version({at} us")?,
            },
        }
        if let Some(tie) = &self.tie {
            write!(f, ", {tie:?}")?;
        }
        f.write_str(if self.deletion { ", deletion)" } else { ")" })
    }
}
