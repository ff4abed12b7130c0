//! The inbox's statements, and what is read by them.

use rusqlite::Row;

use crate::{
    inbox::ParkedRow,
    store::{Receipt, StoreError},
};

use super::super::{
    prepared::{Prepared, found},
    statements::inbox as sql,
};

/// The inbox's prepared statements.
pub(in super::super) struct Statements<'c> {
    pub(super) receive: Prepared<'c>,
    pub(super) park: Prepared<'c>,
    pub(super) enqueue: Prepared<'c>,
    pub(super) is_queued: Prepared<'c>,
    pub(super) due: Prepared<'c>,
    pub(super) write: Prepared<'c>,
    pub(super) parked: Prepared<'c>,
    pub(super) list: Prepared<'c>,
    pub(super) list_queued: Prepared<'c>,
    pub(super) drop_bodies: Prepared<'c>,
}

impl Statements<'_> {
    pub(in super::super) fn new() -> Self {
        let prepared = Prepared::new;
        Self {
            receive: prepared(sql::RECEIVE),
            park: prepared(sql::PARK),
            enqueue: prepared(sql::ENQUEUE),
            is_queued: prepared(sql::IS_QUEUED),
            due: prepared(sql::DUE),
            write: prepared(sql::WRITE),
            parked: prepared(sql::PARKED),
            list: prepared(sql::LIST),
            list_queued: prepared(sql::LIST_QUEUED),
            drop_bodies: prepared(sql::DROP_BODIES),
        }
    }
}

/// A row of the queue with what belongs to it.
pub(super) struct Queued {
    pub(super) digest: Vec<u8>,
    pub(super) receipt: Option<Result<Receipt, StoreError>>,
    pub(super) parked: Option<ParkedRow>,
}

/// Columns 12 to 22: a delivery, if there is one, and the key.
pub(super) fn queued(row: &Row<'_>) -> rusqlite::Result<Queued> {
    let digest: Vec<u8> = row.get(22)?;
    let has_receipt = row.get::<_, Option<String>>(0)?.is_some();
    let receipt = match has_receipt {
        true => Some(found(row)?.receipt_under(&digest)),
        false => None,
    };
    let parked = match row.get::<_, Option<i64>>(12)? {
        Some(accepted_at) => Some(ParkedRow {
            accepted_at,
            received_at: row.get(13)?,
            sent_at: row.get(14)?,
            coverage: row.get(15)?,
            scheme: row.get(16)?,
            event_type: row.get(17)?,
            key_id: row.get(18)?,
            delivery_id: row.get(19)?,
            headers: row.get(20)?,
            body: row.get(21)?,
        }),
        None => None,
    };
    Ok(Queued {
        digest,
        receipt,
        parked,
    })
}
