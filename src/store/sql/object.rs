//! The version of an object as a SQL engine gives it, with the names it was stored under.

use crate::{
    order::{ObjectKey, Version},
    store::{StoreError, StoreErrorKind},
};

/// A row that was found under a key, not yet believed.
#[derive(Debug)]
pub(super) struct FoundObject {
    pub(super) tenant: String,
    pub(super) kind: String,
    pub(super) object_id: String,
    pub(super) version: FoundVersion,
}

/// A version in its columns.
#[derive(Debug)]
pub(super) struct FoundVersion {
    pub(super) kind: i64,
    pub(super) number: i64,
    pub(super) tie: String,
    pub(super) deletion: bool,
}

impl FoundObject {
    /// The version of `object`. The unique key is a digest, so the names beside it are compared.
    pub(super) fn version_of(self, object: &ObjectKey) -> Result<Version, StoreError> {
        let same = self.tenant == object.tenant()
            && self.kind == object.kind()
            && self.object_id == object.id();
        if same {
            self.version.believed()
        } else {
            Err(StoreError::with_source(
                StoreErrorKind::Corrupt,
                "the row belongs to another object",
            ))
        }
    }
}

impl FoundVersion {
    pub(super) fn believed(self) -> Result<Version, StoreError> {
        Version::from_code(self.kind, self.number, &self.tie, self.deletion)
            .ok_or_else(|| StoreError::new(StoreErrorKind::Corrupt))
    }
}
