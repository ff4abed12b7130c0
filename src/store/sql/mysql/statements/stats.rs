//! What the table holds, in numbers.

macro_rules! counted {
    ($condition:expr) => {
        concat!("CAST(COUNT(IF(", $condition, ", 1, NULL)) AS SIGNED), ")
    };
}

/// Whether a lease or a wait is running: `Receipt::is_waiting`.
macro_rules! waiting {
    () => {
        "COALESCE(r.lease_until > t.now \
         AND r.lease_until - t.now <= 2 * (r.lease_until - r.changed_at), FALSE)"
    };
}

macro_rules! overdue {
    () => {
        concat!(
            "(r.state = 0 OR (r.state IN (1, 3) AND (NOT ",
            waiting!(),
            ")))"
        )
    };
}

macro_rules! expired {
    () => {
        concat!(
            "(r.expires_at <= t.now AND (NOT (r.state = 1 AND ",
            waiting!(),
            ")))"
        )
    };
}

/// The time, whether statements are transactions of their own, whether what is not committed can be
/// seen, and about how many bytes the receipts take.
///
/// now.
pub(in super::super) const SIZE: &str = concat!(
    "SELECT ",
    now!(),
    ", @@autocommit, ",
    uncommitted!(),
    ", (SELECT CAST(MAX(i.data_length) AS SIGNED) FROM information_schema.tables i \
     WHERE i.table_schema = DATABASE() AND i.table_name = 'webhook_receipt')"
);

/// Counts states and finds the oldest of what should have moved on, of the receipts whose keys are
/// between two: `StoreStats::add`.
///
/// Always one row: the counts by state, the oldest arrival, how many are overdue and since when, how
/// many have expired and since when.
///
/// now, lowest key, highest key.
pub(in super::super) const STATS: &str = concat!(
    "SELECT ",
    counted!("r.state = 0"),
    counted!("r.state = 1"),
    counted!("r.state = 2"),
    counted!("r.state = 3"),
    counted!("r.state = 4"),
    "MIN(r.received_at), ",
    counted!(overdue!()),
    "MIN(IF(",
    overdue!(),
    ", LEAST(COALESCE(r.lease_until, r.changed_at), t.now), NULL)), ",
    counted!(expired!()),
    "MIN(IF(",
    expired!(),
    ", r.expires_at, NULL)) FROM (SELECT CAST(? AS SIGNED) AS now) t \
     STRAIGHT_JOIN webhook_receipt r FORCE INDEX (PRIMARY) \
     WHERE r.`key` BETWEEN CAST(? AS BINARY(16)) AND CAST(? AS BINARY(16))"
);
