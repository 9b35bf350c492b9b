//! Agents that a person has or has not claimed, connections of one agent under labels of its own, telephone calls, how agents speak,
//! and the run of a call as a column of the record.

use sea_orm_migration::{DbErr, MigrationName, MigrationTrait, SchemaManager, async_trait};

pub(super) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &'static str {
        "0007_identities"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        super::run(manager, IDENTITIES).await
    }
}

/// A label is unique in the workspace by a constraint that cannot be taken off on SQLite; so a connection that is one agent's own has
/// its label in `own_label`, unique for that agent, and its id in `label`.
const IDENTITIES: &str = "
ALTER TABLE agents ADD COLUMN claimed BOOLEAN NOT NULL DEFAULT TRUE;
ALTER TABLE agents ADD COLUMN updated_at BIGINT;
ALTER TABLE connections ADD COLUMN own_label TEXT;
CREATE UNIQUE INDEX connections_by_own_label ON connections (organization_id, workspace_id, owner_agent, own_label);
ALTER TABLE journal ADD COLUMN run_id {uuid};
CREATE INDEX journal_by_run ON journal (organization_id, workspace_id, run_id, seq) WHERE run_id IS NOT NULL;
CREATE TABLE voice_settings (
  organization_id {uuid} NOT NULL,
  workspace_id {uuid} NOT NULL,
  agent_id {uuid} NOT NULL,
  voice TEXT,
  instructions TEXT,
  authority TEXT NOT NULL,
  PRIMARY KEY (organization_id, workspace_id, agent_id),
  FOREIGN KEY (organization_id, workspace_id, agent_id)
    REFERENCES agents (organization_id, workspace_id, agent_id) ON DELETE CASCADE);
CREATE TABLE phone_calls (
  organization_id {uuid} NOT NULL,
  workspace_id {uuid} NOT NULL,
  phone_call_id {uuid} NOT NULL,
  seq BIGINT NOT NULL,
  agent_id {uuid} NOT NULL,
  run_id {uuid} NOT NULL,
  local_number TEXT,
  remote_number TEXT NOT NULL,
  direction TEXT NOT NULL,
  status TEXT NOT NULL,
  blocked BOOLEAN NOT NULL,
  reason TEXT,
  hangup_reason TEXT,
  authority TEXT NOT NULL,
  started_at BIGINT,
  ended_at BIGINT,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  PRIMARY KEY (organization_id, workspace_id, phone_call_id),
  UNIQUE (organization_id, workspace_id, seq));
CREATE INDEX phone_calls_by_agent ON phone_calls (organization_id, workspace_id, agent_id, seq);
CREATE TABLE phone_turns (
  organization_id {uuid} NOT NULL,
  workspace_id {uuid} NOT NULL,
  phone_call_id {uuid} NOT NULL,
  seq BIGINT NOT NULL,
  at_ms BIGINT NOT NULL,
  party TEXT NOT NULL,
  words TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (organization_id, workspace_id, phone_call_id, seq),
  FOREIGN KEY (organization_id, workspace_id, phone_call_id)
    REFERENCES phone_calls (organization_id, workspace_id, phone_call_id) ON DELETE CASCADE);
";
