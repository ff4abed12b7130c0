//! Every statement on receipts that PostgreSQL runs, as it runs. Those on objects and steps are
//! where they are used.
//!
//! Each is a transaction of its own on the pool, so that a call that is cancelled leaves nothing
//! open. Times are microseconds since 1970 by the server's clock, read when they are needed:
//! `now()` would lag behind by the age of the caller's transaction. `lease_until - changed_at` is
//! the full length of a lease or wait, which is what a clock that was set back is judged by.
//!
//! A key has two advisory locks, from the two halves of its digest, each held until the
//! transaction ends:
//!
//! - **Holder**, taken by a claim that found the event claimable, and only if it is free. Whoever
//!   finds it taken knows that somebody is at it and need not wait for the row, which may belong to
//!   a transaction that lasts.
//! - **Presence**, shared by such claims and exclusive for what deletes the row. So no row goes
//!   between a claim's look at the highest deleted fence and its insert, and no fence comes twice.
//!   A claim may wait for it, but only for a purge's or an operator's one statement. A batch of
//!   claims takes one for all its keys, which a deletion then takes as well.
//!
//! `WITH … AS MATERIALIZED` and the conditions that look idle keep that order: a part is computed
//! when the row that it depends on is asked for.

/// `date_part` is of double precision, which holds the microseconds of this century, and `extract` is
/// numeric since PostgreSQL 14, which takes longer.
macro_rules! now {
    ($given:literal) => {
        concat!(
            "coalesce(",
            $given,
            "::bigint, (date_part('epoch', clock_timestamp()) * 1000000)::bigint)"
        )
    };
}

/// When the transaction began: the same for all statements of one, and for no two of different
/// ones on one connection.
macro_rules! begun {
    () => {
        "(date_part('epoch', transaction_timestamp()) * 1000000)::bigint"
    };
}

macro_rules! columns {
    () => {
        "r.tenant, r.provider, r.event_id, r.body_hash, r.state::bigint AS state, r.attempts, \
         r.fence, r.lease_until, r.received_at, r.changed_at, r.expires_at, r.result"
    };
}

/// The last microsecond of the year 9999.
macro_rules! last {
    () => {
        "253402300799999999"
    };
}

/// Keeps the locks of one schema's receipts apart from those of another's in the same database.
macro_rules! salted {
    ($number:literal) => {
        concat!("(", $number, " # 'webhook_receipt'::regclass::oid::bigint)")
    };
}

macro_rules! holder {
    () => {
        holder!(of "$1::text")
    };
    (of $key:literal) => {
        concat!("(('x' || left(", $key, ", 16))::bit(64)::bigint # 'webhook_receipt'::regclass::oid::bigint)")
    };
}

/// The presence of all batches.
macro_rules! batches {
    () => {
        salted!("7378697629483820646")
    };
}

/// Waits until no batch is at it, and keeps the next ones waiting.
macro_rules! calm {
    () => {
        concat!("pg_advisory_xact_lock(", batches!(), ")::text AS taken")
    };
}

/// The part of the table that may be read.
macro_rules! share {
    () => {
        "least(1, $2::float8 / greatest(pg_relation_size('webhook_receipt'), 1))"
    };
}

macro_rules! scaled {
    ($of:literal) => {
        concat!(
            "(count(*) FILTER (WHERE ",
            $of,
            ") / (SELECT share FROM t))::bigint"
        )
    };
}

macro_rules! presence {
    () => {
        salted!("('x' || right($1::text, 16))::bit(64)::bigint")
    };
    (of key) => {
        salted!("('x' || right(replace(key::text, '-', ''), 16))::bit(64)::bigint")
    };
}

/// Takes its turn at the highest deleted fence, and raises it to `top`.
macro_rules! remember {
    () => {
        "(SELECT setval('webhook_receipt_fence', greatest(turn.top, f.last_value)) \
           FROM webhook_receipt_fence f WHERE turn.taken IS NOT NULL)"
    };
}

macro_rules! turn {
    () => {
        concat!(
            "pg_advisory_xact_lock(",
            salted!("6148914691236517205"),
            ")::text AS taken"
        )
    };
}

/// Takes no lock on a row and writes nothing. Always one row: the time, when the transaction began,
/// and what is stored.
///
/// 1 key, 2 now.
pub(super) const FIND: &str = concat!(
    "WITH t AS MATERIALIZED (SELECT ",
    now!("$2"),
    " AS now, ",
    begun!(),
    " AS begun) SELECT t.now, t.begun, ",
    columns!(),
    " FROM t LEFT JOIN webhook_receipt r ON r.key = $1::text::uuid"
);

/// The inbox's queue follows receipts that have changed and are not done. Nothing happens where the
/// event is none of the inbox's.
macro_rules! waits {
    ($changed:literal) => {
        concat!(
            "waits AS (UPDATE webhook_inbox_due q SET due_at = coalesce(c.lease_until, c.changed_at) \
                FROM ",
            $changed,
            " c WHERE q.key = c.key AND c.state IN (0, 1, 3))"
        )
    };
}

