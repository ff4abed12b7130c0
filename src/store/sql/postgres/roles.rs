//! Who may do what, as scripts for the tables' owner.

/// Four roles without a login. What a gateway may change leaves out what names an event, its
/// content and its retention; deliveries, and steps that are recorded, nobody changes. The schema's
/// name is not known here, hence the block.
///
/// Reviews are kept by gateways and resolved by workers. To admit one is to insert a receipt and a
/// delivery as well, so it takes both roles: an operator's user, and no worker by itself.
///
/// Only those may lock a row who may update a column of it, hence the columns named `janitor`: they
/// can hold nothing.
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

REVOKE ALL ON webhook_receipt, webhook_receipt_meta, webhook_effect, webhook_object, webhook_inbox,
    webhook_inbox_due, webhook_review
  FROM PUBLIC, webhook_gateway, webhook_worker, webhook_janitor, webhook_auditor;
REVOKE ALL ON SEQUENCE webhook_receipt_fence
  FROM PUBLIC, webhook_gateway, webhook_worker, webhook_janitor, webhook_auditor;

GRANT SELECT ON webhook_receipt, webhook_receipt_meta, webhook_effect, webhook_object, webhook_inbox,
    webhook_inbox_due, webhook_review
  TO webhook_gateway, webhook_worker, webhook_janitor, webhook_auditor;
GRANT SELECT ON SEQUENCE webhook_receipt_fence TO webhook_gateway, webhook_janitor;

GRANT INSERT (key, tenant, provider, event_id, body_hash, state, attempts, fence, lease_until,
  received_at, changed_at, expires_at, result) ON webhook_receipt TO webhook_gateway;
GRANT UPDATE (state, attempts, fence, lease_until, changed_at, result)
  ON webhook_receipt TO webhook_gateway, webhook_worker;

GRANT INSERT (key, fence, recorded_at, number, name, result)
  ON webhook_effect TO webhook_gateway, webhook_worker;
GRANT INSERT ON webhook_object TO webhook_gateway, webhook_worker;
GRANT UPDATE (version, was_version, deleted_at, changed_at, version_kind, was_deleted, tie, was_tie)
  ON webhook_object TO webhook_gateway, webhook_worker;

GRANT INSERT (key, accepted_at, received_at, sent_at, coverage, tenant, scheme, event_type, key_id,
  delivery_id, headers, body) ON webhook_inbox TO webhook_gateway;
GRANT INSERT, UPDATE (due_at), DELETE ON webhook_inbox_due TO webhook_gateway, webhook_worker;

GRANT INSERT (id, retention, body_bytes, kept_at, resolved_at, received_at, sent_at, coverage, reason,
  status, stored, presented, tenant, provider, event_id, scheme, event_type, key_id, delivery_id, headers,
  body) ON webhook_review TO webhook_gateway;
GRANT UPDATE (status, resolved_at, headers, body) ON webhook_review TO webhook_worker;

ALTER TABLE webhook_receipt ADD COLUMN IF NOT EXISTS janitor boolean;
ALTER TABLE webhook_receipt DROP CONSTRAINT IF EXISTS webhook_receipt_janitor;
ALTER TABLE webhook_receipt ADD CONSTRAINT webhook_receipt_janitor CHECK (janitor IS NULL) NOT VALID;
ALTER TABLE webhook_object ADD COLUMN IF NOT EXISTS janitor boolean;
ALTER TABLE webhook_object DROP CONSTRAINT IF EXISTS webhook_object_janitor;
ALTER TABLE webhook_object ADD CONSTRAINT webhook_object_janitor CHECK (janitor IS NULL) NOT VALID;
ALTER TABLE webhook_inbox ADD COLUMN IF NOT EXISTS janitor boolean;
ALTER TABLE webhook_inbox DROP CONSTRAINT IF EXISTS webhook_inbox_janitor;
ALTER TABLE webhook_inbox ADD CONSTRAINT webhook_inbox_janitor CHECK (janitor IS NULL) NOT VALID;
ALTER TABLE webhook_review ADD COLUMN IF NOT EXISTS janitor boolean;
ALTER TABLE webhook_review DROP CONSTRAINT IF EXISTS webhook_review_janitor;
ALTER TABLE webhook_review ADD CONSTRAINT webhook_review_janitor CHECK (janitor IS NULL) NOT VALID;
GRANT DELETE, UPDATE (janitor) ON webhook_receipt, webhook_object, webhook_inbox, webhook_review
  TO webhook_janitor;
