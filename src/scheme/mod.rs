//! How a provider signs, as data.
//!
//! A [`Scheme`] is a value made by `const` builders: which header holds the signature, what bytes
//! go into the MAC and in which order, where the timestamp, the event id and the event type are.
//! [`verify`](crate::verify), [`testing::sign`](crate::testing), the catalogue's tests and its
//! documentation all read the same value, so there is no second place to get it wrong. The
//! catalogue ([`catalog::ALL`]) uses nothing that is not public here, so a scheme of your own is
//! as good as ours:
//!
//! ```
//! use hookproof::scheme::{Encoding, IdSource, Mac, Part, Scheme, Slot, Source, Unit};
//!
//! /// `X-Acme-Signature: sha256=<hex of HMAC-SHA-256("<ts>." + body)>`
//! const ACME: Scheme = Scheme::new("acme", Mac::HmacSha256)
//!     .signature(Slot::header("X-Acme-Signature").prefix("sha256="), Encoding::Hex)
//!     .timestamp(Slot::header("X-Acme-Time"), Unit::Seconds)
//!     .content(&[Part::Timestamp, Part::Text("."), Part::Body])
//!     .id(IdSource::Json("/id"))
//!     .event_type(Source::Json("/type"));
//!
//! assert!(ACME.check().is_ok());
//! ```

mod boundaries;
mod builder;
pub mod catalog;
mod check;
#[cfg(feature = "jwt")]
mod check_jwt;
mod detect;
#[cfg(feature = "http-signatures")]
mod http_signature;
#[cfg(feature = "jwt")]
mod jwt;
mod keys;
mod part;
mod slot;

use std::time::Duration;

pub use catalog::*;
pub use check::SchemeError;
pub use detect::detect;
#[cfg(feature = "http-signatures")]
pub(crate) use http_signature::{
    CONTENT_DIGEST, DERIVED, SIGNATURE, SIGNATURE_INPUT, is_field_name,
};
#[cfg(feature = "http-signatures")]
pub use http_signature::{HttpSignature, MAX_COMPONENTS, MAX_LABELS};
#[cfg(feature = "jwt")]
pub use jwt::{ClaimRule, DEFAULT_LEEWAY, Jwt};
pub use keys::{KeySource, UrlRule};
pub use part::{Condition, HeaderList, Part, Transform};
pub(crate) use part::{holds, walk};
pub(crate) use slot::any;
pub use slot::{
    Items, MAX_HEADER_BYTES, MAX_PUBLIC_KEY_SIGNATURES, MAX_SIGNATURES, Place, Shape, Slot,
};

/// Most parts a scheme's signed content may have.
pub const MAX_PARTS: usize = 8;

/// The allowed age where neither the provider nor the application states another: 5 minutes, the
/// value of Standard Webhooks, Stripe and Slack.
pub const DEFAULT_TOLERANCE: Duration = Duration::from_secs(300);

/// The algorithm that proves a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mac {
    /// HMAC with SHA-256 (RFC 2104, FIPS 180-4); 32 bytes.
    HmacSha256,
    /// HMAC with SHA-512; 64 bytes.
    HmacSha512,
    /// HMAC with SHA-384; 48 bytes.
    HmacSha384,
    /// HMAC with SHA-1; 20 bytes. Still unforgeable as a MAC, but only for schemes that offer
    /// nothing else.
    #[cfg(feature = "sha1")]
    HmacSha1,
    /// A plain hash over a content that holds the secret ([`Part::Secret`]): weaker than HMAC in
    /// theory (a secret in front can be extended, RFC 2104 §6), and what some providers do.
    #[cfg(feature = "keyed-hash")]
    Hash(Hash),
    /// Ed25519 (RFC 8032); 64 bytes. Verified strictly: a signature has one spelling.
    #[cfg(feature = "ed25519")]
    Ed25519,
    /// ECDSA on P-256 with SHA-256 (FIPS 186-5), the signature in ASN.1 DER as TLS writes it.
    #[cfg(feature = "ecdsa")]
    EcdsaP256Sha256Der,
    /// The same, the signature as `r || s`; 64 bytes. What JOSE and RFC 9421 write.
    #[cfg(feature = "ecdsa")]
    EcdsaP256Sha256Raw,
    /// ECDSA on P-256 with SHA-1, in DER; only for schemes that offer nothing else.
    #[cfg(all(feature = "ecdsa", feature = "sha1"))]
    EcdsaP256Sha1Der,
    /// RSASSA-PKCS1-v1_5 with SHA-256 (RFC 8017 §8.2).
    #[cfg(feature = "rsa")]
    RsaSha256,
    /// RSASSA-PKCS1-v1_5 with SHA-512.
    #[cfg(feature = "rsa")]
    RsaSha512,
    /// RSASSA-PKCS1-v1_5 with SHA-1; only for schemes that offer nothing else.
    #[cfg(all(feature = "rsa", feature = "sha1"))]
    RsaSha1,
    /// RSASSA-PSS with SHA-512, MGF1 with SHA-512 and a salt of 64 bytes.
    #[cfg(feature = "rsa")]
    RsaPssSha512,
    /// No MAC: the header carries the shared secret itself. Proves that the sender knew it (or
    /// saw one earlier request), and says nothing about body, time or id.
    Token,
}

