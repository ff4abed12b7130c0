//! The exact inverse of [`verify`](crate::verify), from the same scheme data.

mod draft;
#[cfg(feature = "http-signatures")]
mod http;
#[cfg(feature = "json")]
mod json;
#[cfg(not(feature = "json"))]
#[path = "sign/no_json.rs"]
mod json;
mod text;

use time::OffsetDateTime;

use crate::{
    headers::{Headers, Lookup},
    scheme::{Scheme, SchemeError},
    secrets::{Secret, SecretFault},
};

/// Signs a body in one call; [`Signer`] for more.
///
/// # Errors
///
/// [`SignError`].
pub fn sign(
    scheme: &'static Scheme,
    secret: impl Into<Secret>,
    body: &[u8],
    now: OffsetDateTime,
) -> Result<Signed, SignError> {
    Signer::new(scheme, secret).at(now).sign(body)
}

/// Signs deliveries as a provider would, so that you can test your handlers for any scheme.
///
/// ```
/// use hookproof::{Secrets, scheme, testing::Signer};
/// use time::macros::datetime;
///
/// let secret = "whsec_T3st0nlyAlphaKey4711xyz";
/// let now = datetime!(2027-01-15 08:00 UTC);
/// let signed = Signer::new(&scheme::STRIPE, secret).at(now).sign(br#"{"id":"evt_1"}"#)?;
///
/// let secrets = Secrets::new(&scheme::STRIPE, [secret])?;
/// let delivery = hookproof::verify(&signed.body, &signed, &secrets, now)?;
/// assert_eq!(delivery.event_key("")?.id(), "evt_1");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Signer {
    scheme: &'static Scheme,
    pub(super) secret: Secret,
    pub(super) at: OffsetDateTime,
    pub(super) headers: Vec<(String, String)>,
    pub(super) method: String,
    pub(super) url: String,
}

/// A signed request. It is its own [`Headers`], with the method and URL it was signed for.
#[derive(Debug, Clone)]
pub struct Signed {
    /// The headers, in the scheme's own spelling.
    pub headers: Vec<(String, String)>,
    /// The body, unchanged, unless the scheme writes its signature into it.
    pub body: Vec<u8>,
    /// The method.
    pub method: String,
    /// The public URL.
    pub url: String,
}

/// Why something could not be signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SignError {
    /// The scheme is not sound.
    #[error("the scheme cannot be used")]
    Scheme(#[source] SchemeError),
    /// The secret cannot be a key of the scheme.
    #[error("the secret cannot be a key of the scheme")]
    Secret(#[source] SecretFault),
    /// The time cannot be written in the scheme's unit.
    #[error("the time cannot be written in the scheme's unit")]
    Time,
    /// The body is not of the kind that the scheme signs: no JSON, or no form.
    #[error("the body is not of a kind that the scheme signs")]
    Body,
    /// The components of an HTTP message signature are not in the request, or not to be read.
    #[cfg(feature = "http-signatures")]
    #[error("the components of the HTTP message signature cannot be read")]
    HttpSignature,
}

impl Signer {
    /// A signer for one scheme and one secret, written as the provider shows it.
    ///
    /// Of a scheme with public keys the secret is the private key: PKCS#8 in PEM, or of Ed25519 the
    /// 32 bytes in hexadecimal or base64, with `whsk_` in front or without.
    /// `testing::public_key_of` gives the public one to it, and `testing::test_key` one to try.
    /// RSA is signed for tests only: the code is not hardened against whoever measures it
    /// (RUSTSEC-2023-0071).
    pub fn new(scheme: &'static Scheme, secret: impl Into<Secret>) -> Self {
        Self {
            scheme,
            secret: secret.into(),
            at: OffsetDateTime::UNIX_EPOCH,
            headers: Vec::new(),
            method: "POST".into(),
            url: "https://hooks.example.com/in".into(),
        }
    }

    /// The time of sending; 1970 if not set. A scheme whose time is in the body takes it from
    /// there: put it in yourself.
    #[must_use]
    pub fn at(mut self, now: OffsetDateTime) -> Self {
        self.at = now;
        self
    }

    /// Sets a header. Header ids that the scheme signs are `test-1` if not set.
    #[must_use]
    pub fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers
            .retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// The method and public URL, for schemes that sign them.
    #[must_use]
    pub fn target(mut self, method: &str, url: &str) -> Self {
        self.method = method.to_owned();
        self.url = url.to_owned();
        self
    }

    /// Signs a body. What the scheme reads before it verifies, and the request lacks, is added: ids
    /// are `test-1`.
    ///
    /// # Errors
    ///
    /// [`SignError`].
    pub fn sign(&self, body: &[u8]) -> Result<Signed, SignError> {
        #[cfg(feature = "http-signatures")]
        if let Some(rule) = self.scheme.http_signature_rule() {
            self.scheme.check().map_err(SignError::Scheme)?;
            return self.sign_http(rule, body);
        }
        let signed = Signed {
            headers: self.headers.clone(),
            body: body.to_vec(),
            method: self.method.clone(),
            url: self.url.clone(),
        };
        draft::sign(self.scheme, &self.secret, self.at, &signed)
    }
}

impl Headers for Signed {
    fn lookup(&self, name: &str) -> Lookup<'_> {
        self.headers.lookup(name)
    }

    fn lines(&self, name: &str) -> Vec<&[u8]> {
        self.headers.lines(name)
    }

    fn method(&self) -> Option<&str> {
        Some(&self.method)
    }

    fn url(&self) -> Option<&str> {
        Some(&self.url)
    }
}
