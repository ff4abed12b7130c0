//! Cutting values out of a list, several bytes at a time.

use super::Lead;

/// Iterator over the values of a [`Slot`](super::Slot) in one header value. See
/// [`Slot::items`](super::Slot::items).
#[derive(Debug, Clone)]
pub struct Items<'h> {
    pub(super) rest: Option<&'h [u8]>,
    pub(super) separator: Option<u8>,
    pub(super) first: bool,
    pub(super) prefix: &'static str,
    pub(super) lead: Lead,
    pub(super) after: Option<u8>,
}

impl<'h> Iterator for Items<'h> {
    type Item = &'h [u8];

    #[inline]
    fn next(&mut self) -> Option<&'h [u8]> {
        loop {
            let rest = self.rest.take()?;
            let item = match self.separator {
                None => rest,
                Some(separator) => {
                    let item;
                    (item, self.rest) = cut(rest, separator);
                    item.trim_ascii()
                }
            };
            if self.first {
                self.rest = None;
            }
            let value = match self.lead {
                Lead::Exact => behind(item, self.prefix.as_bytes()),
                lead => behind_word(item, self.prefix.as_bytes(), lead),
            };
            let value = match self.after {
                None => value,
                Some(mark) => value.and_then(|value| cut(value, mark).1),
            };
            if value.is_some() {
                return value;
            }
        }
    }
}

/// What stands before the first `separator`, and what behind it if there is one.
fn cut(value: &[u8], separator: u8) -> (&[u8], Option<&[u8]>) {
    match find(value, separator) {
        Some(at) => (
            value.get(..at).unwrap_or_default(),
            value.get(at.saturating_add(1)..),
        ),
        None => (value, None),
    }
}

/// The place of the first `byte`.
fn find(value: &[u8], byte: u8) -> Option<usize> {
    let blocks = value.as_chunks::<BLOCK>().0.iter();
    let clear = blocks.take_while(|block| !in_block(block, |other| other == byte));
    let clear = clear.count().saturating_mul(BLOCK);
    let at = value
        .get(clear..)?
        .iter()
        .position(|&other| other == byte)?;
    Some(clear.saturating_add(at))
}

/// Whether any byte is such.
pub(crate) fn any(value: &[u8], such: impl Fn(u8) -> bool + Copy) -> bool {
    match value.last_chunk() {
        // The last block overlaps the one before it, which does no harm.
        Some(last) => {
            let mut blocks = value.as_chunks().0.iter();
            blocks.any(|block| in_block(block, such)) || in_block(last, such)
        }
        None => value.iter().any(|&byte| such(byte)),
    }
}

/// As many bytes as compile to one vector, if a loop over them has no early way out.
const BLOCK: usize = 16;

fn in_block(block: &[u8; BLOCK], such: impl Fn(u8) -> bool) -> bool {
    block.iter().fold(false, |any, &byte| any | such(byte))
}

/// `strip_prefix` for prefixes of a few bytes, where calling `memcmp` costs more than comparing.
pub(super) fn behind<'h>(item: &'h [u8], prefix: &[u8]) -> Option<&'h [u8]> {
    let (head, tail) = item.split_at_checked(prefix.len())?;
    head.iter().zip(prefix).all(|(a, b)| a == b).then_some(tail)
}

/// The same in any case, for a word that may be required or not.
fn behind_word<'h>(item: &'h [u8], word: &[u8], lead: Lead) -> Option<&'h [u8]> {
    match item.split_at_checked(word.len()) {
        Some((head, tail)) if head.eq_ignore_ascii_case(word) => Some(tail.trim_ascii_start()),
        _ => (lead == Lead::Optional).then_some(item),
    }
}

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]
mod tests {
    use super::{
        super::{Shape, Slot},
        *,
    };

    /// At every place of values with and without whole blocks, against the plain way.
    #[test]
    fn separators_and_odd_bytes_are_found_wherever_they_are() {
        let visible = Slot::header("X").list(b',');
        let token = visible.shape(Shape::Token);
        for length in 0..=3 * BLOCK {
            let clean = vec![b'a'; length];
            assert_eq!(cut(&clean, b','), (&clean[..], None));
            assert_eq!(visible.fits(&clean), length > 0);
            for place in 0..length {
                let mut value = clean.clone();
                *value.get_mut(place).unwrap() = b',';
                let (before, behind) = value.split_at(place);
                assert_eq!(
                    cut(&value, b','),
                    (before, behind.get(1..)),
                    "{length} {place}"
                );
                assert!(
                    visible.fits(&value) && !token.fits(&value),
                    "{length} {place}"
                );
                *value.get_mut(place).unwrap() = b' ';
                assert!(!visible.fits(&value), "{length} {place}");
            }
        }
    }

    #[test]
    fn a_date_has_four_digits_of_a_year_and_nothing_before_them() {
        let date = Slot::json("/at").shape(Shape::DateTime);
        for good in [
            "2026-01-01T00:00:00",
            "2026-01-01T00:00:00.284816",
            "2026-01-01T00:00:00.634Z",
            "2026-01-01T00:00:00+02:00",
        ] {
            assert!(date.fits(good.as_bytes()), "{good}");
            // A digit moved from or to a number that stands before it.
            assert!(!date.fits(&good.as_bytes()[1..]), "{good}");
            assert!(!date.fits(&[b"0", good.as_bytes()].concat()), "{good}");
        }
        for other in [
            "",
            "2026-01-01",
            "2026-01-01T00:00:000",
            "2026-01-01T00:00:00 x",
        ] {
            assert!(!date.fits(other.as_bytes()), "{other}");
        }
        let dotted = Slot::json("/file").shape(Shape::Dotted);
        assert!(dotted.fits(b"report_batch_3.csv") && !dotted.fits(b"a:b"));
        let digits = Slot::json("/n").shape(Shape::Digits);
        assert!(digits.fits(b"0120") && !digits.fits(b"-1") && !digits.fits(b"1e3"));
        let flag = Slot::json("/yes").shape(Shape::Flag);
        assert!(flag.fits(b"true") && flag.fits(b"false"));
        assert!(!flag.fits(b"truefalse") && !flag.fits(b"True"));
        // A name that is empty ends where it begins; a number, truth value or date is none.
        for (slot, empty) in [
            (dotted, true),
            (digits, false),
            (flag, false),
            (date, false),
        ] {
            assert_eq!(slot.fits(b""), empty);
        }
    }

    #[test]
    fn shapes_are_judged_byte_by_byte() {
        let visible = Slot::header("X");
        let token = visible.shape(Shape::Token);
        for byte in 0..=u8::MAX {
            for value in [vec![byte; 3], vec![byte; BLOCK + 1]] {
                assert_eq!(
                    visible.fits(&value),
                    (0x21..=0x7e).contains(&byte),
                    "{byte}"
                );
                let letters = byte.is_ascii_alphanumeric() || b"+/=_-".contains(&byte);
                assert_eq!(token.fits(&value), letters, "{byte}");
            }
        }
    }
}
