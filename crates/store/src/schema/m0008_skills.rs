//! Skills have a title, an owner, and need tools of several servers, each known by its preset.

use sea_orm_migration::{DbErr, MigrationName, MigrationTrait, SchemaManager, async_trait};

pub(super) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &'static str {
        "0008_skills"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        super::run(manager, SKILLS).await
    }
}

/// The columns that go were never written: no release stored a skill. An owner who is removed leaves their skills to the workspace, so
/// nothing refers to the table of members.
const SKILLS: &str = "
ALTER TABLE skills DROP COLUMN preset;
ALTER TABLE skills DROP COLUMN variant;
ALTER TABLE skills DROP COLUMN connection_id;
ALTER TABLE skills DROP COLUMN tools;
ALTER TABLE skills ADD COLUMN title TEXT NOT NULL DEFAULT '';
ALTER TABLE skills ADD COLUMN requires TEXT NOT NULL DEFAULT '[]';
ALTER TABLE skills ADD COLUMN owner_id {uuid};
";
