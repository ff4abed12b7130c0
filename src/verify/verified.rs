//! The proof that a delivery is authentic, and what it says.

use std::{fmt, time::Duration};

use time::OffsetDateTime;

use crate::{
    event::{Fingerprint, KeyError},
    scheme::{Coverage, Scheme, Slot, Source, Stability},
    secrets::{Key, Secrets},
};

use super::{Reader, Rejection, Request, StaleDelivery, VerifiedBuf, identity::netstrings, stamp};

/// An authentic delivery within the allowed age. Only [`verify`](crate::verify) makes one.
///
/// Says exactly what was covered by the signature ([`Verified::coverage`]); everything else could
/// have been written by whoever held one captured request.
#[derive(Clone, Copy)]
#[must_use = "a verified delivery has not been acted on"]
pub struct Verified<'a> {
    pub(super) reader: Reader<'a>,
    pub(super) body: &'a [u8],
    pub(super) stamp: Option<i128>,
    pub(super) now: OffsetDateTime,
    pub(super) key_index: usize,
    pub(super) key_id: Option<&'a str>,
    pub(super) window: Option<Duration>,
}

impl<'a> Verified<'a> {
    pub(super) fn new(
        reader: Reader<'a>,
        body: &'a [u8],
        stamp: Option<i128>,
        now: OffsetDateTime,
        (key_index, key_id): (usize, Option<&'a str>),
        window: Option<Duration>,
    ) -> Self {
        Self {
            reader,
            body,
            stamp,
            now,
            key_index,
            key_id,
            window,
        }
    }

    /// Judges the age, last of all: what is stale is authentic.
    pub(super) fn judge(
        reader: Reader<'a>,
        body: &'a [u8],
        stamp: Option<i128>,
        now: OffsetDateTime,
        (key_index, key): (usize, &'a Key),
        secrets: &'a Secrets,
    ) -> Result<Self, Rejection> {
        let fresh = match (stamp, &reader.scheme.timestamp) {
            (Some(stamp), Some((_, unit))) => {
                stamp::is_fresh(stamp, *unit, now, secrets.freshness())
            }
            _ => true,
        };
        let key = (key_index, key.id.as_deref());
        let verified = Self::new(reader, body, stamp, now, key, secrets.window());
        if fresh {
            Ok(verified)
        } else {
            Err(Rejection::Stale(Box::new(StaleDelivery::keep(&verified))))
        }
    }

    /// The allowed age that was applied; `None` if age was not, or could not be, judged.
    pub fn window(&self) -> Option<Duration> {
        self.window
    }

    /// The scheme that it was verified under.
    pub fn scheme(&self) -> &'static Scheme {
        self.reader.scheme
    }

    /// The raw body, byte for byte what was verified. Parse this and nothing else.
    pub fn body(&self) -> &'a [u8] {
        self.body
    }

    /// The signed time of sending, where the scheme has one.
    pub fn timestamp(&self) -> Option<OffsetDateTime> {
        OffsetDateTime::from_unix_timestamp_nanos(self.stamp?).ok()
    }

    /// `now` less the signed timestamp; negative if the sender's clock is ahead.
    pub fn age(&self) -> Option<time::Duration> {
        self.stamp.map(|stamp| stamp::age(stamp, self.now))
    }

    /// The `now` that it was verified at.
    pub fn verified_at(&self) -> OffsetDateTime {
        self.now
    }

    /// The id of the key that matched, if the secret was given one.
    pub fn key_id(&self) -> Option<&'a str> {
        self.key_id
    }

    /// The place in the key ring of the key that matched, from 0.
    pub fn key_index(&self) -> usize {
        self.key_index
    }

    /// What the signature covers.
    pub fn coverage(&self) -> Coverage {
        self.reader.scheme.coverage()
    }

    /// The provider's id header, **for logs only**: it may be unsigned. At most 255 characters of
    /// visible ASCII, other bytes replaced by `?`.
    pub fn delivery_id(&self) -> Option<String> {
        let header = self.reader.scheme.delivery_id_header()?;
        let value = self.reader.optional(header).ok()??;
        Some(printable(value))
    }

    /// The event type. Signed or not as [`Coverage::event_type`] says. Out of a body it comes as it
    /// is, so escape it in logs, as [`Outcome`](crate::Outcome) does.
    pub fn event_type(&self) -> Option<String> {
        match self.reader.scheme.event_type_source()? {
            Source::Header(name) => self.reader.optional(name).ok()?.map(printable),
            Source::Json(pointer) => self.json(pointer).ok(),
            #[cfg(feature = "jwt")]
            Source::Claims(pointers) => {
                let mut text = self.claims()?;
                for pointer in pointers {
                    text = crate::json::find(text.as_bytes(), pointer)?.into_text();
                }
                Some(text)
            }
            Source::Value(slot) => self.value(&slot).ok(),
        }
    }

    /// The claims of the token, as JSON text, all of them signed. `None` where the scheme has no
    /// token with claims.
    #[cfg(feature = "jwt")]
    pub fn claims(&self) -> Option<String> {
        super::jwt::claims(&self.request())
    }

    pub(super) fn request(&self) -> Request<'a> {
        Request {
            reader: self.reader,
            body: self.body,
            element: None,
        }
    }

    /// The value of a slot as text; of several elements, all their values.
    pub(super) fn value(&self, slot: &Slot) -> Result<String, KeyError> {
        let elements = self.request().elements().map_err(|_| KeyError::NoId)?;
        let mut values = Vec::new();
        for element in &elements {
            let value = element.single(slot).map_err(|_| KeyError::BadId)?;
            let value = value.ok_or(KeyError::NoId)?.into_owned();
            values.push(String::from_utf8(value).map_err(|_| KeyError::BadId)?);
        }
        Ok(netstrings(values))
    }

    /// A copy that owns its body and headers, for work that outlives the request.
    pub fn to_buf(&self) -> VerifiedBuf {
        VerifiedBuf::keep(self)
    }

    /// The hash of what stays the same over all attempts of the event, as the scheme states.
    pub fn fingerprint(&self) -> Fingerprint {
        match self.reader.scheme.content_stability() {
            Stability::None => Fingerprint::IGNORED,
            Stability::Body => Fingerprint::of(self.body),
            Stability::JsonExcept(pointers) => self.json_fingerprint(pointers),
        }
    }

    #[cfg(feature = "json")]
    fn json_fingerprint(&self, pointers: &[&str]) -> Fingerprint {
        // A body that is not JSON has no spelling to ignore.
        match crate::json::digest_except(self.body, pointers) {
            Some(digest) => Fingerprint::of(&digest),
            None => Fingerprint::of(self.body),
        }
    }

    /// `event_key` has refused such a scheme already; for keys made otherwise nothing is compared,
    /// so that an attempt counter does not look like a conflict.
    #[cfg(not(feature = "json"))]
    fn json_fingerprint(&self, _: &[&str]) -> Fingerprint {
        Fingerprint::IGNORED
    }
}

/// A header value as it may appear in a log.
pub(crate) fn printable(value: &[u8]) -> String {
    let clean = |byte: &u8| {
        if byte.is_ascii_graphic() {
            char::from(*byte)
        } else {
            '?'
        }
    };
    value.iter().take(255).map(clean).collect()
}

impl fmt::Debug for Verified<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Verified")
            .field("scheme", &self.reader.scheme.name())
            .field("body_bytes", &self.body.len())
            .field("key_id", &self.key_id)
            .finish_non_exhaustive()
    }
}
