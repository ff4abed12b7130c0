//! The inbox's statements over many events at once. The keys of one are all different.
//!
//! Headers and bodies are taken out of their arrays only where they are written, by their place: what
//! is kept in a part of the statement may be written to a file on its way.

/// The time; for each key its place from 1, whether it is in the queue, and what is stored.
///
/// That it is queued is asked as a value, one row at a time. As `EXISTS` it may be planned as one scan of
/// the queue.
///
/// 1 keys, 2 now.
pub(in super::super) const LOOK_AT: &str = concat!(
    "WITH t AS MATERIALIZED (SELECT ",
    now!("$2"),
    " AS now) SELECT t.now, a.at, coalesce(\
        (SELECT TRUE FROM webhook_inbox_due q WHERE q.key = r.key), FALSE), ",
    columns!(),
    " FROM t CROSS JOIN unnest($1::text[]::uuid[]) WITH ORDINALITY AS a (key, at) \
      LEFT JOIN webhook_receipt r ON r.key = a.key"
);

macro_rules! asked {
    () => {
        "unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bytea[], $7::bigint[], \
            $8::bigint[], $9::bigint[], $10::text[], $11::text[], $12::text[], $13::text[], \
            $16::bigint[]) WITH ORDINALITY AS a (text_key, tenant, provider, event_id, body_hash, \
            received_at, sent_at, coverage, scheme, event_type, key_id, delivery_id, retention, at)"
    };
}

/// A delivery that is there is never written over. In the order of the keys.
macro_rules! park_all {
    ($accepted:literal) => {
        concat!(
            "kept AS (INSERT INTO webhook_inbox (key, accepted_at, received_at, sent_at, coverage, \
                tenant, scheme, event_type, key_id, delivery_id, headers, body) \
                SELECT a.key, a.now, a.received_at, a.sent_at, a.coverage, a.tenant, a.scheme, \
                   a.event_type, a.key_id, a.delivery_id, ($14::bytea[])[a.at::integer], \
                   ($15::bytea[])[a.at::integer] FROM asked a JOIN ",
            $accepted,
            " c ON c.key = a.key ORDER BY a.key ON CONFLICT (key) DO NOTHING), \
             queued AS (INSERT INTO webhook_inbox_due (key, due_at, tenant) \
                SELECT a.key, a.now, a.tenant FROM asked a JOIN ",
            $accepted,
            " c ON c.key = a.key ORDER BY a.key \
                ON CONFLICT (key) DO UPDATE SET due_at = excluded.due_at)"
        )
    };
}

/// [`ACCEPT`](super::inbox::ACCEPT) for each event, in the order of the keys, so that two of these
/// could not wait for each other even if they met on a row. They do not: what has been written is
/// only waited for where the holder's lock was free. For presence there is the lock of all batches,
/// as for [`CLAIM_MANY`](super::CLAIM_MANY).
///
/// For each event its place from 1, whether the holder's lock was free, and what was written.
///
/// 1 keys, 2 tenants, 3 providers, 4 event ids, 5 fingerprints, 6 now, 7 to 15 the deliveries, 16
/// retentions.
pub(in super::super) const ACCEPT_MANY: &str = concat!(
    "WITH present AS MATERIALIZED (SELECT pg_advisory_xact_lock_shared(",
    batches!(),
    ")::text AS taken), \
     t AS MATERIALIZED (SELECT ",
    now!("$6"),
    " AS now, (SELECT least(f.last_value, 9223372036854775806) + 1 FROM webhook_receipt_fence f \
           WHERE present.taken IS NOT NULL) AS fence \
        FROM present WHERE present.taken IS NOT NULL), \
     asked AS MATERIALIZED (SELECT a.*, a.text_key::uuid AS key, t.now, t.fence, \
           CASE WHEN t.now IS NOT NULL THEN pg_try_advisory_xact_lock(",
    holder!(of "a.text_key"),
    ") END AS free FROM t CROSS JOIN ",
    asked!(),
    "), \
     new AS (INSERT INTO webhook_receipt AS r (key, tenant, provider, event_id, body_hash, state, \
           attempts, fence, lease_until, received_at, changed_at, expires_at, result) \
        SELECT a.key, a.tenant, a.provider, a.event_id, a.body_hash, 0, 0, \
           greatest(a.now, a.fence), NULL, a.now, a.now, least(a.now + a.retention, ",
    last!(),
    "), NULL FROM asked a WHERE a.free ORDER BY a.key ON CONFLICT (key) DO NOTHING RETURNING ",
    columns!(),
    ", r.key), ",
    park_all!("new"),
    " SELECT a.at, a.free, r.* FROM asked a LEFT JOIN new r ON r.key = a.key"
);

/// [`ADOPT`](super::inbox::ADOPT) for each event: those whose receipt is free.
///
/// For each of these its place from 1, and what is stored of it. The same numbers as
/// [`ACCEPT_MANY`], of which the last is not used.
pub(in super::super) const ADOPT_MANY: &str = concat!(
    "WITH t AS MATERIALIZED (SELECT ",
    now!("$6"),
    " AS now), \
     asked AS MATERIALIZED (SELECT a.*, a.text_key::uuid AS key, t.now FROM t CROSS JOIN ",
    asked!(),
    "), \
     old AS MATERIALIZED (SELECT ",
    columns!(),
    ", r.key, a.at FROM asked a JOIN webhook_receipt r ON r.key = a.key AND r.tenant = a.tenant \
           AND r.provider = a.provider AND r.event_id = a.event_id AND r.body_hash = a.body_hash \
        WHERE r.state IN (0, 1, 3) FOR UPDATE OF r SKIP LOCKED), ",
    park_all!("old"),
    " SELECT r.at, r.* FROM old r"
);
