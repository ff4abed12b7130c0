//! What a [`Scheme`] says of itself.

use std::time::Duration;

use super::{
    Encoding, Evidence, IdSource, KeySource, Mac, Part, Scheme, SecretFormat, Slot, Source,
    Stability, Stamp, Unit,
};

impl Scheme {
    /// The name in configuration; see [`Scheme::by_name`].
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The provider, as it goes into event keys.
    pub const fn provider(&self) -> &'static str {
        self.provider
    }

    /// The algorithm.
    pub const fn mac(&self) -> Mac {
        self.mac
    }

    /// How the signature is written.
    pub const fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// Where the signature is; `None` only in a scheme that [`check`](Self::check) refuses.
    pub const fn signature_slot(&self) -> Option<Slot> {
        self.signature
    }

    /// The further places of signatures; see [`Scheme::more_signatures`].
    pub const fn more_signature_slots(&self) -> &'static [Slot] {
        self.more_signatures
    }

    /// The parts of the signed content.
    pub const fn parts(&self) -> &'static [Part] {
        self.content
    }

    /// Where the timestamp is, and its unit.
    pub const fn timestamp_source(&self) -> Option<(Stamp, Unit)> {
        self.timestamp
    }

    /// The first second since 1970 that a timestamp can be of; 0 if none was given.
    pub const fn earliest_second(&self) -> u64 {
        self.earliest
    }

    /// The allowed age unless the application sets another.
    pub const fn default_tolerance(&self) -> Duration {
        self.tolerance
    }

    /// The header that names the key, if there is one.
    pub const fn key_id_header(&self) -> Option<&'static str> {
        match self.key_id {
            Some(slot) => slot.header_name(),
            None => None,
        }
    }

    /// Where the key is named, if it is.
    pub const fn key_id_slot(&self) -> Option<Slot> {
        self.key_id
    }

    /// The further contents; see [`Scheme::or_content`].
    pub const fn alternative_contents(&self) -> &'static [&'static [Part]] {
        self.alternatives
    }

    /// How the key is made of the secret; empty where it is the secret.
    pub const fn key_content(&self) -> &'static [Part] {
        self.key_parts
    }

    /// The array whose elements are signed one by one; see [`Scheme::each`].
    pub const fn each_element(&self) -> Option<&'static str> {
        self.each
    }

    /// The form field with the JSON document; see [`Scheme::json_in_form`].
    pub const fn json_field(&self) -> Option<&'static str> {
        self.document
    }

    /// Where the keys come from.
    pub const fn key_source(&self) -> KeySource {
        self.keys
    }

    /// The texts needed beside each secret; see [`Scheme::needs`].
    pub const fn settings(&self) -> &'static [&'static str] {
        self.settings
    }

    /// What names the event.
    pub const fn id_source(&self) -> IdSource {
        self.id
    }

    /// The id header for logs: [`Scheme::delivery_id`], or the header of [`IdSource::Header`].
    pub const fn delivery_id_header(&self) -> Option<&'static str> {
        match (self.delivery_id, self.id) {
            (Some(name), _) | (None, IdSource::Header(name)) => Some(name),
            _ => None,
        }
    }

    /// Where the event type is.
    pub const fn event_type_source(&self) -> Option<Source> {
        self.event_type
    }

    /// What stays the same over all attempts.
    pub const fn content_stability(&self) -> Stability {
        self.stability
    }

    /// How the secret becomes the key.
    pub const fn secret_format(&self) -> SecretFormat {
        self.secret
    }

    /// The header prefixes of the two families, if there are two.
    pub const fn header_families(&self) -> Option<(&'static str, &'static str)> {
        self.alias
    }

    /// Why an ambiguous content is tolerated, if it is one.
    pub const fn ambiguity(&self) -> Option<&'static str> {
        self.ambiguous
    }

    /// How long the provider retries, if known.
    pub const fn known_retry_horizon(&self) -> Option<Duration> {
        self.retry_horizon
    }

    /// Address of the provider's documentation.
    pub const fn docs_url(&self) -> &'static str {
        self.docs
    }

    /// How far the row can be trusted.
    pub const fn evidence(&self) -> Evidence {
        self.evidence
    }

    /// The provider's traps.
    pub const fn traps(&self) -> &'static [&'static str] {
        self.notes
    }
}
