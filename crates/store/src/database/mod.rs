//! The connections to a database: for SQLite one that writes and a few that read, for PostgreSQL a pool.

mod postgres;
mod source;
mod sqlite;

use std::sync::Arc;

use sea_orm::sqlx::postgres::PgPool;
use sea_orm::{
    DatabaseConnection, DatabaseTransaction, DbErr, SqliteTransactionMode, TransactionOptions,
    TransactionTrait as _,
};
use tokio::sync::{Mutex, OwnedMutexGuard};

use crate::options::{Backend, Options};
use crate::{Durability, Role, StoreError, schema};

pub(crate) use source::Source;
pub(crate) use sqlite::Wal;

/// How much a commit waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sync {
    /// The disk.
    Full,
    /// The operating system.
    Normal,
}

/// One database.
pub(crate) struct Database {
    /// For reading, outside of transactions.
    pub(crate) read: DatabaseConnection,
    write: DatabaseConnection,
    /// On PostgreSQL, a connection whose commits do not wait for the disk.
    pub(crate) lazy: Option<DatabaseConnection>,
    /// On SQLite, who holds this writes.
    turn: Option<Arc<Mutex<Lane>>>,
    /// On SQLite, the write-ahead log, for putting it on disk.
    pub(crate) wal: Option<Wal>,
}

/// A transaction that writes. Dropped without a commit, it is undone.
pub(crate) struct Transaction {
    pub(crate) tx: DatabaseTransaction,
    turn: Option<OwnedMutexGuard<Lane>>,
}

/// The right to use SQLite's one writing connection.
pub(crate) struct Turn<'a> {
    pub(crate) db: &'a DatabaseConnection,
    turn: OwnedMutexGuard<Lane>,
}

/// What is known of SQLite's one writing connection.
struct Lane {
    /// What its commits wait for; none while that is not known.
    sync: Option<Sync>,
    /// The last turn did not end well, or has not ended.
    suspect: bool,
}

impl Database {
    /// Connects and migrates.
    pub(crate) async fn open(options: &Options) -> Result<Self, StoreError> {
        let this = Self::connect(&options.backend, options.role, options.durability).await?;
        this.migrate().await?;
        Ok(this)
    }

    /// Connects.
    pub(crate) async fn connect(
        backend: &Backend,
        role: Role,
        durability: Durability,
    ) -> Result<Self, StoreError> {
        match backend {
            Backend::Sqlite { path } => sqlite::open(path, role).await,
            Backend::Postgres { url, max_connections } => {
                postgres::open(url, *max_connections, durability).await
            }
        }
    }

    /// Brings the schema up to date.
    pub(crate) async fn migrate(&self) -> Result<(), StoreError> {
        let tx = self.begin(Sync::Full).await?;
        schema::migrate(&tx.tx).await?;
        Ok(tx.commit().await?)
    }

    /// Begins a transaction that writes.
    pub(crate) async fn begin(&self, sync: Sync) -> Result<Transaction, DbErr> {
        let turn = match &self.turn {
            Some(turn) => Some(self.take(turn, sync).await?),
            None => None,
        };
        let options = TransactionOptions {
            sqlite_transaction_mode: turn.is_some().then_some(SqliteTransactionMode::Immediate),
            ..TransactionOptions::default()
        };
        Ok(Transaction {
            tx: self.write.begin_with_options(options).await?,
            turn,
        })
    }

    /// Takes SQLite's one writing connection without beginning a transaction; none on PostgreSQL.
    pub(crate) async fn turn(&self, sync: Sync) -> Result<Option<Turn<'_>>, DbErr> {
        match &self.turn {
            Some(turn) => Ok(Some(Turn {
                db: &self.write,
                turn: self.take(turn, sync).await?,
            })),
            None => Ok(None),
        }
    }

    async fn take(&self, turn: &Arc<Mutex<Lane>>, sync: Sync) -> Result<OwnedMutexGuard<Lane>, DbErr> {
        let mut lane = turn.clone().lock_owned().await;
        if lane.suspect && sqlite::mend(&self.write).await? {
            lane.sync = Some(Sync::Full);
        }
        lane.suspect = true;
        if lane.sync != Some(sync) {
            // Unknown until it is set: if this is given up halfway, the next one sets it again.
            lane.sync = None;
            sqlite::set_sync(&self.write, sync).await?;
            lane.sync = Some(sync);
        }
        Ok(lane)
    }

    /// The pool, where it is PostgreSQL's.
    pub(crate) fn postgres(&self) -> Option<PgPool> {
        let postgres = self.lazy.is_some();
        postgres.then(|| self.read.get_postgres_connection_pool().clone())
    }

    /// Closes every connection, then lets another process serve.
    pub(crate) async fn close(&self) {
        let connections = [Some(&self.write), Some(&self.read), self.lazy.as_ref()];
        for connection in connections.into_iter().flatten() {
            if let Err(error) = connection.close_by_ref().await {
                tracing::warn!(%error, "a database connection did not close");
            }
        }
        if let Some(wal) = &self.wal {
            wal.release();
        }
    }
}

impl Transaction {
    pub(crate) async fn commit(self) -> Result<(), DbErr> {
        self.tx.commit().await?;
        if let Some(mut lane) = self.turn {
            lane.suspect = false;
        }
        Ok(())
    }
}

impl Turn<'_> {
    /// All went well.
    pub(crate) fn done(mut self) {
        self.turn.suspect = false;
    }
}

impl Lane {
    /// A connection that was just opened.
    const fn new() -> Self {
        Self {
            sync: Some(Sync::Full),
            suspect: false,
        }
    }
}
