//! A database that is only read, as it is at one moment, while nobody serves from it.

use sea_orm::{AccessMode, DatabaseConnection, DatabaseTransaction, IsolationLevel, TransactionTrait as _};

use super::{postgres, sqlite};
use crate::StoreError;
use crate::options::Backend;
use crate::sql::{self, get};

/// The database, and one transaction in which everything is read.
pub(crate) struct Source {
    pub(crate) tx: DatabaseTransaction,
    db: DatabaseConnection,
    /// Held against a server that would start.
    _serving: Option<sqlite::Serving>,
}

/// Sessions of servers, and of commands beside them. Ours are called something else.
const OTHERS: &str =
    "SELECT COUNT(*) AS n FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1";

impl Source {
    /// Opens one that is there; changes nothing in it.
    ///
    /// # Errors
    /// `InUse` while somebody serves from it; `File` or `Database` when it cannot be read.
    pub(crate) async fn open(backend: &Backend) -> Result<Self, StoreError> {
        match backend {
            Backend::Sqlite { path } => {
                let (db, serving) = sqlite::open_to_read(path).await?;
                let tx = db.begin().await?;
                Ok(Self {
                    tx,
                    db,
                    _serving: Some(serving),
                })
            }
            Backend::Postgres { url, .. } => {
                let db = postgres::open_to_read(url).await?;
                let reading = (Some(IsolationLevel::RepeatableRead), Some(AccessMode::ReadOnly));
                let tx = db.begin_with_config(reading.0, reading.1).await?;
                // Every write raises a counter: whoever starts to serve meanwhile waits.
                sql::run(&tx, "LOCK TABLE counters IN SHARE MODE NOWAIT", Vec::new())
                    .await
                    .map_err(postgres::in_use_or)?;
                let others = sql::one(&tx, OTHERS, vec![postgres::APPLICATION.into()]).await?;
                if let Some(row) = others
                    && get::<i64>(&row, "n")? > 0
                {
                    return Err(postgres::in_use());
                }
                Ok(Self {
                    tx,
                    db,
                    _serving: None,
                })
            }
        }
    }

    /// Closes it.
    pub(crate) async fn close(self) {
        drop(self.tx);
        if let Err(error) = self.db.close().await {
            tracing::warn!(%error, "a database connection did not close");
        }
    }
}
