//! The statements of the inbox.
//!
//! A row of the queue only says when to look at a receipt, which decides. So the queue is searched
//! without locks, and what was found is written by its key, over a row that is as it was read and
//! that nobody else has locked. A search that locked would lock the gaps between times as well,
//! under `REPEATABLE READ`, and two workers that put off into one gap are a deadlock.
//!
//! Whatever locks more than one row locks the receipt first, or waits for nobody.

macro_rules! parked {
    () => {
        "i.accepted_at, i.received_at, i.sent_at, i.coverage, i.scheme, i.event_type, i.key_id, \
         i.delivery_id, i.headers, i.body"
    };
}

/// Its end is [`COMMIT`] or [`ROLLBACK`]; see `own.rs`.
pub(in super::super) const BEGIN: &str = "START TRANSACTION";

pub(in super::super) const COMMIT: &str = "COMMIT";

pub(in super::super) const ROLLBACK: &str = "ROLLBACK";

/// So many microseconds, in whatever runtime.
pub(in super::super) const PAUSE: &str = "SELECT SLEEP(? / 1000000)";

/// Locks the receipt of an event that is to be adopted, if it is free. key, mark as read.
pub(in super::super) const HOLD: &str = "SELECT 1 FROM webhook_receipt r \
     WHERE r.`key` = ? AND r.mark = ? FOR UPDATE SKIP LOCKED";

/// Locks the receipt of an event that is to be sent back, and waits for it. key.
pub(in super::super) const WAIT_FOR: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM webhook_receipt r WHERE r.`key` = ? FOR UPDATE"
);

/// Under the receipt's lock, without which no delivery comes or goes. key.
pub(in super::super) const HAS_BODY: &str =
    "SELECT EXISTS (SELECT 1 FROM webhook_inbox i WHERE i.`key` = ?)";

/// Under the receipt's lock. The columns in the order of the table.
pub(in super::super) const PARK: &str = "INSERT INTO webhook_inbox (`key`, accepted_at, received_at, \
     sent_at, coverage, tenant, scheme, event_type, key_id, delivery_id, headers, body) \
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

/// Under the receipt's lock. If there is one, [`REQUEUE`] writes over it: in one statement MariaDB
/// would ask for the right to update each column. key, when to look at it, tenant.
pub(in super::super) const ENQUEUE: &str = "INSERT INTO webhook_inbox_due (`key`, due_at, tenant) \
     VALUES (?, ?, ?)";

/// when to look at it, key.
pub(in super::super) const REQUEUE: &str =
    "UPDATE webhook_inbox_due SET due_at = ? WHERE `key` = ?";

/// What to look at, longest due first. Takes no lock. Always one row: the time, whether statements
/// are transactions of their own, and, unless they are null, key and time of the queue's row,
/// whether there is a body, and the receipt.
///
/// now, now, at most.
pub(in super::super) const DUE: &str = concat!(
    "SELECT ",
    now!(),
    ", @@autocommit, due.`key`, due.due_at, \
     (SELECT 1 FROM webhook_inbox i WHERE i.`key` = due.`key`), ",
    columns!(),
    " FROM (SELECT 1 AS one) t LEFT JOIN (SELECT q.`key`, q.due_at FROM webhook_inbox_due q \
        WHERE q.due_at <= ",
    now!(),
    " ORDER BY q.due_at LIMIT ?) AS due ON TRUE \
     LEFT JOIN webhook_receipt r ON r.`key` = due.`key` ORDER BY due.due_at"
);

/// How many are leased by one statement.
pub(in super::super) const AT_ONCE: usize = 8;

macro_rules! eight {
    ($one:literal, $between:literal) => {
        concat!(
            $one, $between, $one, $between, $one, $between, $one, $between, $one, $between, $one,
            $between, $one, $between, $one
        )
    };
}

/// Leases those that are as they were read and that nobody has locked. The numbers are what
/// `Receipt::ruling` has made of the same rows. Without a `LIMIT` MariaDB takes the inner query for
/// a part of the outer one, which waits for locks.
///
/// [`AT_ONCE`] keys (fewer are filled up with repetitions), as many pairs of key and mark as read,
/// mark, lease's end, now, lease's end.
pub(in super::super) const LEASE: &str = concat!(
    "UPDATE (SELECT r.`key` FROM webhook_receipt r FORCE INDEX (PRIMARY) WHERE r.`key` IN (",
    eight!("?", ", "),
    ") AND (",
    eight!("(r.`key` = ? AND r.mark = ?)", " OR "),
    ") LIMIT 8 FOR UPDATE SKIP LOCKED) AS free \
     STRAIGHT_JOIN webhook_receipt r FORCE INDEX (PRIMARY) ON r.`key` = free.`key` \
     STRAIGHT_JOIN webhook_inbox_due q FORCE INDEX (PRIMARY) ON q.`key` = r.`key` \
     SET r.mark = ?, r.state = 1, r.attempts = LEAST(r.attempts, 4294967294) + 1, \
     r.fence = LEAST(r.fence, 9223372036854775806) + 1, r.lease_until = ?, r.changed_at = ?, \
     r.result = NULL, q.due_at = ?"
);