GRANT DELETE ON webhook_inbox_due TO webhook_janitor;
GRANT UPDATE (janitor) ON webhook_inbox TO webhook_worker;
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
ALTER TABLE webhook_effect ENABLE ROW LEVEL SECURITY;
ALTER TABLE webhook_effect FORCE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS webhook_tenant ON webhook_effect;
CREATE POLICY webhook_tenant ON webhook_effect TO webhook_gateway, webhook_worker
  USING (EXISTS (SELECT FROM webhook_receipt r WHERE r.key = webhook_effect.key))
  WITH CHECK (EXISTS (SELECT FROM webhook_receipt r WHERE r.key = webhook_effect.key));
DROP POLICY IF EXISTS webhook_janitor ON webhook_effect;
CREATE POLICY webhook_janitor ON webhook_effect TO webhook_janitor USING (TRUE);
DROP POLICY IF EXISTS webhook_auditor ON webhook_effect;
CREATE POLICY webhook_auditor ON webhook_effect FOR SELECT TO webhook_auditor USING (TRUE);
ALTER TABLE webhook_object ENABLE ROW LEVEL SECURITY;
ALTER TABLE webhook_object FORCE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS webhook_tenant ON webhook_object;
CREATE POLICY webhook_tenant ON webhook_object TO webhook_gateway, webhook_worker
  USING (tenant = current_setting('hookproof.tenant', TRUE))
  WITH CHECK (tenant = current_setting('hookproof.tenant', TRUE));
DROP POLICY IF EXISTS webhook_janitor ON webhook_object;
CREATE POLICY webhook_janitor ON webhook_object TO webhook_janitor USING (TRUE);
DROP POLICY IF EXISTS webhook_auditor ON webhook_object;
CREATE POLICY webhook_auditor ON webhook_object FOR SELECT TO webhook_auditor USING (TRUE);
ALTER TABLE webhook_inbox ENABLE ROW LEVEL SECURITY;
ALTER TABLE webhook_inbox FORCE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS webhook_tenant ON webhook_inbox;
CREATE POLICY webhook_tenant ON webhook_inbox TO webhook_gateway, webhook_worker
  USING (tenant = current_setting('hookproof.tenant', TRUE))
  WITH CHECK (tenant = current_setting('hookproof.tenant', TRUE));
DROP POLICY IF EXISTS webhook_janitor ON webhook_inbox;
CREATE POLICY webhook_janitor ON webhook_inbox TO webhook_janitor USING (TRUE);
DROP POLICY IF EXISTS webhook_auditor ON webhook_inbox;
CREATE POLICY webhook_auditor ON webhook_inbox FOR SELECT TO webhook_auditor USING (TRUE);
ALTER TABLE webhook_inbox_due ENABLE ROW LEVEL SECURITY;
ALTER TABLE webhook_inbox_due FORCE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS webhook_tenant ON webhook_inbox_due;
CREATE POLICY webhook_tenant ON webhook_inbox_due TO webhook_gateway, webhook_worker
  USING (tenant = current_setting('hookproof.tenant', TRUE))
  WITH CHECK (tenant = current_setting('hookproof.tenant', TRUE));
DROP POLICY IF EXISTS webhook_janitor ON webhook_inbox_due;
CREATE POLICY webhook_janitor ON webhook_inbox_due TO webhook_janitor USING (TRUE);
DROP POLICY IF EXISTS webhook_auditor ON webhook_inbox_due;
CREATE POLICY webhook_auditor ON webhook_inbox_due FOR SELECT TO webhook_auditor USING (TRUE);
ALTER TABLE webhook_review ENABLE ROW LEVEL SECURITY;
ALTER TABLE webhook_review FORCE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS webhook_tenant ON webhook_review;
CREATE POLICY webhook_tenant ON webhook_review TO webhook_gateway, webhook_worker
  USING (tenant = current_setting('hookproof.tenant', TRUE))
  WITH CHECK (tenant = current_setting('hookproof.tenant', TRUE));
DROP POLICY IF EXISTS webhook_janitor ON webhook_review;
CREATE POLICY webhook_janitor ON webhook_review TO webhook_janitor USING (TRUE);
DROP POLICY IF EXISTS webhook_auditor ON webhook_review;
CREATE POLICY webhook_auditor ON webhook_review FOR SELECT TO webhook_auditor USING (TRUE);
";
