//! What a provider's JSON Web Tokens must say, as data.

use std::time::Duration;

use super::{Encoding, Mac, Scheme};

/// The leeway for `exp` and `nbf` where a row states no other: 1 minute.
pub const DEFAULT_LEEWAY: Duration = Duration::from_secs(60);

/// How a provider uses a JSON Web Signature in compact form (RFC 7515 §3.1): what is signed, and
/// which claims (RFC 7519 §4) must hold.
///
/// The token is in the scheme's signature slot; a slot with the word `Bearer ` is
/// [`Slot::word`](super::Slot::word). The algorithm is the scheme's own ([`Scheme::mac`]), or one of [`Jwt::also`]; the token's header
/// must name exactly that one, and can choose nothing else: no key, no certificate, no address.
///
/// ```
/// use hookproof::scheme::{ClaimRule, Encoding, Jwt, Mac, Part, Scheme, Slot};
///
/// /// `X-Acme-Token: <token>`, with the claims `iat` and `body_sha256` (in hex).
/// const ACME: Scheme = Scheme::new("acme", Mac::HmacSha256)
///     .signature(Slot::header("X-Acme-Token"), Encoding::Base64Url)
///     .jwt(&Jwt::new().claims(&[ClaimRule::BodyHash("body_sha256", Encoding::Hex)]))
///     .content(&[Part::Body])
///     .claim_timestamp("iat");
///
/// assert!(ACME.check().is_ok());
/// assert!(ACME.coverage().body && ACME.coverage().timestamp);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Jwt {
    also: &'static [Mac],
    detached: bool,
    data: Option<&'static str>,
    critical: &'static [&'static str],
    claims: &'static [ClaimRule],
    expires: bool,
    leeway: Duration,
}

