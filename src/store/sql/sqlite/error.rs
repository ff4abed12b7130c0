//! SQLite's errors, told apart by their codes.

use std::error::Error as _;

use rusqlite::{Error, ErrorCode, ffi};

use crate::store::{StoreError, StoreErrorKind};

impl From<Error> for StoreError {
    /// Keeps the error as its source.
    fn from(error: Error) -> Self {
        StoreError::with_source(kind(&error), error)
    }
}

pub(super) fn kind(error: &Error) -> StoreErrorKind {
    match error {
        Error::FromSqlConversionFailure(..)
        | Error::InvalidColumnType(..)
        | Error::IntegralValueOutOfRange(..)
        | Error::Utf8Error(..)
        | Error::QueryReturnedNoRows => return StoreErrorKind::Corrupt,
        _ => {}
    }
    // A statement that does not compile has a variant of its own in some builds of rusqlite, with
    // the same source.
    let Some(engine) = error.source().and_then(|s| s.downcast_ref::<ffi::Error>()) else {
        return StoreErrorKind::Unavailable;
    };
    match engine.code {
        // Another connection wrote after this transaction had read: waiting would not help.
        ErrorCode::DatabaseBusy if engine.extended_code == ffi::SQLITE_BUSY_SNAPSHOT => {
            StoreErrorKind::Serialization
        }
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => StoreErrorKind::Busy,
        ErrorCode::DatabaseCorrupt
        | ErrorCode::NotADatabase
        | ErrorCode::TypeMismatch
        | ErrorCode::ConstraintViolation => StoreErrorKind::Corrupt,
        ErrorCode::ApiMisuse => StoreErrorKind::Misuse,
        // The statements are constants, so what cannot be compiled is a database without the
        // schema, or an SQLite that is too old for it.
        ErrorCode::Unknown if engine.extended_code == ffi::SQLITE_ERROR => StoreErrorKind::Misuse,
        _ => StoreErrorKind::Unavailable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_told_by_codes() {
        let kinds = [
            (ffi::SQLITE_BUSY, StoreErrorKind::Busy),
            (ffi::SQLITE_BUSY_RECOVERY, StoreErrorKind::Busy),
            (ffi::SQLITE_BUSY_SNAPSHOT, StoreErrorKind::Serialization),
            (ffi::SQLITE_LOCKED, StoreErrorKind::Busy),
            (ffi::SQLITE_LOCKED_SHAREDCACHE, StoreErrorKind::Busy),
            (ffi::SQLITE_CORRUPT, StoreErrorKind::Corrupt),
            (ffi::SQLITE_NOTADB, StoreErrorKind::Corrupt),
            (ffi::SQLITE_CONSTRAINT_CHECK, StoreErrorKind::Corrupt),
            (ffi::SQLITE_CONSTRAINT_NOTNULL, StoreErrorKind::Corrupt),
            (ffi::SQLITE_ERROR, StoreErrorKind::Misuse),
            (ffi::SQLITE_MISUSE, StoreErrorKind::Misuse),
            (ffi::SQLITE_FULL, StoreErrorKind::Unavailable),
            (ffi::SQLITE_IOERR_FSYNC, StoreErrorKind::Unavailable),
            (ffi::SQLITE_READONLY, StoreErrorKind::Unavailable),
            (ffi::SQLITE_CANTOPEN, StoreErrorKind::Unavailable),
            (ffi::SQLITE_NOMEM, StoreErrorKind::Unavailable),
            (ffi::SQLITE_PERM, StoreErrorKind::Unavailable),
        ];
        for (code, expected) in kinds {
            // A misleading text changes nothing.
            let text = Some("database is locked".to_owned());
            let error = Error::SqliteFailure(ffi::Error::new(code), text);
            assert_eq!(kind(&error), expected, "code {code}");
            let error = StoreError::from(error);
            assert_eq!(error.kind(), expected);
            assert!(std::error::Error::source(&error).is_some());
        }
    }
}
