//! The statements on objects. A row's `mark` is another after every write, as a receipt's is.

macro_rules! object {
    () => {
        "o.mark, o.tenant, o.kind, o.object_id, o.version_kind, o.version, o.tie, \
         o.deleted_at IS NOT NULL"
    };
}

/// Its columns in the order in which they are bound.
macro_rules! inserted {
    () => {
        "INSERT INTO webhook_object (mark, `key`, tenant, kind, object_id, version_kind, version, \
         tie, deleted_at, changed_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    };
}

/// Takes no lock and writes nothing. Always one row: the time, whether statements are transactions
/// of their own, whether what is not committed can be seen, and what is stored.
///
/// now, key.
pub(in super::super) const FIND_OBJECT: &str = concat!(
    "SELECT ",
    now!(),
    ", @@autocommit, ",
    uncommitted!(),
    ", ",
    object!(),
    " FROM (SELECT 1 AS one) t LEFT JOIN webhook_object o ON o.`key` = ?"
);

/// On the pool. The row.
pub(in super::super) const INSERT_OBJECT: &str = inserted!();

/// In a transaction: whatever was there, there is a row now, locked by this transaction. One that
/// was there is not written. The row.
pub(in super::super) const ENSURE_OBJECT: &str = concat!(
    inserted!(),
    " ON DUPLICATE KEY UPDATE mark = webhook_object.mark"
);

/// In a transaction, after [`ENSURE_OBJECT`]: the row as it is now. key.
pub(in super::super) const READ_OBJECT: &str = concat!(
    "SELECT ",
    object!(),
    " FROM webhook_object o WHERE o.`key` = ? FOR UPDATE"
);

/// Writes over a row that is as it was read.
///
/// mark, version, tie-break, deleted at, now, key, mark as read.
pub(in super::super) const WRITE_OBJECT: &str = "UPDATE webhook_object o SET o.mark = ?, \
     o.version = ?, o.tie = ?, o.deleted_at = ?, o.changed_at = ? WHERE o.`key` = ? AND o.mark = ?";

/// A row that is as it was read. key, mark as read.
pub(in super::super) const FORGET_OBJECT: &str =
    "DELETE FROM webhook_object WHERE `key` = ? AND mark = ?";

/// Oldest first, and none that somebody is at. Waits for nobody. deleted by then, at most.
pub(in super::super) const PURGE_DELETED: &str = "DELETE o FROM (SELECT o.`key` \
     FROM webhook_object o WHERE o.deleted_at <= ? ORDER BY o.deleted_at LIMIT ? \
     FOR UPDATE SKIP LOCKED) AS gone STRAIGHT_JOIN webhook_object o ON o.`key` = gone.`key`";
