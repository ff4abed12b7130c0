//! Where a value sits in a header, and how it is cut out. The only header parser in the crate.

/// Longest header value that is looked at, in bytes. Longer ones are refused before any work.
pub const MAX_HEADER_BYTES: usize = 8 * 1024;

/// Most signatures that are compared in one request. A rotation needs two or three.
pub const MAX_SIGNATURES: usize = 16;

/// Most signatures that are looked at in one request where keys are public: each is checked by
/// itself under each key, which costs as much as a MAC over many kilobytes.
pub const MAX_PUBLIC_KEY_SIGNATURES: usize = 4;

/// Which bytes a header value may consist of when it goes into the signed content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shape {
    /// Visible ASCII without blanks (`0x21..=0x7e`). The default.
    Visible,
    /// Letters, digits and `+ / = _ -`: ids and base64, but no full stop, colon or brace.
    ///
    /// Needed where a provider joins parts without a separator, so that the parts cannot be cut
    /// at another place under the same signature.
    Token,
}

impl Shape {
    fn allows(self, byte: u8) -> bool {
        match self {
            Shape::Visible => byte.is_ascii_graphic(),
            Shape::Token => {
                byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'_' | b'-')
            }
        }
    }
}

/// A place in a header: the field, and optionally a list separator and a fixed prefix.
///
/// These few parts cover the field's spellings of one idea:
///
/// | header value | slot |
/// |---|---|
/// | `5f2c…` | `Slot::header("X-Signature")` |
/// | `sha256=5f2c…` | `Slot::header("X-Hub-Signature-256").prefix("sha256=")` |
/// | `t=17…,v1=5f2c…,v1=91…` | `Slot::header("Stripe-Signature").list(b',').prefix("v1=")` |
/// | `v1,X8s= v1,9Qk=` | `Slot::header("webhook-signature").list(b' ').prefix("v1,")` |
///
/// A prefix is compared, never hashed, and never chosen by the sender.
///
/// ```
/// use hookproof::scheme::Slot;
///
/// const V1: Slot = Slot::header("Stripe-Signature").list(b',').prefix("v1=");
/// let items: Vec<&[u8]> = V1.items(b"t=1800000000,v1=aa, v1=bb,v0=cc").collect();
/// assert_eq!(items, [b"aa", b"bb"]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    header: &'static str,
    separator: Option<u8>,
    prefix: &'static str,
    shape: Shape,
}

impl Slot {
    /// The whole value of the field `name`.
    pub const fn header(name: &'static str) -> Self {
        Self {
            header: name,
            separator: None,
            prefix: "",
            shape: Shape::Visible,
        }
    }

    /// The value is a list of items between `separator`s; white space around an item, which
    /// proxies add when they merge field lines, is dropped.
    #[must_use]
    pub const fn list(self, separator: u8) -> Self {
        Self {
            separator: Some(separator),
            ..self
        }
    }

    /// Only values (of a list: items) that begin with exactly `prefix` count; it is cut off.
    #[must_use]
    pub const fn prefix(self, prefix: &'static str) -> Self {
        Self { prefix, ..self }
    }

    /// Restricts the bytes of the value when it becomes part of the signed content.
    #[must_use]
    pub const fn shape(self, shape: Shape) -> Self {
        Self { shape, ..self }
    }

    /// The header field's name.
    pub const fn name(&self) -> &'static str {
        self.header
    }

    /// The list separator, if the value is a list.
    pub const fn separator(&self) -> Option<u8> {
        self.separator
    }

    /// The fixed text before the value.
    pub const fn fixed_prefix(&self) -> &'static str {
        self.prefix
    }

    pub(crate) const fn value_shape(&self) -> Shape {
        self.shape
    }

    pub(crate) fn fits(&self, value: &[u8]) -> bool {
        // Each shape has a loop of its own: to ask for it inside would keep bytes from being
        // judged 16 at once.
        !value.is_empty()
            && match self.shape {
                Shape::Visible => !any(value, |byte| !Shape::Visible.allows(byte)),
                Shape::Token => !any(value, |byte| !Shape::Token.allows(byte)),
            }
    }

    /// Cuts every matching value out of a header value, in order. Never allocates, never panics;
    /// what does not match is skipped, so that one odd item cannot spoil a good one.
    pub fn items<'h>(&self, value: &'h [u8]) -> Items<'h> {
        Items {
            rest: Some(value),
            separator: self.separator,
            prefix: self.prefix,
        }
    }

    /// The one value of a slot that must occur exactly once. `None` when it is missing or repeated.
    pub fn single<'h>(&self, value: &'h [u8]) -> Option<&'h [u8]> {
        let mut items = self.items(value);
        match (items.next(), items.next()) {
            (Some(only), None) => Some(only),
            _ => None,
        }
    }
}

/// Iterator over the values of a [`Slot`] in one header value. See [`Slot::items`].
#[derive(Debug, Clone)]
pub struct Items<'h> {
    rest: Option<&'h [u8]>,
    separator: Option<u8>,
    prefix: &'static str,
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
            if let Some(value) = behind(item, self.prefix.as_bytes()) {
                return Some(value);
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
fn behind<'h>(item: &'h [u8], prefix: &[u8]) -> Option<&'h [u8]> {
    let (head, tail) = item.split_at_checked(prefix.len())?;
    head.iter().zip(prefix).all(|(a, b)| a == b).then_some(tail)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;

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
