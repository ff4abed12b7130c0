//! The tables, and how they are brought in.

/// The schema's version, as recorded by [`SCHEMA`].
pub(super) const VERSION: i64 = 2;

/// The oldest version that [`SCHEMA`] makes the current one of, by what it adds.
pub(super) const OLDEST_VERSION: i64 = 1;

/// The receipts.
///
/// - Names are compared by their bytes, whatever the database's collation.
/// - The only index beside the key is on a column that is never updated, so every change of a row
///   stays on its page (HOT). The room for that is the fill factor's.
/// - `webhook_receipt_fence` holds the highest fence of all rows that were ever deleted. It is a
///   sequence because its value is read as it is now: a table would be read as it was when the
///   statement, or the caller's transaction, began.
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
"
    };
}

/// The inbox, since version 2.
///
/// - `webhook_inbox` holds deliveries. Its rows are written once and deleted, and lie apart from
///   the receipts because those are written over and these are long.
/// - `webhook_inbox_due` is the queue of those that are not done. A row of it says when to look at
///   the receipt, which decides. Times to look at change with each attempt and need an index; in
///   this small table that costs the receipts nothing.
macro_rules! inbox_tables {
    () => {
        "\
CREATE TABLE IF NOT EXISTS webhook_inbox (
  key         uuid     NOT NULL PRIMARY KEY,
  accepted_at bigint   NOT NULL,
  received_at bigint   NOT NULL,
  sent_at     bigint,
  coverage    bigint   NOT NULL,
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
  due_at bigint NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX IF NOT EXISTS webhook_inbox_due_at ON webhook_inbox_due (due_at);
"
    };
}

macro_rules! schema {
    () => {
        concat!(
            receipt_tables!(),
            inbox_tables!(),
            "\
INSERT INTO webhook_receipt_meta (one, version) VALUES (1, 2) ON CONFLICT DO NOTHING;
UPDATE webhook_receipt_meta SET version = 2 WHERE version = 1;
"
        )
    };
}

/// Creates what is missing, and changes nothing that is there but the version.
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
