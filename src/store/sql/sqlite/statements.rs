//! Every statement that SQLite runs, as it runs.
//!
//! Times are microseconds since 1970 by the process's clock. `lease_until - changed_at` is the full
//! length of a lease or wait, which is what a clock that was set back is judged by.

/// The schema's version, as recorded by [`SCHEMA`]. What changed since version 1: the tables of
/// steps, objects, the inbox and reviews, and the trigger.
pub(super) const VERSION: i64 = 2;

/// The oldest version that [`SCHEMA`] brings up to date.
pub(super) const OLDEST_VERSION: i64 = 1;

/// The receipts, their steps, and objects.
///
/// The only index of receipts is on a column that is never updated. `fence` in the second table is
/// the highest one of all rows that were ever deleted. Steps go with their receipt, whoever deletes
/// it. `was_*` is the version before.
macro_rules! receipt_tables {
    () => {
        "\
CREATE TABLE IF NOT EXISTS webhook_receipt (
  key         BLOB    NOT NULL PRIMARY KEY CHECK (length(key) = 16),
  tenant      TEXT    NOT NULL,
  provider    TEXT    NOT NULL,
  event_id    TEXT    NOT NULL,
  body_hash   BLOB    NOT NULL CHECK (length(body_hash) = 16),
  state       INTEGER NOT NULL CHECK (state BETWEEN 0 AND 4),
  attempts    INTEGER NOT NULL,
  fence       INTEGER NOT NULL,
  lease_until INTEGER,
  received_at INTEGER NOT NULL,
  changed_at  INTEGER NOT NULL,
  expires_at  INTEGER NOT NULL,
  result      BLOB
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS webhook_receipt_expires ON webhook_receipt (expires_at);
CREATE TABLE IF NOT EXISTS webhook_receipt_meta (
  one     INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
  version INTEGER NOT NULL,
  fence   INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS webhook_effect (
  key         BLOB    NOT NULL CHECK (length(key) = 16),
  name        TEXT    NOT NULL,
  number      INTEGER NOT NULL CHECK (number BETWEEN 1 AND 32),
  fence       INTEGER NOT NULL,
  recorded_at INTEGER NOT NULL,
  result      BLOB    NOT NULL CHECK (length(result) <= 4096),
  PRIMARY KEY (key, name)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER IF NOT EXISTS webhook_receipt_gone AFTER DELETE ON webhook_receipt BEGIN
  DELETE FROM webhook_effect WHERE key = OLD.key;
END;
CREATE TABLE IF NOT EXISTS webhook_object (
  key          BLOB    NOT NULL PRIMARY KEY CHECK (length(key) = 16),
  tenant       TEXT    NOT NULL,
  kind         TEXT    NOT NULL,
  object_id    TEXT    NOT NULL,
  version_kind INTEGER NOT NULL CHECK (version_kind IN (1, 2)),
  version      INTEGER NOT NULL,
  tie          TEXT    NOT NULL,
  deleted_at   INTEGER,
  was_version  INTEGER,
  was_tie      TEXT,
  was_deleted  INTEGER,
  changed_at   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS webhook_object_deleted ON webhook_object (deleted_at)
  WHERE deleted_at IS NOT NULL;
"
    };
}

/// The inbox, since version 2: deliveries, which are written once and deleted, and the queue of
/// those that are not done. A row of the queue says when to look at the receipt, which decides.
macro_rules! inbox_tables {
    () => {
        "\
CREATE TABLE IF NOT EXISTS webhook_inbox (
  key         BLOB    NOT NULL PRIMARY KEY CHECK (length(key) = 16),
  accepted_at INTEGER NOT NULL,
  received_at INTEGER NOT NULL,
  sent_at     INTEGER,
  coverage    INTEGER NOT NULL,
  scheme      TEXT    NOT NULL,
  event_type  TEXT,
  key_id      TEXT,
  delivery_id TEXT,
  headers     BLOB    NOT NULL,
  body        BLOB    NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS webhook_inbox_accepted ON webhook_inbox (accepted_at);
CREATE TABLE IF NOT EXISTS webhook_inbox_due (
  key    BLOB    NOT NULL PRIMARY KEY CHECK (length(key) = 16),
  due_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS webhook_inbox_due_at ON webhook_inbox_due (due_at);
"
    };
}

/// Reviews, since version 2. A row is updated once, when it is resolved, and the indexes are for what
/// has to be found then: the open ones, and the old ones.
macro_rules! review_tables {
    () => {
        "\
CREATE TABLE IF NOT EXISTS webhook_review (
  id          BLOB    NOT NULL PRIMARY KEY CHECK (length(id) = 16),
  reason      INTEGER NOT NULL CHECK (reason IN (1, 2)),
  status      INTEGER NOT NULL CHECK (status BETWEEN 0 AND 2),
  tenant      TEXT    NOT NULL,
  provider    TEXT    NOT NULL,
  event_id    TEXT    NOT NULL,
  stored      BLOB    CHECK (length(stored) = 16),
  presented   BLOB    NOT NULL CHECK (length(presented) = 16),
  retention   INTEGER NOT NULL,
  kept_at     INTEGER NOT NULL,
  resolved_at INTEGER CHECK ((resolved_at IS NULL) = (status = 0)),
  received_at INTEGER NOT NULL,
  sent_at     INTEGER,
  coverage    INTEGER NOT NULL,
  scheme      TEXT    NOT NULL,
  event_type  TEXT,
  key_id      TEXT,
  delivery_id TEXT,
  body_bytes  INTEGER NOT NULL,
  headers     BLOB,
  body        BLOB    CHECK ((body IS NULL) = (resolved_at IS NOT NULL))
) STRICT;
CREATE INDEX IF NOT EXISTS webhook_review_open ON webhook_review (id) WHERE resolved_at IS NULL;
CREATE INDEX IF NOT EXISTS webhook_review_resolved ON webhook_review (resolved_at)
  WHERE resolved_at IS NOT NULL;
"
    };
}

/// Creates what is missing, and changes nothing that is there but an older version's number.
pub(super) const SCHEMA: &str = concat!(
    receipt_tables!(),
    inbox_tables!(),
    review_tables!(),
    "\
INSERT INTO webhook_receipt_meta (one, version, fence) VALUES (1, 2, 0)
  ON CONFLICT (one) DO UPDATE SET version = 2 WHERE version = 1;
"
);

/// Whether [`SCHEMA`] was ever run.
pub(super) const HAS_SCHEMA: &str =
    "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'webhook_receipt_meta'";

pub(super) const READ_VERSION: &str = "SELECT version FROM webhook_receipt_meta";

macro_rules! columns {
    () => {
        "tenant, provider, event_id, body_hash, state, attempts, fence, lease_until, received_at, \
         changed_at, expires_at, result"
    };
}

/// The first fence of a row that is inserted at this time.
macro_rules! first_fence {
    ($now:literal) => {
        concat!(
            "max(",
            $now,
            ", min((SELECT fence FROM webhook_receipt_meta), 9223372036854775806) + 1)"
        )
    };
}

#[cfg(feature = "inbox")]
pub(super) mod inbox;
#[cfg(feature = "inbox")]
pub(super) mod review;

pub(super) const FIND: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM webhook_receipt WHERE key = ?1"
);

/// Inserts, or takes over what may be claimed, or returns nothing: `Receipt::first` and the first
/// half of `Receipt::ruling`. The tests hold the two against each other.
///
/// 1 key, 2 tenant, 3 provider, 4 event id, 5 fingerprint, 6 now, 7 lease's end, 8 retention's
/// end, 9 most attempts.
pub(super) const CLAIM: &str = concat!(
    "INSERT INTO webhook_receipt AS r (key, tenant, provider, event_id, body_hash, state, attempts, \
        fence, lease_until, received_at, changed_at, expires_at, result) \
     VALUES (?1, ?2, ?3, ?4, ?5, 1, 1, ",
    first_fence!("?6"),
    ", ?7, ?6, ?6, ?8, NULL) \
     ON CONFLICT (key) DO UPDATE SET \
        state = 1, attempts = min(r.attempts, 4294967294) + 1, \
        fence = min(r.fence, 9223372036854775806) + 1, \
        lease_until = excluded.lease_until, changed_at = excluded.changed_at, result = NULL \
     WHERE r.tenant = excluded.tenant AND r.provider = excluded.provider \
        AND r.event_id = excluded.event_id AND r.body_hash = excluded.body_hash \
        AND (r.state = 0 OR (r.state = 3 OR (r.state = 1 AND r.attempts < ?9)) \
           AND coalesce(r.lease_until <= ?6 \
              OR r.lease_until - ?6 > 2 * (r.lease_until - r.changed_at), TRUE)) \
     RETURNING ",
    columns!()
);

/// Settles, renews, releases and buries: what only the holder of the last fence may write.
///
/// 1 key, 2 fence, 3 state, 4 until, 5 result, 6 now.
pub(super) const CHANGE: &str = concat!(
    "UPDATE webhook_receipt SET state = ?3, lease_until = ?4, result = ?5, changed_at = ?6 \
     WHERE key = ?1 AND state = 1 AND fence = ?2 RETURNING ",
    columns!()
);

/// Ends a lease that was dropped. 1 key, 2 fence, 3 now.
pub(super) const GIVE_BACK: &str = "UPDATE webhook_receipt SET lease_until = ?3 \
     WHERE key = ?1 AND state = 1 AND fence = ?2";

pub(super) const FORGET: &str = concat!(
    "DELETE FROM webhook_receipt WHERE key = ?1 RETURNING ",
    columns!()
);

/// Oldest first, never one whose lease is running, and none that waits in the inbox. 1 now, 2 at
/// most.
pub(super) const PURGE: &str = "DELETE FROM webhook_receipt WHERE key IN (\
        SELECT r.key FROM webhook_receipt r WHERE r.expires_at <= ?1 AND NOT (r.state = 1 \
           AND coalesce(r.lease_until > ?1 \
              AND r.lease_until - ?1 <= 2 * (r.lease_until - r.changed_at), FALSE)) \
           AND NOT (r.state IN (0, 1, 3) \
              AND EXISTS (SELECT 1 FROM webhook_inbox_due q WHERE q.key = r.key)) \
        ORDER BY r.expires_at LIMIT ?2) \
     RETURNING fence, key";

/// The queue follows a receipt that has changed: 1 key, 2 when to look again. Nothing happens where
/// the event is none of the inbox's.
pub(super) const QUEUE_UNTIL: &str = "UPDATE webhook_inbox_due SET due_at = ?2 WHERE key = ?1";

/// The event has ended, or is gone. 1 key.
pub(super) const UNQUEUE: &str = "DELETE FROM webhook_inbox_due WHERE key = ?1";

/// 1 key.
pub(super) const DROP_BODY: &str = "DELETE FROM webhook_inbox WHERE key = ?1";

/// Counts states and finds the oldest of what should have moved on: `StoreStats::add`. Reads all
/// rows. The counts by state, the oldest arrival, how many are overdue and since when, how many have
/// expired and since when. 1 now.
pub(super) const STATS: &str = "WITH judged AS (\
        SELECT state, received_at, expires_at, min(coalesce(lease_until, changed_at), ?1) AS since, \
           coalesce(lease_until > ?1 AND lease_until - ?1 <= 2 * (lease_until - changed_at), FALSE) \
              AS waiting \
        FROM webhook_receipt) \
     SELECT count(*) FILTER (WHERE state = 0), count(*) FILTER (WHERE state = 1), \
        count(*) FILTER (WHERE state = 2), count(*) FILTER (WHERE state = 3), \
        count(*) FILTER (WHERE state = 4), min(received_at), \
        count(*) FILTER (WHERE state = 0 OR (state IN (1, 3) AND NOT waiting)), \
        min(since) FILTER (WHERE state = 0 OR (state IN (1, 3) AND NOT waiting)), \
        count(*) FILTER (WHERE expires_at <= ?1 AND NOT (state = 1 AND waiting)), \
        min(expires_at) FILTER (WHERE expires_at <= ?1 AND NOT (state = 1 AND waiting)) \
     FROM judged";

/// Remembers the highest fence of deleted rows.
pub(super) const REMEMBER: &str = "UPDATE webhook_receipt_meta SET fence = max(fence, ?1)";

macro_rules! object {
    () => {
        "tenant, kind, object_id, version_kind, version, tie, deleted_at IS NOT NULL"
    };
}

pub(super) const FIND_OBJECT: &str =
    concat!("SELECT ", object!(), " FROM webhook_object WHERE key = ?1");

/// Inserts, or changes what is older, or returns nothing: `Version::judge`. What it returns is the
/// version before.
///
/// 1 key, 2 tenant, 3 kind, 4 id, 5 kind of version, 6 version, 7 tie-break, 8 time of the deletion
/// if it is one, 9 now.
pub(super) const ADVANCE: &str = "\
     INSERT INTO webhook_object AS o (key, tenant, kind, object_id, version_kind, version, tie, \
        deleted_at, was_version, was_tie, was_deleted, changed_at) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, NULL, NULL, NULL, ?9) \
     ON CONFLICT (key) DO UPDATE SET \
        version = excluded.version, tie = excluded.tie, deleted_at = excluded.deleted_at, \
        was_version = o.version, was_tie = o.tie, was_deleted = o.deleted_at IS NOT NULL, \
        changed_at = excluded.changed_at \
     WHERE o.tenant = excluded.tenant AND o.kind = excluded.kind \
        AND o.object_id = excluded.object_id AND o.version_kind = excluded.version_kind \
        AND (o.version, o.tie, o.deleted_at IS NOT NULL) \
           < (excluded.version, excluded.tie, excluded.deleted_at IS NOT NULL) \
     RETURNING version_kind, was_version, was_tie, was_deleted";

pub(super) const FORGET_OBJECT: &str = concat!(
    "DELETE FROM webhook_object WHERE key = ?1 RETURNING ",
    object!()
);

/// Oldest first. 1 deleted then or earlier, 2 at most.
pub(super) const PURGE_DELETED: &str = "DELETE FROM webhook_object WHERE key IN (\
        SELECT key FROM webhook_object WHERE deleted_at <= ?1 ORDER BY deleted_at LIMIT ?2)";

/// Always one row: whether the lease stands, how many steps are recorded, and the step if it is.
///
/// 1 key, 2 fence, 3 name.
pub(super) const LOOK_UP: &str = "\
     SELECT EXISTS (SELECT 1 FROM webhook_receipt WHERE key = ?1 AND state = 1 AND fence = ?2), \
        (SELECT count(*) FROM webhook_effect WHERE key = ?1), \
        e.name, e.number, e.fence, e.recorded_at, e.result \
     FROM (SELECT 1) LEFT JOIN webhook_effect e ON e.key = ?1 AND e.name = ?3";

/// What only the holder of the last fence may write; nothing if it is written, or there is no room.
///
/// 1 key, 2 fence, 3 name, 4 now, 5 result, 6 most.
pub(super) const RECORD: &str = "\
     INSERT INTO webhook_effect (key, name, number, fence, recorded_at, result) \
     SELECT r.key, ?3, (SELECT count(*) FROM webhook_effect WHERE key = ?1) + 1, r.fence, ?4, ?5 \
     FROM webhook_receipt r WHERE r.key = ?1 AND r.state = 1 AND r.fence = ?2 \
        AND (SELECT count(*) FROM webhook_effect WHERE key = ?1) < ?6 \
     ON CONFLICT DO NOTHING RETURNING name, number, fence, recorded_at, result";

/// In the order in which they were recorded. 1 key, 2 tenant, 3 provider, 4 event id.
pub(super) const EFFECTS: &str = "\
     SELECT e.name, e.number, e.fence, e.recorded_at, e.result \
     FROM webhook_effect e JOIN webhook_receipt r ON r.key = e.key \
     WHERE e.key = ?1 AND r.tenant = ?2 AND r.provider = ?3 AND r.event_id = ?4 \
     ORDER BY e.number";

/// Takes the write lock and writes nothing.
pub(super) const LOCK: &str = "UPDATE webhook_receipt_meta SET fence = fence WHERE FALSE";

pub(super) const BEGIN: &str = "BEGIN IMMEDIATE";
pub(super) const COMMIT: &str = "COMMIT";
pub(super) const ROLLBACK: &str = "ROLLBACK";
pub(super) const SAVE: &str = "SAVEPOINT hookproof";
pub(super) const KEEP: &str = "RELEASE hookproof";
pub(super) const UNDO: &str = "ROLLBACK TO hookproof";

pub(super) const READ_JOURNAL: &str = "PRAGMA journal_mode";
pub(super) const SET_WAL: &str = "PRAGMA journal_mode = WAL";
pub(super) const SYNC_FULL: &str = "PRAGMA synchronous = FULL";
pub(super) const SYNC_NORMAL: &str = "PRAGMA synchronous = NORMAL";
pub(super) const READS_ONLY: &str = "PRAGMA query_only = TRUE";
