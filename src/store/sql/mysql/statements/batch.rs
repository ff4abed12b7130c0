//! The statements over many events at once, whose keys are all different. Their rows come as one
//! text of JSON, with bytes in hexadecimal, in the order of the keys; the order of the tables and the
//! index are given, so that no row is locked but those that are asked for, and in that order.

/// [`FIND`](super::FIND) for each key, without the connection's number, and with the key's place from
/// 1 instead.
///
/// now, rows of key and slot.
pub(in super::super) const FIND_MANY: &str = concat!(
    "SELECT ",
    now!(),
    ", a.place, @@autocommit, ",
    uncommitted!(),
    ", s.fence, ",
    columns!(),
    " FROM JSON_TABLE(?, '$[*]' COLUMNS (place FOR ORDINALITY, k VARCHAR(32) PATH '$[0]', \
     slot BIGINT PATH '$[1]')) a \
     LEFT JOIN webhook_receipt_slot s FORCE INDEX (PRIMARY) ON s.slot = a.slot \
     LEFT JOIN webhook_receipt r FORCE INDEX (PRIMARY) ON r.`key` = UNHEX(a.k)"
);

/// [`INSERT`](super::INSERT) for each event: those whose slot is free. If one of them is there, the
/// error 1062, and none is inserted.
///
/// Rows of key, mark, result, state, attempts, fence, lease's end, changed at, slot, highest deleted
/// fence as it was read, tenant, provider, event id, content, received at, expires at.
pub(in super::super) const CLAIM_NEW: &str = concat!(
    "INSERT INTO webhook_receipt ",
    written!(),
    " SELECT a.mark, UNHEX(a.k), a.slot, UNHEX(a.tenant), UNHEX(a.provider), UNHEX(a.event_id), \
     UNHEX(a.body_hash), a.state, a.attempts, a.fence, a.lease_until, a.received_at, a.changed_at, \
     a.expires_at, UNHEX(a.result) FROM JSON_TABLE(?, '$[*]' COLUMNS (k VARCHAR(32) PATH '$[0]', \
     mark BIGINT PATH '$[1]', result VARCHAR(8192) PATH '$[2]', state BIGINT PATH '$[3]', \
     attempts BIGINT PATH '$[4]', fence BIGINT PATH '$[5]', lease_until BIGINT PATH '$[6]', \
     changed_at BIGINT PATH '$[7]', slot BIGINT PATH '$[8]', deleted BIGINT PATH '$[9]', \
     tenant VARCHAR(510) PATH '$[10]', provider VARCHAR(510) PATH '$[11]', \
     event_id VARCHAR(4096) PATH '$[12]', body_hash VARCHAR(32) PATH '$[13]', \
     received_at BIGINT PATH '$[14]', expires_at BIGINT PATH '$[15]')) a \
     STRAIGHT_JOIN webhook_receipt_slot s FORCE INDEX (PRIMARY) \
     ON s.slot = a.slot AND s.fence <= a.deleted FOR UPDATE SKIP LOCKED"
);

/// [`TAKE`](super::TAKE) for each event: those that are as they were read and that nobody has locked.
///
/// Rows of key, mark, result, state, attempts, fence, lease's end, changed at, mark as read.
pub(in super::super) const TAKE_MANY: &str = "UPDATE (SELECT a.* FROM JSON_TABLE(?, '$[*]' COLUMNS \
     (k VARCHAR(32) PATH '$[0]', mark BIGINT PATH '$[1]', result VARCHAR(8192) PATH '$[2]', \
     state BIGINT PATH '$[3]', attempts BIGINT PATH '$[4]', fence BIGINT PATH '$[5]', \
     lease_until BIGINT PATH '$[6]', changed_at BIGINT PATH '$[7]', old BIGINT PATH '$[8]')) a \
     STRAIGHT_JOIN webhook_receipt r FORCE INDEX (PRIMARY) \
     ON r.`key` = UNHEX(a.k) AND r.mark = a.old LIMIT 1000 FOR UPDATE SKIP LOCKED) AS free \
     STRAIGHT_JOIN webhook_receipt r FORCE INDEX (PRIMARY) ON r.`key` = UNHEX(free.k) \
     SET r.mark = free.mark, r.state = free.state, r.attempts = free.attempts, \
     r.fence = free.fence, r.lease_until = free.lease_until, r.changed_at = free.changed_at, \
     r.result = UNHEX(free.result)";

/// On the pool: an error if somebody has one of these rows locked. Rows of key and slot.
pub(in super::super) const IS_FREE_MANY: &str = "SELECT COUNT(r.mark) FROM JSON_TABLE(?, '$[*]' \
     COLUMNS (k VARCHAR(32) PATH '$[0]')) a \
     STRAIGHT_JOIN webhook_receipt r FORCE INDEX (PRIMARY) ON r.`key` = UNHEX(a.k) \
     /*!80000 FOR SHARE */ /*M! LOCK IN SHARE MODE */ NOWAIT";

/// So many thousandths of a second, in whatever runtime.
pub(in super::super) const PAUSE_FOR: &str = "SELECT SLEEP(? / 1000)";
