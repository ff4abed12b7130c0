//! The inbox's statements over many events at once, whose keys are all different. Their rows come as
//! texts of JSON, as those of claims do; see `batch.rs`.

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

/// [`PARK`](super::inbox::PARK) for each event.
///
/// Rows of key, accepted at, received at, sent at, coverage, tenant, scheme, event type, key id,
/// delivery id, headers, body.
pub(in super::super) const PARK_MANY: &str = "INSERT INTO webhook_inbox (`key`, accepted_at, \
     received_at, sent_at, coverage, tenant, scheme, event_type, key_id, delivery_id, headers, body) \
     SELECT UNHEX(a.k), a.accepted_at, a.received_at, a.sent_at, a.coverage, UNHEX(a.tenant), \
     UNHEX(a.scheme), UNHEX(a.event_type), UNHEX(a.key_id), UNHEX(a.delivery_id), UNHEX(a.headers), \
     UNHEX(a.body) FROM JSON_TABLE(?, '$[*]' COLUMNS (k VARCHAR(32) PATH '$[0]', \
     accepted_at BIGINT PATH '$[1]', received_at BIGINT PATH '$[2]', sent_at BIGINT PATH '$[3]', \
     coverage BIGINT PATH '$[4]', tenant VARCHAR(510) PATH '$[5]', scheme VARCHAR(2040) PATH '$[6]', \
     event_type VARCHAR(2040) PATH '$[7]', key_id VARCHAR(2040) PATH '$[8]', \
     delivery_id VARCHAR(2040) PATH '$[9]', headers LONGTEXT PATH '$[10]', \
     body LONGTEXT PATH '$[11]')) a";

/// [`ENQUEUE`](super::inbox::ENQUEUE) for each event. Rows of key, when to look at it, tenant.
pub(in super::super) const ENQUEUE_MANY: &str = "INSERT INTO webhook_inbox_due (`key`, due_at, tenant) \
     SELECT UNHEX(a.k), a.due_at, UNHEX(a.tenant) FROM JSON_TABLE(?, '$[*]' COLUMNS \
     (k VARCHAR(32) PATH '$[0]', due_at BIGINT PATH '$[1]', tenant VARCHAR(510) PATH '$[2]')) a";
