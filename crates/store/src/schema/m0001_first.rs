//! The first schema.

use sea_orm_migration::{DbErr, MigrationName, MigrationTrait, SchemaManager, async_trait};

pub(super) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &'static str {
        "0001_first"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        super::run(manager, TENANTS).await?;
        super::run(manager, CONNECTED).await?;
        super::run(manager, RECORD).await?;
        super::run(manager, REST).await
    }
}

/// Who there is. `counters` gives every sequence of an organization and holds its policy epoch: whoever takes a number holds the
/// row until the transaction ends, so numbers become visible in order.
const TENANTS: &str = "
CREATE TABLE organizations (
  organization_id {uuid} NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  created_at BIGINT NOT NULL);
CREATE TABLE workspaces (
  organization_id {uuid} NOT NULL REFERENCES organizations (organization_id),
  workspace_id {uuid} NOT NULL,
  name TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (organization_id, workspace_id));
CREATE TABLE counters (
  organization_id {uuid} NOT NULL PRIMARY KEY REFERENCES organizations (organization_id),
  seq BIGINT NOT NULL,
  epoch BIGINT NOT NULL);
CREATE TABLE agents (
  organization_id {uuid} NOT NULL,
  workspace_id {uuid} NOT NULL,
  agent_id {uuid} NOT NULL,
  seq BIGINT NOT NULL,
  handle TEXT NOT NULL,
  description TEXT NOT NULL,
  enabled BOOLEAN NOT NULL,
  version BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (organization_id, workspace_id, agent_id),
  UNIQUE (organization_id, workspace_id, handle),
  UNIQUE (organization_id, workspace_id, seq),
  FOREIGN KEY (organization_id, workspace_id) REFERENCES workspaces (organization_id, workspace_id));
CREATE TABLE keys (
  organization_id {uuid} NOT NULL,
  workspace_id {uuid} NOT NULL,
  key_id {uuid} NOT NULL,
  seq BIGINT NOT NULL,
  agent_id {uuid},
  name TEXT NOT NULL,
  secret_hash {bytes} NOT NULL,
  created_at BIGINT NOT NULL,
  last_used_at BIGINT,
  revoked_at BIGINT,
  PRIMARY KEY (organization_id, workspace_id, key_id),
  UNIQUE (organization_id, workspace_id, seq),
  FOREIGN KEY (organization_id, workspace_id) REFERENCES workspaces (organization_id, workspace_id));
";

/// What is connected, and what agents were given of it.
const CONNECTED: &str = "
CREATE TABLE connections (
  organization_id {uuid} NOT NULL,
  workspace_id {uuid} NOT NULL,
  connection_id {uuid} NOT NULL,
  seq BIGINT NOT NULL,
  owner_agent {uuid},
  label TEXT NOT NULL,
  namespace TEXT NOT NULL,
  transport TEXT NOT NULL,
  endpoint TEXT NOT NULL,
  account_kind TEXT NOT NULL,
  header_name TEXT,
  value_prefix TEXT,
  configured BOOLEAN NOT NULL,
  header_names TEXT NOT NULL,
  sharing TEXT NOT NULL,
  allowed_tools TEXT,
  enabled BOOLEAN NOT NULL,
  trusted BOOLEAN NOT NULL,
  call_timeout_ms BIGINT,
  state TEXT NOT NULL,
  health TEXT NOT NULL,
  health_detail TEXT,
  checked_at BIGINT,
  negotiated TEXT,
  catalogue_version BIGINT NOT NULL,
  catalogue_at BIGINT,
  version BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (organization_id, workspace_id, connection_id),
  UNIQUE (organization_id, workspace_id, label),
  UNIQUE (organization_id, workspace_id, namespace),
  UNIQUE (organization_id, workspace_id, seq),
  FOREIGN KEY (organization_id, workspace_id) REFERENCES workspaces (organization_id, workspace_id),
  FOREIGN KEY (organization_id, workspace_id, owner_agent) REFERENCES agents (organization_id, workspace_id, agent_id));
CREATE TABLE catalogues (
  organization_id {uuid} NOT NULL,
  workspace_id {uuid} NOT NULL,
  connection_id {uuid} NOT NULL,
  version BIGINT NOT NULL,
  fetched_at BIGINT NOT NULL,
  document TEXT NOT NULL,
  PRIMARY KEY (organization_id, workspace_id, connection_id),
  FOREIGN KEY (organization_id, workspace_id, connection_id)
    REFERENCES connections (organization_id, workspace_id, connection_id) ON DELETE CASCADE);
CREATE TABLE pins (
  organization_id {uuid} NOT NULL,
  workspace_id {uuid} NOT NULL,
  connection_id {uuid} NOT NULL,
  name TEXT NOT NULL,
  accepted_digest {bytes},
  accepted_raw TEXT,
  seen_digest {bytes},
  seen_raw TEXT,
  state TEXT NOT NULL,
  unusable TEXT,
  hint_read_only BOOLEAN,
  hint_destructive BOOLEAN,
  hint_idempotent BOOLEAN,
  hint_open_world BOOLEAN,
  risk TEXT,
  effect TEXT,
  classified_at BIGINT,
  first_seen BIGINT NOT NULL,
  changed_at BIGINT NOT NULL,
  PRIMARY KEY (organization_id, workspace_id, connection_id, name),
  FOREIGN KEY (organization_id, workspace_id, connection_id)
    REFERENCES connections (organization_id, workspace_id, connection_id) ON DELETE CASCADE);
