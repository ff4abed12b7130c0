//! The statements over many events at once. The keys of one are all different.

/// [`FIND`](super::FIND) for each key: the time, the key's place from 1, and what is stored.
///
/// 1 keys, 2 now.
pub(in super::super) const FIND_MANY: &str = concat!(
    "WITH t AS MATERIALIZED (SELECT ",
    now!("$2"),
    " AS now) SELECT t.now, a.at, ",
    columns!(),
    " FROM t CROSS JOIN unnest($1::text[]::uuid[]) WITH ORDINALITY AS a (key, at) \
      LEFT JOIN webhook_receipt r ON r.key = a.key"
);

/// [`CLAIM`](super::CLAIM) for each event, in the order of the keys, so that two of these could
/// not wait for each other even if they met on a row. They do not: what has been written is only
/// waited for where the holder's lock was free.
///
/// A lock for presence on each key would double what one statement takes of the server's lock
/// table. There is one for all batches instead, shared among them.
///
/// For each event its place from 1, whether the holder's lock was free, and what was written.
///
/// 1 keys, 2 tenants, 3 providers, 4 event ids, 5 fingerprints, 6 leases, 7 retentions, 8 most
/// attempts, 9 now, 10 reason of a burial.
pub(in super::super) const CLAIM_MANY: &str = concat!(
    "WITH present AS MATERIALIZED (SELECT pg_advisory_xact_lock_shared(",
    batches!(),
    ")::text AS taken), \
     t AS MATERIALIZED (SELECT ",
    now!("$9"),
    " AS now, (SELECT least(f.last_value, 9223372036854775806) + 1 FROM webhook_receipt_fence f \
           WHERE present.taken IS NOT NULL) AS fence \
        FROM present WHERE present.taken IS NOT NULL), \
     asked AS MATERIALIZED (SELECT a.*, a.text_key::uuid AS key, t.now, t.fence, \
           CASE WHEN t.now IS NOT NULL THEN pg_try_advisory_xact_lock(",
    holder!(of "a.text_key"),
    ") END AS free \
        FROM t CROSS JOIN unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bytea[], \
           $6::bigint[], $7::bigint[], $8::bigint[]) WITH ORDINALITY \
           AS a (text_key, tenant, provider, event_id, body_hash, lease, retention, most, at)), \
     won AS (INSERT INTO webhook_receipt AS r (key, tenant, provider, event_id, body_hash, state, \
           attempts, fence, lease_until, received_at, changed_at, expires_at, result) \
        SELECT a.key, a.tenant, a.provider, a.event_id, a.body_hash, 1, 1, \
           greatest(a.now, a.fence), least(a.now + a.lease, ",
    last!(),
    "), a.now, a.now, least(a.now + a.retention, ",
    last!(),
    "), NULL FROM asked a WHERE a.free ORDER BY a.key \
        ON CONFLICT (key) DO UPDATE SET changed_at = excluded.changed_at, \
           (state, attempts, fence, lease_until, result) = (SELECT CASE WHEN over THEN 4 ELSE 1 END, \
              CASE WHEN over THEN r.attempts ELSE least(r.attempts, 4294967294) + 1 END, \
              CASE WHEN over THEN r.fence ELSE least(r.fence, 9223372036854775806) + 1 END, \
              CASE WHEN over THEN NULL ELSE excluded.lease_until END, \
              CASE WHEN over THEN $10::bytea END \
              FROM (SELECT r.state = 1 AND r.attempts >= (SELECT a.most FROM asked a \
                 WHERE a.key = r.key) AS over) AS last_attempt) \
        WHERE r.tenant = excluded.tenant AND r.provider = excluded.provider \
           AND r.event_id = excluded.event_id AND r.body_hash = excluded.body_hash \
           AND (r.state = 0 OR (r.state IN (1, 3) AND coalesce(\
              r.lease_until <= excluded.changed_at OR r.lease_until - excluded.changed_at \
                 > 2 * (r.lease_until - r.changed_at), TRUE))) \
        RETURNING ",
    columns!(),
    ", r.key) SELECT a.at, a.free, r.* FROM asked a LEFT JOIN won r ON r.key = a.key"
);
