//! A database that tests look into, lock and cut off from beside the server that uses it.

use std::path::Path;

use sea_orm::sqlx::postgres::{PgPool, PgPoolOptions};
use sea_orm::sqlx::sqlite::{SqliteConnectOptions, SqlitePool, SqlitePoolOptions};
use sea_orm::sqlx::{self, Row as _, Sqlite, Transaction};

/// A SQLite file, or a database of the test's own on the PostgreSQL server of the tests, which is dropped with this.
#[derive(Debug)]
pub enum Database {
    /// The file.
    Sqlite(SqlitePool),
    /// The database.
    Postgres(Postgres),
}

/// A database of its own on a server.
#[derive(Debug)]
pub struct Postgres {
    pool: PgPool,
    server: String,
    name: String,
}

/// What keeps everybody else from writing, until it is let go.
#[derive(Debug)]
pub enum Held {
    /// SQLite's one write lock.
    Sqlite(Transaction<'static, Sqlite>),
    /// A lock on a table.
    Postgres(Transaction<'static, sqlx::Postgres>),
}

type Result<T> = std::result::Result<T, sqlx::Error>;

impl Database {
    /// A SQLite file; it need not be there before it is looked at.
    #[must_use]
    pub fn sqlite(path: &Path) -> Self {
        let options = SqliteConnectOptions::new().filename(path);
        Self::Sqlite(SqlitePoolOptions::new().connect_lazy_with(options))
    }

    /// A fresh database on the server that `SWITCHBOARD_TEST_POSTGRES` names; none where it names none.
    ///
    /// # Errors
    /// When the server does not make it.
    pub async fn postgres() -> Result<Option<Self>> {
        let Some(server) = server() else { return Ok(None) };
        let name = format!("switchboard_beside_{}", unique());
        let admin = PgPoolOptions::new().max_connections(1).connect(&server).await?;
        // A killed test may have left one under this number.
        for statement in ["DROP DATABASE IF EXISTS", "CREATE DATABASE"] {
            sqlx::raw_sql(sqlx::AssertSqlSafe(format!("{statement} {name}")))
                .execute(&admin)
                .await?;
        }
        admin.close().await;
        let (base, _) = server
            .rsplit_once('/')
            .ok_or(sqlx::Error::Configuration("the server's URL has no path".into()))?;
        let pool = PgPoolOptions::new().connect_lazy(&format!("{base}/{name}"))?;
        Ok(Some(Self::Postgres(Postgres { pool, server, name })))
    }

    /// The URL of a PostgreSQL database; none of SQLite.
    #[must_use]
    pub fn url(&self) -> Option<String> {
        match self {
            Self::Sqlite(_) => None,
            Self::Postgres(of) => {
                let (base, _) = of.server.rsplit_once('/')?;
                Some(format!("{base}/{}", of.name))
            }
        }
    }

    /// Keeps everybody else from writing: on PostgreSQL this table, on SQLite all.
    ///
    /// # Errors
    /// When the lock cannot be had.
    pub async fn hold(&self, table: &str) -> Result<Held> {
        Ok(match self {
            Self::Sqlite(pool) => Held::Sqlite(pool.begin_with("BEGIN IMMEDIATE").await?),
            Self::Postgres(of) => {
                let mut transaction = of.pool.begin().await?;
                let lock = format!("LOCK TABLE {table} IN SHARE MODE");
                sqlx::raw_sql(sqlx::AssertSqlSafe(lock))
                    .execute(&mut *transaction)
                    .await?;
                Held::Postgres(transaction)
            }
        })
    }

    /// How many statements wait for a lock; SQLite does not tell.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn waiting(&self) -> Result<Option<i64>> {
        match self {
            Self::Sqlite(_) => Ok(None),
            Self::Postgres(_) => self
                .number("SELECT count(*) FROM pg_locks WHERE NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())")
                .await
                .map(Some),
        }
    }

    /// Ends every other connection to it, as if the machine they come from had gone. SQLite has none.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn end_others(&self) -> Result<()> {
        if let Self::Postgres(_) = self {
            let others = "SELECT count(pg_terminate_backend(pid, 10000)) FROM pg_stat_activity
                WHERE datname = current_database() AND application_name LIKE 'switchboard%'";
            self.number(others).await?;
        }
        Ok(())
    }

    /// A whole number that a statement gives.
    ///
    /// # Errors
    /// When the database fails, or gives something else.
    pub async fn number(&self, sql: &str) -> Result<i64> {
        let sql = sqlx::AssertSqlSafe(sql.to_owned());
        match self {
            Self::Sqlite(pool) => sqlx::query_scalar(sql).fetch_one(pool).await,
            Self::Postgres(of) => sqlx::query_scalar(sql).fetch_one(&of.pool).await,
        }
    }

    /// The rows of a statement whose columns are all text.
    ///
    /// # Errors
    /// When the database fails, or a column is no text.
    pub async fn texts(&self, sql: &str) -> Result<Vec<Vec<Option<String>>>> {
        let sql = sqlx::AssertSqlSafe(sql.to_owned());
        match self {
            Self::Sqlite(pool) => {
                let rows = sqlx::query(sql).fetch_all(pool).await?;
                rows.iter()
                    .map(|row| (0..row.len()).map(|column| row.try_get(column)).collect())
                    .collect()
            }
            Self::Postgres(of) => {
                let rows = sqlx::query(sql).fetch_all(&of.pool).await?;
                rows.iter()
                    .map(|row| (0..row.len()).map(|column| row.try_get(column)).collect())
                    .collect()
            }
        }
    }

    /// Runs a statement.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn run(&self, sql: &str) -> Result<()> {
        let sql = sqlx::raw_sql(sqlx::AssertSqlSafe(sql.to_owned()));
        match self {
            Self::Sqlite(pool) => sql.execute(pool).await.map(|_| ()),
            Self::Postgres(of) => sql.execute(&of.pool).await.map(|_| ()),
        }
    }

    /// Lets go of the file, so that only the server has it open.
    pub async fn close(&self) {
        if let Self::Sqlite(pool) = self {
            pool.close().await;
        }
    }
}

impl Held {
    /// Lets everybody go on.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn release(self) -> Result<()> {
        match self {
            Self::Sqlite(transaction) => transaction.rollback().await,
            Self::Postgres(transaction) => transaction.rollback().await,
        }
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        let (server, name) = (self.server.clone(), self.name.clone());
        // A runtime of its own: this runs in the middle of one, also when a test fails.
        let dropping = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()?;
            runtime.block_on(async {
                let admin = PgPoolOptions::new().max_connections(1).connect(&server).await?;
                let drop = format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)");
                sqlx::raw_sql(sqlx::AssertSqlSafe(drop)).execute(&admin).await
            })
        });
        // A database that stays is only in the way.
        drop(dropping.join());
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "tests are told of a PostgreSQL server by their environment"
)]
fn server() -> Option<String> {
    std::env::var("SWITCHBOARD_TEST_POSTGRES").ok()
}

/// A name nobody else has: the process, and how many it made.
fn unique() -> String {
    static MADE: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let count = MADE.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    format!("{}_{count}", std::process::id())
}
