//! The statements on steps.

macro_rules! effect {
    () => {
        "e.name, e.number, e.fence, e.recorded_at, e.result"
    };
}

/// Takes no lock and writes nothing. Always one row: the time, whether statements are transactions
/// of their own, whether what is not committed can be seen, whether the lease stands, the highest
/// number of a step, and the step if it is recorded.
///
/// now, key, key, fence, key, name.
pub(in super::super) const LOOK_UP: &str = concat!(
    "SELECT ",
    now!(),
    ", @@autocommit, ",
    uncommitted!(),
    ", r.`key` IS NOT NULL, \
     (SELECT CAST(COALESCE(MAX(n.number), 0) AS SIGNED) FROM webhook_effect n WHERE n.`key` = ?), ",
    effect!(),
    " FROM (SELECT 1 AS one) t \
     LEFT JOIN webhook_receipt r ON r.`key` = ? AND r.state = 1 AND r.fence = ? \
     LEFT JOIN webhook_effect e ON e.`key` = ? AND e.name = ?"
);

/// On the pool: writes a step under a lock on its receipt, so that no claim comes between the look at
/// the fence and the commit. A name or number that is there is the error 1062.
///
/// name, number, now, result, key, fence.
pub(in super::super) const RECORD: &str = "INSERT INTO webhook_effect \
     (`key`, name, number, fence, recorded_at, result) \
     SELECT r.`key`, CAST(? AS BINARY), CAST(? AS SIGNED), r.fence, CAST(? AS SIGNED), \
     CAST(? AS BINARY) FROM webhook_receipt r \
     WHERE r.`key` = ? AND r.state = 1 AND r.fence = ? FOR UPDATE";

/// In a transaction: a row if the lease stands, and the receipt is locked. key, fence.
pub(in super::super) const STANDS: &str = "SELECT 1 FROM webhook_receipt r \
     WHERE r.`key` = ? AND r.state = 1 AND r.fence = ? FOR UPDATE";

/// In a transaction, after [`STANDS`]: whatever was there, there is a step of this number or of this
/// name now. One that was there is not written.
///
/// key, name, number, fence, now, result.
pub(in super::super) const ENSURE_STEP: &str = "INSERT INTO webhook_effect \
     (`key`, name, number, fence, recorded_at, result) VALUES (?, ?, ?, ?, ?, ?) \
     ON DUPLICATE KEY UPDATE fence = webhook_effect.fence";

/// In a transaction: the step as it is now. key, number.
pub(in super::super) const READ_STEP: &str = concat!(
    "SELECT ",
    effect!(),
    " FROM webhook_effect e WHERE e.`key` = ? AND e.number = ? FOR UPDATE"
);

/// The same by its name. key, name.
pub(in super::super) const READ_NAMED: &str = concat!(
    "SELECT ",
    effect!(),
    " FROM webhook_effect e WHERE e.`key` = ? AND e.name = ? FOR UPDATE"
);

/// In the order in which they were recorded; one row of nulls if there is none. Before each, whether
/// statements are transactions of their own, and whether what is not committed can be seen.
///
/// key, tenant, provider, event id.
pub(in super::super) const EFFECTS: &str = concat!(
    "SELECT @@autocommit, ",
    uncommitted!(),
    ", ",
    effect!(),
    " FROM (SELECT 1 AS one) t LEFT JOIN webhook_receipt r ON r.`key` = ? AND r.tenant = ? \
     AND r.provider = ? AND r.event_id = ? LEFT JOIN webhook_effect e ON e.`key` = r.`key` \
     ORDER BY e.number"
);
