//! A receipt as databases keep it.

use crate::{
    clock::{from_micros, micros},
    event::{EventKey, Fingerprint},
};

use super::{Fence, Receipt, State, StoreError, StoreErrorKind};

/// A row as a database gives it, not yet believed.
#[derive(Debug, Clone, Default)]
pub struct StoredRow {
    /// 16 bytes.
    pub fingerprint: Vec<u8>,
    /// See [`State::code`].
    pub state: i64,
    /// Won claims.
    pub attempts: i64,
    /// The fencing token.
    pub fence: i64,
    /// Microseconds since 1970.
    pub received_at: i64,
    /// Microseconds since 1970.
    pub changed_at: i64,
    /// Microseconds since 1970.
    pub until: Option<i64>,
    /// Microseconds since 1970.
    pub expires_at: i64,
    /// The result, if any.
    pub result: Option<Vec<u8>>,
}

impl StoredRow {
    /// The row that a receipt is stored as.
    pub fn of(receipt: &Receipt) -> Self {
        Self {
            fingerprint: receipt.fingerprint.as_bytes().to_vec(),
            state: receipt.state.code(),
            attempts: receipt.attempts.into(),
            fence: receipt.fence.0,
            received_at: micros(receipt.received_at),
            changed_at: micros(receipt.changed_at),
            until: receipt.until.map(micros),
            expires_at: micros(receipt.expires_at),
            result: (!receipt.result.is_empty()).then(|| receipt.result.clone()),
        }
    }

    /// The receipt of `key` that the row stands for.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::Corrupt`] if it is no row of this crate.
    pub fn into_receipt(self, key: EventKey) -> Result<Receipt, StoreError> {
        let corrupt = || StoreError::new(StoreErrorKind::Corrupt);
        let at = |micros| from_micros(micros).ok_or_else(corrupt);
        let fingerprint = self.fingerprint.try_into().map_err(|_| corrupt())?;
        Ok(Receipt {
            key,
            fingerprint: Fingerprint::from_bytes(fingerprint),
            state: State::from_code(self.state).ok_or_else(corrupt)?,
            attempts: self.attempts.try_into().map_err(|_| corrupt())?,
            fence: Fence(self.fence),
            received_at: at(self.received_at)?,
            changed_at: at(self.changed_at)?,
            until: self.until.map(at).transpose()?,
            expires_at: at(self.expires_at)?,
            result: self.result.unwrap_or_default(),
        })
    }
}
