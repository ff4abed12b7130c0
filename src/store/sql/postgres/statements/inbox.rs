//! The statements of the inbox. What waits for no lock of another's skips it.

macro_rules! parked {
    () => {
        "i.accepted_at, i.received_at, i.sent_at, i.coverage, i.scheme, i.event_type, i.key_id, \
         i.delivery_id, i.headers, i.body"
    };
}

/// A delivery that is there is never written over.
macro_rules! park {
    ($accepted:literal) => {
        concat!(
            "kept AS (INSERT INTO webhook_inbox (key, accepted_at, received_at, sent_at, coverage, \
                tenant, scheme, event_type, key_id, delivery_id, headers, body) SELECT c.key, \
                t.now, $7::bigint, $8::bigint, $9::bigint, c.tenant, $10, $11, $12, $13, $14, $15 FROM ",
            $accepted,
            " c, t ON CONFLICT (key) DO NOTHING), \
             queued AS (INSERT INTO webhook_inbox_due (key, due_at, tenant) SELECT c.key, t.now, c.tenant FROM ",
            $accepted,
            " c, t ON CONFLICT (key) DO UPDATE SET due_at = excluded.due_at)"
        )
    };
}

/// Whether the event is in the queue. 1 key.
pub(in super::super) const IS_QUEUED: &str =
    "SELECT EXISTS (SELECT FROM webhook_inbox_due WHERE key = $1::text::uuid)";

/// Inserts receipt, delivery and queue's row of an event that is not there, or writes nothing.
///
/// Always one row: whether the holder's lock was free, and what was written.
///
/// 1 key, 2 tenant, 3 provider, 4 event id, 5 fingerprint, 6 now, 7 to 15 the delivery, 16
/// retention.
pub(in super::super) const ACCEPT: &str = concat!(
    "WITH own AS MATERIALIZED (SELECT pg_try_advisory_xact_lock(",
    holder!(),
    ") AS free), \
     present AS MATERIALIZED (SELECT pg_advisory_xact_lock_shared(",
    presence!(),
    ")::text AS taken FROM own WHERE own.free), \
     t AS MATERIALIZED (SELECT ",
    now!("$6"),
    " AS now, (SELECT least(f.last_value, 9223372036854775806) + 1 FROM webhook_receipt_fence f \
           WHERE present.taken IS NOT NULL) AS fence \
        FROM present WHERE present.taken IS NOT NULL), \
     new AS (INSERT INTO webhook_receipt AS r (key, tenant, provider, event_id, body_hash, state, \
           attempts, fence, lease_until, received_at, changed_at, expires_at, result) \
        SELECT $1::text::uuid, $2, $3, $4, $5, 0, 0, greatest(t.now, t.fence), NULL, t.now, t.now, \
           least(t.now + $16::bigint, ",
    last!(),
    "), NULL FROM t ON CONFLICT (key) DO NOTHING RETURNING ",
    columns!(),
    ", r.key), ",
    park!("new"),
    " SELECT own.free, r.* FROM own LEFT JOIN new r ON TRUE"
);

/// Stores the delivery of an event that was claimed elsewhere and is not done, so that the inbox
/// takes over whatever comes of that. Its receipt is locked, and stays as it is.
///
/// At most one row: what is stored of it. The same numbers as [`ACCEPT`], without the last.
pub(in super::super) const ADOPT: &str = concat!(
    "WITH t AS MATERIALIZED (SELECT ",
    now!("$6"),
    " AS now), \
     old AS MATERIALIZED (SELECT ",
    columns!(),
    ", r.key FROM webhook_receipt r WHERE r.key = $1::text::uuid AND r.tenant = $2 \
        AND r.provider = $3 AND r.event_id = $4 AND r.body_hash = $5 AND r.state IN (0, 1, 3) \
        FOR UPDATE SKIP LOCKED), ",
    park!("old"),
    " SELECT r.* FROM old r"
);

