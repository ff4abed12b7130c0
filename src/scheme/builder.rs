//! The `const` builders of [`Scheme`].

use std::time::Duration;

use super::{
    DEFAULT_TOLERANCE, Encoding, Evidence, IdSource, KeySource, Mac, Part, Scheme, SecretFormat,
    Slot, Source, Stability, Stamp, Unit,
};

impl Scheme {
    /// Starts a scheme. `name` is its name in configuration, and the provider part of every event
    /// key; keep it for ever, or known events look new.
    pub const fn new(name: &'static str, mac: Mac) -> Self {
        Self {
            name,
            provider: name,
            mac,
            encoding: Encoding::Hex,
            signature: None,
            more_signatures: &[],
            content: &[],
            alternatives: &[],
            key_parts: &[],
            each: None,
            document: None,
            earliest: 0,
            timestamp: None,
            tolerance: DEFAULT_TOLERANCE,
            key_id: None,
            keys: KeySource::Given,
            settings: &[],
            id: IdSource::None,
            delivery_id: None,
            event_type: None,
            stability: Stability::Body,
            secret: match mac.is_public_key() {
                true => SecretFormat::PublicKey,
                false => SecretFormat::Text,
            },
            alias: None,
            ambiguous: None,
            retry_horizon: None,
            docs: "",
            evidence: Evidence::Own,
            notes: &[],
            #[cfg(feature = "jwt")]
            jwt: None,
            #[cfg(feature = "http-signatures")]
            http_signature: None,
        }
    }

    /// Another name for a scheme that signs in the same way: headers and all stay.
    #[must_use]
    pub const fn named(self, name: &'static str) -> Self {
        Self {
            name,
            provider: name,
            ..self
        }
    }

    /// The provider, where it has several schemes whose deliveries are the same events.
    #[must_use]
    pub const fn provider_name(self, provider: &'static str) -> Self {
        Self { provider, ..self }
    }

    /// Where the signature is and how its bytes are written.
    #[must_use]
    pub const fn signature(self, slot: Slot, encoding: Encoding) -> Self {
        Self {
            signature: Some(slot),
            encoding,
            ..self
        }
    }

    /// Further headers that hold signatures in the same encoding, such as one per active key. Any
    /// of the headers may be missing, but not all; one match is enough.
    #[must_use]
    pub const fn more_signatures(self, slots: &'static [Slot]) -> Self {
        Self {
            more_signatures: slots,
            ..self
        }
    }

    /// What goes into the MAC, in order. Empty for [`Mac::Token`].
    #[must_use]
    pub const fn content(self, parts: &'static [Part]) -> Self {
        Self {
            content: parts,
            ..self
        }
    }

