//! What the table holds, in numbers.

/// Counts states and finds the oldest of what should have moved on: `StoreStats::add`. Reads up to
/// so many bytes of the table: all of it, or pages chosen at random, and scales the counts up.
///
/// Always one row: the time, whether all was read, the counts by state, the oldest arrival, how many
/// are overdue and since when, how many have expired and since when.
///
/// 1 now, 2 most bytes.
pub(in super::super) const STATS: &str = concat!(
    "WITH t AS MATERIALIZED (SELECT ",
    now!("$1"),
    " AS now, ",
    share!(),
    " AS share), \
     sample AS (SELECT r.state, r.received_at, r.changed_at, r.expires_at, r.lease_until, \
           coalesce(r.lease_until > (SELECT now FROM t) AND r.lease_until - (SELECT now FROM t) \
              <= 2 * (r.lease_until - r.changed_at), FALSE) AS waiting \
        FROM webhook_receipt r TABLESAMPLE SYSTEM (100 * ",
    share!(),
    ")), \
     judged AS (SELECT s.*, s.state = 0 OR (s.state IN (1, 3) AND NOT s.waiting) AS overdue, \
           s.expires_at <= (SELECT now FROM t) AND NOT (s.state = 1 AND s.waiting) AS expired \
        FROM sample s) \
     SELECT (SELECT now FROM t), (SELECT share >= 1 FROM t), ",
    scaled!("j.state = 0"),
    ", ",
    scaled!("j.state = 1"),
    ", ",
    scaled!("j.state = 2"),
    ", ",
    scaled!("j.state = 3"),
    ", ",
    scaled!("j.state = 4"),
    ", min(j.received_at), ",
    scaled!("j.overdue"),
    ", min(least(coalesce(j.lease_until, j.changed_at), (SELECT now FROM t))) \
        FILTER (WHERE j.overdue), ",
    scaled!("j.expired"),
    ", min(j.expires_at) FILTER (WHERE j.expired) FROM judged j"
);
