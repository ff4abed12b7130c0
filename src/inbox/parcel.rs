//! What an inbox keeps of a delivery.

use std::fmt;

use time::OffsetDateTime;

use crate::{
    clock::{from_micros, micros},
    event::EventKey,
    headers::{Headers, Lookup},
    scheme::{Coverage, Extent},
    store::{Claiming, StoreError, StoreErrorKind},
    verify::Verified,
};

/// Most headers that are kept with a delivery.
pub const MAX_HEADERS: usize = 64;

/// Longest value of a kept header, in bytes.
pub const MAX_HEADER_BYTES: usize = 8 * 1024;

/// Longest event type, key id and delivery id that are kept, in characters.
const MAX_FACT_CHARS: usize = 255;

/// What verification found out about a delivery. Kept with it, since it cannot be found out again:
/// by the time a worker comes to it, the signature is stale and the secret may be another.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Facts {
    /// The name of the scheme that it was verified under.
    pub scheme: String,
    /// The event type; control characters are replaced by `?`, and more than 255 characters cut.
    /// Signed or not as [`Coverage::event_type`] says.
    pub event_type: Option<String>,
    /// The id of the key that matched, if it has one.
    pub key_id: Option<String>,
    /// The provider's id header, for logs only: it may be unsigned.
    pub delivery_id: Option<String>,
    /// The signed time of sending, to the microsecond.
    pub sent_at: Option<OffsetDateTime>,
    /// The `now` that it was verified at, to the microsecond.
    pub received_at: OffsetDateTime,
    /// What the signature covers.
    pub coverage: Coverage,
}

impl Facts {
    fn of(delivery: &Verified<'_>) -> Self {
        let text = |text: String| {
            let clean = |char: char| if char.is_control() { '?' } else { char };
            text.chars().take(MAX_FACT_CHARS).map(clean).collect()
        };
        let whole = |at: OffsetDateTime| from_micros(micros(at)).unwrap_or(at);
        Self {
            scheme: text(delivery.scheme().name().to_owned()),
            event_type: delivery.event_type().map(text),
            key_id: delivery.key_id().map(|id| text(id.to_owned())),
            delivery_id: delivery.delivery_id(),
            sent_at: delivery.timestamp().map(whole),
            received_at: whole(delivery.verified_at()),
            coverage: delivery.coverage(),
        }
    }
}

/// An authentic delivery on its way into an inbox.
#[derive(Clone)]
#[must_use = "nothing is stored until a store accepts it"]
pub struct Parcel {
    pub(crate) claiming: Claiming,
    pub(crate) body: Vec<u8>,
    headers: Vec<(String, Vec<u8>)>,
    facts: Facts,
}

impl Parcel {
    /// An authentic delivery, and the event that it tells of. Of the claim its key, its
    /// fingerprint and its retention count; lease and attempts are the worker's affair.
    ///
    /// It takes the proof of authenticity, so an unverified body does not get in:
    ///
    /// ```compile_fail,E0308
    /// # fn run(claiming: hookproof::Claiming) {
    /// let parcel = hookproof::inbox::Parcel::new(br#"{"id":"evt_1"}"#, claiming);
    /// # }
    /// ```
    pub fn new(delivery: &Verified<'_>, claiming: Claiming) -> Self {
        Self {
            claiming,
            body: delivery.body().to_vec(),
            headers: Vec::new(),
            facts: Facts::of(delivery),
        }
    }

    /// A delivery that was kept, on its way into the inbox.
    pub(crate) fn again(parked: Parked, claiming: Claiming) -> Self {
        Self {
            claiming,
            body: parked.body,
            headers: parked.headers,
            facts: parked.facts,
        }
    }

