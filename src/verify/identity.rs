//! Which event an authentic delivery tells of: from signed bytes only.

use std::borrow::Cow;

use sha2::{Digest, Sha256};

use crate::{
    event::{self, EventKey, KeyError},
    scheme::{IdSource, Part, Slot},
};

use super::{
    Verified,
    compose::{Composer, Purpose},
};

impl<'a> Verified<'a> {
    /// The identity of the event, from signed content only: the id if the signature covers it,
    /// else a hash of the signed content.
    ///
    /// `tenant` keeps the events of your customers apart; `""` in a single-tenant service.
    ///
    /// # Errors
    ///
    /// [`KeyError`], most of all [`KeyError::NoId`] where the provider names no event, or where
    /// several elements of the body are signed one by one
    /// ([`Scheme::each`](crate::Scheme::each)). Nothing is made up instead.
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
    pub(super) fn json(&self, pointer: &'static str) -> Result<String, KeyError> {
        let mut values = Vec::new();
        for element in &self.request().elements().map_err(|_| KeyError::NoId)? {
            let document = element.document().map_err(|_| KeyError::NoId)?;
            let value = crate::json::find(&document, pointer).ok_or(KeyError::NoId)?;
            values.push(value.into_text());
        }
        Ok(netstrings(values))
    }

    #[cfg(not(feature = "json"))]
    pub(super) fn json(&self, _: &'static str) -> Result<String, KeyError> {
        Err(KeyError::NeedsJson)
    }
}

/// One value as it is; several so that none can borrow from its neighbour.
pub(super) fn netstrings(mut values: Vec<String>) -> String {
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
