//! Which approval a call asked for or spent, beside its entry: what became of a question is what became of the call that asked it.

use sea_orm::{ConnectionTrait as _, DbBackend};
use sea_orm_migration::{DbErr, MigrationName, MigrationTrait, SchemaManager, async_trait};

pub(super) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &'static str {
        "0002_asked"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        super::run(manager, "ALTER TABLE journal ADD COLUMN approval_id {uuid}").await?;
        let read = match manager.get_database_backend() {
            DbBackend::Postgres => POSTGRES,
            _ => SQLITE,
        };
        manager
            .get_connection()
            .execute_unprepared(read)
            .await
            .map(|_| ())
    }
}

/// Bodies are documents of our own in which this text can only be the member: within a text its quotes would be escaped.
const SQLITE: &str = r#"UPDATE journal SET approval_id = unhex(replace(substr(body, instr(body, '"approval":"') + 12, 36), '-', ''))
 WHERE kind = 'decided' AND instr(body, '"approval":"') > 0"#;
const POSTGRES: &str = r#"UPDATE journal SET approval_id = substr(body, strpos(body, '"approval":"') + 12, 36)::uuid
 WHERE kind = 'decided' AND strpos(body, '"approval":"') > 0"#;
