//! Prepared statements, and what they return.

use rusqlite::{Connection, Params, Row, Statement};

use crate::{
    event::EventKey,
    store::{Receipt, StoreError, StoredRow, sql::found::Found},
};

/// A statement, prepared when it is first needed. Not rusqlite's own cache, whose feature is not
/// there over the whole range of versions.
pub(super) struct Prepared<'c>(&'static str, Option<Statement<'c>>);

impl<'c> Prepared<'c> {
    pub(super) fn new(sql: &'static str) -> Self {
        Self(sql, None)
    }

    pub(super) fn on(
        &mut self,
        connection: &'c Connection,
    ) -> rusqlite::Result<&mut Statement<'c>> {
        let statement = match self.1.take() {
            Some(statement) => statement,
            None => connection.prepare(self.0)?,
        };
        Ok(self.1.insert(statement))
    }
}

/// The row that a statement over one key returns, if any.
pub(super) fn one(
    statement: &mut Statement<'_>,
    params: impl Params,
    key: &EventKey,
) -> Result<Option<Receipt>, StoreError> {
    let mut rows = statement.query(params)?;
    let found = rows.next()?.map(found).transpose()?;
    found.map(|found| found.receipt_of(key)).transpose()
}

/// The receipt in the first twelve columns.
pub(super) fn found(row: &Row<'_>) -> rusqlite::Result<Found> {
    Ok(Found {
        tenant: row.get(0)?,
        provider: row.get(1)?,
        event_id: row.get(2)?,
        row: StoredRow {
            fingerprint: row.get(3)?,
            state: row.get(4)?,
            attempts: row.get(5)?,
            fence: row.get(6)?,
            until: row.get(7)?,
            received_at: row.get(8)?,
            changed_at: row.get(9)?,
            expires_at: row.get(10)?,
            result: row.get(11)?,
        },
    })
}
