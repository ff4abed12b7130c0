//! Every statement that MySQL and MariaDB run, as it runs.
//!
//! What is to be written is judged in Rust, from a row that was read, and written if that row is
//! still as it was: `mark` is another random number after every write. So `changed` and `found` rows
//! are the same number, whatever the driver has told the server to count (`CLIENT_FOUND_ROWS`), and
//! no assignment depends on the order of another.
//!
//! **The slot.** InnoDB cannot try a lock on a row that is not there, and an insert waits for
//! whoever has inserted the same key and not yet committed. So each claim that inserts, and each in
//! the caller's transaction, first locks the row of the key's slot, one of 65,536, and only if it is
//! free (`SKIP LOCKED`). A slot also keeps the highest fence of the rows that were deleted from it,
//! and whatever deletes a row raises that first. So no fence comes twice: while a claim has the slot,
//! no row that would outdo its fence can go.
//!
//! **Gaps.** Under `REPEATABLE READ` a locking read of a row that is not there locks the gap, and two
//! that insert into it are a deadlock. In the caller's transaction no row is read so before it has
//! been made to exist.
//!
//! **Few rows.** A table of few rows is read from end to end where it is joined, and a statement that
//! writes locks, or waits for, all that it reads. Hence `FORCE INDEX`.
//!
//! Times are microseconds since 1970 by the server's clock in UTC, which no session's time zone
//! moves. Names and ids are bytes, in and out, so no character set or collation has a say.

macro_rules! columns {
    () => {
        "r.mark, r.tenant, r.provider, r.event_id, r.body_hash, r.state, r.attempts, r.fence, \
         r.lease_until, r.received_at, r.changed_at, r.expires_at, r.result"
    };
}

/// A row's columns in the order in which they are bound.
macro_rules! written {
    () => {
        "(mark, `key`, slot, tenant, provider, event_id, body_hash, state, attempts, fence, \
         lease_until, received_at, changed_at, expires_at, result)"
    };
}

macro_rules! now {
    () => {
        "COALESCE(?, TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', UTC_TIMESTAMP(6)))"
    };
}

/// Whether what is not committed can be seen. MySQL and MariaDB have different names for the isolation
/// level, and each reads its own comment.
macro_rules! uncommitted {
    () => {
        "/*!80000 @@transaction_isolation */ /*M! @@tx_isolation */ = 'READ-UNCOMMITTED'"
    };
}

/// What may be purged: `StoredRow`'s receipt `is_purgeable`, and none that is in the inbox's queue.
/// One that has ended and still is there leaves it as soon as a worker looks. Binds the time three
/// times.
macro_rules! old {
    () => {
        "r.expires_at <= ? AND (NOT (r.state = 1 AND COALESCE(r.lease_until > ? \
         AND r.lease_until - ? <= 2 * (r.lease_until - r.changed_at), FALSE))) \
         AND COALESCE((SELECT 1 FROM webhook_inbox_due q WHERE q.`key` = r.`key`), 0) = 0"
    };
}

/// Takes no lock and writes nothing. Always one row: the time, the connection's number, whether
/// statements are transactions of their own, whether what is not committed can be seen, the highest
/// deleted fence of the slot, whether the event is in the inbox's queue, and what is stored.
///
/// now, slot, key.
pub(super) const FIND: &str = concat!(
    "SELECT ",
    now!(),
    ", CAST(CONNECTION_ID() AS SIGNED), @@autocommit, ",
    uncommitted!(),
    ", s.fence, q.`key` IS NOT NULL, ",
    columns!(),
    " FROM (SELECT 1 AS one) t LEFT JOIN webhook_receipt_slot s ON s.slot = ? \
     LEFT JOIN webhook_receipt r ON r.`key` = ? \
     LEFT JOIN webhook_inbox_due q ON q.`key` = r.`key`"
);

/// The time, whether statements are transactions of their own, and whether what belongs to a row goes
/// with it. now.
pub(super) const CLOCK: &str = concat!("SELECT ", now!(), ", @@autocommit, @@foreign_key_checks");

