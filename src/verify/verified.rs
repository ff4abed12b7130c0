//! The proof that a delivery is authentic, and what it says.

use std::{borrow::Cow, fmt, time::Duration};

use sha2::{Digest, Sha256};
use time::OffsetDateTime;

use crate::{
    event::{self, EventKey, Fingerprint, KeyError},
    scheme::{Coverage, IdSource, Part, Scheme, Source, Stability},
};

use super::{Reader, VerifiedBuf, stamp};

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
        }
    }

    /// The claims of the token, as JSON text, all of them signed. `None` where the scheme has no
    /// token with claims.
    #[cfg(feature = "jwt")]
    pub fn claims(&self) -> Option<String> {
        super::jwt::claims(self.reader, self.body)
    }

    /// The identity of the event, from signed content only: the id if the signature covers it,
    /// else a hash of the signed content.
    ///
    /// `tenant` keeps the events of your customers apart; `""` in a single-tenant service.
    ///
    /// # Errors
    ///
    /// [`KeyError`], most of all [`KeyError::NoId`] where the provider names no event. Nothing is
    /// made up instead.
    pub fn event_key(&self, tenant: &str) -> Result<EventKey, KeyError> {
        let provider = self.reader.scheme.provider();
        let id: Cow<'_, str> = match self.reader.scheme.id_source() {
            IdSource::None => return Err(KeyError::NoId),
            IdSource::Content => return self.content_key(tenant),
            IdSource::Header(_) if !self.coverage().id => return self.content_key(tenant),
            IdSource::Header(name) => self.signed_header(name)?.into(),
            IdSource::Json(pointer) => self.signed_json(pointer)?.into(),
            IdSource::JsonOrContent(pointer) => match self.signed_json(pointer) {
                Ok(id) => id.into(),
                Err(KeyError::NoId) => return self.content_key(tenant),
                Err(error) => return Err(error),
            },
            IdSource::Composite(pointers) => {
                // Netstrings: no value can borrow from its neighbour.
                let mut id = String::new();
                for pointer in pointers {
                    let part = self.signed_json(pointer)?;
                    id.push_str(&format!("{}:{part},", part.len()));
                }
                id.into()
            }
        };
        EventKey::make(tenant, provider, &id)
    }

    /// An event key made of the signed content without the attempt's timestamp: the same bytes
    /// are the same event. Two separate events with equal content then count as one for as long
    /// as the receipt is kept.
    ///
    /// # Errors
    ///
    /// [`KeyError::NotCovered`] where the signature does not cover the body.
    pub fn content_key(&self, tenant: &str) -> Result<EventKey, KeyError> {
        if !self.coverage().body {
            return Err(KeyError::NotCovered);
        }
        // Where parts can be cut at another place under the same signature, all cuts must be one
        // event, or a captured request could be acted on again.
        let feed: fn(&mut Sha256, &[u8]) = match self.reader.scheme.ambiguity() {
            Some(_) => |hash, part| hash.update(part),
            None => event::feed,
        };
        let mut hash = Sha256::new();
        for part in self.reader.scheme.parts() {
            match part {
                // Of the attempt, not of the event; and fixed text is the same for all.
                Part::Timestamp | Part::Text(_) => {}
                Part::Body => feed(&mut hash, &self.stable_body()),
                Part::Method => feed(&mut hash, text(self.reader.method())),
                Part::Url => feed(&mut hash, text(self.reader.url())),
                Part::Header(slot) => {
                    let value = self.reader.header_part(slot).map_err(|_| KeyError::BadId)?;
                    feed(&mut hash, value);
                }
            }
        }
        let id = format!("content:{}", event::hex(&event::first_half(hash)));
        EventKey::make(tenant, self.reader.scheme.provider(), &id)
    }

    /// An event key from an id header **that nobody signed**. Whoever captured one request can
    /// resend it under a fresh id, and it will be acted on again: only for schemes that sign
    /// nothing anyway, or behind a network you trust.
    ///
    /// # Errors
    ///
    /// [`KeyError::NoId`] if the scheme has no such header or the request lacks it.
    pub fn danger_unsigned_event_key(&self, tenant: &str) -> Result<EventKey, KeyError> {
        let header = self
            .reader
            .scheme
            .delivery_id_header()
            .ok_or(KeyError::NoId)?;
        let value = self.reader.one(header).map_err(|_| KeyError::NoId)?;
        let id = std::str::from_utf8(value).map_err(|_| KeyError::BadId)?;
        EventKey::make(tenant, self.reader.scheme.provider(), id)
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

    /// The body without the attempt's timestamp, if that is inside it.
    fn stable_body(&self) -> Cow<'a, [u8]> {
        #[cfg(feature = "json")]
        if let Some((crate::scheme::Stamp::Json(pointer), _)) =
            self.reader.scheme.timestamp_source()
            && let Some(digest) = crate::json::digest_except(self.body, &[pointer])
        {
            return digest.to_vec().into();
        }
        // Where the token covers what the body means, white space must not make a new event.
        #[cfg(feature = "jwt")]
        if let Some(text) = super::jwt::covered_meaning(self.reader.scheme, self.body) {
            return text.into_bytes().into();
        }
        self.body.into()
    }

    /// The part of a header that went into the MAC, and nothing beside it.
    fn signed_header(&self, name: &str) -> Result<&'a str, KeyError> {
        let slot = self
            .reader
            .scheme
            .parts()
            .iter()
            .find_map(|part| match part {
                Part::Header(slot) if slot.name().eq_ignore_ascii_case(name) => Some(slot),
                _ => None,
            });
        let value = self.reader.header_part(slot.ok_or(KeyError::NotCovered)?);
        std::str::from_utf8(value.map_err(|_| KeyError::NoId)?).map_err(|_| KeyError::BadId)
    }

    fn signed_json(&self, pointer: &str) -> Result<String, KeyError> {
        if self.coverage().body {
            self.json(pointer)
        } else {
            Err(KeyError::NotCovered)
        }
    }

    #[cfg(feature = "json")]
    fn json(&self, pointer: &str) -> Result<String, KeyError> {
        let value = crate::json::find(self.body, pointer).ok_or(KeyError::NoId)?;
        Ok(value.into_text())
    }

    #[cfg(not(feature = "json"))]
    fn json(&self, _: &str) -> Result<String, KeyError> {
        Err(KeyError::NeedsJson)
    }
}

fn text(value: Option<&str>) -> &[u8] {
    value.unwrap_or_default().as_bytes()
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
