//! The exact inverse of [`verify`](crate::verify), from the same scheme data.

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, URL_SAFE},
};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use zeroize::Zeroizing;

use crate::{
    headers::{Headers, Lookup},
    scheme::{Encoding, Mac, Part, Scheme, SchemeError, Slot, Stamp, Unit},
    secrets::{Secret, SecretFault, decode},
    verify::MacKey,
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
    /// The body, unchanged.
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
    /// The scheme signs what the body means, and this one means nothing that is certain.
    #[error("the scheme signs the meaning of a JSON body, which this one does not have")]
    Body,
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

    /// Signs a body.
    ///
    /// # Errors
    ///
    /// [`SignError`].
    pub fn sign(&self, body: &[u8]) -> Result<Signed, SignError> {
        let scheme = self.scheme.check().map_err(SignError::Scheme)?;
        let key = match scheme.mac().is_public_key() {
            true => Zeroizing::new(self.secret.expose().to_vec()),
            false => decode(scheme, self.secret.expose()).map_err(SignError::Secret)?,
        };
        #[cfg(feature = "jwt")]
        if let Some(rules) = scheme.token_rules() {
            return self.sign_token(scheme, rules, &key, body);
        }
        let mut headers = self.headers.clone();
        // Items in the order providers write them: the time, then the signature.
        let mut items: Vec<(Slot, String)> = Vec::new();
        let mut stamp = String::new();
        if let Some((Stamp::Slot(slot), unit)) = scheme.timestamp_source() {
            stamp = write(self.at, unit).ok_or(SignError::Time)?;
            items.push((slot, stamp.clone()));
        }
        let mut signed: Vec<Vec<u8>> = Vec::new();
        for part in scheme.parts() {
            signed.push(match part {
                Part::Text(text) => text.as_bytes().to_vec(),
                Part::Timestamp => stamp.clone().into_bytes(),
                Part::Body => body.to_vec(),
                Part::Method => self.method.clone().into_bytes(),
                Part::Url => self.url.clone().into_bytes(),
                Part::Header(slot) => {
                    let known = headers
                        .iter()
                        .find(|(n, _)| n.eq_ignore_ascii_case(slot.name()));
                    match known {
                        Some((_, value)) => {
                            slot.single(value.as_bytes()).unwrap_or_default().to_vec()
                        }
                        None => {
                            items.push((*slot, "test-1".into()));
                            b"test-1".to_vec()
                        }
                    }
                }
            });
        }
        if let Some(slot) = scheme.signature_slot() {
            let parts: Vec<&[u8]> = signed.iter().map(Vec::as_slice).collect();
            let text = match scheme.mac() {
                Mac::Token => String::from_utf8_lossy(&key).into_owned(),
                mac => {
                    let signature = signature(mac, &key, &parts).map_err(SignError::Secret)?;
                    encode(scheme.encoding(), &signature)
                }
            };
            items.push((slot, text));
        }
        for (slot, text) in items {
            let item = format!("{}{text}", slot.fixed_prefix());
            match headers
                .iter_mut()
                .find(|(name, _)| name.eq_ignore_ascii_case(slot.name()))
            {
                Some((_, value)) => {
                    value.push(char::from(slot.separator().unwrap_or(b',')));
                    value.push_str(&item);
                }
                None => headers.push((slot.name().to_owned(), item)),
            }
        }
        let (method, url) = (self.method.clone(), self.url.clone());
        Ok(Signed {
            headers,
            body: body.to_vec(),
            method,
            url,
        })
    }
}

impl Headers for Signed {
    fn lookup(&self, name: &str) -> Lookup<'_> {
        self.headers.lookup(name)
    }

    fn method(&self) -> Option<&str> {
        Some(&self.method)
    }

    fn url(&self) -> Option<&str> {
        Some(&self.url)
    }
}

pub(super) fn write(at: OffsetDateTime, unit: Unit) -> Option<String> {
    let millis = at.unix_timestamp_nanos().div_euclid(1_000_000);
    Some(match unit {
        Unit::Seconds => u64::try_from(at.unix_timestamp()).ok()?.to_string(),
        Unit::Millis => u64::try_from(millis).ok()?.to_string(),
        Unit::Rfc3339 => at.format(&Rfc3339).ok()?,
    })
}

pub(super) fn signature(mac: Mac, key: &[u8], parts: &[&[u8]]) -> Result<Vec<u8>, SecretFault> {
    #[cfg(any(feature = "ed25519", feature = "ecdsa", feature = "rsa"))]
    if mac.is_public_key() {
        return super::keys::sign(mac, key, parts);
    }
    Ok(MacKey::new(mac, key)?.compute(parts).as_slice().to_vec())
}

fn encode(encoding: Encoding, tag: &[u8]) -> String {
    // Hex takes the most, and base64 of a few bytes its padding.
    let mut room = vec![0_u8; tag.len().saturating_mul(2).saturating_add(4)];
    let length = match encoding {
        Encoding::Hex => {
            let length = tag.len().saturating_mul(2);
            room.get_mut(..length)
                .and_then(|room| hex::encode_to_slice(tag, room).ok());
            length
        }
        Encoding::Base64 => STANDARD.encode_slice(tag, &mut room).unwrap_or_default(),
        Encoding::Base64Url => URL_SAFE.encode_slice(tag, &mut room).unwrap_or_default(),
        Encoding::Plain => 0,
    };
    room.iter().take(length).copied().map(char::from).collect()
}