/// On the pool: inserts, if the slot is free and no row with a higher fence was deleted from it
/// since the look. A key that is there is the error 1062, and not `IGNORE`d: that would ignore more.
/// In a list of columns nothing else says of what type a value is.
///
/// The row, slot, highest deleted fence as it was read.
pub(super) const INSERT: &str = concat!(
    "INSERT INTO webhook_receipt ",
    written!(),
    " SELECT CAST(? AS SIGNED), CAST(? AS BINARY), CAST(? AS SIGNED), CAST(? AS BINARY), \
     CAST(? AS BINARY), CAST(? AS BINARY), CAST(? AS BINARY), CAST(? AS SIGNED), CAST(? AS SIGNED), \
     CAST(? AS SIGNED), CAST(? AS SIGNED), CAST(? AS SIGNED), CAST(? AS SIGNED), CAST(? AS SIGNED), \
     CAST(? AS BINARY) FROM webhook_receipt_slot s \
     WHERE s.slot = ? AND s.fence <= ? FOR UPDATE SKIP LOCKED"
);

/// On the pool: writes over a row that is as it was read, if nobody has it locked.
///
/// key, mark as read, mark, state, attempts, fence, lease's end, changed at, result.
pub(super) const TAKE: &str = "UPDATE (SELECT r.`key` FROM webhook_receipt r \
     WHERE r.`key` = ? AND r.mark = ? LIMIT 1 FOR UPDATE SKIP LOCKED) AS free \
     STRAIGHT_JOIN webhook_receipt r FORCE INDEX (PRIMARY) ON r.`key` = free.`key` \
     SET r.mark = ?, r.state = ?, r.attempts = ?, r.fence = ?, r.lease_until = ?, r.changed_at = ?, \
     r.result = ?";

/// On the pool: an error if somebody has the row locked. key.
pub(super) const IS_FREE: &str = "SELECT 1 FROM webhook_receipt r WHERE r.`key` = ? \
     /*!80000 FOR SHARE */ /*M! LOCK IN SHARE MODE */ NOWAIT";

/// Ten milliseconds, in whatever runtime.
pub(super) const PAUSE: &str = "SELECT SLEEP(0.01)";

/// Writes over a row that is as it was read. Waits for whoever has it locked.
///
/// mark, state, attempts, fence, lease's end, changed at, result, key, mark as read.
pub(super) const WRITE: &str = "UPDATE webhook_receipt r SET r.mark = ?, r.state = ?, \
     r.attempts = ?, r.fence = ?, r.lease_until = ?, r.changed_at = ?, r.result = ? \
     WHERE r.`key` = ? AND r.mark = ?";

/// The same for an event that is in the inbox's queue, which looks at it again at `due_at`.
///
/// mark, state, attempts, fence, lease's end, changed at, result, due at, key, mark as read.
pub(super) const WRITE_QUEUED: &str = "UPDATE webhook_receipt r \
     STRAIGHT_JOIN webhook_inbox_due q FORCE INDEX (PRIMARY) ON q.`key` = r.`key` \
     SET r.mark = ?, r.state = ?, \
     r.attempts = ?, r.fence = ?, r.lease_until = ?, r.changed_at = ?, r.result = ?, q.due_at = ? \
     WHERE r.`key` = ? AND r.mark = ?";

/// Takes one that has ended out of the queue, unless it was sent back since. key, mark as read.
pub(super) const UNQUEUE: &str = "DELETE q FROM (SELECT r.`key` FROM webhook_receipt r \
     WHERE r.`key` = ? AND r.mark = ? AND r.state IN (2, 4) LIMIT 1 FOR UPDATE SKIP LOCKED) AS ended \
     STRAIGHT_JOIN webhook_inbox_due q FORCE INDEX (PRIMARY) ON q.`key` = ended.`key`";

