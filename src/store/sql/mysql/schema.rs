//! The tables, and how they are brought in.

/// The schema's version, as recorded by [`SCHEMA`]. What changed since version 1: the tables of
/// steps, objects, the inbox and reviews.
pub(super) const VERSION: i64 = 2;

/// The oldest version that [`SCHEMA`] brings up to date.
pub(super) const OLDEST_VERSION: i64 = 1;

/// 0 to 15.
macro_rules! digits {
    () => {
        "(SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 \
         UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 \
         UNION ALL SELECT 9 UNION ALL SELECT 10 UNION ALL SELECT 11 UNION ALL SELECT 12 \
         UNION ALL SELECT 13 UNION ALL SELECT 14 UNION ALL SELECT 15)"
    };
}

/// The receipts, their steps, and objects.
///
/// - Names and ids are bytes: the usual collations take `evt_Ab` for `evt_aB`, and almost all take
///   `evt` for `evt `.
/// - The only index beside the receipts' key is on a column that is never updated.
/// - `slot` is the key's first two bytes; `statements.rs` says what slots are for. All of them take
///   2 to 3 MB.
/// - Steps go with their receipt by the foreign key.
/// - `deleted_at` is null for all but deletions, so that other changes leave its index alone.
macro_rules! receipt_tables {
    () => {
        "\
CREATE TABLE IF NOT EXISTS webhook_receipt (
  `key`       binary(16)        NOT NULL PRIMARY KEY,
  slot        smallint unsigned NOT NULL,
  mark        bigint            NOT NULL,
  attempts    bigint            NOT NULL,
  fence       bigint            NOT NULL,
  lease_until bigint,
  received_at bigint            NOT NULL,
  changed_at  bigint            NOT NULL,
  expires_at  bigint            NOT NULL,
  state       tinyint           NOT NULL CHECK (state BETWEEN 0 AND 4),
  body_hash   binary(16)        NOT NULL,
  tenant      varbinary(255)    NOT NULL,
  provider    varbinary(255)    NOT NULL,
  event_id    varbinary(2048)   NOT NULL,
  result      varbinary(4096),
  KEY webhook_receipt_expires (expires_at)
) ENGINE = InnoDB;
CREATE TABLE IF NOT EXISTS webhook_receipt_slot (
  slot  smallint unsigned NOT NULL PRIMARY KEY,
  fence bigint            NOT NULL
) ENGINE = InnoDB;
CREATE TABLE IF NOT EXISTS webhook_receipt_meta (
  one     tinyint NOT NULL PRIMARY KEY CHECK (one = 1),
  version bigint  NOT NULL
) ENGINE = InnoDB;
CREATE TABLE IF NOT EXISTS webhook_effect (
  `key`       binary(16)      NOT NULL,
  fence       bigint          NOT NULL,
  recorded_at bigint          NOT NULL,
  number      tinyint         NOT NULL CHECK (number BETWEEN 1 AND 32),
  name        varbinary(64)   NOT NULL,
  result      varbinary(4096) NOT NULL,
  PRIMARY KEY (`key`, number),
  UNIQUE KEY webhook_effect_name (`key`, name),
  CONSTRAINT webhook_effect_receipt FOREIGN KEY (`key`) REFERENCES webhook_receipt (`key`)
    ON DELETE CASCADE
) ENGINE = InnoDB;
CREATE TABLE IF NOT EXISTS webhook_object (
  `key`        binary(16)      NOT NULL PRIMARY KEY,
  mark         bigint          NOT NULL,
  version      bigint          NOT NULL,
  deleted_at   bigint,
  changed_at   bigint          NOT NULL,
  version_kind tinyint         NOT NULL CHECK (version_kind IN (1, 2)),
  tenant       varbinary(255)  NOT NULL,
  kind         varbinary(255)  NOT NULL,
  object_id    varbinary(2048) NOT NULL,
  tie          varbinary(255)  NOT NULL,
  KEY webhook_object_deleted (deleted_at)
) ENGINE = InnoDB;
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
macro_rules! inbox_tables {
    () => {
        "\
CREATE TABLE IF NOT EXISTS webhook_inbox (
  `key`       binary(16)      NOT NULL PRIMARY KEY,
  accepted_at bigint          NOT NULL,
  received_at bigint          NOT NULL,
  sent_at     bigint,
  coverage    bigint          NOT NULL,
  tenant      varbinary(255)  NOT NULL,
  scheme      varbinary(1020) NOT NULL,
  event_type  varbinary(1020),
  key_id      varbinary(1020),
  delivery_id varbinary(1020),
  headers     longblob        NOT NULL,
  body        longblob        NOT NULL,
  KEY webhook_inbox_accepted (accepted_at),
  CONSTRAINT webhook_inbox_receipt FOREIGN KEY (`key`) REFERENCES webhook_receipt (`key`)
    ON DELETE CASCADE
) ENGINE = InnoDB;
CREATE TABLE IF NOT EXISTS webhook_inbox_due (
  `key`  binary(16)     NOT NULL PRIMARY KEY,
  due_at bigint         NOT NULL,
  tenant varbinary(255) NOT NULL,
  KEY webhook_inbox_due_at (due_at)
) ENGINE = InnoDB;
"
    };
}

