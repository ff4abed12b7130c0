//! One secret, and what makes it a key.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use time::OffsetDateTime;
use zeroize::Zeroizing;

use crate::scheme::{Scheme, SecretFormat};

/// Fewest bytes a decoded (base64 or hex) key may have: 128 bits.
pub const MIN_DECODED_KEY: usize = 16;

/// Fewest bytes a secret that is used as text may have.
pub const MIN_TEXT_SECRET: usize = 6;

/// One secret as the provider shows it, with an optional key id and time of validity.
///
/// ```
/// use hookproof::Secret;
/// use time::macros::datetime;
///
/// let old = Secret::from("whsec_old-secret-of-the-account").not_after(datetime!(2026-12-31 0:00 UTC));
/// let new = Secret::from("whsec_new-secret-of-the-account").key_id("2027");
/// assert_eq!(format!("{new:?}"), r#"Secret { key_id: Some("2027"), .. }"#);
/// ```
///
/// It has no way out:
///
/// ```compile_fail
/// println!("{}", hookproof::Secret::from("whsec_abc"));
/// ```
/// ```compile_fail
/// let a = hookproof::Secret::from("whsec_abc");
/// let b = a.clone();
/// ```
/// ```compile_fail
/// assert!(hookproof::Secret::from("a") == hookproof::Secret::from("a"));
/// ```
pub struct Secret {
    pub(super) bytes: Zeroizing<Vec<u8>>,
    pub(super) key_id: Option<Box<str>>,
    pub(super) not_before: Option<OffsetDateTime>,
    pub(super) not_after: Option<OffsetDateTime>,
    pub(super) settings: Vec<(&'static str, Box<str>)>,
}

impl Secret {
    /// Takes the secret's bytes as configured; no decoding happens here.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self {
            bytes: Zeroizing::new(bytes.into()),
            key_id: None,
            not_before: None,
            not_after: None,
            settings: Vec::new(),
        }
    }

    /// A text that the scheme needs beside the secret and that no request may choose: the id of
    /// your webhook, your client id, the address you registered. Which ones a scheme needs is in
    /// [`Scheme::settings`](crate::Scheme::settings); one that is missing is refused with the secrets.
    #[must_use]
    pub fn setting(mut self, name: &'static str, value: impl Into<Box<str>>) -> Self {
        self.settings.retain(|(known, _)| *known != name);
        self.settings.push((name, value.into()));
        self
    }

    /// Names the key, for schemes whose requests say which key signed them, and for
    /// [`Verified::key_id`](crate::Verified::key_id).
    #[must_use]
    pub fn key_id(mut self, id: impl Into<Box<str>>) -> Self {
        self.key_id = Some(id.into());
        self
    }

    /// The key counts from this moment on (inclusive).
    #[must_use]
    pub fn not_before(mut self, from: OffsetDateTime) -> Self {
        self.not_before = Some(from);
        self
    }

    #[cfg(all(feature = "testing", any(feature = "http-signatures", feature = "jwt")))]
    pub(crate) fn exposed_key_id(&self) -> Option<&str> {
        self.key_id.as_deref()
    }

    #[cfg(feature = "handshake")]
    pub(crate) fn into_bytes(self) -> Zeroizing<Vec<u8>> {
        self.bytes
    }

    #[cfg(feature = "testing")]
    pub(crate) fn expose(&self) -> &[u8] {
        &self.bytes
    }

    /// The key counts up to this moment (inclusive).
    #[must_use]
    pub fn not_after(mut self, until: OffsetDateTime) -> Self {
        self.not_after = Some(until);
        self
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secret")
            .field("key_id", &self.key_id)
            .finish_non_exhaustive()
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self::new(text.into_bytes())
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self::new(text.as_bytes())
    }
}

impl From<&String> for Secret {
    fn from(text: &String) -> Self {
        Self::new(text.as_bytes())
    }
}

