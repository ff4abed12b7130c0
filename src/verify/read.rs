//! Reading what a scheme asks for out of a request's headers.

use std::borrow::Cow;

use crate::{
    headers::{Headers, Lookup},
    scheme::{MAX_HEADER_BYTES, MAX_PARTS, MAX_SIGNATURES, Part, Scheme, Slot, Stamp, Unit, any},
};

use super::{Malformed, stamp};

/// Longest header name that the second family may give, in bytes.
const MAX_NAME: usize = 96;

/// A request's headers, read the way one scheme does.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a> {
    pub(crate) scheme: &'static Scheme,
    headers: &'a dyn Headers,
    /// The request uses the scheme's second header family.
    second_family: bool,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(scheme: &'static Scheme, headers: &'a dyn Headers) -> Self {
        let mut reader = Self {
            scheme,
            headers,
            second_family: false,
        };
        if let (Some(_), Some(slot)) = (scheme.header_families(), &scheme.signature) {
            // One family for the whole request: whichever has the signature, ours first.
            reader.second_family = reader.lookup(slot.name()) == Lookup::Absent;
        }
        reader
    }

    /// For a request whose signature is still to come: our own family.
    #[cfg(feature = "testing")]
    pub(crate) fn unsigned(scheme: &'static Scheme, headers: &'a dyn Headers) -> Self {
        Self {
            scheme,
            headers,
            second_family: false,
        }
    }

    pub(super) fn lookup(&self, name: &str) -> Lookup<'a> {
        match self.scheme.header_families() {
            Some((prefix, other)) if self.second_family => {
                let tail = match name.split_at_checked(prefix.len()) {
                    Some((head, tail)) if head.eq_ignore_ascii_case(prefix) => tail,
                    _ => return self.headers.lookup(name),
                };
                let mut room = [0_u8; MAX_NAME];
                let bytes = other.bytes().chain(tail.bytes());
                let length = other.len().saturating_add(tail.len());
                room.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
                match room.get(..length).map(std::str::from_utf8) {
                    Some(Ok(name)) => self.headers.lookup(name),
                    _ => Lookup::Absent,
                }
            }
            _ => self.headers.lookup(name),
        }
    }

    /// A header that the request itself names: `None` unless it occurs once and is bearable.
    pub(crate) fn named(&self, name: &str) -> Option<&'a [u8]> {
        match self.headers.lookup(name) {
            Lookup::One(value) if value.len() <= MAX_HEADER_BYTES => Some(value),
            _ => None,
        }
    }

    /// A header that must occur exactly once and be of bearable length.
    pub(crate) fn one(&self, name: &'static str) -> Result<&'a [u8], Malformed> {
        self.optional(name)?.ok_or(Malformed::MissingHeader(name))
    }

    /// A header that may be missing, but not occur twice.
    pub(crate) fn optional(&self, name: &'static str) -> Result<Option<&'a [u8]>, Malformed> {
        match self.lookup(name) {
            Lookup::Absent => Ok(None),
            Lookup::Many => Err(Malformed::RepeatedHeader(name)),
            Lookup::One(value) if value.len() > MAX_HEADER_BYTES => {
                Err(Malformed::HeaderTooLong(name))
            }
            Lookup::One(value) => Ok(Some(value)),
        }
    }

    /// All lines of a header as one list; together no longer than one may be.
    pub(crate) fn lines(&self, slot: &Slot) -> Result<Option<Cow<'a, [u8]>>, Malformed> {
        if self.lookup(slot.name()) != Lookup::Many {
            return Ok(self.optional(slot.name())?.map(Cow::Borrowed));
        }
        let lines = self.headers.lines(slot.name());
        let length = lines
            .iter()
            .map(|line| line.len())
            .fold(0, usize::saturating_add);
        if lines.is_empty() {
            return Err(Malformed::RepeatedHeader(slot.name()));
        }
        if lines.len() > MAX_SIGNATURES || length > MAX_HEADER_BYTES {
            return Err(Malformed::HeaderTooLong(slot.name()));
        }
        let separator = [slot.separator().unwrap_or(b',')];
        Ok(Some(Cow::Owned(lines.join(separator.as_slice()))))
    }

    pub(crate) fn method(&self) -> Option<&'a str> {
        self.headers.method()
    }

    pub(crate) fn url(&self) -> Option<&'a str> {
        self.headers.url()
    }

    /// Puts the bytes of each part of the signed content in place, and returns the timestamp if it
    /// is in a header. `known` is a header already looked up.
    pub(crate) fn parts(
        &self,
        parts: &mut [&'a [u8]; MAX_PARTS],
        body: &'a [u8],
        known: (&'static str, Option<&'a [u8]>),
    ) -> Result<Option<i128>, Malformed> {
        let mut header_stamp = None;
        let mut wanted = self.scheme.parts();
        for place in parts {
            let Some((part, rest)) = wanted.split_first() else {
                break;
            };
            wanted = rest;
            *place = match part {
                Part::Text(text) => text.as_bytes(),
                Part::Body => body,
                Part::Method => self.target_part(self.method(), rest)?,
                Part::Url => self.target_part(self.url(), rest)?,
                Part::Header(slot) => {
                    let value = self.header_part(slot)?;
                    ends_before(value, rest.first()).ok_or(Malformed::HeaderValue(slot.name()))?
                }
                Part::Timestamp => {
                    let Some((Stamp::Slot(slot), unit)) = &self.scheme.timestamp else {
                        return Err(Malformed::Timestamp);
                    };
                    let header = match known.1 {
                        Some(header) if slot.name().eq_ignore_ascii_case(known.0) => header,
                        _ => self.one(slot.name())?,
                    };
                    let text = slot.single(header).ok_or(Malformed::Timestamp)?;
                    let at = stamp::parse(text, *unit)
                        .and_then(|at| stamp::not_before(at, self.scheme.earliest));
                    header_stamp = Some(at.ok_or(Malformed::Timestamp)?);
                    text
                }
                // Schemes with other parts are put together elsewhere.
                _ => return Err(Malformed::Condition),
            };
        }
        Ok(header_stamp)
    }

    fn target_part(&self, value: Option<&'a str>, rest: &[Part]) -> Result<&'a [u8], Malformed> {
        let value = value.ok_or(Malformed::NoTarget)?.as_bytes();
        match ends_before(value, rest.first()) {
            None if self.scheme.ambiguity().is_none() => Err(Malformed::Target),
            _ => Ok(value),
        }
    }

    pub(crate) fn header_part(&self, slot: &Slot) -> Result<&'a [u8], Malformed> {
        let value = slot.single(self.one(slot.name())?);
        value
            .filter(|value| slot.fits(value))
            .ok_or(Malformed::HeaderValue(slot.name()))
    }
}

