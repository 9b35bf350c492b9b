//! Migrations: forward only, one set for both databases, all in one transaction under a lock.

mod m0001_first;
mod m0002_asked;

use sea_orm::{ConnectionTrait as _, DatabaseTransaction, DbBackend, DbErr};
use sea_orm_migration::{MigrationTrait, MigratorTrait, SchemaManager};

use crate::StoreError;

struct Migrator;

impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        vec![Box::new(m0001_first::Migration), Box::new(m0002_asked::Migration)]
    }
}

/// The key of the advisory lock that PostgreSQL holds while one process migrates.
const MIGRATION_LOCK: i64 = 0x7377_6974_6368_6264;

/// Brings the schema up to date inside `tx`, which on SQLite was begun immediate and so is alone.
pub(crate) async fn migrate(tx: &DatabaseTransaction) -> Result<(), StoreError> {
    if tx.get_database_backend() == DbBackend::Postgres {
        tx.execute_unprepared(&format!("SELECT pg_advisory_xact_lock({MIGRATION_LOCK})"))
            .await?;
    }
    Migrator::install(tx).await?;
    let known: Vec<String> = Migrator::migrations()
        .iter()
        .map(|m| m.name().to_owned())
        .collect();
    for applied in Migrator::get_migration_models(tx).await? {
        if !known.contains(&applied.version) {
            return Err(StoreError::NewerSchema {
                found: applied.version,
            });
        }
    }
    Ok(Migrator::up(tx, None).await?)
}

/// Runs statements in which `{uuid}` and `{bytes}` stand for what the database calls them.
async fn run(manager: &SchemaManager<'_>, statements: &str) -> Result<(), DbErr> {
    let sqlite = manager.get_database_backend() == DbBackend::Sqlite;
    let (uuid, bytes) = if sqlite {
        ("BLOB", "BLOB")
    } else {
        ("UUID", "BYTEA")
    };
    let text = statements.replace("{uuid}", uuid).replace("{bytes}", bytes);
    manager
        .get_connection()
        .execute_unprepared(&text)
        .await
        .map(|_| ())
}
