//! Migrations: forward only, one set for both databases, all in one transaction under a lock.

mod m0001_first;
mod m0002_asked;
mod m0003_accounts;
mod m0004_presets;
mod m0005_members;
mod m0006_context;
mod m0007_identities;
mod m0008_skills;
mod m0010_clients;

use sea_orm::{ConnectionTrait, DatabaseTransaction, DbBackend, DbErr};
use sea_orm_migration::{MigrationTrait, MigratorTrait, SchemaManager};

use crate::StoreError;
use crate::sql::{self, get};

struct Migrator;

impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        vec![
            Box::new(m0001_first::Migration),
            Box::new(m0002_asked::Migration),
            Box::new(m0003_accounts::Migration),
            Box::new(m0004_presets::Migration),
            Box::new(m0005_members::Migration),
            Box::new(m0006_context::Migration),
            Box::new(m0007_identities::Migration),
            Box::new(m0008_skills::Migration),
            Box::new(m0010_clients::Migration),
        ]
    }
}

/// The key of the advisory lock that PostgreSQL holds while one process migrates.
const MIGRATION_LOCK: i64 = 0x7377_6974_6368_6264;

/// Brings the schema up to date inside `tx`, which on SQLite was begun immediate and so is alone.
pub(crate) async fn migrate(tx: &DatabaseTransaction) -> Result<(), StoreError> {
    if tx.get_database_backend() == DbBackend::Postgres {
        // Whoever migrates may take its time.
        tx.execute_unprepared("SET LOCAL lock_timeout = 0").await?;
        tx.execute_unprepared(&format!("SELECT pg_advisory_xact_lock({MIGRATION_LOCK})"))
            .await?;
    }
    Migrator::install(tx).await?;
    let known = names();
    for applied in Migrator::get_migration_models(tx).await? {
        if !known.contains(&applied.version) {
            return Err(StoreError::NewerSchema {
                found: applied.version,
            });
        }
    }
    Ok(Migrator::up(tx, None).await?)
}

/// The table that says which migrations were applied.
pub(crate) const TABLE: &str = "seaql_migrations";

/// The first migration that a database lacks.
///
/// # Errors
/// `NewerSchema` when it has one that this release does not know.
pub(crate) async fn missing(db: &impl ConnectionTrait) -> Result<Option<String>, StoreError> {
    let rows = sql::all(db, &format!("SELECT version FROM {TABLE}"), Vec::new()).await?;
    let applied = rows
        .iter()
        .map(|row| get(row, "version"))
        .collect::<Result<Vec<String>, _>>()?;
    let known = names();
    if let Some(found) = applied.iter().find(|name| !known.contains(name)) {
        return Err(StoreError::NewerSchema { found: found.clone() });
    }
    Ok(known.into_iter().find(|name| !applied.contains(name)))
}

fn names() -> Vec<String> {
    Migrator::migrations()
        .iter()
        .map(|migration| migration.name().to_owned())
        .collect()
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