/// A value that holds the first byte of the separator behind it could be cut at another place
/// under the same signature.
fn ends_before<'a>(value: &'a [u8], next: Option<&Part>) -> Option<&'a [u8]> {
    match next {
        Some(Part::Text(separator)) => {
            let first = *separator.as_bytes().first()?;
            (!any(value, |byte| byte == first)).then_some(value)
        }
        _ => Some(value),
    }
}

/// A timestamp inside a JSON body that has been authenticated.
#[cfg(feature = "json")]
pub(crate) fn body_stamp(body: &[u8], pointer: &str, unit: Unit) -> Option<i128> {
    use crate::json::Scalar;
    match (crate::json::find(body, pointer)?, unit) {
        (Scalar::Number(number), Unit::Seconds | Unit::Millis) => {
            stamp::from_number(number.try_into().ok()?, unit)
        }
        (Scalar::Text(text), _) => stamp::parse(text.as_bytes(), unit),
        (Scalar::Number(number), Unit::SecondsOrMillis) => {
            stamp::from_number(number.try_into().ok()?, unit)
        }
        (Scalar::Number(_), Unit::Rfc3339 | Unit::DateTimeUtc) => None,
    }
}

/// Without the feature a scheme with a body timestamp is refused when its secrets are made.
#[cfg(not(feature = "json"))]
pub(crate) fn body_stamp(_: &[u8], _: &str, _: Unit) -> Option<i128> {
    None
}