impl Mac {
    /// Length of the signature in bytes once decoded, or `None` where it varies: tokens,
    /// DER, RSA.
    pub const fn tag_len(self) -> Option<usize> {
        match self {
            Mac::HmacSha256 => Some(32),
            Mac::HmacSha512 => Some(64),
            Mac::HmacSha384 => Some(48),
            #[cfg(feature = "sha1")]
            Mac::HmacSha1 => Some(20),
            #[cfg(feature = "keyed-hash")]
            Mac::Hash(hash) => Some(hash.len()),
            #[cfg(feature = "ed25519")]
            Mac::Ed25519 => Some(64),
            #[cfg(feature = "ecdsa")]
            Mac::EcdsaP256Sha256Raw => Some(64),
            _ => None,
        }
    }

    /// Whether the key is public: it verifies and cannot sign.
    pub const fn is_public_key(self) -> bool {
        match self {
            Mac::HmacSha256 | Mac::HmacSha512 | Mac::HmacSha384 | Mac::Token => false,
            #[cfg(feature = "sha1")]
            Mac::HmacSha1 => false,
            #[cfg(feature = "keyed-hash")]
            Mac::Hash(_) => false,
            #[allow(unreachable_patterns, reason = "without the features there are none")]
            _ => true,
        }
    }
}

/// The hash of a [`Mac::Hash`].
#[cfg(feature = "keyed-hash")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Hash {
    /// SHA-256.
    Sha256,
    /// SHA-384.
    Sha384,
    /// SHA-512.
    Sha512,
    /// SHA-1.
    Sha1,
    /// MD5.
    Md5,
    /// Keccak-256 with the padding of before FIPS 202, as Ethereum uses it.
    Keccak256,
}

#[cfg(feature = "keyed-hash")]
impl Hash {
    const fn len(self) -> usize {
        match self {
            Hash::Sha256 | Hash::Keccak256 => 32,
            Hash::Sha384 => 48,
            Hash::Sha512 => 64,
            Hash::Sha1 => 20,
            Hash::Md5 => 16,
        }
    }
}

/// How the signature's bytes are written in the header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Encoding {
    /// Hexadecimal, either case (the bytes are compared, not the text).
    Hex,
    /// Base64, standard alphabet, padded and canonical (RFC 4648 §4).
    Base64,
    /// Base64, URL-safe alphabet, with or without padding (RFC 4648 §5).
    Base64Url,
    /// Hexadecimal in lower case only, for providers whose other spellings must be refused.
    LowerHex,
    /// The base64 of the hexadecimal text, which is in lower case.
    HexInBase64,
    /// Base64 in either alphabet, which may be percent-encoded on top.
    PercentBase64,
    /// The bytes themselves; for [`Mac::Token`].
    Plain,
}

/// What the number in a timestamp counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unit {
    /// Whole seconds since 1970-01-01T00:00:00Z.
    Seconds,
    /// Whole milliseconds since 1970-01-01T00:00:00Z.
    Millis,
    /// RFC 3339 text, such as `2026-01-01T00:00:00.634Z`.
    Rfc3339,
    /// The same without a zone, which is UTC: `2026-01-01T00:00:00.634000`.
    DateTimeUtc,
    /// Whole seconds up to 99 999 999 999, milliseconds from there on: for the providers that
    /// document both. No time from 1973 to 5138 is read wrongly.
    SecondsOrMillis,
}

