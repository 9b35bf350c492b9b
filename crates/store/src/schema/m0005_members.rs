//! People: members with their roles, invitations, and the browsers they signed in with.

use sea_orm_migration::{DbErr, MigrationName, MigrationTrait, SchemaManager, async_trait};

pub(super) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &'static str {
        "0005_members"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        super::run(manager, MEMBERS).await
    }
}

/// A role holds in a scope: the organization's id, or a workspace's.
const MEMBERS: &str = "
CREATE TABLE members (
  organization_id {uuid} NOT NULL,
  member_id {uuid} NOT NULL,
  seq BIGINT NOT NULL,
  email TEXT NOT NULL,
  email_key TEXT NOT NULL,
  name TEXT NOT NULL,
  password TEXT NOT NULL,
  enabled BOOLEAN NOT NULL,
  version BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  signed_in_at BIGINT,
  PRIMARY KEY (organization_id, member_id),
  UNIQUE (organization_id, email_key),
  FOREIGN KEY (organization_id) REFERENCES organizations (organization_id));
CREATE TABLE roles (
  organization_id {uuid} NOT NULL,
  member_id {uuid} NOT NULL,
  scope_id {uuid} NOT NULL,
  role TEXT NOT NULL,
  PRIMARY KEY (organization_id, member_id, scope_id),
  FOREIGN KEY (organization_id, member_id) REFERENCES members (organization_id, member_id) ON DELETE CASCADE);
CREATE TABLE invitations (
  organization_id {uuid} NOT NULL,
  workspace_id {uuid} NOT NULL,
  invitation_id {uuid} NOT NULL,
  seq BIGINT NOT NULL,
  hash {bytes} NOT NULL,
  email TEXT,
  role TEXT NOT NULL,
  scope TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  accepted_at BIGINT,
  revoked_at BIGINT,
  PRIMARY KEY (organization_id, workspace_id, invitation_id),
  FOREIGN KEY (organization_id, workspace_id) REFERENCES workspaces (organization_id, workspace_id));
CREATE TABLE sessions (
  organization_id {uuid} NOT NULL,
  workspace_id {uuid} NOT NULL,
  session_id {uuid} NOT NULL,
  member_id {uuid} NOT NULL,
  hash {bytes} NOT NULL,
  browser TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  PRIMARY KEY (organization_id, session_id),
  FOREIGN KEY (organization_id, member_id) REFERENCES members (organization_id, member_id) ON DELETE CASCADE);
CREATE INDEX sessions_by_member ON sessions (organization_id, member_id);
";
