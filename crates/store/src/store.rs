//! The store itself: opening, closing, health.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use domain::Timestamp;
use tokio::sync::{Mutex, watch};
use tokio::task::JoinSet;
use tokio_util::sync::{CancellationToken, DropGuard};
use uuid::Uuid;

use crate::core::{self, Core};
use crate::database::Database;
use crate::journal::Writer;
use crate::vault::Seals;
use crate::{Options, Role, StoreError, Vault, audit, journal, others, sql, vault};

/// One database and its writer. Cheap to clone.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    core: Arc<Core>,
    writer: Writer,
    tasks: Mutex<JoinSet<()>>,
    stop: CancellationToken,
    // When the last store is dropped without being closed, the tasks end too.
    _stop_on_drop: DropGuard,
}

/// How long closing waits for what is queued.
const CLOSE: Duration = Duration::from_secs(10);

impl Store {
    /// Opens the database: makes what is missing, migrates under a lock, starts the writer.
    ///
    /// # Errors
    /// When the database cannot be reached, was written by a newer release, is served by another process (SQLite), or the vault's
    /// root key is not the right one.
    pub async fn open(options: Options) -> Result<Self, StoreError> {
        let db = Database::open(&options).await?;
        let seals = Seals::new(&options.keys);
        let clock = options.clock.clone();
        let mut core = Core {
            db,
            seals,
            opened: HashMap::new(),
            clock,
            changes: watch::Sender::new(0),
            others: watch::Sender::new(0),
            process: Uuid::now_v7(),
            options,
        };
        vault::check_key(&core).await?;
        let serves = core.options.role == Role::Serve;
        if serves {
            journal::mark_unknown(&core).await?;
        }
        core.opened = core::numbers(&core.db.read).await?;
        let core = Arc::new(core);
        let stop = CancellationToken::new();
        let mut tasks = JoinSet::new();
        let writer = Writer::start(&core, &mut tasks, stop.clone());
        if serves {
            tasks.spawn(audit::chain_forever(core.clone(), core.process, stop.clone()));
            if let Some(pool) = core.db.postgres() {
                tasks.spawn(others::listen_forever(core.clone(), pool, stop.clone()));
            }
        }
        let stop_on_drop = stop.clone().drop_guard();
        Ok(Self {
            inner: Arc::new(Inner {
                core,
                writer,
                tasks: Mutex::new(tasks),
                stop,
                _stop_on_drop: stop_on_drop,
            }),
        })
    }

    /// Writes what is queued and closes the database. Other clones of this store can do nothing any more.
    pub async fn close(self) {
        self.inner.stop.cancel();
        let mut tasks = std::mem::take(&mut *self.inner.tasks.lock().await);
        let ended = tokio::time::timeout(CLOSE, async { while tasks.join_next().await.is_some() {} }).await;
        if ended.is_err() {
            tracing::error!(
                queued = self.inner.writer.counts().queued,
                "the record was not written in time before closing"
            );
        }
        self.inner.core.db.close().await;
    }

    /// Whether the database answers and the writer writes.
    pub async fn healthy(&self) -> bool {
        !self.inner.writer.failing()
            && sql::one(&self.core().db.read, "SELECT 1", Vec::new())
                .await
                .is_ok()
    }

    /// A count that grows whenever another process changed something that can alter a decision, or may have.
    #[must_use]
    pub fn others(&self) -> watch::Receiver<u64> {
        self.inner.core.others.subscribe()
    }

    /// A count that grows whenever this process changed something that can alter a decision.
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.inner.core.changes.subscribe()
    }

    /// The vault.
    #[must_use]
    pub fn vault(&self) -> Vault {
        Vault {
            core: self.inner.core.clone(),
        }
    }

    pub(crate) fn core(&self) -> &Core {
        &self.inner.core
    }

    pub(crate) fn writer(&self) -> &Writer {
        &self.inner.writer
    }

    pub(crate) fn holder(&self) -> Uuid {
        self.inner.core.process
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.inner.core.clock.now()
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store")
            .field("backend", &self.inner.core.options.backend)
            .finish_non_exhaustive()
    }
}