/// Where a timestamp is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stamp {
    /// In a header, or an item of one.
    Slot(Slot),
    /// In the JSON body, at this pointer (RFC 6901). Needs feature `json`.
    Json(&'static str),
    /// In a claim of the token.
    #[cfg(feature = "jwt")]
    Claim(&'static str),
    /// In the `created` parameter of `Signature-Input`, with [`Scheme::http_signature`].
    #[cfg(feature = "http-signatures")]
    Created,
}

/// A place that a text can be read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Source {
    /// A header field.
    Header(&'static str),
    /// A string or whole number in the JSON body, at this pointer (RFC 6901). Needs feature `json`.
    Json(&'static str),
    /// A string or whole number among the token's claims, at the first pointer; where there are
    /// more, each reads the JSON text that the one before it found.
    #[cfg(feature = "jwt")]
    Claims(&'static [&'static str]),
    /// A value at any other place.
    Value(Slot),
}

/// Which value names the event, the same on all its deliveries.
///
/// Whether the signature covers it is not stated but worked out from the content, so it cannot be
/// stated wrongly. An id that is not covered is kept for logs and never becomes the event key
/// unless the application asks for that by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum IdSource {
    /// The provider gives none, and equal bodies do not mean the same event.
    None,
    /// A header field; covered if it is a [`Part::Header`] of the content.
    Header(&'static str),
    /// A value in the JSON body.
    Json(&'static str),
    /// A value in the JSON body, or else the content: for providers that send an id in some kinds
    /// of delivery only.
    JsonOrContent(&'static str),
    /// Several values in the JSON body that are unique together. All must be there.
    Composite(&'static [&'static str]),
    /// Several values, wherever they are, that are unique together. Covered if each of them is.
    Values(&'static [Slot]),
    /// A hash of the signed content without the attempt's timestamp.
    Content,
}

/// Which content must be equal for two deliveries of one event to agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stability {
    /// Every attempt carries the same body.
    Body,
    /// The JSON body is the same but for the members at these pointers (attempt counters, send
    /// times), for white space and for the order of members. Needs feature `json`.
    JsonExcept(&'static [&'static str]),
    /// The provider may send other content under the same id: nothing is compared.
    None,
}

/// How the secret that a provider shows turns into key bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SecretFormat {
    /// The text's own bytes, including any prefix.
    Text,
    /// Base64 after an optional prefix, which is not part of the key.
    Base64 {
        /// Such as `whsec_`.
        prefix: &'static str,
    },
    /// Hexadecimal.
    Hex,
    /// The text without one of these beginnings, if it has one. A `*` in a beginning stands for
    /// anything up to the byte behind it.
    TextWithout(&'static [&'static str]),
    /// A public key in any of its usual spellings, told apart by what they look like: PEM (`PUBLIC
    /// KEY`, `RSA PUBLIC KEY` or `CERTIFICATE`), base64 of the same DER without the armour, a JWK
    /// (feature `json`), or for Ed25519 the 32 bytes in hexadecimal, base64 or base64url, with
    /// `whpk_` in front or without. Of RSA keys, 2048 to 8192 bits.
    ///
    /// **Of a certificate only the key in it is used.** Neither its dates nor who issued it are
    /// looked at: take certificates from where the provider says, over TLS, and nowhere else.
    PublicKey,
}

/// How far a catalogue row can be trusted: who was asked whether its vectors are right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Evidence {
    /// The provider's own SDK accepted and refused the vectors.
    OfficialSdk,
    /// Made from the provider's documentation and checked by a second implementation.
    OfficialDocs,
    /// Third-party implementations only.
    ThirdParty,
    /// A scheme of this project or of the application.
    Own,
}

/// How one provider signs its deliveries. See the [module's documentation](self).
#[derive(Debug, Clone, Copy)]
pub struct Scheme {
    pub(crate) name: &'static str,
    pub(crate) provider: &'static str,
    pub(crate) mac: Mac,
    pub(crate) encoding: Encoding,
    pub(crate) signature: Option<Slot>,
    pub(crate) more_signatures: &'static [Slot],
    pub(crate) content: &'static [Part],
    pub(crate) alternatives: &'static [&'static [Part]],
    pub(crate) key_parts: &'static [Part],
    pub(crate) each: Option<&'static str>,
    pub(crate) document: Option<&'static str>,
    pub(crate) earliest: u64,
    pub(crate) timestamp: Option<(Stamp, Unit)>,
    pub(crate) tolerance: Duration,
    pub(crate) key_id: Option<Slot>,
    pub(crate) keys: KeySource,
    pub(crate) settings: &'static [&'static str],
    pub(crate) id: IdSource,
    pub(crate) delivery_id: Option<&'static str>,
    pub(crate) event_type: Option<Source>,
    pub(crate) stability: Stability,
    pub(crate) secret: SecretFormat,
    pub(crate) alias: Option<(&'static str, &'static str)>,
    pub(crate) ambiguous: Option<&'static str>,
    pub(crate) retry_horizon: Option<Duration>,
    pub(crate) docs: &'static str,
    pub(crate) evidence: Evidence,
    pub(crate) notes: &'static [&'static str],
    #[cfg(feature = "jwt")]
    pub(crate) jwt: Option<&'static Jwt>,
    #[cfg(feature = "http-signatures")]
    pub(crate) http_signature: Option<&'static HttpSignature>,
}

impl Scheme {
    /// Finds a catalogue row by its name, for configuration by string. Names are lower case.
    ///
    /// ```
    /// use hookproof::scheme::Scheme;
    /// assert_eq!(Scheme::by_name("stripe").map(Scheme::provider), Some("stripe"));
    /// assert!(Scheme::by_name("no-such-provider").is_none());
    /// ```
    pub fn by_name(name: &str) -> Option<&'static Scheme> {
        catalog::ALL
            .iter()
            .copied()
            .find(|scheme| scheme.name == name)
    }

    /// Whether all it reads are headers, and all it signs are bytes of the request in a row.
    pub(crate) fn is_plain(&self) -> bool {
        let header = |slot: &Slot| slot.is_header() && slot.inner_pointer().is_none();
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
