//! The statements of reviews. Who resolves one locks it first, so that two do so one after the other.

/// Without what may be long.
macro_rules! review {
    () => {
        "v.id::text, v.tenant, v.provider, v.event_id, v.reason::bigint, v.status::bigint, v.stored, \
         v.presented, v.retention, v.body_bytes, v.resolved_at, v.kept_at, v.received_at, v.sent_at, \
         v.coverage, v.scheme, v.event_type, v.key_id, v.delivery_id"
    };
}

/// At most one row: when it was kept, if it was not there.
///
/// 1 id, 2 tenant, 3 provider, 4 event id, 5 reason, 6 now, 7 stored, 8 presented, 9 retention, 10
/// body's length, 11 to 17 the facts, 18 headers, 19 body.
pub(in super::super) const KEEP: &str = concat!(
    "WITH t AS MATERIALIZED (SELECT ",
    now!("$6"),
    " AS now) \
     INSERT INTO webhook_review (id, tenant, provider, event_id, reason, status, stored, presented, \
        retention, body_bytes, resolved_at, kept_at, received_at, sent_at, coverage, scheme, \
        event_type, key_id, delivery_id, headers, body) \
     SELECT $1::text::uuid, $2, $3, $4, $5::bigint, 0, $7, $8, $9::bigint, $10::bigint, NULL, t.now, \
        $11::bigint, $12::bigint, $13::bigint, $14, $15, $16, $17, $18, $19 FROM t \
     ON CONFLICT (id) DO NOTHING RETURNING kept_at"
);

/// 1 id.
pub(in super::super) const FIND: &str = concat!(
    "SELECT ",
    review!(),
    " FROM webhook_review v WHERE v.id = $1::text::uuid"
);

/// With headers and body, where they still are. 1 id.
pub(in super::super) const FIND_WHOLE: &str = concat!(
    "SELECT ",
    review!(),
    ", v.headers, v.body FROM webhook_review v WHERE v.id = $1::text::uuid"
);

/// 1 status, 2 after this id (nothing for the first page), 3 at most.
pub(in super::super) const LIST: &str = concat!(
    "SELECT ",
    review!(),
    " FROM webhook_review v WHERE v.status = $1::bigint \
        AND ($2::text IS NULL OR v.id > $2::text::uuid) ORDER BY v.id LIMIT $3::bigint"
);

/// The same for open ones, which are few among those that were resolved.
pub(in super::super) const LIST_OPEN: &str = concat!(
    "SELECT ",
    review!(),
    " FROM webhook_review v WHERE v.status = $1::bigint AND v.resolved_at IS NULL \
        AND ($2::text IS NULL OR v.id > $2::text::uuid) ORDER BY v.id LIMIT $3::bigint"
);

/// The review that is to be admitted, locked, if it is open.
macro_rules! one {
    () => {
        "one AS MATERIALIZED (SELECT v.received_at, v.sent_at, v.coverage, v.scheme, v.event_type, \
            v.key_id, v.delivery_id, v.headers, v.body FROM webhook_review v \
            WHERE v.id = $6::text::uuid AND v.resolved_at IS NULL FOR UPDATE)"
    };
}

/// Its delivery goes into the inbox of what is not done; one that is there is never written over. A
/// place in the queue that is there stays too.
macro_rules! let_in {
    ($event:literal) => {
        concat!(
            "let_in AS (INSERT INTO webhook_inbox (key, accepted_at, received_at, sent_at, coverage, \
                tenant, scheme, event_type, key_id, delivery_id, headers, body) SELECT c.key, t.now, \
                one.received_at, one.sent_at, one.coverage, c.tenant, one.scheme, one.event_type, \
                one.key_id, one.delivery_id, one.headers, one.body FROM ",
            $event,
            " c, t, one WHERE c.state <> 2 ON CONFLICT (key) DO NOTHING), \
             queued AS (INSERT INTO webhook_inbox_due (key, due_at, tenant) \
                SELECT c.key, t.now, c.tenant FROM ",
            $event,
            " c, t WHERE c.state <> 2 ON CONFLICT (key) DO NOTHING), \
             admitted AS (UPDATE webhook_review v SET status = 1, resolved_at = t.now, headers = NULL, \
                body = NULL FROM ",
            $event,
            " c, t WHERE v.id = $6::text::uuid RETURNING v.resolved_at)"
        )
    };
}

