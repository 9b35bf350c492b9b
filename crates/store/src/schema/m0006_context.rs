//! What of its context a connection offers (nothing said means everything), and the skills of a workspace.

use sea_orm_migration::{DbErr, MigrationName, MigrationTrait, SchemaManager, async_trait};

pub(super) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &'static str {
        "0006_context"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        super::run(manager, CONTEXT).await
    }
}

const CONTEXT: &str = "
ALTER TABLE connections ADD COLUMN context TEXT;
CREATE TABLE skills (
  organization_id {uuid} NOT NULL,
  workspace_id {uuid} NOT NULL,
  skill_id {uuid} NOT NULL,
  seq BIGINT NOT NULL,
  slug TEXT NOT NULL,
  description TEXT NOT NULL,
  body TEXT NOT NULL,
  preset TEXT,
  variant TEXT,
  connection_id {uuid},
  tools TEXT NOT NULL,
  archived BOOLEAN NOT NULL,
  version BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  PRIMARY KEY (organization_id, workspace_id, skill_id),
  UNIQUE (organization_id, workspace_id, slug),
  FOREIGN KEY (organization_id, workspace_id) REFERENCES workspaces (organization_id, workspace_id));
";
