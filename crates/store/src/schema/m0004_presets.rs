//! Which preset a connection was made from, what verifying it found, and which connections of the platform a workspace was given.

use sea_orm_migration::{DbErr, MigrationName, MigrationTrait, SchemaManager, async_trait};

pub(super) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &'static str {
        "0004_presets"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        super::run(manager, PRESETS).await
    }
}

/// `workspaces.provided` is the number of the last connection of the platform that the workspace was looked at for; 0 = none yet.
const PRESETS: &str = "
ALTER TABLE connections ADD COLUMN preset TEXT;
ALTER TABLE connections ADD COLUMN variant TEXT;
ALTER TABLE connections ADD COLUMN provided BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE connections ADD COLUMN proof TEXT;
ALTER TABLE connections ADD COLUMN proven_at BIGINT;
ALTER TABLE workspaces ADD COLUMN provided BIGINT NOT NULL DEFAULT 0;
";