/// Leases what is due, longest due first, and buries what had its last attempt or has no body.
///
/// A row of the queue only says when to look. It and the receipt are locked, and passed over where
/// somebody else has either; the receipt decides, as in `Receipt::ruling`. What has ended leaves
/// the queue, and what waits is looked at when its wait is over.
///
/// That a body is there is asked as a value, one row at a time. As `EXISTS` it is planned as one
/// scan of all bodies, even for a single row.
///
/// One row for each receipt that was written, with its delivery, and one of nulls; each with the
/// number of rows that were looked at.
///
/// 1 now, 2 at most, 3 lease, 4 most attempts, 5 reason of a burial, 6 of one without a body.
pub(in super::super) const LEASE_DUE: &str = concat!(
    "WITH t AS MATERIALIZED (SELECT ",
    now!("$1"),
    " AS now), \
     seen AS MATERIALIZED (SELECT r.key, r.lease_until, CASE \
           WHEN r.state IN (2, 4) THEN 'ended' \
           WHEN r.state IN (1, 3) AND coalesce(r.lease_until > (SELECT now FROM t) \
              AND r.lease_until - (SELECT now FROM t) <= 2 * (r.lease_until - r.changed_at), FALSE) \
              THEN 'waits' \
           WHEN r.state = 1 AND r.attempts >= $4::bigint THEN 'over' \
           WHEN (SELECT TRUE FROM webhook_inbox i WHERE i.key = r.key) IS NULL THEN 'empty' \
           ELSE 'taken' END AS ruling \
        FROM webhook_inbox_due q JOIN webhook_receipt r ON r.key = q.key \
        WHERE q.due_at <= (SELECT now FROM t) \
        ORDER BY q.due_at LIMIT $2::bigint FOR UPDATE OF q, r SKIP LOCKED), \
     changed AS (UPDATE webhook_receipt r SET changed_at = t.now, \
           state = CASE WHEN seen.ruling = 'taken' THEN 1 ELSE 4 END, \
           attempts = CASE WHEN seen.ruling = 'over' THEN r.attempts \
              ELSE least(r.attempts, 4294967294) + 1 END, \
           fence = CASE WHEN seen.ruling = 'over' THEN r.fence \
              ELSE least(r.fence, 9223372036854775806) + 1 END, \
           lease_until = CASE WHEN seen.ruling = 'taken' \
              THEN least(t.now + $3::bigint, ",
    last!(),
    ") END, \
           result = CASE seen.ruling WHEN 'over' THEN $5::bytea WHEN 'empty' THEN $6::bytea END \
        FROM seen, t WHERE seen.ruling IN ('taken', 'over', 'empty') AND r.key = seen.key \
        RETURNING ",
    columns!(),
    ", r.key), ",
    waits!("changed"),
    ", ",
    ended!("changed"),
    ", later AS (UPDATE webhook_inbox_due q SET due_at = seen.lease_until FROM seen \
        WHERE q.key = seen.key AND seen.ruling = 'waits'), \
     gone AS (DELETE FROM webhook_inbox_due q USING seen \
        WHERE q.key = seen.key AND seen.ruling = 'ended'), \
     looked AS MATERIALIZED (SELECT count(*) AS rows FROM seen) \
     SELECT looked.rows, r.*, ",
    parked!(),
    ", r.key::text FROM looked LEFT JOIN changed r ON TRUE LEFT JOIN webhook_inbox i ON i.key = r.key"
);

/// The delivery is locked, so that none is sent back whose body goes at the same time.
///
/// Always one row: whether there is a body, and what was written. 1 key, 2 now.
pub(in super::super) const REQUEUE: &str = concat!(
    "WITH t AS MATERIALIZED (SELECT ",
    now!("$2"),
    " AS now), \
     body AS MATERIALIZED (SELECT i.key FROM webhook_inbox i WHERE i.key = $1::text::uuid \
        FOR UPDATE), \
     changed AS (UPDATE webhook_receipt r SET state = 0, attempts = 0, lease_until = NULL, \
           changed_at = t.now, result = NULL FROM t, body \
        WHERE r.key = body.key AND r.state IN (3, 4) RETURNING ",
    columns!(),
    ", r.key), \
     queued AS (INSERT INTO webhook_inbox_due (key, due_at, tenant) SELECT c.key, t.now, c.tenant FROM changed c, t \
        ON CONFLICT (key) DO UPDATE SET due_at = excluded.due_at) \
     SELECT EXISTS (SELECT FROM body), r.* FROM t LEFT JOIN changed r ON TRUE"
);

/// 1 key.
pub(in super::super) const PARKED: &str = concat!(
    "SELECT ",
    columns!(),
    ", ",
    parked!(),
    " FROM webhook_inbox i JOIN webhook_receipt r ON r.key = i.key WHERE i.key = $1::text::uuid"
);

/// 1 state, 2 after this key (nothing for the first page), 3 at most.
pub(in super::super) const LIST: &str = concat!(
    "SELECT ",
    columns!(),
    ", r.key::text FROM webhook_inbox i JOIN webhook_receipt r ON r.key = i.key \
     WHERE ($2::text IS NULL OR i.key > $2::text::uuid) AND r.state = $1::bigint \
     ORDER BY i.key LIMIT $3::bigint"
);

/// The same for the states in which an event is in the queue, which is shorter.
pub(in super::super) const LIST_QUEUED: &str = concat!(
    "SELECT ",
    columns!(),
    ", r.key::text FROM webhook_inbox_due q JOIN webhook_receipt r ON r.key = q.key \
     WHERE ($2::text IS NULL OR q.key > $2::text::uuid) AND r.state = $1::bigint \
     ORDER BY q.key LIMIT $3::bigint"
);

/// Oldest first, and none that somebody is at. Returns how many.
///
/// 1 now, 2 age, 3 whether dead ones too, 4 at most.
pub(in super::super) const DROP_BODIES: &str = concat!(
    "WITH t AS MATERIALIZED (SELECT ",
    now!("$1"),
    " AS now), \
     old AS MATERIALIZED (SELECT i.key FROM webhook_inbox i JOIN webhook_receipt r ON r.key = i.key \
        WHERE i.accepted_at <= (SELECT now FROM t) - $2::bigint \
           AND (r.state = 2 OR ($3 AND r.state = 4)) \
        ORDER BY i.accepted_at LIMIT $4::bigint FOR UPDATE OF i, r SKIP LOCKED), \
     gone AS (DELETE FROM webhook_inbox i USING old WHERE i.key = old.key RETURNING i.key) \
     SELECT count(*) FROM gone"
);
