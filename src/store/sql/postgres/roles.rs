//! Who may do what, as scripts for the tables' owner.

/// Four roles without a login. What a gateway may change leaves out what names an event, its
/// content and its retention. The schema's name is not known here, hence the block.
pub(super) const ROLES: &str = "\
DO $roles$
DECLARE
  one text;
BEGIN
  FOREACH one IN ARRAY ARRAY['webhook_gateway', 'webhook_worker', 'webhook_janitor', 'webhook_auditor']
  LOOP
    BEGIN
      EXECUTE format('CREATE ROLE %I NOLOGIN', one);
    EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
    END;
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', current_schema(), one);
  END LOOP;
  EXECUTE format('REVOKE CREATE ON SCHEMA %I FROM PUBLIC', current_schema());
END
$roles$;

REVOKE ALL ON webhook_receipt, webhook_receipt_meta
  FROM PUBLIC, webhook_gateway, webhook_worker, webhook_janitor, webhook_auditor;
REVOKE ALL ON SEQUENCE webhook_receipt_fence
  FROM PUBLIC, webhook_gateway, webhook_worker, webhook_janitor, webhook_auditor;

GRANT SELECT ON webhook_receipt, webhook_receipt_meta
  TO webhook_gateway, webhook_worker, webhook_janitor, webhook_auditor;
GRANT SELECT ON SEQUENCE webhook_receipt_fence TO webhook_gateway, webhook_janitor;

GRANT INSERT (key, tenant, provider, event_id, body_hash, state, attempts, fence, lease_until,
  received_at, changed_at, expires_at, result) ON webhook_receipt TO webhook_gateway;
GRANT UPDATE (state, attempts, fence, lease_until, changed_at, result)
  ON webhook_receipt TO webhook_gateway;

GRANT UPDATE (state, lease_until, changed_at, result) ON webhook_receipt TO webhook_worker;

-- A purge passes over rows that somebody has locked, and PostgreSQL lets only those lock a row who
-- may update a column of it: this one, which can hold nothing.
ALTER TABLE webhook_receipt ADD COLUMN IF NOT EXISTS janitor boolean;
ALTER TABLE webhook_receipt DROP CONSTRAINT IF EXISTS webhook_receipt_janitor;
ALTER TABLE webhook_receipt ADD CONSTRAINT webhook_receipt_janitor CHECK (janitor IS NULL) NOT VALID;
GRANT DELETE, UPDATE (janitor) ON webhook_receipt TO webhook_janitor;
GRANT UPDATE ON SEQUENCE webhook_receipt_fence TO webhook_janitor;
";

/// Policies by role: a tenant's rows for those who handle events, all for the others.
pub(super) const ROW_SECURITY: &str = "\
ALTER TABLE webhook_receipt ENABLE ROW LEVEL SECURITY;
ALTER TABLE webhook_receipt FORCE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS webhook_tenant ON webhook_receipt;
CREATE POLICY webhook_tenant ON webhook_receipt TO webhook_gateway, webhook_worker
  USING (tenant = current_setting('hookproof.tenant', TRUE))
  WITH CHECK (tenant = current_setting('hookproof.tenant', TRUE));
DROP POLICY IF EXISTS webhook_janitor ON webhook_receipt;
CREATE POLICY webhook_janitor ON webhook_receipt TO webhook_janitor USING (TRUE);
DROP POLICY IF EXISTS webhook_auditor ON webhook_receipt;
CREATE POLICY webhook_auditor ON webhook_receipt FOR SELECT TO webhook_auditor USING (TRUE);
";
