//! The proof that a delivery is authentic, and what it says.

use std::{borrow::Cow, fmt, time::Duration};

use sha2::{Digest, Sha256};
use time::OffsetDateTime;

use crate::{
    event::{self, EventKey, Fingerprint, KeyError},
    scheme::{Coverage, IdSource, Part, Scheme, Slot, Source, Stability},
    secrets::{Key, Secrets},
};

use super::{
    Reader, Rejection, Request, StaleDelivery, VerifiedBuf,
    compose::{Composer, Purpose},
    stamp,
};

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
        let fresh = match (stamp, reader.scheme.timestamp_source()) {
            (Some(stamp), Some((_, unit))) => {
                stamp::is_fresh(stamp, unit, now, secrets.freshness())
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

    fn request(&self) -> Request<'a> {
        Request {
            reader: self.reader,
            body: self.body,
            element: None,
        }
    }

    /// The value of a slot as text; of several elements, all their values.
    fn value(&self, slot: &Slot) -> Result<String, KeyError> {
        let elements = self.request().elements().map_err(|_| KeyError::NoId)?;
        let mut values = Vec::new();
        for element in &elements {
            let value = element.single(slot).map_err(|_| KeyError::BadId)?;
            let value = value.ok_or(KeyError::NoId)?.into_owned();
            values.push(String::from_utf8(value).map_err(|_| KeyError::BadId)?);
        }
        Ok(netstrings(values))
    }

    /// The identity of the event, from signed content only: the id if the signature covers it,
    /// else a hash of the signed content.
    ///
    /// `tenant` keeps the events of your customers apart; `""` in a single-tenant service.
    ///
    /// # Errors
    ///
    /// [`KeyError`], most of all [`KeyError::NoId`] where the provider names no event, or where
    /// several elements of the body are signed one by one ([`Scheme::each`]). Nothing is made up
    /// instead.
    pub fn event_key(&self, tenant: &str) -> Result<EventKey, KeyError> {
        // Elements are signed one by one, and nobody vouches for which of them come together: a
        // captured one would be a new event beside another.
        let each = self.reader.scheme.each_element().is_some();
        if each && self.request().elements().is_ok_and(|all| all.len() > 1) {
            return Err(KeyError::NoId);
        }
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
                let parts = pointers.iter().map(|pointer| self.signed_json(pointer));
                composite(parts.collect::<Result<_, _>>()?).into()
            }
            IdSource::Values(_) if !self.coverage().id => return Err(KeyError::NotCovered),
            IdSource::Values(slots) => {
                let parts = slots.iter().map(|slot| self.value(slot));
                netstrings(parts.collect::<Result<_, _>>()?).into()
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
        if !self.reader.scheme.is_plain() {
            return self.composed_content_key(tenant);
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
                Part::Body => feed(&mut hash, &self.request().stable_body()),
                Part::Method => feed(&mut hash, text(self.reader.method())),
                Part::Url => feed(&mut hash, text(self.reader.url())),
                Part::Header(slot) => {
                    let value = self.reader.header_part(slot).map_err(|_| KeyError::BadId)?;
                    feed(&mut hash, value);
                }
                _ => return Err(KeyError::NotCovered),
            }
        }
        #[cfg(feature = "http-signatures")]
        if self.reader.scheme.http_signature_rule().is_some() {
            super::http_signature::feed_content(self, |part| feed(&mut hash, part))?;
            feed(&mut hash, &self.request().stable_body());
        }
        let id = format!("content:{}", event::hex(&event::first_half(hash)));
        EventKey::make(tenant, self.reader.scheme.provider(), &id)
    }

    /// The same for contents that are put together: their bytes as one, so that no other cut of
    /// them is another event.
    fn composed_content_key(&self, tenant: &str) -> Result<EventKey, KeyError> {
        let composer = Composer {
            request: self.request(),
            key: None,
            purpose: Purpose::Identify,
        };
        let mut contents = self.reader.scheme.contents();
        let content = contents.find_map(|parts| composer.content(parts).ok());
        let mut hash = Sha256::new();
        hash.update(content.ok_or(KeyError::NoId)?);
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

    /// The part of a header that went into the MAC, and nothing beside it.
    fn signed_header(&self, name: &'static str) -> Result<&'a str, KeyError> {
        let whole = Slot::header(name);
        let slot = self
            .reader
            .scheme
            .parts()
            .iter()
            .find_map(|part| match part {
                Part::Header(slot) if slot.name().eq_ignore_ascii_case(name) => Some(slot),
                _ => None,
            });
        let required = self.reader.scheme.http_signature_covers(name);
        let slot = slot.or(required.then_some(&whole));
        let value = self.reader.header_part(slot.ok_or(KeyError::NotCovered)?);
        std::str::from_utf8(value.map_err(|_| KeyError::NoId)?).map_err(|_| KeyError::BadId)
    }

    fn signed_json(&self, pointer: &'static str) -> Result<String, KeyError> {
        let scheme = self.reader.scheme;
        let whole = self.coverage().body;
        if whole || (scheme.ambiguity().is_none() && scheme.signs(&Slot::json(pointer))) {
            self.json(pointer)
        } else {
            Err(KeyError::NotCovered)
        }
    }

    #[cfg(feature = "json")]
    fn json(&self, pointer: &'static str) -> Result<String, KeyError> {
        let mut values = Vec::new();
        for element in &self.request().elements().map_err(|_| KeyError::NoId)? {
            let document = element.document().map_err(|_| KeyError::NoId)?;
            let value = crate::json::find(&document, pointer).ok_or(KeyError::NoId)?;
            values.push(value.into_text());
        }
        Ok(netstrings(values))
    }

    #[cfg(not(feature = "json"))]
    fn json(&self, _: &'static str) -> Result<String, KeyError> {
        Err(KeyError::NeedsJson)
    }
}

/// One value as it is; several so that none can borrow from its neighbour.
fn netstrings(mut values: Vec<String>) -> String {
    match values.pop() {
        Some(only) if values.is_empty() => only,
        last => composite(values.into_iter().chain(last).collect()),
    }
}

fn composite(values: Vec<String>) -> String {
    values.iter().fold(String::new(), |mut id, value| {
        id.push_str(&format!("{}:{value},", value.len()));
        id
    })
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