/// The same for those that are done.
macro_rules! ended {
    ($changed:literal) => {
        concat!(
            "ended AS (DELETE FROM webhook_inbox_due q USING ",
            $changed,
            " c WHERE q.key = c.key AND c.state IN (2, 4))"
        )
    };
}

/// Settles, renews, releases: what only the holder of the last fence may write.
macro_rules! change {
    ($queue:ident) => {
        concat!(
            "WITH t AS MATERIALIZED (SELECT ",
            now!("$6"),
            " AS now, coalesce($7::bigint = coalesce(txid_current_if_assigned(), 0), TRUE) AS here), \
             changed AS (UPDATE webhook_receipt r SET state = $3::bigint, lease_until = CASE \
                   WHEN $4::bigint IS NOT NULL THEN least(t.now + $4::bigint, ",
            last!(),
            ") END, result = $5::bytea, changed_at = t.now FROM t \
                WHERE t.here AND r.key = $1::text::uuid AND r.state = 1 AND r.fence = $2::bigint \
                RETURNING ",
            columns!(),
            ", r.key), ",
            $queue!("changed"),
            " SELECT t.here, r.* FROM t LEFT JOIN changed r ON TRUE"
        )
    };
}

/// To a state in which the event is not done.
///
/// Always one row: whether the transaction is the one numbered 7, and what was written.
///
/// 1 key, 2 fence, 3 state, 4 wait, 5 result, 6 now, 7 transaction.
pub(super) const CHANGE: &str = change!(waits);

/// To `Processed` or `Dead`; otherwise as [`CHANGE`].
pub(super) const END: &str = change!(ended);

/// The queue's rows of receipts that are gone.
macro_rules! unqueued {
    () => {
        "unqueued AS (DELETE FROM webhook_inbox_due q USING gone WHERE q.key = gone.key)"
    };
}

/// Waits for claims under way of an event that has a row. 1 key.
pub(super) const FORGET: &str = concat!(
    "WITH alone AS MATERIALIZED (SELECT pg_advisory_xact_lock(",
    presence!(),
    ")::text AS taken FROM webhook_receipt r WHERE r.key = $1::text::uuid), \
     calm AS MATERIALIZED (SELECT ",
    calm!(),
    " FROM alone WHERE alone.taken IS NOT NULL), \
     gone AS (DELETE FROM webhook_receipt r USING calm \
        WHERE r.key = $1::text::uuid AND calm.taken IS NOT NULL RETURNING ",
    columns!(),
    ", r.key), ",
    unqueued!(),
    ", turn AS MATERIALIZED (SELECT gone.fence AS top, ",
    turn!(),
    " FROM gone) \
     SELECT ",
    remember!(),
    ", r.* FROM gone r, turn"
);

/// Oldest first, never one whose lease is running, none that waits in the inbox, and none that
/// somebody is at. Returns how many.
///
/// 1 now, 2 at most.
pub(super) const PURGE: &str = concat!(
    "WITH calm AS MATERIALIZED (SELECT ",
    calm!(),
    "), \
     t AS MATERIALIZED (SELECT ",
    now!("$1"),
    " AS now FROM calm WHERE calm.taken IS NOT NULL), \
     old AS MATERIALIZED (SELECT r.key FROM webhook_receipt r \
        WHERE r.expires_at <= (SELECT now FROM t) AND NOT (r.state = 1 \
           AND coalesce(r.lease_until > (SELECT now FROM t) AND r.lease_until - (SELECT now FROM t) \
              <= 2 * (r.lease_until - r.changed_at), FALSE)) \
           AND NOT (r.state IN (0, 1, 3) AND coalesce(\
              (SELECT TRUE FROM webhook_inbox_due q WHERE q.key = r.key), FALSE)) \
        ORDER BY r.expires_at LIMIT $2::bigint FOR UPDATE SKIP LOCKED), \
     alone AS MATERIALIZED (SELECT key FROM old WHERE pg_try_advisory_xact_lock(",
    presence!(of key),
    ")), \
     gone AS (DELETE FROM webhook_receipt WHERE key = ANY (ARRAY(SELECT key FROM alone)) \
        RETURNING fence, key), ",
    unqueued!(),
    ", total AS MATERIALIZED (SELECT count(*) AS rows, max(fence) AS top FROM gone), \
     turn AS MATERIALIZED (SELECT total.top, ",
    turn!(),
    " FROM total WHERE total.top > 0) \
     SELECT total.rows, ",
    remember!(),
    " FROM total LEFT JOIN turn ON TRUE"
);

mod batch;
mod claim;
mod stats;

pub(super) use batch::{CLAIM_MANY, FIND_MANY};
pub(super) use claim::{CLAIM, CLAIM_NEW};
pub(super) use stats::STATS;
#[cfg(feature = "inbox")]
pub(super) mod inbox;
#[cfg(feature = "inbox")]
pub(super) mod inbox_batch;
#[cfg(feature = "inbox")]
pub(super) mod review;
