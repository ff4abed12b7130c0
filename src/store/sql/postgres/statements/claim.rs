//! The statements that claim one event.

/// Waits for a deletion under way, where the holder's lock was free; then the time, and the fence that
/// follows the highest deleted one.
macro_rules! admitted {
    () => {
        concat!(
            "present AS MATERIALIZED (SELECT pg_advisory_xact_lock_shared(",
            presence!(),
            ")::text AS taken FROM own WHERE own.free), \
             t AS MATERIALIZED (SELECT ",
            now!("$6"),
            " AS now, (SELECT least(f.last_value, 9223372036854775806) + 1 \
                   FROM webhook_receipt_fence f WHERE present.taken IS NOT NULL) AS fence \
                FROM present WHERE present.taken IS NOT NULL)"
        )
    };
}

/// The row of an event that is not there: `Receipt::first`.
macro_rules! first {
    () => {
        concat!(
            "INSERT INTO webhook_receipt AS r (key, tenant, provider, event_id, body_hash, state, \
                attempts, fence, lease_until, received_at, changed_at, expires_at, result) \
             SELECT $1::text::uuid, $2, $3, $4, $5, 1, 1, greatest(t.now, t.fence), \
                least(t.now + $7::bigint, ",
            last!(),
            "), t.now, t.now, least(t.now + $8::bigint, ",
            last!(),
            "), NULL FROM t ON CONFLICT (key)"
        )
    };
}

/// [`FIND`](super::FIND), which inserts where nothing is stored: on the pool, and in a transaction of
/// which the driver knows. What is stored is not written, nor is it locked, so a known event costs what
/// a look does; whether it may be taken over is for [`CLAIM`].
///
/// Its snapshot is older than its locks, so what `seen` does not show may be there, or have been
/// there, when it inserts:
///
/// - A claim whose transaction is open has the holder's lock, which is tried and not waited for. A
///   lock is let go of after its transaction can be seen, so whoever gets it meets no row of a claim
///   that is not committed.
/// - A row that was committed since stops the insert, for unique keys look past snapshots: under READ
///   COMMITTED nothing is inserted, under the stricter levels the statement is called off (40001).
///   Either way the next one has a snapshot that shows the row, and nothing was written.
/// - A row that came and was deleted since does not stop it. No deletion is under way once the
///   presence lock is held, and what it remembered is a sequence, which is read as it is and not as
///   the snapshot has it. So the fence is above that row's.
/// - What `seen` shows may be gone: the answer is that of a moment before, as any look's.
///
/// Always one row: whether the holder's lock was free (nothing if the event is stored), the time,
/// and what is stored or was inserted, the latter with the number of its transaction. If the lock was
/// free and there is no row, one was committed since the statement began.
///
/// 1 to 8 as for [`CLAIM`].
pub(in super::super) const CLAIM_NEW: &str = concat!(
    "WITH seen AS MATERIALIZED (SELECT NULL::bigint AS tx, ",
    columns!(),
    " FROM webhook_receipt r WHERE r.key = $1::text::uuid), \
     own AS MATERIALIZED (SELECT pg_try_advisory_xact_lock(",
    holder!(),
    ") AS free WHERE NOT EXISTS (SELECT FROM seen)), ",
    admitted!(),
    ", won AS (",
    first!(),
    " DO NOTHING RETURNING txid_current() AS tx, ",
    columns!(),
    ") SELECT (SELECT own.free FROM own), ",
    now!("$6"),
    ", r.* FROM (SELECT) AS one \
       LEFT JOIN (SELECT * FROM seen UNION ALL SELECT * FROM won) r ON TRUE"
);

/// Inserts, or takes over what may be claimed, or buries what had its last attempt, or writes
/// nothing: `Receipt::first` and `Receipt::ruling`. The tests hold the two against each other.
///
/// Always one row: whether the holder's lock was free (nothing if the transaction is not the one
/// that began at 11), and what was written, with the number of the transaction.
///
/// 1 key, 2 tenant, 3 provider, 4 event id, 5 fingerprint, 6 now, 7 lease, 8 retention, 9 most
/// attempts, 10 reason of a burial, 11 when the caller's transaction began.
pub(in super::super) const CLAIM: &str = concat!(
    "WITH own AS MATERIALIZED (SELECT CASE WHEN coalesce($11::bigint = ",
    begun!(),
    ", TRUE) THEN pg_try_advisory_xact_lock(",
    holder!(),
    ") END AS free), ",
    admitted!(),
    ", won AS (",
    first!(),
    " DO UPDATE SET changed_at = excluded.changed_at, \
           (state, attempts, fence, lease_until, result) = (SELECT CASE WHEN over THEN 4 ELSE 1 END, \
              CASE WHEN over THEN r.attempts ELSE least(r.attempts, 4294967294) + 1 END, \
              CASE WHEN over THEN r.fence ELSE least(r.fence, 9223372036854775806) + 1 END, \
              CASE WHEN over THEN NULL ELSE excluded.lease_until END, \
              CASE WHEN over THEN $10::bytea END \
              FROM (SELECT r.state = 1 AND r.attempts >= $9::bigint AS over) AS last_attempt) \
        WHERE r.tenant = excluded.tenant AND r.provider = excluded.provider \
           AND r.event_id = excluded.event_id AND r.body_hash = excluded.body_hash \
           AND (r.state = 0 OR (r.state IN (1, 3) AND coalesce(\
              r.lease_until <= excluded.changed_at OR r.lease_until - excluded.changed_at \
                 > 2 * (r.lease_until - r.changed_at), TRUE))) \
        RETURNING txid_current() AS tx, ",
    columns!(),
    ") SELECT own.free, r.* FROM own LEFT JOIN won r ON TRUE"
);
