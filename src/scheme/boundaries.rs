//! Whether a content can be cut in one way only.
//!
//! Parts that follow each other without a mark between them can be cut at another place under the
//! same signature: a byte of the URL becomes one of the body, a digit of one amount one of the next.

use super::{Part, Shape, Slot, Transform, Unit};

/// Hands back nothing, or the index of the first part without a clear end.
pub(super) fn clear(parts: &'static [Part], unit: Option<Unit>) -> Result<(), usize> {
    if parts.iter().all(Part::is_plain) {
        return plain(parts, unit);
    }
    let mut flat = Vec::new();
    flatten(parts, &mut flat);
    composed(&flat, unit)
}

/// Bytes of the request in a row.
fn plain(parts: &[Part], unit: Option<Unit>) -> Result<(), usize> {
    let pairs = parts.iter().zip(parts.iter().skip(1));
    for (index, (part, next)) in pairs.enumerate() {
        let closed = match (part, next) {
            // Fixed text has a fixed length.
            (Part::Text(_), _) => true,
            // RFC 3339 says itself where it ends.
            (Part::Timestamp, _) if unit == Some(Unit::Rfc3339) => true,
            // Digits end at the first byte that is none.
            (Part::Timestamp, Part::Text(text)) => !text.starts_with(|c: char| c.is_ascii_digit()),
            // verify refuses a value that holds the separator's first byte.
            (Part::Header(_) | Part::Method | Part::Url, Part::Text(text)) => !text.is_empty(),
            // A token has neither the colons of a time nor a time's width in digits only.
            (Part::Header(slot), Part::Timestamp) => unit == Some(Unit::Rfc3339) && is_token(slot),
            // Fixed text at the very end has a fixed place.
            _ => {
                let mut rest = parts.iter().skip(index.saturating_add(1));
                rest.all(|part| matches!(part, Part::Text(_)))
            }
        };
        if !closed {
            return Err(index);
        }
    }
    Ok(())
}

/// Groups and their contents in a row, without what writes nothing.
fn flatten(parts: &'static [Part], flat: &mut Vec<&'static Part>) {
    for part in parts {
        match part {
            Part::Of(Transform::Join, inner) => flatten(inner, flat),
            // Fixed text at both ends tells whether the group is there.
            Part::IfPresent(inner @ [Part::Text(_), .., Part::Text(_)]) => flatten(inner, flat),
            Part::Require(_) => {}
            part => flat.push(part),
        }
    }
}

/// At most one part may be of any length and hold any byte; it is what remains when all others,
/// which know their ends, are taken off from both sides.
fn composed(parts: &[&Part], unit: Option<Unit>) -> Result<(), usize> {
    let mut free = 0_usize;
    for (index, part) in parts.iter().enumerate() {
        let closed = match part {
            Part::Text(_) | Part::Secret | Part::Setting(_) => true,
            // Digests have a fixed length; what is digested has ends of its own.
            Part::Of(Transform::Sha256(_) | Transform::Sha1, inner) => {
                clear(inner, unit).map_err(|_| index)?;
                true
            }
            // Quotes and backslashes inside are escaped, so that the quotes around it are found
            // from either side, unless a backslash stands before it.
            Part::Of(Transform::JsonString, _) => follows_text(parts, index),
            // RFC 3339 says itself where it begins and ends.
            Part::Timestamp if unit == Some(Unit::Rfc3339) => true,
            Part::Timestamp => ends(parts, index, digits_or_time(unit)),
            Part::Header(slot) | Part::Value(slot) => closed_value(parts, index, slot),
            Part::Of(Transform::LowerCase, [Part::Value(slot)]) => closed_value(parts, index, slot),
            // One that is not there ends where it begins.
            Part::IfPresent([Part::Value(slot)]) => closed_value(parts, index, slot),
            // No control characters are in them (RFC 9110 §5.5, RFC 3986).
            Part::Url | Part::UrlBase | Part::PathAndQuery | Part::Path => {
                ends(parts, index, Of(Shape::Visible))
            }
            // RFC 9110 §9.1: a token of letters.
            Part::Method => ends(parts, index, Of(Shape::Token)),
            Part::Of(Transform::Crc32, _) => ends(parts, index, Digits),
            Part::Of(Transform::Base64Url, _) => ends(parts, index, Of(Shape::Token)),
            _ => false,
        };
        if !closed {
            free = free.saturating_add(1);
        }
        if free > 1 {
            return Err(index);
        }
    }
    Ok(())
}

