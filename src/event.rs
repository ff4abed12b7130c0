//! Which event a delivery tells of, from signed bytes only.

use std::{fmt, sync::Arc};

use sha2::{Digest, Sha256};

/// Longest id of an event, in bytes.
pub const MAX_ID_BYTES: usize = 2048;

/// Longest tenant name, in bytes.
pub const MAX_TENANT_BYTES: usize = 255;

/// The identity of an event: tenant, provider and event id, and a digest of all three.
///
/// The digest is the first 16 bytes of SHA-256 over a version, the tenant, the provider and the
/// id, each with its length before it. No choice of separators in an id can make two events look
/// alike, the tenant is always inside, and the width is the same in every database. Stores keep
/// the readable parts beside it.
///
/// ```
/// use hookproof::EventKey;
///
/// // A key of your own, to share one claim between a webhook and another code path.
/// let key = EventKey::business("tenant-a", "order-paid", "o1")?;
/// assert_ne!(key.digest(), EventKey::business("tenant-b", "order-paid", "o1")?.digest());
/// # Ok::<(), hookproof::KeyError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct EventKey {
    digest: [u8; 16],
    /// Tenant, provider and id. Shared, since receipts, leases and claims of an event all carry it.
    text: Option<Arc<str>>,
    tenant_end: usize,
    provider_end: usize,
}

/// Why a delivery has no event key. It is authentic all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The provider names no event in this delivery, or the name cannot be read. Nothing is made
    /// up instead: choose [`Verified::content_key`](crate::Verified::content_key), a
    /// [`EventKey::business`] key, or to act without deduplication.
    #[error("the delivery names no event")]
    NoId,
    /// There is an id, but neither it nor the body is covered by the signature.
    #[error("the signature covers nothing that names the event")]
    NotCovered,
    /// The id is empty, longer than [`MAX_ID_BYTES`], or holds control characters.
    #[error("the event id is empty, too long or holds control characters")]
    BadId,
    /// The tenant is longer than [`MAX_TENANT_BYTES`] or holds control characters, or the
    /// namespace of a business key is empty.
    #[error("the tenant or namespace is empty, too long or holds control characters")]
    BadScope,
    /// The id is in the JSON body and the cargo feature `json` is not enabled.
    #[error("the event id needs the cargo feature `json`")]
    NeedsJson,
}

impl EventKey {
    /// A key for something that is not a delivery, so that a webhook and another code path (a
    /// browser's return, a cron job) can claim the same piece of work. `namespace` stands where
    /// the provider does; it may not be a provider's name, which is yours to see to.
    ///
    /// # Errors
    ///
    /// [`KeyError::BadId`] and [`KeyError::BadScope`].
    pub fn business(tenant: &str, namespace: &str, id: &str) -> Result<Self, KeyError> {
        if namespace.is_empty() || !bearable(namespace, MAX_TENANT_BYTES) {
            return Err(KeyError::BadScope);
        }
        Self::make(tenant, namespace, id)
    }

    /// A key whose readable parts are not known, for a store that keeps none.
    pub(crate) fn nameless(digest: [u8; 16]) -> Self {
        Self {
            digest,
            text: None,
            tenant_end: 0,
            provider_end: 0,
        }
    }

    pub(crate) fn make(tenant: &str, provider: &str, id: &str) -> Result<Self, KeyError> {
        if !bearable(tenant, MAX_TENANT_BYTES) {
            return Err(KeyError::BadScope);
        }
        if id.is_empty() || !bearable(id, MAX_ID_BYTES) {
            return Err(KeyError::BadId);
        }
        let mut hash = Sha256::new();
        for part in ["1", tenant, provider, id] {
            feed(&mut hash, part.as_bytes());
        }
        Ok(Self {
            digest: first_half(hash),
            text: Some([tenant, provider, id].concat().into()),
            tenant_end: tenant.len(),
            provider_end: tenant.len().saturating_add(provider.len()),
        })
    }

    /// The 16 bytes that stores use as the unique key.
    pub const fn digest(&self) -> &[u8; 16] {
        &self.digest
    }

    /// The tenant; empty in a single-tenant service.
    pub fn tenant(&self) -> &str {
        self.text().get(..self.tenant_end).unwrap_or_default()
    }

    /// The provider, or the namespace of a business key.
    pub fn provider(&self) -> &str {
        let provider = self.tenant_end..self.provider_end;
        self.text().get(provider).unwrap_or_default()
    }

    /// The event id: the provider's, or `content:` and a hash where the signed content names the
    /// event. Has no control characters.
    pub fn id(&self) -> &str {
        self.text().get(self.provider_end..).unwrap_or_default()
    }

    fn text(&self) -> &str {
        self.text.as_deref().unwrap_or_default()
    }

    /// An idempotency key for a downstream call, stable over all attempts of this event. See
    /// [`Lease::effect_key`](crate::Lease::effect_key).
    pub fn effect_key(&self, effect: &str) -> String {
        let mut hash = Sha256::new();
        for part in [&b"effect-1"[..], &self.digest, effect.as_bytes()] {
            feed(&mut hash, part);
        }
        hex(&first_half(hash))
    }
}

impl fmt::Debug for EventKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "EventKey({:?}/{:?}/{:?})",
            self.tenant(),
            self.provider(),
            self.id()
        )
    }
}

pub(crate) fn bearable(text: &str, most: usize) -> bool {
    text.len() <= most && !text.chars().any(char::is_control)
}

/// A hash of an event's content, to see the same id with other content.
///
/// 16 bytes, the first half of SHA-256: only the holder of the secret could try to make two
/// contents collide, and would need about 2⁶⁴ hashes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint([u8; 16]);

impl Fingerprint {
    /// Equal to itself only by being used everywhere: for events whose content may change.
    pub const IGNORED: Fingerprint = Fingerprint([0; 16]);

    /// The fingerprint of content that the application chose.
    pub fn of(content: &[u8]) -> Self {
        let mut hash = Sha256::new();
        hash.update(b"raw");
        hash.update(content);
        Self(first_half(hash))
    }

    /// From stored bytes.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// For storing.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

/// A length and then the bytes, so that no two lists of parts look alike.
pub(crate) fn feed(hash: &mut Sha256, part: &[u8]) {
    hash.update((part.len() as u64).to_be_bytes());
    hash.update(part);
}

pub(crate) fn first_half(hash: Sha256) -> [u8; 16] {
    let full: [u8; 32] = hash.finalize().into();
    let mut half = [0; 16];
    half.iter_mut().zip(full).for_each(|(to, from)| *to = from);
    half
}

pub(crate) fn hex(bytes: &[u8; 16]) -> String {
    let mut text = [0; 32];
    // Cannot fail: 16 bytes are 32 digits.
    let _ = hex::encode_to_slice(bytes, &mut text);
    text.iter().copied().map(char::from).collect()
}
