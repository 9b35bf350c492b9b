//! PostgreSQL: a pool, and one connection for records that need not wait for the disk.

use std::time::Duration;

use domain::Secret;
use sea_orm::sqlx::ConnectOptions as _;
use sea_orm::sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use sea_orm::{DatabaseConnection, DbErr, SqlxPostgresConnector};

use super::Database;
use crate::{Durability, StoreError};

/// How long to wait for a free connection.
const ACQUIRE: Duration = Duration::from_secs(10);

/// Connects.
pub(super) async fn open(
    url: &Secret,
    max_connections: u32,
    durability: Durability,
) -> Result<Database, StoreError> {
    let options: PgConnectOptions = url.expose().parse().map_err(connect)?;
    let options = options
        .application_name("switchboard")
        .disable_statement_logging();
    let intents = match durability {
        Durability::PowerCut => "on",
        Durability::ProcessCrash => "off",
    };
    let pool = pool(max_connections.max(2))
        .connect_with(options.clone().options([("synchronous_commit", intents)]))
        .await
        .map_err(connect)?;
    let lazy = pool_of_one().connect_lazy_with(options.options([("synchronous_commit", "off")]));
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
    DbErr::Conn(sea_orm::RuntimeErr::SqlxError(error.into()))
}