/// Inserts receipt, delivery and queue's row of an event that is not there, and resolves the review;
/// or writes nothing.
///
/// No row if the review is not open. Otherwise one: whether the holder's lock was free, when the
/// review was resolved, and the receipt that was written.
///
/// 1 key, 2 tenant, 3 provider, 4 event id, 5 fingerprint, 6 review, 7 now, 8 retention.
pub(in super::super) const ADMIT_NEW: &str = concat!(
    "WITH ",
    one!(),
    ", own AS MATERIALIZED (SELECT pg_try_advisory_xact_lock(",
    holder!(),
    ") AS free FROM one), \
     present AS MATERIALIZED (SELECT pg_advisory_xact_lock_shared(",
    presence!(),
    ")::text AS taken FROM own WHERE own.free), \
     t AS MATERIALIZED (SELECT ",
    now!("$7"),
    " AS now, (SELECT least(f.last_value, 9223372036854775806) + 1 FROM webhook_receipt_fence f \
           WHERE present.taken IS NOT NULL) AS fence \
        FROM present WHERE present.taken IS NOT NULL), \
     new AS (INSERT INTO webhook_receipt AS r (key, tenant, provider, event_id, body_hash, state, \
           attempts, fence, lease_until, received_at, changed_at, expires_at, result) \
        SELECT $1::text::uuid, $2, $3, $4, $5, 0, 0, greatest(t.now, t.fence), NULL, t.now, t.now, \
           least(t.now + $8::bigint, ",
    last!(),
    "), NULL FROM t ON CONFLICT (key) DO NOTHING RETURNING ",
    columns!(),
    ", r.key), ",
    let_in!("new"),
    " SELECT own.free, (SELECT resolved_at FROM admitted), r.* FROM own LEFT JOIN new r ON TRUE"
);

/// Resolves the review of an event that is known with this content and was not given up. Its receipt
/// is locked, and stays as it is.
///
/// No row if the review is not open. Otherwise one: when it was resolved, and the receipt, if that
/// is there and nobody else is at it.
///
/// The numbers are those of [`ADMIT_NEW`], without the last.
pub(in super::super) const ADMIT_KNOWN: &str = concat!(
    "WITH ",
    one!(),
    ", t AS MATERIALIZED (SELECT ",
    now!("$7"),
    " AS now FROM one), \
     old AS MATERIALIZED (SELECT ",
    columns!(),
    ", r.key FROM t, webhook_receipt r WHERE r.key = $1::text::uuid AND r.tenant = $2 \
        AND r.provider = $3 AND r.event_id = $4 AND r.body_hash = $5 AND r.state <> 4 \
        FOR UPDATE OF r SKIP LOCKED), ",
    let_in!("old"),
    " SELECT (SELECT resolved_at FROM admitted), r.* FROM one LEFT JOIN old r ON TRUE"
);

/// At most one row: when it was resolved, if it was open. 1 id, 2 now.
pub(in super::super) const DISCARD: &str = concat!(
    "WITH t AS MATERIALIZED (SELECT ",
    now!("$2"),
    " AS now) \
     UPDATE webhook_review v SET status = 2, resolved_at = t.now, headers = NULL, body = NULL FROM t \
     WHERE v.id = $1::text::uuid AND v.resolved_at IS NULL RETURNING v.resolved_at"
);

macro_rules! purge {
    ($old:literal, $since:literal) => {
        concat!(
            "WITH t AS MATERIALIZED (SELECT ",
            now!("$1"),
            " AS now), \
             old AS MATERIALIZED (SELECT v.id FROM webhook_review v WHERE ",
            $old,
            " AND ",
            $since,
            " <= (SELECT now FROM t) - $2::bigint ORDER BY ",
            $since,
            " LIMIT $3::bigint FOR UPDATE SKIP LOCKED), \
             gone AS (DELETE FROM webhook_review v USING old WHERE v.id = old.id RETURNING v.id) \
             SELECT count(*) FROM gone"
        )
    };
}

/// Oldest first, and none that somebody is at. Returns how many. 1 now, 2 age, 3 at most.
pub(in super::super) const PURGE_RESOLVED: &str =
    purge!("v.resolved_at IS NOT NULL", "v.resolved_at");

/// The same for open ones.
pub(in super::super) const PURGE_OPEN: &str = purge!("v.resolved_at IS NULL", "v.kept_at");