    /// Keeps a header beside the body, if it occurs exactly once, is no longer than
    /// [`MAX_HEADER_BYTES`], and fewer than [`MAX_HEADERS`] are kept already.
    ///
    /// None is kept unless it is named. Name none that carries a secret: with some senders the
    /// signature's header is the secret itself.
    pub fn keep(mut self, headers: &impl Headers, name: &str) -> Self {
        if let Lookup::One(value) = headers.lookup(name)
            && value.len() <= MAX_HEADER_BYTES
            && name.len() <= MAX_HEADER_BYTES
            && self.headers.len() < MAX_HEADERS
            && self.headers.lookup(name) == Lookup::Absent
        {
            self.headers.push((name.to_owned(), value.to_vec()));
        }
        self
    }

    /// The event.
    pub fn key(&self) -> &EventKey {
        self.claiming.key()
    }

    /// For stores: what is asked of the receipt.
    pub fn claiming(&self) -> &Claiming {
        &self.claiming
    }

    /// For stores: what is kept once it is accepted.
    pub fn park(self, accepted_at: OffsetDateTime) -> Parked {
        Parked {
            key: self.claiming.key,
            body: self.body,
            headers: self.headers,
            facts: self.facts,
            accepted_at,
        }
    }
}

impl fmt::Debug for Parcel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parcel")
            .field("key", self.key())
            .field("body_bytes", &self.body.len())
            .field("facts", &self.facts)
            .finish_non_exhaustive()
    }
}

/// A delivery that lies in an inbox.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Parked {
    /// The event.
    pub key: EventKey,
    /// The raw body, byte for byte what was verified.
    pub body: Vec<u8>,
    /// The headers that were chosen to be kept.
    pub headers: Vec<(String, Vec<u8>)>,
    /// What verification found out.
    pub facts: Facts,
    /// When it was accepted, on the store's clock.
    pub accepted_at: OffsetDateTime,
}

impl fmt::Debug for Parked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parked")
            .field("key", &self.key)
            .field("body_bytes", &self.body.len())
            .field("facts", &self.facts)
            .field("accepted_at", &self.accepted_at)
            .finish_non_exhaustive()
    }
}

/// A parked delivery as databases keep it, and as they give it: not yet believed.
#[derive(Clone, Default)]
pub struct ParkedRow {
    /// See [`Facts::scheme`].
    pub scheme: String,
    /// See [`Facts::event_type`].
    pub event_type: Option<String>,
    /// See [`Facts::key_id`].
    pub key_id: Option<String>,
    /// See [`Facts::delivery_id`].
    pub delivery_id: Option<String>,
    /// Microseconds since 1970.
    pub sent_at: Option<i64>,
    /// Microseconds since 1970.
    pub received_at: i64,
    /// Microseconds since 1970.
    pub accepted_at: i64,
    /// One bit for each of the signed things.
    pub coverage: i64,
    /// Names and values, each with its length before it.
    pub headers: Vec<u8>,
    /// The raw body.
    pub body: Vec<u8>,
}

impl fmt::Debug for ParkedRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ParkedRow")
            .field("body_bytes", &self.body.len())
            .finish_non_exhaustive()
    }
}

impl ParkedRow {
    /// The row that a delivery is stored as.
    pub fn of(parked: Parked) -> Self {
        let facts = parked.facts;
        Self {
            scheme: facts.scheme,
            event_type: facts.event_type,
            key_id: facts.key_id,
            delivery_id: facts.delivery_id,
            sent_at: facts.sent_at.map(micros),
            received_at: micros(facts.received_at),
            accepted_at: micros(parked.accepted_at),
            coverage: bits(facts.coverage),
            headers: packed(&parked.headers),
            body: parked.body,
        }
    }

    /// The delivery of `key` that the row stands for.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::Corrupt`] if it is no row of this crate.
    pub fn into_parked(self, key: EventKey) -> Result<Parked, StoreError> {
        let corrupt = || StoreError::new(StoreErrorKind::Corrupt);
        let at = |micros| from_micros(micros).ok_or_else(corrupt);
        Ok(Parked {
            key,
            headers: unpacked(&self.headers).ok_or_else(corrupt)?,
            body: self.body,
            facts: Facts {
                scheme: self.scheme,
                event_type: self.event_type,
                key_id: self.key_id,
                delivery_id: self.delivery_id,
                sent_at: self.sent_at.map(at).transpose()?,
                received_at: at(self.received_at)?,
                coverage: coverage(self.coverage).ok_or_else(corrupt)?,
            },
            accepted_at: at(self.accepted_at)?,
        })
    }
}

