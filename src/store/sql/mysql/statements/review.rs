//! The statements of reviews. Each is a transaction of its own, but for those that admit one: they
//! lock the event's receipt first, by the statements of the inbox, and then the review, and so wait
//! for nobody who waits for them.

/// Without what may be long.
macro_rules! review {
    () => {
        "v.id, v.tenant, v.provider, v.event_id, v.reason, v.status, v.stored, v.presented, \
         v.retention, v.body_bytes, v.resolved_at, v.kept_at, v.received_at, v.sent_at, v.coverage, \
         v.scheme, v.event_type, v.key_id, v.delivery_id"
    };
}

/// The time, whether statements are transactions of their own, and whether what is not committed
/// can be seen. now.
macro_rules! session {
    () => {
        concat!("SELECT ", now!(), ", @@autocommit, ", uncommitted!())
    };
}

/// now.
pub(in super::super) const SESSION: &str = session!();

/// Takes no lock. Always one row: [`SESSION`]'s, and the review's columns, if there is one. now, id.
pub(in super::super) const FIND: &str = concat!(
    session!(),
    ", ",
    review!(),
    " FROM (SELECT 1 AS one) t LEFT JOIN webhook_review v ON v.id = ?"
);

/// With headers and body, where they still are. now, id.
pub(in super::super) const FIND_WHOLE: &str = concat!(
    session!(),
    ", ",
    review!(),
    ", v.headers, v.body FROM (SELECT 1 AS one) t LEFT JOIN webhook_review v ON v.id = ?"
);

/// An error if it is there.
///
/// id, tenant, provider, event id, reason, stored, presented, retention, body's length, now, the
/// facts, headers, body.
pub(in super::super) const KEEP: &str = "INSERT INTO webhook_review (id, tenant, provider, event_id, \
     reason, status, stored, presented, retention, body_bytes, resolved_at, kept_at, received_at, \
     sent_at, coverage, scheme, event_type, key_id, delivery_id, headers, body) \
     VALUES (?, ?, ?, ?, ?, 0, ?, ?, ?, ?, NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

/// status, after this id (before all is the empty one), at most.
pub(in super::super) const LIST: &str = concat!(
    "SELECT ",
    review!(),
    " FROM webhook_review v FORCE INDEX (webhook_review_status) \
     WHERE v.status = ? AND v.id > ? ORDER BY v.id LIMIT ?"
);

/// Under the receipt's lock: the delivery of an open review goes into the inbox, and the review is
/// locked. Its body stays in the server. In a list of columns nothing else says of what type a value
/// is.
///
/// key, now, id.
pub(in super::super) const PARK: &str = "INSERT INTO webhook_inbox (`key`, accepted_at, received_at, \
     sent_at, coverage, tenant, scheme, event_type, key_id, delivery_id, headers, body) \
     SELECT CAST(? AS BINARY), CAST(? AS SIGNED), v.received_at, v.sent_at, v.coverage, v.tenant, \
     v.scheme, v.event_type, v.key_id, v.delivery_id, v.headers, v.body FROM webhook_review v \
     FORCE INDEX (PRIMARY) WHERE v.id = ? AND v.resolved_at IS NULL FOR UPDATE";

/// Only what is open. Waits for whoever has it locked. status, now, id.
pub(in super::super) const RESOLVE: &str = "UPDATE webhook_review v FORCE INDEX (PRIMARY) \
     SET v.status = ?, v.resolved_at = ?, v.headers = NULL, v.body = NULL \
     WHERE v.id = ? AND v.resolved_at IS NULL";

macro_rules! purge {
    ($old:literal, $since:literal) => {
        concat!(
            "DELETE v FROM (SELECT v.id FROM webhook_review v FORCE INDEX (webhook_review_age) WHERE ",
            $old,
            " AND ",
            $since,
            " <= ? ORDER BY ",
            $since,
            " LIMIT ? FOR UPDATE SKIP LOCKED) AS gone \
             STRAIGHT_JOIN webhook_review v FORCE INDEX (PRIMARY) ON v.id = gone.id"
        )
    };
}

/// Oldest first, and none that somebody is at. Waits for nobody. resolved no later than, at most.
pub(in super::super) const PURGE_RESOLVED: &str =
    purge!("v.resolved_at IS NOT NULL", "v.resolved_at");

/// The same for open ones. kept no later than, at most.
pub(in super::super) const PURGE_OPEN: &str = purge!("v.resolved_at IS NULL", "v.kept_at");
