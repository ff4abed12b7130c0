//! A row as a SQL engine gives it, with the names it was stored under.

use crate::{
    event::EventKey,
    store::{Receipt, StoreError, StoreErrorKind, StoredRow},
};

/// A row that was found under a key, not yet believed.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) tenant: String,
    pub(super) provider: String,
    pub(super) event_id: String,
    pub(super) row: StoredRow,
}

impl Found {
    /// The receipt of `key`.
    ///
    /// The unique key is a digest, so the names beside it are compared: a row of another event
    /// under the same digest must never answer for this one.
    pub(super) fn receipt_of(self, key: &EventKey) -> Result<Receipt, StoreError> {
        let same = self.tenant == key.tenant()
            && self.provider == key.provider()
            && self.event_id == key.id();
        if same {
            self.row.into_receipt(key.clone())
        } else {
            Err(StoreError::with_source(
                StoreErrorKind::Corrupt,
                "the row belongs to another event",
            ))
        }
    }

    /// The receipt of the event that it names, which must be the one with this digest.
    #[cfg(feature = "inbox")]
    pub(super) fn receipt_under(self, digest: &[u8]) -> Result<Receipt, StoreError> {
        let corrupt = |error| StoreError::with_source(StoreErrorKind::Corrupt, error);
        let key = EventKey::make(&self.tenant, &self.provider, &self.event_id).map_err(corrupt)?;
        if key.digest() == digest {
            self.row.into_receipt(key)
        } else {
            Err(StoreError::with_source(
                StoreErrorKind::Corrupt,
                "the row lies under another event's key",
            ))
        }
    }
}
