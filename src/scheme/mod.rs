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

mod algorithm;
mod boundaries;
mod builder;
pub mod catalog;
mod check;
#[cfg(feature = "jwt")]
mod check_jwt;
mod coverage;
mod detect;
mod getters;
#[cfg(feature = "http-signatures")]
mod http_signature;
#[cfg(feature = "jwt")]
mod jwt;
mod keys;
mod part;
mod slot;

use std::time::Duration;

pub use algorithm::*;
pub use catalog::*;
pub use check::SchemeError;
pub use coverage::{Coverage, Extent};
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
}