    /// Further contents that a signature may be over, each complete in itself, where the provider
    /// signs one or another. A content whose values or conditions the request does not meet is
    /// passed over. Each costs one more MAC per key.
    #[must_use]
    pub const fn or_content(self, alternatives: &'static [&'static [Part]]) -> Self {
        Self {
            alternatives,
            ..self
        }
    }

    /// How the key is made, where it is not the secret itself: of [`Part::Secret`],
    /// [`Part::Setting`] and [`Part::Text`], or something [of](Part::Of) them.
    #[must_use]
    pub const fn key(self, parts: &'static [Part]) -> Self {
        Self {
            key_parts: parts,
            ..self
        }
    }

    /// Every element of the array at this pointer carries a signature of its own, and all of them
    /// must verify. Pointers of slots and parts are then relative to the element.
    #[must_use]
    pub const fn each(self, pointer: &'static str) -> Self {
        Self {
            each: Some(pointer),
            ..self
        }
    }

    /// The JSON document is the text of this form field and not the body.
    #[must_use]
    pub const fn json_in_form(self, field: &'static str) -> Self {
        Self {
            document: Some(field),
            ..self
        }
    }

    /// The first second since 1970 that a timestamp can be of; anything earlier is no timestamp of
    /// this provider. Tells seconds from milliseconds.
    #[must_use]
    pub const fn earliest(self, seconds: u64) -> Self {
        Self {
            earliest: seconds,
            ..self
        }
    }

    /// A timestamp in a header or list item. The content must hold [`Part::Timestamp`]: a time
    /// that is not signed says nothing, so such a scheme is refused.
    #[must_use]
    pub const fn timestamp(self, slot: Slot, unit: Unit) -> Self {
        Self {
            timestamp: Some((Stamp::Slot(slot), unit)),
            ..self
        }
    }

    /// A timestamp inside the JSON body, which the content must hold. Needs feature `json`.
    #[must_use]
    pub const fn body_timestamp(self, pointer: &'static str, unit: Unit) -> Self {
        Self {
            timestamp: Some((Stamp::Json(pointer), unit)),
            ..self
        }
    }

    /// A timestamp in a claim of the token, in whole seconds.
    #[cfg(feature = "jwt")]
    #[must_use]
    pub const fn claim_timestamp(self, claim: &'static str) -> Self {
        Self {
            timestamp: Some((Stamp::Claim(claim), Unit::Seconds)),
            ..self
        }
    }

    /// The allowed age and the allowed lead, both inclusive; 5 minutes if not set. Zero is a
    /// window of zero width, not "off".
    #[must_use]
    pub const fn tolerance(self, tolerance: Duration) -> Self {
        Self { tolerance, ..self }
    }

    /// A header that names the key in use. It only narrows the choice, and is not signed.
    #[must_use]
    pub const fn key_id(self, header: &'static str) -> Self {
        self.key_id_in(Slot::header(header))
    }

    /// The same at another place.
    #[must_use]
    pub const fn key_id_in(self, slot: Slot) -> Self {
        Self {
            key_id: Some(slot),
            ..self
        }
    }

    /// Where the keys come from, if not from the configuration.
    #[must_use]
    pub const fn keys(self, keys: KeySource) -> Self {
        Self { keys, ..self }
    }

    /// The texts that an application must give beside each secret; see
    /// [`Secret::setting`](crate::Secret::setting).
    #[must_use]
    pub const fn needs(self, settings: &'static [&'static str]) -> Self {
        Self { settings, ..self }
    }

    /// What names the event.
    #[must_use]
    pub const fn id(self, id: IdSource) -> Self {
        Self { id, ..self }
    }

    /// An id header for logs only, where events are named by something else.
    #[must_use]
    pub const fn delivery_id(self, header: &'static str) -> Self {
        Self {
            delivery_id: Some(header),
            ..self
        }
    }

    /// Where the event type is.
    #[must_use]
    pub const fn event_type(self, source: Source) -> Self {
        Self {
            event_type: Some(source),
            ..self
        }
    }

    /// What stays the same over all attempts of one event.
    #[must_use]
    pub const fn stability(self, stability: Stability) -> Self {
        Self { stability, ..self }
    }

    /// How a secret's text becomes the key. A public key is told by its spelling, whatever is said
    /// here, and nothing else can be one.
    #[must_use]
    pub const fn secret(self, format: SecretFormat) -> Self {
        Self {
            secret: format,
            ..self
        }
    }

    /// A second family of the same headers: where `prefix` begins a header's name, `other` may
    /// stand instead. A request's headers are all taken from one family.
    #[must_use]
    pub const fn header_family(self, prefix: &'static str, other: &'static str) -> Self {
        Self {
            alias: Some((prefix, other)),
            ..self
        }
    }

    /// Accepts a content whose parts can be cut at another place under the same signature, and
    /// says why that is tolerable. Header ids of such a scheme are never trusted.
    #[must_use]
    pub const fn ambiguous_boundary(self, why: &'static str) -> Self {
        Self {
            ambiguous: Some(why),
            ..self
        }
    }

    /// How long the provider goes on retrying; retention should be longer.
    #[must_use]
    pub const fn retry_horizon(self, horizon: Duration) -> Self {
        Self {
            retry_horizon: Some(horizon),
            ..self
        }
    }

    /// The source of these facts.
    #[must_use]
    pub const fn docs(self, url: &'static str, evidence: Evidence) -> Self {
        Self {
            docs: url,
            evidence,
            ..self
        }
    }

    /// Traps of this provider, one sentence each, for the guide.
    #[must_use]
    pub const fn notes(self, notes: &'static [&'static str]) -> Self {
        Self { notes, ..self }
    }
}