/// Which bytes a part is made of.
enum Bytes {
    Digits,
    Time,
    Of(Shape),
}
use Bytes::{Digits, Of, Time};

/// Whether a value knows its ends: by its shape, and fixed text on each side.
fn closed_value(parts: &[&Part], index: usize, slot: &Slot) -> bool {
    slot.value_shape() != Shape::Any && ends(parts, index, Of(slot.value_shape()))
}

fn digits_or_time(unit: Option<Unit>) -> Bytes {
    match unit {
        Some(Unit::Rfc3339 | Unit::DateTimeUtc) => Time,
        _ => Digits,
    }
}

/// Whether fixed text that cannot be part of it stands on each side of a part, or the content's
/// own beginning or end.
fn ends(parts: &[&Part], index: usize, bytes: Bytes) -> bool {
    let other = |byte: Option<u8>| {
        byte.is_some_and(|byte| match bytes {
            Digits => !byte.is_ascii_digit(),
            Time => !byte.is_ascii_alphanumeric() && !b":.+-".contains(&byte),
            Of(shape) => !shape.allows(byte),
        })
    };
    let text = |part: Option<&&Part>| match part {
        Some(Part::Text(text)) => Some(text.as_bytes()),
        _ => None,
    };
    let before = index.checked_sub(1).map(|index| parts.get(index));
    let before = before.is_none_or(|part| other(text(part).and_then(<[u8]>::last).copied()));
    let after = parts.get(index.saturating_add(1));
    let after = after.is_none() || other(text(after).and_then(<[u8]>::first).copied());
    before && after
}

/// Whether a part stands at the beginning or behind fixed text that does not end in a backslash.
fn follows_text(parts: &[&Part], index: usize) -> bool {
    match index.checked_sub(1).map(|index| parts.get(index)) {
        None => true,
        Some(Some(Part::Text(text))) => !text.is_empty() && !text.ends_with('\\'),
        _ => false,
    }
}

fn is_token(slot: &Slot) -> bool {
    slot.value_shape() == Shape::Token
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheme::Encoding;

    const LINE: &[Part] = &[Part::Text("\n")];

    fn cut(parts: &'static [Part], unit: Unit) -> Result<(), usize> {
        clear(parts, Some(unit))
    }

    #[test]
    fn a_date_ends_by_itself_and_digits_do_not() {
        const BOTH: &[Part] = &[
            Part::Of(Transform::PhpEscapes, &[Part::Body]),
            Part::Timestamp,
        ];
        assert_eq!(cut(BOTH, Unit::Rfc3339), Ok(()));
        assert_eq!(cut(BOTH, Unit::Seconds), Err(1));
    }

    #[test]
    fn what_is_digested_is_judged_too() {
        const CLEAR: &[Part] = &[Part::Of(
            Transform::Sha256(Encoding::Plain),
            &[Part::Timestamp, Part::Text("."), Part::Body],
        )];
        const UNCLEAR: &[Part] = &[
            Part::Of(Transform::Join, LINE),
            Part::Of(
                Transform::Sha256(Encoding::Plain),
                &[Part::Timestamp, Part::Body],
            ),
        ];
        assert_eq!(cut(CLEAR, Unit::Seconds), Ok(()));
        assert_eq!(cut(UNCLEAR, Unit::Seconds), Err(1));
    }

    #[test]
    fn json_strings_end_by_themselves_behind_text_without_a_backslash() {
        const STRING: Part = Part::Of(Transform::JsonString, &[Part::Body]);
        const BEHIND_TEXT: &[Part] = &[Part::Text(":"), STRING, Part::Text(","), STRING];
        const BEHIND_BACKSLASH: &[Part] = &[STRING, Part::Text("\\"), STRING, STRING];
        assert_eq!(cut(BEHIND_TEXT, Unit::Seconds), Ok(()));
        assert_eq!(cut(BEHIND_BACKSLASH, Unit::Seconds), Err(3));
    }
}
