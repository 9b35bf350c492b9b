//! PostgreSQL: a pool, and one connection for records that need not wait for the disk.

use std::time::Duration;

use domain::Secret;
use sea_orm::sqlx::ConnectOptions as _;
use sea_orm::sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use sea_orm::{DatabaseConnection, DbErr, RuntimeErr, SqlxPostgresConnector};

use super::Database;
use crate::{Durability, StoreError};

/// How long to wait for a free connection.
const ACQUIRE: Duration = Duration::from_secs(10);

/// What our sessions are called.
pub(super) const APPLICATION: &str = "switchboard";
/// What the session of a copy is called.
const COPYING: &str = "switchboard copy";
/// SQLSTATE of a lock that somebody else holds.
const LOCK_NOT_AVAILABLE: &str = "55P03";

/// Connects to a database that is only read.
pub(super) async fn open_to_read(url: &Secret) -> Result<DatabaseConnection, StoreError> {
    let options: PgConnectOptions = url.expose().parse().map_err(connect)?;
    let options = options.application_name(COPYING).disable_statement_logging();
    Ok(wrap(pool(1).connect_with(options).await.map_err(connect)?))
}

/// Somebody else has the database.
pub(super) fn in_use() -> StoreError {
    StoreError::InUse {
        what: "the database".to_owned(),
    }
}

/// That, where it is what an error says.
pub(super) fn in_use_or(error: DbErr) -> StoreError {
    let taken = match &error {
        DbErr::Exec(RuntimeErr::SqlxError(inner)) | DbErr::Query(RuntimeErr::SqlxError(inner)) => {
            let database = inner.as_database_error();
            database.and_then(|error| error.code()).as_deref() == Some(LOCK_NOT_AVAILABLE)
        }
        _ => false,
    };
    if taken { in_use() } else { error.into() }
}

/// How long a statement waits for what somebody else has locked; as long as on SQLite.
const BUSY: (&str, &str) = ("lock_timeout", "10s");

/// Connects.
pub(super) async fn open(
    url: &Secret,
    max_connections: u32,
    durability: Durability,
) -> Result<Database, StoreError> {
    let options: PgConnectOptions = url.expose().parse().map_err(connect)?;
    let options = options.application_name(APPLICATION).disable_statement_logging();
    let intents = match durability {
        Durability::PowerCut => "on",
        Durability::ProcessCrash => "off",
    };
    let pool = pool(max_connections.max(2))
        .connect_with(options.clone().options([("synchronous_commit", intents), BUSY]))
        .await
        .map_err(connect)?;
    let lazy = pool_of_one().connect_lazy_with(options.options([("synchronous_commit", "off"), BUSY]));
    Ok(Database {
        read: wrap(pool.clone()),
        write: wrap(pool),
        lazy: Some(wrap(lazy)),
        turn: None,
        wal: None,
    })
}

fn pool(max: u32) -> PgPoolOptions {
    PgPoolOptions::new()
        .max_connections(max)
        .acquire_timeout(ACQUIRE)
        .test_before_acquire(false)
}

fn pool_of_one() -> PgPoolOptions {
    pool(1).idle_timeout(None)
}

fn wrap(pool: PgPool) -> DatabaseConnection {
    SqlxPostgresConnector::from_sqlx_postgres_pool(pool)
}

fn connect(error: sea_orm::sqlx::Error) -> DbErr {
    DbErr::Conn(RuntimeErr::SqlxError(error.into()))
}
