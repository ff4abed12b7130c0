//! The statements of the inbox. Each verb is some of them under one write lock.

macro_rules! parked {
    () => {
        "i.accepted_at, i.received_at, i.sent_at, i.coverage, i.scheme, i.event_type, i.key_id, \
         i.delivery_id, i.headers, i.body"
    };
}

macro_rules! receipt {
    () => {
        "r.tenant, r.provider, r.event_id, r.body_hash, r.state, r.attempts, r.fence, \
         r.lease_until, r.received_at, r.changed_at, r.expires_at, r.result"
    };
}

/// Only of a key that is not there. 1 key, 2 tenant, 3 provider, 4 event id, 5 fingerprint, 6 now,
/// 7 retention's end.
pub(in super::super) const RECEIVE: &str = concat!(
    "INSERT INTO webhook_receipt (key, tenant, provider, event_id, body_hash, state, attempts, \
        fence, lease_until, received_at, changed_at, expires_at, result) \
     VALUES (?1, ?2, ?3, ?4, ?5, 0, 0, ",
    first_fence!("?6"),
    ", NULL, ?6, ?6, ?7, NULL) RETURNING ",
    columns!()
);

/// 1 key, then the columns in the order of the table. A delivery that is there without being in the
/// queue belonged to a receipt that was deleted by other means than ours, and gives way.
pub(in super::super) const PARK: &str = "INSERT INTO webhook_inbox (key, accepted_at, received_at, \
        sent_at, coverage, scheme, event_type, key_id, delivery_id, headers, body) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) \
     ON CONFLICT (key) DO UPDATE SET accepted_at = excluded.accepted_at, \
        received_at = excluded.received_at, sent_at = excluded.sent_at, \
        coverage = excluded.coverage, scheme = excluded.scheme, event_type = excluded.event_type, \
        key_id = excluded.key_id, delivery_id = excluded.delivery_id, headers = excluded.headers, \
        body = excluded.body";

/// 1 key, 2 when to look at it.
pub(in super::super) const ENQUEUE: &str = "INSERT INTO webhook_inbox_due (key, due_at) \
     VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET due_at = excluded.due_at";

/// 1 key.
pub(in super::super) const IS_QUEUED: &str =
    "SELECT EXISTS (SELECT 1 FROM webhook_inbox_due WHERE key = ?1)";

/// What to look at, longest due first. Neither receipt nor delivery need be there. 1 now, 2 at most.
pub(in super::super) const DUE: &str = concat!(
    "SELECT ",
    receipt!(),
    ", ",
    parked!(),
    ", q.key FROM webhook_inbox_due q LEFT JOIN webhook_receipt r ON r.key = q.key \
        LEFT JOIN webhook_inbox i ON i.key = q.key \
     WHERE q.due_at <= ?1 ORDER BY q.due_at LIMIT ?2"
);

/// Writes over a receipt that was read under the same lock.
///
/// 1 key, 2 state, 3 attempts, 4 fence, 5 until, 6 now, 7 result.
pub(in super::super) const WRITE: &str = "UPDATE webhook_receipt SET state = ?2, attempts = ?3, \
        fence = ?4, lease_until = ?5, changed_at = ?6, result = ?7 WHERE key = ?1";

/// 1 key.
pub(in super::super) const PARKED: &str = concat!(
    "SELECT ",
    receipt!(),
    ", ",
    parked!(),
    ", i.key FROM webhook_inbox i JOIN webhook_receipt r ON r.key = i.key WHERE i.key = ?1"
);

/// 1 state, 2 after this key, 3 at most.
pub(in super::super) const LIST: &str = concat!(
    "SELECT ",
    receipt!(),
    ", i.key FROM webhook_inbox i JOIN webhook_receipt r ON r.key = i.key \
     WHERE i.key > ?2 AND r.state = ?1 ORDER BY i.key LIMIT ?3"
);

/// The same for the states in which an event is in the queue, which is shorter.
pub(in super::super) const LIST_QUEUED: &str = concat!(
    "SELECT ",
    receipt!(),
    ", q.key FROM webhook_inbox_due q JOIN webhook_receipt r ON r.key = q.key \
     WHERE q.key > ?2 AND r.state = ?1 ORDER BY q.key LIMIT ?3"
);

/// Oldest first. 1 accepted no later than, 2 whether dead ones too, 3 at most.
pub(in super::super) const DROP_BODIES: &str = "DELETE FROM webhook_inbox WHERE key IN (\
        SELECT i.key FROM webhook_inbox i JOIN webhook_receipt r ON r.key = i.key \
        WHERE i.accepted_at <= ?1 AND (r.state = 2 OR (?2 AND r.state = 4)) \
        ORDER BY i.accepted_at LIMIT ?3)";
