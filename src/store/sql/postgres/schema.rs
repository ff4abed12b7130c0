//! The tables, and how they are brought in.

/// The schema's version, as recorded by [`SCHEMA`]. What changed since version 1: the tables of
/// steps, objects, the inbox and reviews.
pub(super) const VERSION: i64 = 2;

/// The oldest version that [`SCHEMA`] brings up to date.
pub(super) const OLDEST_VERSION: i64 = 1;

/// The receipts, their steps, and objects.
///
/// - Names are compared by their bytes, whatever the database's collation.
/// - The only index beside the key is on a column that is never updated, so every change of a row
///   stays on its page (HOT). The room for that is the fill factor's.
/// - `webhook_receipt_fence` holds the highest fence of all rows that were ever deleted. It is a
///   sequence because its value is read as it is now: a table would be read as it was when the
///   statement, or the caller's transaction, began.
/// - Steps go with their receipt by the foreign key: also those that are recorded while a statement
///   that deletes the receipt waits for its lock, which the statement itself would not see.
/// - `was_*` is the version before. `deleted_at` is null for all but deletions, so its index does
///   not keep other changes from staying on their page.
macro_rules! receipt_tables {
    () => {
        "\
CREATE TABLE IF NOT EXISTS webhook_receipt (
  key         uuid     NOT NULL PRIMARY KEY,
  attempts    bigint   NOT NULL,
  fence       bigint   NOT NULL,
  lease_until bigint,
  received_at bigint   NOT NULL,
  changed_at  bigint   NOT NULL,
  expires_at  bigint   NOT NULL,
  state       smallint NOT NULL CHECK (state BETWEEN 0 AND 4),
  body_hash   bytea    NOT NULL CHECK (octet_length(body_hash) = 16),
  tenant      text     COLLATE \"C\" NOT NULL,
  provider    text     COLLATE \"C\" NOT NULL,
  event_id    text     COLLATE \"C\" NOT NULL,
  result      bytea    CHECK (octet_length(result) <= 4096)
) WITH (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX IF NOT EXISTS webhook_receipt_expires ON webhook_receipt (expires_at);
CREATE SEQUENCE IF NOT EXISTS webhook_receipt_fence MINVALUE 0 START 0;
CREATE TABLE IF NOT EXISTS webhook_receipt_meta (
  one     integer NOT NULL PRIMARY KEY CHECK (one = 1),
  version bigint  NOT NULL
);
CREATE TABLE IF NOT EXISTS webhook_effect (
  key         uuid     NOT NULL REFERENCES webhook_receipt ON DELETE CASCADE,
  fence       bigint   NOT NULL,
  recorded_at bigint   NOT NULL,
  number      smallint NOT NULL CHECK (number BETWEEN 1 AND 32),
  name        text     COLLATE \"C\" NOT NULL,
  result      bytea    NOT NULL CHECK (octet_length(result) <= 4096),
  PRIMARY KEY (key, number),
  UNIQUE (key, name)
);
CREATE TABLE IF NOT EXISTS webhook_object (
  key          uuid     NOT NULL PRIMARY KEY,
  version      bigint   NOT NULL,
  was_version  bigint,
  deleted_at   bigint,
  changed_at   bigint   NOT NULL,
  version_kind smallint NOT NULL CHECK (version_kind IN (1, 2)),
  was_deleted  boolean,
  tenant       text     COLLATE \"C\" NOT NULL,
  kind         text     COLLATE \"C\" NOT NULL,
  object_id    text     COLLATE \"C\" NOT NULL,
  tie          text     COLLATE \"C\" NOT NULL,
  was_tie      text     COLLATE \"C\"
) WITH (fillfactor = 90);
CREATE INDEX IF NOT EXISTS webhook_object_deleted ON webhook_object (deleted_at)
  WHERE deleted_at IS NOT NULL;
"
    };
}