/// What [`LEASE`] has leased: the keys and the mark that it was given.
pub(in super::super) const LEASED: &str = concat!(
    "SELECT r.`key`, ",
    parked!(),
    ", ",
    columns!(),
    " FROM webhook_receipt r LEFT JOIN webhook_inbox i ON i.`key` = r.`key` WHERE r.`key` IN (",
    eight!("?", ", "),
    ") AND r.mark = ?"
);

/// The queue's row of one that waits, if the receipt is as it was read and nobody has it locked.
/// key, mark as read, when to look at it.
pub(in super::super) const PUT_OFF: &str = "UPDATE (SELECT r.`key` FROM webhook_receipt r \
     WHERE r.`key` = ? AND r.mark = ? LIMIT 1 FOR UPDATE SKIP LOCKED) AS waits \
     STRAIGHT_JOIN webhook_inbox_due q FORCE INDEX (PRIMARY) ON q.`key` = waits.`key` SET q.due_at = ?";

/// Of one that cannot be read. when to look at it, key, time as read.
pub(in super::super) const PUT_OFF_UNREAD: &str =
    "UPDATE webhook_inbox_due SET due_at = ? WHERE `key` = ? AND due_at = ?";

/// Of one that has no receipt. Whoever has inserted one and not committed puts the queue's row in
/// its place afterwards. key.
pub(in super::super) const UNQUEUE_GONE: &str = "DELETE q FROM (SELECT q.`key` \
     FROM webhook_inbox_due q LEFT JOIN webhook_receipt r FORCE INDEX (PRIMARY) ON r.`key` = q.`key` \
     WHERE q.`key` = ? AND r.`key` IS NULL LIMIT 1 FOR UPDATE SKIP LOCKED) AS gone \
     STRAIGHT_JOIN webhook_inbox_due q FORCE INDEX (PRIMARY) ON q.`key` = gone.`key`";

/// key.
pub(in super::super) const PARKED: &str = concat!(
    "SELECT ",
    parked!(),
    ", ",
    columns!(),
    " FROM webhook_inbox i JOIN webhook_receipt r ON r.`key` = i.`key` WHERE i.`key` = ?"
);

/// state, after this key (before all is the empty one), at most.
pub(in super::super) const LIST: &str = concat!(
    "SELECT r.`key`, ",
    columns!(),
    " FROM webhook_inbox i STRAIGHT_JOIN webhook_receipt r FORCE INDEX (PRIMARY) ON r.`key` = i.`key` AND r.state = ? \
     WHERE i.`key` > ? ORDER BY i.`key` LIMIT ?"
);

/// The same for the states in which an event is in the queue, which is shorter.
pub(in super::super) const LIST_QUEUED: &str = concat!(
    "SELECT r.`key`, ",
    columns!(),
    " FROM webhook_inbox_due q STRAIGHT_JOIN webhook_receipt r FORCE INDEX (PRIMARY) ON r.`key` = q.`key` AND r.state = ? \
     WHERE q.`key` > ? ORDER BY q.`key` LIMIT ?"
);

/// Oldest first, and none that somebody is at. Waits for nobody.
///
/// accepted no later than, whether dead ones too, at most.
pub(in super::super) const DROP_BODIES: &str = "DELETE i FROM (SELECT i.`key` \
     FROM webhook_inbox i FORCE INDEX (webhook_inbox_accepted) \
     STRAIGHT_JOIN webhook_receipt r FORCE INDEX (PRIMARY) ON r.`key` = i.`key` \
     WHERE i.accepted_at <= ? AND (r.state = 2 OR (? AND r.state = 4)) \
     ORDER BY i.accepted_at LIMIT ? FOR UPDATE SKIP LOCKED) AS gone \
     STRAIGHT_JOIN webhook_inbox i FORCE INDEX (PRIMARY) ON i.`key` = gone.`key`";
