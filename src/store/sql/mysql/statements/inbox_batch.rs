//! The inbox's statements over many events at once, whose keys are all different, in the order of the
//! keys. What is looked up comes as texts of JSON, as for claims (`batch.rs`); what is written as values.

/// [`FIND_MANY`](super::FIND_MANY), with whether the event is in the queue after the slot's fence.
///
/// now, rows of key and slot.
pub(in super::super) const LOOK_AT: &str = concat!(
    "SELECT ",
    now!(),
    ", a.place, @@autocommit, ",
    uncommitted!(),
    ", s.fence, q.`key` IS NOT NULL, ",
    columns!(),
    " FROM JSON_TABLE(?, '$[*]' COLUMNS (place FOR ORDINALITY, k VARCHAR(32) PATH '$[0]', \
     slot BIGINT PATH '$[1]')) a \
     LEFT JOIN webhook_receipt_slot s FORCE INDEX (PRIMARY) ON s.slot = a.slot \
     LEFT JOIN webhook_receipt r FORCE INDEX (PRIMARY) ON r.`key` = UNHEX(a.k) \
     LEFT JOIN webhook_inbox_due q FORCE INDEX (PRIMARY) ON q.`key` = r.`key`"
);

/// In a transaction: locks the slots that are free and from which no row with a higher fence was
/// deleted since the look, and tells the places from 1 of the events whose slots these are.
///
/// Rows of slot and highest deleted fence as it was read.
pub(in super::super) const LOCK_SLOTS: &str = "SELECT a.place FROM JSON_TABLE(?, '$[*]' COLUMNS \
     (place FOR ORDINALITY, slot BIGINT PATH '$[0]', deleted BIGINT PATH '$[1]')) a \
     STRAIGHT_JOIN webhook_receipt_slot s FORCE INDEX (PRIMARY) \
     ON s.slot = a.slot AND s.fence <= a.deleted FOR UPDATE SKIP LOCKED";

/// How many rows one statement of values has, the rest in eights and by themselves. Rows that come as a
/// text of JSON take MariaDB ten times as long, which is no matter for what is looked up, but for
/// bodies it would be most of what accepting costs.
pub(in super::super) const AT_ONCE: [usize; 2] = [32, 8];

macro_rules! eight {
    ($row:literal) => {
        concat!(
            $row, ", ", $row, ", ", $row, ", ", $row, ", ", $row, ", ", $row, ", ", $row, ", ",
            $row
        )
    };
}

/// One statement with 32 rows, with eight, and with one.
macro_rules! by_rows {
    ($insert:expr, $row:literal) => {
        [
            concat!(
                $insert,
                eight!($row),
                ", ",
                eight!($row),
                ", ",
                eight!($row),
                ", ",
                eight!($row)
            ),
            concat!($insert, eight!($row)),
            concat!($insert, $row),
        ]
    };
}

/// New receipts, whose slots are locked. Their rows.
pub(in super::super) const RECEIVE: [&str; 3] = by_rows!(
    concat!("INSERT INTO webhook_receipt ", written!(), " VALUES "),
    "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
);

/// [`PARK`](super::inbox::PARK) for each event. Their rows.
pub(in super::super) const PARK: [&str; 3] = by_rows!(
    "INSERT INTO webhook_inbox (`key`, accepted_at, received_at, sent_at, coverage, tenant, scheme, \
     event_type, key_id, delivery_id, headers, body) VALUES ",
    "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
);

/// [`ENQUEUE`](super::inbox::ENQUEUE) for each event. Rows of key, when to look at it, tenant.
pub(in super::super) const ENQUEUE: [&str; 3] = by_rows!(
    "INSERT INTO webhook_inbox_due (`key`, due_at, tenant) VALUES ",
    "(?, ?, ?)"
);