CREATE TABLE grants (
  organization_id {uuid} NOT NULL,
  workspace_id {uuid} NOT NULL,
  agent_id {uuid} NOT NULL,
  subject TEXT NOT NULL,
  seq BIGINT NOT NULL,
  kind TEXT NOT NULL,
  connection_id {uuid},
  name TEXT,
  permission TEXT NOT NULL,
  at BIGINT NOT NULL,
  PRIMARY KEY (organization_id, workspace_id, agent_id, subject),
  UNIQUE (organization_id, workspace_id, seq),
  FOREIGN KEY (organization_id, workspace_id, agent_id)
    REFERENCES agents (organization_id, workspace_id, agent_id) ON DELETE CASCADE,
  FOREIGN KEY (organization_id, workspace_id, connection_id)
    REFERENCES connections (organization_id, workspace_id, connection_id) ON DELETE CASCADE);
CREATE INDEX grants_by_connection ON grants (organization_id, workspace_id, connection_id);
";

/// What happened. `body` is the entry, and the only part the chain hashes; the columns before it are taken from it for searching.
const RECORD: &str = "
CREATE TABLE journal (
  organization_id {uuid} NOT NULL,
  workspace_id {uuid} NOT NULL,
  seq BIGINT NOT NULL,
  call_id {uuid} NOT NULL,
  kind TEXT NOT NULL,
  at BIGINT NOT NULL,
  agent_id {uuid},
  connection_id {uuid},
  exposed TEXT,
  tool TEXT,
  actor TEXT NOT NULL,
  word TEXT NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (organization_id, seq),
  FOREIGN KEY (organization_id, workspace_id) REFERENCES workspaces (organization_id, workspace_id));
CREATE INDEX journal_by_call ON journal (organization_id, call_id);
CREATE TABLE open_intents (
  organization_id {uuid} NOT NULL,
  workspace_id {uuid} NOT NULL,
  call_id {uuid} NOT NULL,
  agent_id {uuid},
  at BIGINT NOT NULL,
  PRIMARY KEY (organization_id, call_id));
CREATE TABLE links (
  organization_id {uuid} NOT NULL,
  workspace_id {uuid} NOT NULL,
  seq BIGINT NOT NULL,
  entry_hash {bytes} NOT NULL,
  prev_hash {bytes} NOT NULL,
  link_hash {bytes} NOT NULL,
  PRIMARY KEY (organization_id, workspace_id, seq));
CREATE TABLE leases (
  organization_id {uuid} NOT NULL,
  name TEXT NOT NULL,
  holder {uuid} NOT NULL,
  token BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  PRIMARY KEY (organization_id, name));
CREATE TABLE approvals (
  organization_id {uuid} NOT NULL,
  workspace_id {uuid} NOT NULL,
  approval_id {uuid} NOT NULL,
  seq BIGINT NOT NULL,
  call_id {uuid} NOT NULL,
  principal_kind TEXT NOT NULL,
  principal_id {uuid},
  principal_agent {uuid},
  agent_id {uuid} NOT NULL,
  run_id {uuid},
  target_kind TEXT NOT NULL,
  connection_id {uuid},
  target_name TEXT NOT NULL,
  exposed TEXT NOT NULL,
  definition {bytes} NOT NULL,
  arguments {bytes} NOT NULL,
  reason_code TEXT NOT NULL,
  reason_rule TEXT,
  state TEXT NOT NULL,
  by_kind TEXT,
  by_id {uuid},
  by_agent {uuid},
  note TEXT,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  answered_at BIGINT,
  PRIMARY KEY (organization_id, workspace_id, approval_id),
  UNIQUE (organization_id, workspace_id, seq),
  FOREIGN KEY (organization_id, workspace_id) REFERENCES workspaces (organization_id, workspace_id));
CREATE INDEX approvals_by_expiry ON approvals (organization_id, workspace_id, expires_at, seq);
CREATE INDEX approvals_by_arguments ON approvals (organization_id, workspace_id, arguments);
CREATE INDEX approvals_live ON approvals (expires_at) WHERE state IN ('pending', 'approved');
";

/// Snapshots, secrets, requests that may be repeated, and small things. `settings` of the whole database carry the nil organization.
const REST: &str = "
CREATE TABLE snapshots (
  organization_id {uuid} NOT NULL,
  workspace_id {uuid} NOT NULL,
  digest {bytes} NOT NULL,
  document TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (organization_id, workspace_id, digest),
  FOREIGN KEY (organization_id, workspace_id) REFERENCES workspaces (organization_id, workspace_id));
CREATE TABLE secrets (
  organization_id {uuid} NOT NULL,
  workspace_id {uuid} NOT NULL,
  secret_id {uuid} NOT NULL,
  owner_kind TEXT NOT NULL,
  owner {uuid} NOT NULL,
  field TEXT NOT NULL,
  version BIGINT NOT NULL,
  key_id TEXT NOT NULL,
  wrapped_key {bytes} NOT NULL,
  nonce {bytes} NOT NULL,
  ciphertext {bytes} NOT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (organization_id, secret_id),
  UNIQUE (organization_id, owner_kind, owner, field),
  FOREIGN KEY (organization_id, workspace_id) REFERENCES workspaces (organization_id, workspace_id));
CREATE INDEX secrets_by_key ON secrets (key_id);
CREATE TABLE requests (
  organization_id {uuid} NOT NULL,
  workspace_id {uuid} NOT NULL,
  principal TEXT NOT NULL,
  key TEXT NOT NULL,
  operation TEXT NOT NULL,
  body_digest {bytes} NOT NULL,
  status BIGINT,
  answer {bytes},
  expires_at BIGINT NOT NULL,
  PRIMARY KEY (organization_id, workspace_id, principal, key),
  FOREIGN KEY (organization_id, workspace_id) REFERENCES workspaces (organization_id, workspace_id));
CREATE INDEX requests_by_expiry ON requests (expires_at);
CREATE TABLE settings (
  organization_id {uuid} NOT NULL,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (organization_id, name));
";
