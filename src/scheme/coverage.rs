//! What a signature covers, worked out from the content.

use super::{
    IdSource, KeySource, Part, Place, Scheme, Slot, Source, Stamp,
    part::{self, walk},
};

impl Scheme {
    /// Whether all it reads are headers, and all it signs are bytes of the request in a row.
    pub(crate) fn is_plain(&self) -> bool {
        let header =
            |slot: &Slot| slot.is_header() && slot.inner_pointer().is_none() && !slot.may_repeat();
        let stamp = match &self.timestamp {
            Some((Stamp::Slot(slot), _)) => header(slot),
            _ => true,
        };
        stamp
            && self.signature.iter().all(header)
            && self.key_id.iter().all(header)
            && !matches!(self.keys, KeySource::Url(..))
            && self.content.iter().all(Part::is_plain)
            && self.alternatives.is_empty()
            && self.each.is_none()
            && self.document.is_none()
    }

    /// Whether the secret's own bytes are a part of what is hashed.
    pub(crate) fn hashes_secret(&self) -> bool {
        let mut found = false;
        for parts in self.contents() {
            walk(parts, &mut |part| found |= *part == Part::Secret);
        }
        found
    }

    /// Every slot that is read before anything is verified.
    pub(crate) fn slots(&self) -> Vec<Slot> {
        let mut slots: Vec<Slot> = self.signature.into_iter().collect();
        slots.extend(self.more_signatures);
        slots.extend(self.key_id);
        if let Some((Stamp::Slot(slot), _)) = self.timestamp {
            slots.push(slot);
        }
        if let KeySource::Url(slot, _) = self.keys {
            slots.push(slot);
        }
        for parts in self.contents() {
            walk(parts, &mut |part| match part {
                Part::Header(slot) | Part::Value(slot) => slots.push(*slot),
                Part::HeaderList(list) => slots.push(list.names),
                Part::Require(condition) => slots.extend(condition.slot()),
                _ => {}
            });
        }
        slots
    }

    /// Names of the headers that identity may be read from later.
    pub(crate) fn header_names(&self) -> Vec<&'static str> {
        let mut slots = self.slots();
        if let IdSource::Values(more) = self.id {
            slots.extend(more);
        }
        if let Some(Source::Value(slot)) = self.event_type {
            slots.push(slot);
        }
        let form = |slot: &Slot| matches!(slot.place(), Place::Form | Place::Param);
        let form = slots.iter().any(form) || self.document.is_some() || {
            let mut found = false;
            for parts in self.contents() {
                walk(parts, &mut |part| found |= *part == Part::SortedForm);
            }
            found
        };
        let names = slots.iter().filter_map(Slot::header_name);
        names.chain(form.then_some("Content-Type")).collect()
    }

    /// Every content that a signature may be over: [`Scheme::content`] and the alternatives.
    pub fn contents(&self) -> impl Iterator<Item = &'static [Part]> + use<> {
        std::iter::once(self.content).chain(self.alternatives.iter().copied())
    }

    /// Whether the signature covers the header `name`.
    pub fn signs_header(&self, name: &str) -> bool {
        self.contents()
            .all(|parts| part::holds(parts, &|part| part.is_header(name)))
            || self.http_signature_covers(name)
    }

    /// Whether the signature covers the value in `slot`, because it is a part of the content or
    /// because the whole that holds it is.
    pub(crate) fn signs(&self, slot: &Slot) -> bool {
        let whole = match slot.place() {
            Place::Header => self.signs_header(slot.name()),
            Place::Query => self
                .contents()
                .all(|parts| part::holds(parts, &Part::is_query)),
            Place::Param => false,
            Place::Form | Place::Json | Place::Body => self.signs_body(),
        };
        let alone = |part: &Part| part.is_value(slot);
        whole || self.contents().all(|parts| part::holds(parts, &alone))
    }

    fn signs_body(&self) -> bool {
        self.contents()
            .all(|parts| part::holds(parts, &Part::is_body))
            || self.http_signature_covers("content-digest")
    }

    /// Whether every HTTP message signature of this scheme covers the component.
    pub(crate) fn http_signature_covers(&self, component: &str) -> bool {
        #[cfg(feature = "http-signatures")]
        if let Some(rule) = self.http_signature {
            return rule.requires(component);
        }
        let _ = component;
        false
    }

    /// The components that every HTTP message signature of this scheme covers, but for the digest.
    pub(crate) fn http_signature_components(&self) -> &'static [&'static str] {
        #[cfg(feature = "http-signatures")]
        if let Some(rule) = self.http_signature {
            return rule.components();
        }
        &[]
    }

    /// What the signature covers. See [`Coverage`].
    pub fn coverage(&self) -> Coverage {
        let body = self.signs_body();
        let signed = |source: Source| match source {
            Source::Header(name) => self.signs_header(name),
            #[cfg(feature = "jwt")]
            Source::Claims(_) => true,
            Source::Json(pointer) => self.signs(&Slot::json(pointer)),
            Source::Value(slot) => self.signs(&slot),
        };
        let id = match self.id {
            IdSource::None => false,
            IdSource::Header(name) => self.signs_header(name) && self.ambiguous.is_none(),
            IdSource::Json(pointer) => signed(Source::Json(pointer)),
            IdSource::Composite(pointers) => pointers.iter().all(|p| signed(Source::Json(p))),
            IdSource::Values(slots) => slots.iter().all(|slot| self.signs(slot)),
            IdSource::JsonOrContent(_) | IdSource::Content => body,
        };
        let some = |part: &Part| !matches!(part, Part::Text(_) | Part::Secret | Part::Setting(_));
        let extent = if body {
            Extent::Body
        } else if self.contents().all(|parts| part::holds(parts, &some)) {
            Extent::Fields
        } else {
            Extent::Credential
        };
        Coverage {
            extent,
            body,
            timestamp: self.timestamp.is_some(),
            id,
            event_type: self.event_type.is_some_and(signed),
        }
    }
}

/// How much of a delivery a valid signature says something about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Extent {
    /// Nothing of it: the request carries a constant credential, or a token about something else.
    /// Whoever has seen one request can write any other.
    Credential,
    /// Some fields. Whoever has seen one request can write all the rest.
    Fields,
    /// The whole body.
    Body,
}

/// What exactly a valid signature says. Anything that is `false` here could have been written by
/// whoever held one captured request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Coverage {
    /// How much of the delivery is covered. An application that acts on the body should refuse
    /// anything below [`Extent::Body`], or fetch the object it names from the provider.
    pub extent: Extent,
    /// The body's bytes.
    pub body: bool,
    /// A time, so that old requests can be told from fresh ones.
    pub timestamp: bool,
    /// The value that names the event.
    pub id: bool,
    /// The event type.
    pub event_type: bool,
}
