//! SQLite: write-ahead log, foreign keys, one connection that writes, files only their owner can read.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use sea_orm::sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use sea_orm::sqlx::{ConnectOptions as _, Connection as _, raw_sql};
use sea_orm::{ConnectionTrait as _, DatabaseConnection, DbErr, SqlxSqliteConnector};
use tokio::sync::Mutex;

use super::{Database, Lane, Sync};
use crate::{Role, StoreError};

/// Connections that read at the same time.
const READERS: u32 = 4;
/// How long a write waits for another process.
const BUSY: Duration = Duration::from_secs(10);

/// Pages in the log before they are moved to the database, 16 MB: appending touches the same pages again and again.
const CHECKPOINT_PAGES: &str = "4000";

/// Memory for pages of the connection that writes, 8 MB: what is appended to stays in it.
const WRITER_CACHE: &str = "-8000";

/// The lock of whoever serves, let go when dropped.
pub(super) type Serving = File;

/// The write-ahead log's file, and the lock of the process that serves.
pub(crate) struct Wal {
    path: PathBuf,
    serving: std::sync::Mutex<Option<File>>,
}

/// Prepares the files and opens the connections.
pub(super) async fn open(path: &Path, role: Role) -> Result<Database, StoreError> {
    let serving = prepare(path, role)?;
    let options = SqliteConnectOptions::new()
        .filename(path)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        .busy_timeout(BUSY)
        .pragma("wal_autocheckpoint", CHECKPOINT_PAGES)
        .disable_statement_logging();
    let writing = options.clone().pragma("cache_size", WRITER_CACHE);
    let write = pool(1).connect_with(writing).await.map_err(connect)?;
    let read = pool(READERS).connect_lazy_with(options.read_only(true));
    Ok(Database {
        read: wrap(read),
        write: wrap(write),
        lazy: None,
        turn: Some(Arc::new(Mutex::new(Lane::new()))),
        wal: Some(Wal {
            path: beside(path, "-wal"),
            serving: std::sync::Mutex::new(serving),
        }),
    })
}

/// Opens a file that is there to read it, with the lock of whoever serves.
pub(super) async fn open_to_read(path: &Path) -> Result<(DatabaseConnection, Serving), StoreError> {
    if !path.exists() {
        return Err(file_error(path, std::io::ErrorKind::NotFound.into()));
    }
    let serving = serving(path)?;
    let options = SqliteConnectOptions::new()
        .filename(path)
        .read_only(true)
        .busy_timeout(BUSY)
        .disable_statement_logging();
    let db = wrap(pool(1).connect_with(options).await.map_err(connect)?);
    Ok((db, serving))
}

/// What the writing connection's commits wait for, from now on.
pub(super) async fn set_sync(db: &DatabaseConnection, sync: Sync) -> Result<(), DbErr> {
    let sql = match sync {
        Sync::Full => "PRAGMA synchronous = FULL",
        Sync::Normal => "PRAGMA synchronous = NORMAL",
    };
    db.execute_unprepared(sql).await.map(|_| ())
}

/// Makes the writing connection usable after a turn that did not end well; says whether it is another one now. When the disk fails
/// SQLite undoes a transaction by itself. The driver then goes on believing in it, and such a connection is of no use any more.
pub(super) async fn mend(db: &DatabaseConnection) -> Result<bool, DbErr> {
    let pool = db.get_sqlite_connection_pool();
    let mut connection = pool.acquire().await.map_err(connect)?;
    // Fails where nothing is open, which is as it should be.
    raw_sql("ROLLBACK").execute(&mut *connection).await.ok();
    let believes = connection.is_in_transaction();
    if believes {
        connection.close().await.map_err(connect)?;
    }
    Ok(believes)
}

impl Wal {
    /// Lets another process serve. Whoever still holds a part of a closed store must not keep the lock.
    pub(super) fn release(&self) {
        drop(self.serving.lock().map(|mut file| file.take()));
    }

    /// Puts what is in the log on disk. Closing this second handle drops no lock: SQLite keeps its locks on other files.
    pub(crate) async fn sync(&self) -> std::io::Result<()> {
        let path = self.path.clone();
        tokio::task::spawn_blocking(move || File::open(path)?.sync_data())
            .await
            .map_err(std::io::Error::other)?
    }
}

fn pool(max: u32) -> SqlitePoolOptions {
    // The connections stay: a new one would have to be told its pragmas again, and there is nothing to reconnect to.
    SqlitePoolOptions::new()
        .max_connections(max)
        .idle_timeout(None)
        .max_lifetime(None)
        .test_before_acquire(false)
}

fn wrap(pool: SqlitePool) -> DatabaseConnection {
    SqlxSqliteConnector::from_sqlx_sqlite_pool(pool)
}

fn connect(error: sea_orm::sqlx::Error) -> DbErr {
    DbErr::Conn(sea_orm::RuntimeErr::SqlxError(error.into()))
}

/// Makes folder and file where they are missing; the serving process takes the lock.
fn prepare(path: &Path, role: Role) -> Result<Option<File>, StoreError> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(|source| file_error(folder, source))?;
    }
    // Only where it is missing: closing a second handle to an open database would drop SQLite's locks.
    if !path.exists() {
        private(path)?;
    }
    if role == Role::Beside {
        return Ok(None);
    }
    serving(path).map(Some)
}

/// Takes the lock of the process that serves.
fn serving(path: &Path) -> Result<Serving, StoreError> {
    let lock = beside(path, ".lock");
    let file = private(&lock)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(StoreError::InUse {
            what: path.display().to_string(),
        }),
        Err(TryLockError::Error(source)) => Err(file_error(&lock, source)),
    }
}

/// Opens a file only its owner can read; SQLite gives the files beside it the same mode.
fn private(path: &Path) -> Result<File, StoreError> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path)
        .map_err(|source| file_error(path, source))
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn file_error(path: &Path, source: std::io::Error) -> StoreError {
    StoreError::File {
        path: path.display().to_string(),
        source,
    }
}