/// The inbox, since version 2.
///
/// - `webhook_inbox` holds deliveries. Its rows are written once and deleted, and lie apart from
///   the receipts because those are written over and these are long. They go with their receipt.
/// - `webhook_inbox_due` is the queue of those that are not done. A row of it says when to look at
///   the receipt, which decides. Times to look at change with each attempt and need an index; in
///   this small table that costs the receipts nothing.
/// - Both have the tenant again, for row-level security: a policy that looked at the receipt would
///   not see one that the same statement inserts.
macro_rules! inbox_tables {
    () => {
        "\
CREATE TABLE IF NOT EXISTS webhook_inbox (
  key         uuid     NOT NULL PRIMARY KEY REFERENCES webhook_receipt ON DELETE CASCADE,
  accepted_at bigint   NOT NULL,
  received_at bigint   NOT NULL,
  sent_at     bigint,
  coverage    bigint   NOT NULL,
  tenant      text     COLLATE \"C\" NOT NULL,
  scheme      text     COLLATE \"C\" NOT NULL,
  event_type  text     COLLATE \"C\",
  key_id      text     COLLATE \"C\",
  delivery_id text     COLLATE \"C\",
  headers     bytea    NOT NULL,
  body        bytea    NOT NULL
);
CREATE INDEX IF NOT EXISTS webhook_inbox_accepted ON webhook_inbox (accepted_at);
CREATE TABLE IF NOT EXISTS webhook_inbox_due (
  key    uuid   NOT NULL PRIMARY KEY,
  due_at bigint NOT NULL,
  tenant text   COLLATE \"C\" NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX IF NOT EXISTS webhook_inbox_due_at ON webhook_inbox_due (due_at);
"
    };
}

/// Reviews, since version 2.
///
/// - A row is updated once, when it is resolved, which is when its body goes. The indexes are for
///   what has to be found among many: the open ones, and the old ones of the others.
/// - It refers to no receipt: that of a conflict may be purged, and a stale delivery may have none.
macro_rules! review_tables {
    () => {
        "\
CREATE TABLE IF NOT EXISTS webhook_review (
  id          uuid     NOT NULL PRIMARY KEY,
  retention   bigint   NOT NULL,
  body_bytes  bigint   NOT NULL,
  kept_at     bigint   NOT NULL,
  resolved_at bigint   CHECK ((resolved_at IS NULL) = (status = 0)),
  received_at bigint   NOT NULL,
  sent_at     bigint,
  coverage    bigint   NOT NULL,
  reason      smallint NOT NULL CHECK (reason IN (1, 2)),
  status      smallint NOT NULL CHECK (status BETWEEN 0 AND 2),
  stored      bytea    CHECK (octet_length(stored) = 16),
  presented   bytea    NOT NULL CHECK (octet_length(presented) = 16),
  tenant      text     COLLATE \"C\" NOT NULL,
  provider    text     COLLATE \"C\" NOT NULL,
  event_id    text     COLLATE \"C\" NOT NULL,
  scheme      text     COLLATE \"C\" NOT NULL,
  event_type  text     COLLATE \"C\",
  key_id      text     COLLATE \"C\",
  delivery_id text     COLLATE \"C\",
  headers     bytea,
  body        bytea    CHECK ((body IS NULL) = (resolved_at IS NOT NULL))
);
CREATE INDEX IF NOT EXISTS webhook_review_open ON webhook_review (id) WHERE resolved_at IS NULL;
CREATE INDEX IF NOT EXISTS webhook_review_resolved ON webhook_review (resolved_at)
  WHERE resolved_at IS NOT NULL;
"
    };
}

macro_rules! schema {
    () => {
        concat!(
            receipt_tables!(),
            inbox_tables!(),
            review_tables!(),
            "\
INSERT INTO webhook_receipt_meta (one, version) VALUES (1, 2)
  ON CONFLICT (one) DO UPDATE SET version = 2 WHERE webhook_receipt_meta.version = 1;
"
        )
    };
}

/// Creates what is missing, and changes nothing that is there but an older version's number.
pub(super) const SCHEMA: &str = schema!();

/// The same by one at a time: `IF NOT EXISTS` alone fails when two look at once. Sent as one
/// message, it is one transaction.
pub(super) const MIGRATE: &str = concat!(
    "SELECT pg_advisory_xact_lock(7521983170412265573);\n",
    schema!()
);

/// The version, or nothing where [`SCHEMA`] was never run; and whether the database can hold
/// every id. The table is named in a text, since it may not be there.
pub(super) const HAS_SCHEMA: &str = "SELECT to_regclass('webhook_receipt_meta') IS NOT NULL, \
     current_setting('server_encoding') = 'UTF8'";

pub(super) const READ_VERSION: &str = "SELECT max(version) FROM webhook_receipt_meta";
