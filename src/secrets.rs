//! Signing secrets, bound to their scheme when the service starts.
//!
//! A [`Secret`] is defined by what it lacks: it cannot be printed, compared, serialised or cloned,
//! and its memory is zeroed when it goes. [`Secrets`] is a scheme with its key ring; making one is
//! where bad secrets are refused, so that nothing about configuration is left to find out from a
//! delivery.

mod derive;
mod key;
#[cfg(feature = "public-key")]
mod public_key;
mod secret;

use std::{fmt, time::Duration};

pub(crate) use key::Key;
#[cfg(any(feature = "ed25519", feature = "ecdsa", feature = "rsa"))]
pub(crate) use public_key::oid;
#[cfg(all(
    feature = "testing",
    any(feature = "ed25519", feature = "ecdsa", feature = "rsa")
))]
pub(crate) use public_key::{from_base64, wrap};
pub(crate) use secret::decode;
#[cfg(feature = "handshake")]
pub(crate) use secret::decode_as;
pub use secret::{MIN_DECODED_KEY, MIN_TEXT_SECRET, Secret, SecretFault};

use crate::scheme::{KeySource, Scheme, SchemeError};

/// Most keys that one ring holds. Each costs one MAC over the body of a forged request.
pub const MAX_KEYS: usize = 16;

/// Why a key ring could not be made. Names the secret by its place, never by its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SecretsError {
    /// The scheme itself is not sound.
    #[error("the scheme cannot be used")]
    Scheme(#[source] SchemeError),
    /// No secret was given: nothing could ever be verified.
    #[error("the key ring is empty")]
    NoSecrets,
    /// More than [`MAX_KEYS`].
    #[error("more than {MAX_KEYS} secrets")]
    TooMany,
    /// Two secrets carry the same key id.
    #[error("secret {index}: another secret has the same key id")]
    DuplicateKeyId {
        /// Place in the list, from 0.
        index: usize,
    },
    /// A secret cannot be a key of this scheme.
    #[error("secret {index}: {fault}")]
    Secret {
        /// Place in the list, from 0.
        index: usize,
        /// What is wrong with it.
        fault: SecretFault,
    },
}

/// A scheme and the keys that its deliveries may be signed with.
///
/// During a rotation both secrets are in the ring; [`Verified::key_id`](crate::Verified::key_id)
/// and [`Verified::key_index`](crate::Verified::key_index) tell which one matched, so that you see
/// when the old one has fallen silent.
///
/// ```
/// use hookproof::{Secrets, SecretFault, SecretsError, scheme};
///
/// let secrets = Secrets::new(&scheme::STRIPE, ["whsec_current-secret", "whsec_previous-secret"])?;
/// assert_eq!(secrets.len(), 2);
///
/// // What would fail at 3 a.m. fails at start-up instead:
/// let error = Secrets::new(&scheme::STRIPE, ["whsec_pasted-with-line-end\n"]).unwrap_err();
/// assert_eq!(error, SecretsError::Secret { index: 0, fault: SecretFault::Edges });
/// # Ok::<(), SecretsError>(())
/// ```
pub struct Secrets {
    scheme: &'static Scheme,
    ring: Vec<Key>,
    freshness: Freshness,
    /// [`Scheme::is_plain`], asked once.
    plain: bool,
}

/// How old or how early a delivery may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Freshness {
    Within(Duration),
    Any,
}

