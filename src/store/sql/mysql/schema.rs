//! The tables, and how they are brought in.

/// The schema's version, as recorded by [`SCHEMA`].
pub(super) const VERSION: i64 = 1;

/// 0 to 15.
macro_rules! digits {
    () => {
        "(SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 \
         UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 \
         UNION ALL SELECT 9 UNION ALL SELECT 10 UNION ALL SELECT 11 UNION ALL SELECT 12 \
         UNION ALL SELECT 13 UNION ALL SELECT 14 UNION ALL SELECT 15)"
    };
}

/// Creates what is missing and changes nothing that is there. The version comes last: while it is
/// not there, nothing is taken for complete.
///
/// - Names and ids are bytes: the usual collations take `evt_Ab` for `evt_aB`, and almost all take
///   `evt` for `evt `.
/// - The only index beside the key is on a column that is never updated.
/// - `slot` is the key's first two bytes; `statements.rs` says what slots are for. All of them take
///   2 to 3 MB.
pub(super) const SCHEMA: &str = concat!(
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
INSERT INTO webhook_receipt_meta (one, version)
  SELECT 1, 1 FROM (SELECT 1 AS one) AS t WHERE NOT EXISTS (SELECT 1 FROM webhook_receipt_meta)
  ON DUPLICATE KEY UPDATE webhook_receipt_meta.version = webhook_receipt_meta.version;
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