/// Does nothing in a transaction, and is an error where there is none.
pub(super) const IN_TRANSACTION: &str =
    "SAVEPOINT hookproof_transaction; RELEASE SAVEPOINT hookproof_transaction";

/// In a transaction: the slot's highest deleted fence, or no row if somebody is at an event of it.
/// slot.
pub(super) const SLOT: &str =
    "SELECT s.fence FROM webhook_receipt_slot s WHERE s.slot = ? FOR UPDATE SKIP LOCKED";

/// In a transaction: whatever was there, there is a row now, locked by this transaction. One that
/// was there is not written. How many rows the server counts for that is the trap of
/// `CLIENT_FOUND_ROWS`, and not looked at.
///
/// The row.
pub(super) const ENSURE: &str = concat!(
    "INSERT INTO webhook_receipt ",
    written!(),
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) \
     ON DUPLICATE KEY UPDATE mark = webhook_receipt.mark"
);

/// In a transaction, after [`ENSURE`]: the row as it is, and not as it was when the transaction
/// began. key.
pub(super) const READ: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM webhook_receipt r WHERE r.`key` = ? FOR UPDATE"
);

/// Before a row is deleted. fence, slot, fence.
pub(super) const REMEMBER: &str =
    "UPDATE webhook_receipt_slot SET fence = ? WHERE slot = ? AND fence < ?";

/// A row that is as it was read, and the queue's with it. key, mark as read.
pub(super) const FORGET: &str = "DELETE r, q FROM webhook_receipt r \
     LEFT JOIN webhook_inbox_due q FORCE INDEX (PRIMARY) ON q.`key` = r.`key` \
     WHERE r.`key` = ? AND r.mark = ?";

/// Before rows are purged: their slots remember their fences. Waits for nobody.
///
/// now, now, now, at most.
pub(super) const REMEMBER_OLD: &str = concat!(
    "INSERT INTO webhook_receipt_slot (slot, fence) SELECT gone.slot, gone.fence FROM \
     (SELECT r.slot, r.fence FROM webhook_receipt r \
     STRAIGHT_JOIN webhook_receipt_slot s ON s.slot = r.slot WHERE ",
    old!(),
    " ORDER BY r.expires_at LIMIT ? FOR UPDATE SKIP LOCKED) AS gone \
     ON DUPLICATE KEY UPDATE fence = GREATEST(webhook_receipt_slot.fence, VALUES(fence))"
);

/// Oldest first, never one whose lease is running, none that somebody is at, and none whose fence is
/// not remembered. Waits for nobody.
///
/// now, now, now, at most.
pub(super) const PURGE: &str = concat!(
    "DELETE r FROM (SELECT r.`key` FROM webhook_receipt r \
     STRAIGHT_JOIN webhook_receipt_slot s ON s.slot = r.slot AND s.fence >= r.fence WHERE ",
    old!(),
    " ORDER BY r.expires_at LIMIT ? FOR UPDATE SKIP LOCKED) AS gone \
     STRAIGHT_JOIN webhook_receipt r FORCE INDEX (PRIMARY) ON r.`key` = gone.`key`"
);

mod batch;
mod effect;
mod object;
mod stats;

pub(super) use batch::{CLAIM_NEW, FIND_MANY, IS_FREE_MANY, PAUSE_FOR, TAKE_MANY};
pub(super) use effect::{EFFECTS, ENSURE_STEP, LOOK_UP, READ_NAMED, READ_STEP, RECORD, STANDS};
pub(super) use object::{
    ENSURE_OBJECT, FIND_OBJECT, FORGET_OBJECT, INSERT_OBJECT, PURGE_DELETED, READ_OBJECT,
    WRITE_OBJECT,
};
pub(super) use stats::{SIZE, STATS};
#[cfg(feature = "inbox")]
pub(super) mod inbox;
#[cfg(feature = "inbox")]
pub(super) mod inbox_batch;
#[cfg(feature = "inbox")]
pub(super) mod review;
