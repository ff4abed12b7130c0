//! Which object a version is of.

use std::{fmt, sync::Arc};

use sha2::{Digest, Sha256};

use crate::event::{MAX_ID_BYTES, MAX_TENANT_BYTES, bearable, feed, first_half};

/// The identity of an object: tenant, kind and id, and a digest of all three.
///
/// The digest is made like that of an [`EventKey`](crate::EventKey), each part with its length
/// before it, and never equals the digest of an event.
///
/// ```
/// use hookproof::ObjectKey;
///
/// let order = ObjectKey::new("tenant-a", "order", "o1")?;
/// assert_ne!(order.digest(), ObjectKey::new("tenant-a", "customer", "o1")?.digest());
/// assert_ne!(order.digest(), ObjectKey::new("tenant-b", "order", "o1")?.digest());
/// # Ok::<(), hookproof::order::ObjectKeyError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ObjectKey {
    digest: [u8; 16],
    tenant: Arc<str>,
    kind: Arc<str>,
    id: Arc<str>,
}

/// Why there is no such key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ObjectKeyError {
    /// The tenant is longer than [`MAX_TENANT_BYTES`] or holds control characters.
    #[error("the tenant is too long or holds control characters")]
    BadTenant,
    /// The kind is empty, longer than [`MAX_TENANT_BYTES`], or holds control characters.
    #[error("the object's kind is empty, too long or holds control characters")]
    BadKind,
    /// The id is empty, longer than [`MAX_ID_BYTES`], or holds control characters.
    #[error("the object's id is empty, too long or holds control characters")]
    BadId,
}

impl ObjectKey {
    /// The object `id` of this kind, such as `stripe/customer`: put the provider into the kind if
    /// more than one has such objects. `tenant` may be empty.
    ///
    /// # Errors
    ///
    /// [`ObjectKeyError`]; the lengths are at most 255, 255 and 2048 bytes.
    pub fn new(tenant: &str, kind: &str, id: &str) -> Result<Self, ObjectKeyError> {
        if !bearable(tenant, MAX_TENANT_BYTES) {
            return Err(ObjectKeyError::BadTenant);
        }
        if kind.is_empty() || !bearable(kind, MAX_TENANT_BYTES) {
            return Err(ObjectKeyError::BadKind);
        }
        if id.is_empty() || !bearable(id, MAX_ID_BYTES) {
            return Err(ObjectKeyError::BadId);
        }
        let mut hash = Sha256::new();
        for part in ["object-1", tenant, kind, id] {
            feed(&mut hash, part.as_bytes());
        }
        Ok(Self {
            digest: first_half(hash),
            tenant: tenant.into(),
            kind: kind.into(),
            id: id.into(),
        })
    }

    /// The 16 bytes that stores use as the unique key.
    pub const fn digest(&self) -> &[u8; 16] {
        &self.digest
    }

    /// The tenant; empty in a single-tenant service.
    pub fn tenant(&self) -> &str {
        &self.tenant
    }

    /// The kind of object.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// The object's id.
    pub fn id(&self) -> &str {
        &self.id
    }
}

impl fmt::Debug for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            tenant, kind, id, ..
        } = self;
        write!(f, "ObjectKey({tenant:?}/{kind:?}/{id:?})")
    }
}
