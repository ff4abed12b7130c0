//! The tables, and how they are brought in.

/// The schema's version, as recorded by [`SCHEMA`].
pub(super) const VERSION: i64 = 1;

/// Creates what is missing and changes nothing that is there.
///
/// - Names are compared by their bytes, whatever the database's collation.
/// - The only index beside the key is on a column that is never updated, so every change of a row
///   stays on its page (HOT). The room for that is the fill factor's.
/// - `webhook_receipt_fence` holds the highest fence of all rows that were ever deleted. It is a
///   sequence because its value is read as it is now: a table would be read as it was when the
///   statement, or the caller's transaction, began.
macro_rules! schema {
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
INSERT INTO webhook_receipt_meta (one, version) VALUES (1, 1) ON CONFLICT DO NOTHING;
"
    };
}

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
