//! The statements of reviews. Each verb is some of them under one write lock.

/// Without what may be long.
macro_rules! review {
    () => {
        "id, tenant, provider, event_id, reason, status, stored, presented, retention, body_bytes, \
         resolved_at, kept_at, received_at, sent_at, coverage, scheme, event_type, key_id, delivery_id"
    };
}

/// 1 id, 2 tenant, 3 provider, 4 event id, 5 reason, 6 stored, 7 presented, 8 retention, 9 body's
/// length, 10 now, 11 to 17 the facts, 18 headers, 19 body.
pub(in super::super) const KEEP: &str = "INSERT INTO webhook_review (id, tenant, provider, event_id, \
        reason, status, stored, presented, retention, body_bytes, resolved_at, kept_at, \
        received_at, sent_at, coverage, scheme, event_type, key_id, delivery_id, headers, body) \
     VALUES (?1, ?2, ?3, ?4, ?5, 0, ?6, ?7, ?8, ?9, NULL, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, \
        ?18, ?19) ON CONFLICT (id) DO NOTHING";

/// 1 id.
pub(in super::super) const FIND: &str =
    concat!("SELECT ", review!(), " FROM webhook_review WHERE id = ?1");

/// With headers and body, where they still are. 1 id.
pub(in super::super) const FIND_WHOLE: &str = concat!(
    "SELECT ",
    review!(),
    ", headers, body FROM webhook_review WHERE id = ?1"
);

/// 1 status, 2 after this id, 3 at most.
pub(in super::super) const LIST: &str = concat!(
    "SELECT ",
    review!(),
    " FROM webhook_review WHERE status = ?1 AND id > ?2 ORDER BY id LIMIT ?3"
);

/// The same for open ones, which are few among those that were resolved.
pub(in super::super) const LIST_OPEN: &str = concat!(
    "SELECT ",
    review!(),
    " FROM webhook_review WHERE status = ?1 AND resolved_at IS NULL AND id > ?2 ORDER BY id LIMIT ?3"
);

/// Only what is open. 1 id, 2 status, 3 now.
pub(in super::super) const RESOLVE: &str = "UPDATE webhook_review SET status = ?2, resolved_at = ?3, \
        headers = NULL, body = NULL WHERE id = ?1 AND resolved_at IS NULL";

/// Oldest first. 1 resolved no later than, 2 at most.
pub(in super::super) const PURGE_RESOLVED: &str = "DELETE FROM webhook_review WHERE id IN (\
        SELECT id FROM webhook_review WHERE resolved_at <= ?1 ORDER BY resolved_at LIMIT ?2)";

/// Oldest first. 1 kept no later than, 2 at most.
pub(in super::super) const PURGE_OPEN: &str = "DELETE FROM webhook_review WHERE id IN (\
        SELECT id FROM webhook_review WHERE resolved_at IS NULL AND kept_at <= ?1 \
        ORDER BY kept_at LIMIT ?2)";