const BODY: i64 = 4;
const TIMESTAMP: i64 = 8;
const ID: i64 = 16;
const EVENT_TYPE: i64 = 32;

fn bits(coverage: Coverage) -> i64 {
    let extent = match coverage.extent {
        Extent::Credential => 0,
        Extent::Fields => 1,
        Extent::Body => 2,
    };
    let flag = |set: bool, bit: i64| if set { bit } else { 0 };
    extent
        | flag(coverage.body, BODY)
        | flag(coverage.timestamp, TIMESTAMP)
        | flag(coverage.id, ID)
        | flag(coverage.event_type, EVENT_TYPE)
}

fn coverage(bits: i64) -> Option<Coverage> {
    let extent = match bits & 3 {
        0 => Extent::Credential,
        1 => Extent::Fields,
        2 => Extent::Body,
        _ => return None,
    };
    let known = 3 | BODY | TIMESTAMP | ID | EVENT_TYPE;
    (bits & !known == 0).then_some(Coverage {
        extent,
        body: bits & BODY != 0,
        timestamp: bits & TIMESTAMP != 0,
        id: bits & ID != 0,
        event_type: bits & EVENT_TYPE != 0,
    })
}

/// Lengths of two bytes are enough: see [`MAX_HEADER_BYTES`].
fn packed(headers: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut packed = Vec::new();
    let fields = headers
        .iter()
        .flat_map(|(name, value)| [name.as_bytes(), value]);
    for field in fields {
        let field = field.get(..MAX_HEADER_BYTES).unwrap_or(field);
        let length = u16::try_from(field.len()).unwrap_or_default();
        packed.extend(length.to_be_bytes());
        packed.extend(field);
    }
    packed
}

fn unpacked(mut packed: &[u8]) -> Option<Vec<(String, Vec<u8>)>> {
    let mut headers = Vec::new();
    while !packed.is_empty() {
        let name = field(&mut packed)?.to_vec();
        let value = field(&mut packed)?.to_vec();
        headers.push((String::from_utf8(name).ok()?, value));
    }
    Some(headers)
}

fn field<'p>(packed: &mut &'p [u8]) -> Option<&'p [u8]> {
    let (length, rest) = packed.split_first_chunk()?;
    let (field, rest) = rest.split_at_checked(u16::from_be_bytes(*length).into())?;
    *packed = rest;
    Some(field)
}

#[cfg(test)]
#[allow(clippy::indexing_slicing)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_back_and_nothing_else_is() {
        let headers = vec![
            ("X-One".to_owned(), b"a\r\n\0b".to_vec()),
            (String::new(), Vec::new()),
            ("X-Long".to_owned(), vec![7; MAX_HEADER_BYTES]),
        ];
        let bytes = packed(&headers);
        assert_eq!(unpacked(&bytes), Some(headers));
        assert_eq!(unpacked(&[]), Some(vec![]));
        let whole: Vec<_> = (1..bytes.len())
            .filter(|end| unpacked(&bytes[..*end]).is_some())
            .collect();
        // Only where one pair ends and the next begins.
        assert_eq!(whole, [2 + 5 + 2 + 5, 2 + 5 + 2 + 5 + 4]);
        assert_eq!(unpacked(&[0, 1, 0xff, 0, 0]), None, "not UTF-8");
    }

    #[test]
    fn coverage_is_read_back() {
        let known: Vec<_> = (-1..130)
            .filter(|bits| coverage(*bits).is_some_and(|covered| super::bits(covered) == *bits))
            .collect();
        assert_eq!(known.len(), 3 * 16);
        assert!((-1..130).all(|bits| known.contains(&bits) == coverage(bits).is_some()));
    }
}
