//! Accounts with tokens, and the sign-ins that get them. Tokens, verifiers and client secrets lie in the vault, under the connection.

use sea_orm_migration::{DbErr, MigrationName, MigrationTrait, SchemaManager, async_trait};

pub(super) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &'static str {
        "0003_accounts"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        super::run(manager, ACCOUNTS).await
    }
}

const ACCOUNTS: &str = "
ALTER TABLE connections ADD COLUMN oauth TEXT;
CREATE TABLE accounts (
  organization_id {uuid} NOT NULL,
  workspace_id {uuid} NOT NULL,
  connection_id {uuid} NOT NULL,
  status TEXT NOT NULL,
  generation BIGINT NOT NULL,
  sign_ins BIGINT NOT NULL,
  expires_at BIGINT,
  refreshable BOOLEAN NOT NULL,
  requested TEXT NOT NULL,
  granted TEXT NOT NULL,
  error_code TEXT,
  error_detail TEXT,
  party TEXT,
  PRIMARY KEY (organization_id, workspace_id, connection_id),
  FOREIGN KEY (organization_id, workspace_id, connection_id)
    REFERENCES connections (organization_id, workspace_id, connection_id) ON DELETE CASCADE);
CREATE TABLE authorizations (
  organization_id {uuid} NOT NULL,
  workspace_id {uuid} NOT NULL,
  authorization_id {uuid} NOT NULL,
  connection_id {uuid} NOT NULL,
  status TEXT NOT NULL,
  version BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  requested TEXT NOT NULL,
  party TEXT NOT NULL,
  browser {bytes},
  opened_by TEXT,
  error_code TEXT,
  error_detail TEXT,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (organization_id, workspace_id, authorization_id),
  FOREIGN KEY (organization_id, workspace_id, connection_id)
    REFERENCES connections (organization_id, workspace_id, connection_id) ON DELETE CASCADE);
CREATE INDEX authorizations_by_connection ON authorizations (organization_id, workspace_id, connection_id);
";