/// What is wrong with one secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SecretFault {
    /// No bytes at all: an environment variable that is set to nothing.
    #[error("it is empty")]
    Empty,
    /// Nothing but white space.
    #[error("it is blank")]
    Blank,
    /// White space or a line end at one of its edges, as left by copy and paste.
    #[error("it begins or ends with white space or a line end")]
    Edges,
    /// Only the prefix that such secrets begin with.
    #[error("it is a bare prefix with no key behind it")]
    BarePrefix,
    /// Not base64 or not hexadecimal, where the scheme's secrets are.
    #[error("it cannot be decoded as the scheme's secrets are written")]
    Undecodable,
    /// A text that the scheme needs beside the secret was not given with [`Secret::setting`].
    #[error("the setting `{0}` is missing or empty")]
    MissingSetting(
        /// Its name.
        &'static str,
    ),
    /// Shorter than [`MIN_DECODED_KEY`] or [`MIN_TEXT_SECRET`] bytes.
    #[error("it is too short to be a key")]
    TooShort,
    /// A private key, where the public one belongs. Whoever could read it can sign: make a new one.
    #[error("it is a private key; the public one belongs here")]
    PrivateKey,
    /// A key of another kind, curve or format than the scheme's algorithm has.
    #[error("it is a key for another algorithm than the scheme's")]
    OtherAlgorithm,
    /// A JWK whose `use`, `key_ops` or `alg` does not fit the scheme.
    #[error("its `use`, `key_ops` or `alg` says that it is for something else")]
    OtherUse,
    /// Several PEM blocks, such as a chain of certificates, or a set of JWKs.
    #[error("it holds several keys; give each by itself")]
    SeveralKeys,
    /// A key under which anyone can sign, such as a point of small order.
    #[error("it is a key under which anyone can sign")]
    WeakKey,
    /// An RSA key of fewer than 2048 bits.
    #[error("it is an RSA key of fewer than 2048 bits")]
    RsaTooShort,
    /// An RSA key of more than 8192 bits.
    #[error("it is an RSA key of more than 8192 bits")]
    RsaTooLong,
    /// A JWK, which needs the cargo feature `json`.
    #[error("it is a JWK, which needs the cargo feature `json`")]
    NeedsJson,
}

/// Turns a secret's text into key bytes, refusing what cannot be one.
pub(crate) fn decode(scheme: &Scheme, secret: &[u8]) -> Result<Zeroizing<Vec<u8>>, SecretFault> {
    #[cfg(feature = "public-key")]
    if scheme.mac().is_public_key() && !is_blank(secret)? {
        return super::public_key::to_spki(scheme.mac(), secret).map(Zeroizing::new);
    }
    decode_as(scheme.secret_format(), secret)
}

/// Secrets may be any bytes; as text they are judged lossily, for their white space only.
fn is_blank(secret: &[u8]) -> Result<bool, SecretFault> {
    if secret.is_empty() {
        return Err(SecretFault::Empty);
    }
    let text = Zeroizing::new(String::from_utf8_lossy(secret).into_owned());
    Ok(text.trim().is_empty())
}

/// The same for a shared secret, by its format alone.
pub(crate) fn decode_as(
    format: SecretFormat,
    secret: &[u8],
) -> Result<Zeroizing<Vec<u8>>, SecretFault> {
    if is_blank(secret)? {
        return Err(SecretFault::Blank);
    }
    let text = Zeroizing::new(String::from_utf8_lossy(secret).into_owned());
    if text.trim().len() != text.len() {
        return Err(SecretFault::Edges);
    }
    let (key, least) = match format {
        SecretFormat::Text => {
            // `whsec_`, `sk_test_`: what is left when the variable part was not pasted.
            if secret.ends_with(b"_") && secret.len() < MIN_DECODED_KEY {
                return Err(SecretFault::BarePrefix);
            }
            (Zeroizing::new(secret.to_vec()), MIN_TEXT_SECRET)
        }
        SecretFormat::Base64 { prefix } => {
            let encoded = secret.strip_prefix(prefix.as_bytes()).unwrap_or(secret);
            if encoded.is_empty() {
                return Err(SecretFault::BarePrefix);
            }
            let mut key = Zeroizing::new(vec![0; encoded.len()]);
            let length = STANDARD
                .decode_slice(encoded, &mut key)
                .map_err(|_| SecretFault::Undecodable)?;
            key.truncate(length);
            (key, MIN_DECODED_KEY)
        }
        SecretFormat::TextWithout(beginnings) => {
            let rest = beginnings.iter().find_map(|start| without(secret, start));
            let rest = rest.unwrap_or(secret);
            if rest.is_empty() {
                return Err(SecretFault::BarePrefix);
            }
            (Zeroizing::new(rest.to_vec()), MIN_TEXT_SECRET)
        }
        // Whatever everyone knows must never become the key of a MAC.
        SecretFormat::PublicKey => return Err(SecretFault::OtherAlgorithm),
        SecretFormat::Hex => {
            let mut key = Zeroizing::new(vec![0; secret.len().div_euclid(2)]);
            hex::decode_to_slice(secret, &mut key).map_err(|_| SecretFault::Undecodable)?;
            (key, MIN_DECODED_KEY)
        }
    };
    if key.len() < least {
        Err(SecretFault::TooShort)
    } else {
        Ok(key)
    }
}

/// What stands behind a beginning, in which a `*` is anything up to the byte behind it.
fn without<'s>(secret: &'s [u8], start: &str) -> Option<&'s [u8]> {
    let Some((fixed, tail)) = start.split_once('*') else {
        return secret.strip_prefix(start.as_bytes());
    };
    let rest = secret.strip_prefix(fixed.as_bytes())?;
    let end = *tail.as_bytes().first()?;
    let at = rest.iter().position(|&byte| byte == end)?;
    rest.get(at..)?.strip_prefix(tail.as_bytes())
}
