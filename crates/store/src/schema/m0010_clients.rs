//! MCP clients that people let in: what is registered of a client, who let it act for which agent, and the hashes of its tokens.

use sea_orm_migration::{DbErr, MigrationName, MigrationTrait, SchemaManager, async_trait};

pub(super) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &'static str {
        "0010_clients"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        super::run(manager, CLIENTS).await
    }
}

/// A client registers before anybody signs in, so it belongs to an organization and to no workspace.
const CLIENTS: &str = "
CREATE TABLE clients (
  organization_id {uuid} NOT NULL,
  client_id {uuid} NOT NULL,
  name TEXT NOT NULL,
  redirect_uris TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  used_at BIGINT,
  PRIMARY KEY (organization_id, client_id),
  FOREIGN KEY (organization_id) REFERENCES organizations (organization_id));
CREATE TABLE consents (
  organization_id {uuid} NOT NULL,
  workspace_id {uuid} NOT NULL,
  consent_id {uuid} NOT NULL,
  seq BIGINT NOT NULL,
  member_id {uuid},
  agent_id {uuid} NOT NULL,
  client TEXT NOT NULL,
  client_name TEXT NOT NULL,
  resource TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  last_used_at BIGINT,
  ended_at BIGINT,
  ended_by TEXT,
  PRIMARY KEY (organization_id, workspace_id, consent_id),
  FOREIGN KEY (organization_id, workspace_id, agent_id)
    REFERENCES agents (organization_id, workspace_id, agent_id) ON DELETE CASCADE);
CREATE INDEX consents_by_seq ON consents (organization_id, workspace_id, seq);
CREATE TABLE tokens (
  organization_id {uuid} NOT NULL,
  workspace_id {uuid} NOT NULL,
  token_id {uuid} NOT NULL,
  consent_id {uuid} NOT NULL,
  kind TEXT NOT NULL,
  hash {bytes} NOT NULL,
  redirect_uri TEXT,
  challenge TEXT,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  spent_at BIGINT,
  PRIMARY KEY (organization_id, workspace_id, token_id),
  FOREIGN KEY (organization_id, workspace_id, consent_id)
    REFERENCES consents (organization_id, workspace_id, consent_id) ON DELETE CASCADE);
CREATE UNIQUE INDEX tokens_by_id ON tokens (token_id);
CREATE INDEX tokens_by_consent ON tokens (organization_id, workspace_id, consent_id);
CREATE INDEX tokens_by_expiry ON tokens (expires_at);
";