/// What was kept for review, since version 2. A row is written once, and once more when it is
/// resolved, which is when its body goes.
///
/// - By status, in the order of their ids, they are listed.
/// - By age they are purged: the open ones by when they were kept, the others by when they were
///   resolved.
macro_rules! review_tables {
    () => {
        "\
CREATE TABLE IF NOT EXISTS webhook_review (
  id          binary(16)      NOT NULL PRIMARY KEY,
  retention   bigint          NOT NULL,
  body_bytes  bigint          NOT NULL,
  kept_at     bigint          NOT NULL,
  resolved_at bigint,
  received_at bigint          NOT NULL,
  sent_at     bigint,
  coverage    bigint          NOT NULL,
  reason      tinyint         NOT NULL CHECK (reason IN (1, 2)),
  status      tinyint         NOT NULL CHECK (status BETWEEN 0 AND 2),
  stored      binary(16),
  presented   binary(16)      NOT NULL,
  tenant      varbinary(255)  NOT NULL,
  provider    varbinary(255)  NOT NULL,
  event_id    varbinary(2048) NOT NULL,
  scheme      varbinary(1020) NOT NULL,
  event_type  varbinary(1020),
  key_id      varbinary(1020),
  delivery_id varbinary(1020),
  headers     longblob,
  body        longblob,
  KEY webhook_review_status (status, id),
  KEY webhook_review_age (resolved_at, kept_at),
  CHECK ((resolved_at IS NULL) = (status = 0)),
  CHECK ((resolved_at IS NULL) = (body IS NOT NULL))
) ENGINE = InnoDB;
"
    };
}

/// Creates what is missing, and changes nothing that is there but an older version's number. The
/// version comes last: while it is not there, nothing is taken for complete.
pub(super) const SCHEMA: &str = concat!(
    receipt_tables!(),
    inbox_tables!(),
    review_tables!(),
    "\
INSERT INTO webhook_receipt_slot (slot, fence)
  SELECT a.n + 16 * b.n + 256 * c.n + 4096 * d.n, 0
  FROM ",
    digits!(),
    " a,\n  ",
    digits!(),
    " b,\n  ",
    digits!(),
    " c,\n  ",
    digits!(),
    " d
  WHERE NOT EXISTS (SELECT 1 FROM webhook_receipt_meta)
  ON DUPLICATE KEY UPDATE webhook_receipt_slot.fence = webhook_receipt_slot.fence;
INSERT INTO webhook_receipt_meta (one, version) VALUES (1, 2)
  ON DUPLICATE KEY UPDATE webhook_receipt_meta.version
    = IF(webhook_receipt_meta.version = 1, 2, webhook_receipt_meta.version);
"
);

pub(super) const HAS_META: &str = "SELECT COUNT(*) FROM information_schema.tables \
     WHERE table_schema = DATABASE() AND table_name = 'webhook_receipt_meta'";

pub(super) const READ_VERSION: &str = "SELECT MAX(version) FROM webhook_receipt_meta";

/// By one at a time. It is the session's, so it goes with the connection if nothing else releases
/// it. The database's name may be as long as a lock's.
pub(super) const LOCK: &str = "SELECT GET_LOCK(CONCAT('hookproof.', SHA1(DATABASE())), 60)";

/// For a session whose default is another.
pub(super) const AUTOCOMMIT: &str = "SET autocommit = 1";