/// What one claim must say. Texts are strings, never arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClaimRule {
    /// The SHA-256 of the raw body, in hexadecimal or padded base64.
    BodyHash(&'static str, Encoding),
    /// The same; it may be missing while the body is empty.
    BodyHashUnlessEmpty(&'static str, Encoding),
    /// The SHA-256 of the public URL, in hexadecimal.
    UrlHash(&'static str),
    /// The SHA-256, in hexadecimal, of what JavaScript's `JSON.stringify({url, method, body})`
    /// makes of the request and of its parsed body (`null` for an empty one). Bodies of which that
    /// text is not certain are refused: numbers that it writes with an exponent, names that look
    /// like array indices or occur twice, half a surrogate pair.
    RequestJson(&'static str),
    /// One of these texts.
    OneOf(&'static str, &'static [&'static str]),
    /// The public URL.
    Url(&'static str),
    /// The text that the application gave with [`Secret::setting`](crate::Secret::setting): first
    /// the claim's name, then the setting's.
    Setting(&'static str, &'static str),
    /// `true`.
    True(&'static str),
    /// Any text but an empty one.
    AnyText(&'static str),
}

impl ClaimRule {
    /// The claim's name.
    pub const fn name(&self) -> &'static str {
        match self {
            ClaimRule::BodyHash(name, _)
            | ClaimRule::BodyHashUnlessEmpty(name, _)
            | ClaimRule::UrlHash(name)
            | ClaimRule::RequestJson(name)
            | ClaimRule::OneOf(name, _)
            | ClaimRule::Url(name)
            | ClaimRule::Setting(name, _)
            | ClaimRule::True(name)
            | ClaimRule::AnyText(name) => name,
        }
    }
}

impl Jwt {
    /// A token with claims, in the signature's header, in which nothing is looked at yet.
    pub const fn new() -> Self {
        Self {
            also: &[],
            detached: false,
            data: None,
            critical: &[],
            claims: &[],
            expires: false,
            leeway: DEFAULT_LEEWAY,
        }
    }

    /// Further algorithms with the same key. Only HMAC has such.
    #[must_use]
    pub const fn also(self, algorithms: &'static [Mac]) -> Self {
        Self {
            also: algorithms,
            ..self
        }
    }

    /// The token's second segment is empty and the payload is the scheme's content (RFC 7515
    /// appendix F), which holds no claims. Without this the payload is claims.
    #[must_use]
    pub const fn detached(self) -> Self {
        Self {
            detached: true,
            ..self
        }
    }

    /// The claim that carries, as text, what other providers send as the body; for a token that is
    /// the body ([`Slot::body`](super::Slot::body)).
    #[must_use]
    pub const fn data(self, claim: &'static str) -> Self {
        Self {
            data: Some(claim),
            ..self
        }
    }

    /// Header parameters that may be listed in `crit` (RFC 7515 §4.1.11), since what they ask for
    /// is what the row says anyway. A token with any other is refused.
    #[must_use]
    pub const fn critical(self, names: &'static [&'static str]) -> Self {
        Self {
            critical: names,
            ..self
        }
    }

    /// What the claims must say.
    #[must_use]
    pub const fn claims(self, rules: &'static [ClaimRule]) -> Self {
        Self {
            claims: rules,
            ..self
        }
    }

    /// The claim `exp` must be there. The time of sending may then lie ahead by the leeway only,
    /// and its age is bounded by `exp` and by the window both.
    #[must_use]
    pub const fn expires(self) -> Self {
        Self {
            expires: true,
            ..self
        }
    }

    /// How far the clocks may differ where `exp` and `nbf` are judged; [`DEFAULT_LEEWAY`] if not
    /// set. Both are judged wherever a token has them.
    #[must_use]
    pub const fn leeway(self, leeway: Duration) -> Self {
        Self { leeway, ..self }
    }

    /// See [`Jwt::also`].
    pub const fn more_algorithms(&self) -> &'static [Mac] {
        self.also
    }

    /// See [`Jwt::detached`].
    pub const fn is_detached(&self) -> bool {
        self.detached
    }

    /// See [`Jwt::data`].
    pub const fn data_claim(&self) -> Option<&'static str> {
        self.data
    }

    /// See [`Jwt::critical`].
    pub const fn critical_names(&self) -> &'static [&'static str] {
        self.critical
    }

    /// See [`Jwt::claims`].
    pub const fn claim_rules(&self) -> &'static [ClaimRule] {
        self.claims
    }

    /// See [`Jwt::expires`].
    pub const fn must_expire(&self) -> bool {
        self.expires
    }

    /// See [`Jwt::leeway`].
    pub const fn clock_leeway(&self) -> Duration {
        self.leeway
    }
}

impl Default for Jwt {
    fn default() -> Self {
        Self::new()
    }
}

impl Scheme {
    /// The scheme signs with a JSON Web Token, for which these rules hold.
    ///
    /// The [content](Scheme::content) of such a scheme is what the token covers of the request:
    /// [`Part::Body`](super::Part::Body), `Url` and `Method` through hashes among the claims, or a
    /// detached payload. Its time is a [claim](Scheme::claim_timestamp), or is in the detached
    /// payload.
    #[must_use]
    pub const fn jwt(self, rules: &'static Jwt) -> Self {
        Self {
            jwt: Some(rules),
            encoding: Encoding::Base64Url,
            ..self
        }
    }

    /// The rules of a scheme that signs with JSON Web Tokens.
    pub const fn token_rules(&self) -> Option<&'static Jwt> {
        self.jwt
    }

    /// The name in a token's `alg` of each algorithm that the scheme takes, with its number: 0 is
    /// the scheme's own.
    pub(crate) fn algorithm_named(&self, name: &str) -> Option<usize> {
        let also = self.jwt.map_or(&[][..], |rules| rules.also);
        let mut all = std::iter::once(&self.mac).chain(also);
        all.position(|mac| mac.jose_name() == Some(name))
    }
}

impl Mac {
    /// The algorithm's name in JOSE (RFC 7518 §3.1, RFC 8037 §3.1), if it has one.
    pub const fn jose_name(self) -> Option<&'static str> {
        Some(match self {
            Mac::HmacSha256 => "HS256",
            Mac::HmacSha384 => "HS384",
            Mac::HmacSha512 => "HS512",
            #[cfg(feature = "ed25519")]
            Mac::Ed25519 => "EdDSA",
            #[cfg(feature = "ecdsa")]
            Mac::EcdsaP256Sha256Raw => "ES256",
            #[cfg(feature = "rsa")]
            Mac::RsaSha256 => "RS256",
            #[cfg(feature = "rsa")]
            Mac::RsaSha512 => "RS512",
            #[cfg(feature = "rsa")]
            Mac::RsaPssSha512 => "PS512",
            _ => return None,
        })
    }
}