impl Secrets {
    /// Binds secrets to the scheme that they belong to.
    ///
    /// # Errors
    ///
    /// [`SecretsError`] if the scheme is not sound, the ring would be empty or too long, or any
    /// secret is empty, blank, has white space at an edge, is a bare prefix, cannot be decoded, or
    /// is too short. The error never holds the secret.
    pub fn new<I>(scheme: &'static Scheme, secrets: I) -> Result<Self, SecretsError>
    where
        I: IntoIterator,
        I::Item: Into<Secret>,
    {
        scheme.check().map_err(SecretsError::Scheme)?;
        let mut ring: Vec<Key> = Vec::new();
        for secret in secrets {
            push(scheme, &mut ring, secret.into())?;
        }
        if ring.is_empty() {
            return Err(SecretsError::NoSecrets);
        }
        Ok(Self::with(scheme, ring))
    }

    /// A ring without keys, for a scheme whose keys are fetched
    /// ([`Scheme::key_source`]): until keys are [added](Self::add), every delivery that names its
    /// key is answered with [`Rejection::KeyNeeded`](crate::Rejection::KeyNeeded).
    ///
    /// ```
    /// # #[cfg(all(feature = "ecdsa", feature = "testing"))] {
    /// use hookproof::{KeyNeeded, Rejection, Secret, Secrets, scheme, testing};
    /// # use time::macros::datetime;
    /// # let now = datetime!(2027-01-15 08:00 UTC);
    /// # let private = testing::test_key(scheme::CIRCLE.mac()).unwrap();
    /// # let fetched = testing::public_key_of(&scheme::CIRCLE, private).unwrap();
    /// # let request = testing::Signer::new(&scheme::CIRCLE, private).at(now)
    /// #     .header("X-Circle-Key-Id", "key-7").sign(b"{}").unwrap();
    ///
    /// let mut secrets = Secrets::awaiting_keys(&scheme::CIRCLE)?;
    /// let Err(Rejection::KeyNeeded(KeyNeeded::Id(id))) =
    ///     hookproof::verify(b"{}", &request, &secrets, now) else { panic!("nobody knows the key") };
    ///
    /// // Ask the provider for `id`, remember refusals, and verify the same delivery again.
    /// secrets.add(Secret::from(fetched).key_id(id))?;
    /// assert!(hookproof::verify(b"{}", &request, &secrets, now).is_ok());
    /// # }
    /// # Ok::<(), hookproof::SecretsError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SecretsError::NoSecrets`] for a scheme whose keys are configured and not fetched.
    pub fn awaiting_keys(scheme: &'static Scheme) -> Result<Self, SecretsError> {
        scheme.check().map_err(SecretsError::Scheme)?;
        if scheme.key_source() == KeySource::Given {
            return Err(SecretsError::NoSecrets);
        }
        Ok(Self::with(scheme, Vec::new()))
    }

    fn with(scheme: &'static Scheme, ring: Vec<Key>) -> Self {
        let freshness = Freshness::Within(scheme.default_tolerance());
        Self {
            scheme,
            ring,
            freshness,
            plain: scheme.is_plain(),
        }
    }

    /// Adds a key that was fetched, and gives the ring back. Name it with
    /// [`Secret::key_id`] as the request did (its id or the address of its certificate), or it is
    /// tried for every request. A key with the same id is replaced.
    ///
    /// # Errors
    ///
    /// [`SecretsError`], with the ring unchanged.
    pub fn add(&mut self, secret: impl Into<Secret>) -> Result<&mut Self, SecretsError> {
        let secret = secret.into();
        let same = |key: &Key| key.id.is_some() && key.id == secret.key_id;
        match self.ring.iter().position(same) {
            Some(index) => {
                let key = Key::make(self.scheme, secret)
                    .map_err(|fault| SecretsError::Secret { index, fault })?;
                if let Some(place) = self.ring.get_mut(index) {
                    *place = key;
                }
            }
            None => push(self.scheme, &mut self.ring, secret)?,
        }
        Ok(self)
    }

    /// Takes a key out of the ring by its id, once the provider no longer lists it. Tells whether
    /// there was one.
    pub fn remove(&mut self, key_id: &str) -> bool {
        let before = self.ring.len();
        self.ring.retain(|key| key.id.as_deref() != Some(key_id));
        self.ring.len() != before
    }

    /// Sets the allowed age, and the allowed lead of a sender whose clock is ahead; both
    /// inclusive. Zero is a window of zero width. A wider window needs a longer memory: keep
    /// receipts for at least as long.
    #[must_use]
    pub fn tolerance(mut self, tolerance: Duration) -> Self {
        self.freshness = Freshness::Within(tolerance);
        self
    }

    /// Accepts deliveries of any age. A captured request then stays good until the secret
    /// changes, and only a receipt that is still kept stands against it.
    #[must_use]
    pub fn danger_accept_any_age(mut self) -> Self {
        self.freshness = Freshness::Any;
        self
    }

    /// The scheme these secrets belong to.
    pub fn scheme(&self) -> &'static Scheme {
        self.scheme
    }

    /// Number of keys in the ring; 0 only while keys are [awaited](Self::awaiting_keys).
    pub fn len(&self) -> usize {
        self.ring.len()
    }

    /// Whether the ring still waits for its first key.
    pub fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }

    /// The allowed age, or `None` after [`Secrets::danger_accept_any_age`] and for schemes without
    /// a signed time, where old deliveries cannot be told from new ones.
    pub fn window(&self) -> Option<Duration> {
        match (&self.scheme.timestamp, self.freshness) {
            (Some(_), Freshness::Within(window)) => Some(window),
            _ => None,
        }
    }

    pub(crate) fn freshness(&self) -> Freshness {
        self.freshness
    }

    pub(crate) fn is_plain(&self) -> bool {
        self.plain
    }

    pub(crate) fn ring(&self) -> &[Key] {
        &self.ring
    }
}

/// Appends a key to a ring, or leaves the ring as it is.
fn push(scheme: &'static Scheme, ring: &mut Vec<Key>, secret: Secret) -> Result<(), SecretsError> {
    let index = ring.len();
    if index == MAX_KEYS {
        return Err(SecretsError::TooMany);
    }
    if secret.key_id.is_some() && ring.iter().any(|key| key.id == secret.key_id) {
        return Err(SecretsError::DuplicateKeyId { index });
    }
    let key = Key::make(scheme, secret).map_err(|fault| SecretsError::Secret { index, fault })?;
    ring.push(key);
    Ok(())
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids: Vec<_> = self.ring.iter().map(|key| key.id.as_deref()).collect();
        f.debug_struct("Secrets")
            .field("scheme", &self.scheme.name())
            .field("key_ids", &ids)
            .field("freshness", &self.freshness)
            .finish_non_exhaustive()
    }
}
