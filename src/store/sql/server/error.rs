//! The errors of `sqlx`, told apart by their codes.

use sqlx::{Error, error::DatabaseError};

use crate::store::{StoreError, StoreErrorKind};

impl From<Error> for StoreError {
    /// Keeps the error as its source.
    fn from(error: Error) -> Self {
        StoreError::with_source(kind(&error), error)
    }
}

fn kind(error: &Error) -> StoreErrorKind {
    match error {
        Error::Database(error) => numbered(&**error).unwrap_or_else(|| {
            error
                .code()
                .map_or(StoreErrorKind::Unavailable, |code| by_sqlstate(&code))
        }),
        Error::RowNotFound
        | Error::TypeNotFound { .. }
        | Error::ColumnIndexOutOfBounds { .. }
        | Error::ColumnNotFound(_)
        | Error::ColumnDecode { .. }
        | Error::Decode(_) => StoreErrorKind::Corrupt,
        _ => StoreErrorKind::Unavailable,
    }
}

#[cfg(not(feature = "sqlx-mysql"))]
fn numbered(_: &dyn DatabaseError) -> Option<StoreErrorKind> {
    None
}

#[cfg(feature = "sqlx-mysql")]
fn numbered(error: &dyn DatabaseError) -> Option<StoreErrorKind> {
    let error = error.try_downcast_ref::<sqlx::mysql::MySqlDatabaseError>()?;
    by_number(error.number())
}

/// MySQL and MariaDB have SQLSTATE too, but one for many errors.
#[cfg(feature = "sqlx-mysql")]
const fn by_number(number: u16) -> Option<StoreErrorKind> {
    Some(match number {
        // ER_LOCK_DEADLOCK; ER_CHECKREAD: written since the transaction's snapshot.
        1213 | 1020 => StoreErrorKind::Serialization,
        // ER_LOCK_WAIT_TIMEOUT, ER_LOCK_NOWAIT.
        1205 | 3572 => StoreErrorKind::Busy,
        // ER_BINLOG_STMT_MODE_AND_ROW_ENGINE: READ COMMITTED cannot be written to such a log.
        1665 => StoreErrorKind::Misuse,
        // ER_CANT_CREATE_TABLE, ER_CANNOT_ADD_FOREIGN, ER_FK_NO_INDEX_PARENT,
        // ER_FK_INCOMPATIBLE_COLUMNS, ER_FK_NO_UNIQUE_INDEX_PARENT: receipts of other hands.
        1005 | 1215 | 1822 | 3780 | 6125 => StoreErrorKind::Misuse,
        // ER_USER_LIMIT_REACHED.
        1226 => StoreErrorKind::Unavailable,
        _ => return None,
    })
}

/// SQLSTATE is the standard's, with the same classes in every server.
fn by_sqlstate(code: &str) -> StoreErrorKind {
    match code {
        // serialization_failure, deadlock_detected: the server has chosen who goes on.
        "40001" | "40P01" => StoreErrorKind::Serialization,
        // lock_not_available: the session's own lock_timeout is over.
        "55P03" => StoreErrorKind::Busy,
        // in_failed_sql_transaction: an earlier error has ended the caller's transaction.
        "25P02" => StoreErrorKind::Misuse,
        // invalid_catalog_name: the connection is in no database.
        "3D000" => StoreErrorKind::Misuse,
        // Data that does not fit, broken constraints, damaged pages.
        _ if code.starts_with("22") || code.starts_with("23") || code.starts_with("XX0") => {
            StoreErrorKind::Corrupt
        }
        // The statements are constants, so what cannot be run is a database without the schema, or
        // a user without the right to it.
        _ if code.starts_with("42") => StoreErrorKind::Misuse,
        _ => StoreErrorKind::Unavailable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_told_by_codes() {
        let kinds = [
            ("40001", StoreErrorKind::Serialization),
            ("40P01", StoreErrorKind::Serialization),
            ("55P03", StoreErrorKind::Busy),
            ("25P02", StoreErrorKind::Misuse),
            ("42P01", StoreErrorKind::Misuse),
            ("42501", StoreErrorKind::Misuse),
            ("23514", StoreErrorKind::Corrupt),
            ("22003", StoreErrorKind::Corrupt),
            ("XX001", StoreErrorKind::Corrupt),
            // A standby, a shutdown, too many connections, a statement that took too long.
            ("25006", StoreErrorKind::Unavailable),
            ("57P01", StoreErrorKind::Unavailable),
            ("53300", StoreErrorKind::Unavailable),
            ("57014", StoreErrorKind::Unavailable),
        ];
        for (code, expected) in kinds {
            assert_eq!(by_sqlstate(code), expected, "code {code}");
        }
    }

    #[cfg(feature = "sqlx-mysql")]
    #[test]
    fn kinds_are_told_by_numbers() {
        for (number, expected) in [
            (1213, Some(StoreErrorKind::Serialization)),
            (1020, Some(StoreErrorKind::Serialization)),
            (1205, Some(StoreErrorKind::Busy)),
            (3572, Some(StoreErrorKind::Busy)),
            (1665, Some(StoreErrorKind::Misuse)),
            (1005, Some(StoreErrorKind::Misuse)),
            (1226, Some(StoreErrorKind::Unavailable)),
            // By their SQLSTATE.
            (1146, None),
            (1062, None),
        ] {
            assert_eq!(by_number(number), expected, "number {number}");
        }
    }

    #[test]
    fn a_driver_without_an_answer_is_unavailable() {
        let error = StoreError::from(Error::PoolTimedOut);
        assert_eq!(error.kind(), StoreErrorKind::Unavailable);
        assert!(std::error::Error::source(&error).is_some());
        let error = StoreError::from(Error::ColumnNotFound("fence".into()));
        assert_eq!(error.kind(), StoreErrorKind::Corrupt);
    }
}
