//! The connections to a database: for SQLite one that writes and a few that read, for PostgreSQL a pool.

mod postgres;
mod sqlite;

use std::sync::Arc;

use sea_orm::{
    DatabaseConnection, DatabaseTransaction, DbErr, SqliteTransactionMode, TransactionOptions,
    TransactionTrait as _,
};
use tokio::sync::{Mutex, OwnedMutexGuard};

use crate::options::{Backend, Options};
use crate::{StoreError, schema};

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
    /// On SQLite, who holds this writes; it remembers what the one connection's commits wait for.
    turn: Option<Arc<Mutex<Option<Sync>>>>,
    /// On SQLite, the write-ahead log, for putting it on disk.
    pub(crate) wal: Option<Wal>,
}

/// A transaction that writes. Dropped without a commit, it is undone.
pub(crate) struct Transaction {
    pub(crate) tx: DatabaseTransaction,
    _turn: Option<OwnedMutexGuard<Option<Sync>>>,
}

/// The right to use SQLite's one writing connection.
pub(crate) struct Turn<'a> {
    pub(crate) db: &'a DatabaseConnection,
    _turn: OwnedMutexGuard<Option<Sync>>,
}

impl Database {
    /// Connects and migrates.
    pub(crate) async fn open(options: &Options) -> Result<Self, StoreError> {
        let this = match &options.backend {
            Backend::Sqlite { path } => sqlite::open(path, options.role).await?,
            Backend::Postgres { url, max_connections } => {
                postgres::open(url, *max_connections, options.durability).await?
            }
        };
        let tx = this.begin(Sync::Full).await?;
        schema::migrate(&tx.tx).await?;
        tx.commit().await?;
        Ok(this)
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
            _turn: turn,
        })
    }

    /// Takes SQLite's one writing connection without beginning a transaction; none on PostgreSQL.
    pub(crate) async fn turn(&self, sync: Sync) -> Result<Option<Turn<'_>>, DbErr> {
        match &self.turn {
            Some(turn) => Ok(Some(Turn {
                db: &self.write,
                _turn: self.take(turn, sync).await?,
            })),
            None => Ok(None),
        }
    }

    async fn take(
        &self,
        turn: &Arc<Mutex<Option<Sync>>>,
        sync: Sync,
    ) -> Result<OwnedMutexGuard<Option<Sync>>, DbErr> {
        let mut mode = turn.clone().lock_owned().await;
        if *mode != Some(sync) {
            // Unknown until it is set: if this is given up halfway, the next one sets it again.
            *mode = None;
            sqlite::set_sync(&self.write, sync).await?;
            *mode = Some(sync);
        }
        Ok(mode)
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
        self.tx.commit().await
    }
}
