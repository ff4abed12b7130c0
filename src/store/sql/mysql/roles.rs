//! Who may do what, as a script for the tables' owner.

/// Four roles without a login. What a gateway may change leaves out what names an event, its content
/// and its retention; deliveries, and steps that are recorded, nobody changes.
///
/// Reviews are kept by gateways and resolved by workers. To admit one is to insert a receipt and a
/// delivery as well, so it takes both roles: an operator's user, and no worker by itself.
///
/// Tables are named without a database, so it is the connection's own. Nothing is revoked: neither
/// server can revoke what may not have been granted, and services go on while it is run.
///
/// MySQL lets only those lock a row who may update a column of its table, or delete from it; MariaDB
/// asks for no more than to read. The difference is one grant, on the number of a slot. MariaDB lets
/// only those write `ON DUPLICATE KEY UPDATE` who may update every column that is inserted.
pub(super) const ROLES: &str = "\
CREATE ROLE IF NOT EXISTS webhook_gateway;
CREATE ROLE IF NOT EXISTS webhook_worker;
CREATE ROLE IF NOT EXISTS webhook_janitor;
CREATE ROLE IF NOT EXISTS webhook_auditor;

GRANT SELECT, INSERT (`key`, slot, mark, tenant, provider, event_id, body_hash, state, attempts,
  fence, lease_until, received_at, changed_at, expires_at, result),
  UPDATE (mark, state, attempts, fence, lease_until, changed_at, result)
  ON webhook_receipt TO webhook_gateway;
GRANT SELECT, UPDATE (mark, state, attempts, fence, lease_until, changed_at, result)
  ON webhook_receipt TO webhook_worker;
GRANT SELECT, DELETE ON webhook_receipt TO webhook_janitor;
GRANT SELECT ON webhook_receipt TO webhook_auditor;

GRANT SELECT /*!80000 , UPDATE (slot) */ ON webhook_receipt_slot TO webhook_gateway;
GRANT SELECT ON webhook_receipt_slot TO webhook_worker;
GRANT SELECT, INSERT, UPDATE ON webhook_receipt_slot TO webhook_janitor;
GRANT SELECT ON webhook_receipt_slot TO webhook_auditor;

GRANT SELECT ON webhook_receipt_meta TO webhook_gateway;
GRANT SELECT ON webhook_receipt_meta TO webhook_worker;
GRANT SELECT ON webhook_receipt_meta TO webhook_janitor;
GRANT SELECT ON webhook_receipt_meta TO webhook_auditor;

GRANT SELECT, INSERT ON webhook_effect TO webhook_gateway;
GRANT SELECT, INSERT ON webhook_effect TO webhook_worker;
GRANT SELECT ON webhook_effect TO webhook_janitor;
GRANT SELECT ON webhook_effect TO webhook_auditor;

GRANT SELECT, INSERT, UPDATE (mark, version, deleted_at, changed_at, version_kind, tie)
  ON webhook_object TO webhook_gateway;
GRANT SELECT, INSERT, UPDATE (mark, version, deleted_at, changed_at, version_kind, tie)
  ON webhook_object TO webhook_worker;
GRANT SELECT, DELETE ON webhook_object TO webhook_janitor;
GRANT SELECT ON webhook_object TO webhook_auditor;

GRANT SELECT, INSERT ON webhook_inbox TO webhook_gateway;
GRANT SELECT ON webhook_inbox TO webhook_worker;
GRANT SELECT, DELETE ON webhook_inbox TO webhook_janitor;
GRANT SELECT ON webhook_inbox TO webhook_auditor;

GRANT SELECT, INSERT, UPDATE (due_at), DELETE ON webhook_inbox_due TO webhook_gateway;
GRANT SELECT, INSERT, UPDATE (due_at), DELETE ON webhook_inbox_due TO webhook_worker;
GRANT SELECT, DELETE ON webhook_inbox_due TO webhook_janitor;
GRANT SELECT ON webhook_inbox_due TO webhook_auditor;

GRANT SELECT, INSERT ON webhook_review TO webhook_gateway;
GRANT SELECT, UPDATE (status, resolved_at, headers, body) ON webhook_review TO webhook_worker;
GRANT SELECT, DELETE ON webhook_review TO webhook_janitor;
GRANT SELECT ON webhook_review TO webhook_auditor;
";
