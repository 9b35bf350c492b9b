//! The kernel's state, and how it follows changes.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use connections::Connections;
use connections::schema::Schemas;
use domain::{Clock, ConnectionId, Tenant};
use moka::sync::Cache;
use policy::{NameLimits, RuleSet};
use store::{Store, StoreError};
use tokio::sync::{Mutex, broadcast};
use tokio_util::task::TaskTracker;

use crate::capability::Registry;
use crate::facts::Workspace;
use crate::ports::Ports;
use crate::view::{View, ViewKey, compose};
use crate::{Change, Changed, Failure, FailureKind, RecordCounts};

/// What the kernel is made of.
pub struct Options {
    /// The database.
    pub store: Store,
    /// The workspace's servers.
    pub connections: Connections,
    /// The built-in capabilities.
    pub registry: Registry,
    /// Wall-clock time.
    pub clock: Clock,
    /// Compiled schemas, shared with whoever else compiles them.
    pub schemas: Schemas,
    /// How long exposed names may be.
    pub names: NameLimits,
    /// Where people reach this server, without a slash at the end: `http://localhost:7100`.
    pub public_url: Arc<str>,
    /// How long a question to a person, and then the use of the answer, stays open.
    pub approval_ttl: Duration,
    /// What only other crates can do.
    pub ports: Ports,
}

/// The kernel. Cheap to clone.
#[derive(Clone)]
pub struct Gateway {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) store: Store,
    pub(crate) connections: Connections,
    pub(crate) registry: Registry,
    pub(crate) clock: Clock,
    pub(crate) schemas: Schemas,
    pub(crate) names: NameLimits,
    pub(crate) public_url: Arc<str>,
    pub(crate) approval_ttl: Duration,
    pub(crate) ports: Ports,
    /// Calls that outlive their callers, and background writes.
    pub(crate) tasks: TaskTracker,
    workspaces: ArcSwap<HashMap<Tenant, Arc<Workspace>>>,
    rules: ArcSwap<HashMap<Tenant, RuleSet>>,
    views: Cache<ViewKey, Arc<View>>,
    /// One reading at a time, so that an older one never replaces a newer one.
    reading: Mutex<()>,
    /// One question at a time is looked for and stored, so that the same one is never asked twice.
    pub(crate) asking: Mutex<()>,
    changes: broadcast::Sender<Change>,
    /// Connections whose missing definitions were asked for, and the version of their settings then: each is asked once.
    completed: Mutex<HashSet<(ConnectionId, u32)>>,
}

/// Views kept: one per agent, principal, endpoint and channel in use.
const VIEWS: u64 = 4_096;
/// Notices a slow receiver may fall behind by before it is told that it missed some.
const NOTICES: usize = 256;

impl Gateway {
    /// Starts the kernel over a store: reads every workspace.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn start(options: Options) -> Result<Self, StoreError> {
        let inner = Inner {
            store: options.store,
            connections: options.connections,
            registry: options.registry,
            clock: options.clock,
            schemas: options.schemas,
            names: options.names,
            public_url: options.public_url,
            approval_ttl: options.approval_ttl,
            ports: options.ports,
            tasks: TaskTracker::new(),
            workspaces: ArcSwap::default(),
            rules: ArcSwap::default(),
            views: Cache::new(VIEWS),
            reading: Mutex::new(()),
            asking: Mutex::new(()),
            changes: broadcast::channel(NOTICES).0,
            completed: Mutex::default(),
        };
        let gateway = Self {
            inner: Arc::new(inner),
        };
        for tenant in gateway.inner.store.tenants().await? {
            gateway.refresh(tenant).await?;
        }
        Ok(gateway)
    }

    /// The capabilities.
    #[must_use]
    pub fn registry(&self) -> &Registry {
        &self.inner.registry
    }

    /// The workspace's servers, for capabilities that manage them. Nothing can be dispatched through it without being cleared.
    #[must_use]
    pub fn connections(&self) -> &Connections {
        &self.inner.connections
    }

    /// The database, for capabilities.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.inner.store
    }

    /// Where people reach this server.
    #[must_use]
    pub fn public_url(&self) -> &Arc<str> {
        &self.inner.public_url
    }

    /// How long a client may take to answer what a server asks it.
    #[must_use]
    pub fn answer_within(&self) -> Duration {
        self.inner.connections.limits().answer
    }

    /// Wall-clock time.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.inner.clock
    }

    /// The facts of a workspace as they stand.
    ///
    /// # Errors
    /// When there is no such workspace.
    pub fn workspace(&self, tenant: Tenant) -> Result<Arc<Workspace>, Failure> {
        self.inner
            .workspaces
            .load()
            .get(&tenant)
            .cloned()
            .ok_or_else(|| Failure::not_found("workspace"))
    }

    /// Whose facts are in memory.
    pub(crate) fn tenants(&self) -> Vec<Tenant> {
        self.inner.workspaces.load().keys().copied().collect()
    }

    /// The view a key asks for, composed anew where the facts have changed.
    ///
    /// # Errors
    /// When the agent or connection does not exist for this principal.
    pub fn view(&self, key: &ViewKey) -> Result<Arc<View>, Failure> {
        let workspace = self.workspace(key.principal.tenant)?;
        if let Some(view) = self.inner.views.get(key)
            && Arc::ptr_eq(&view.workspace, &workspace)
        {
            return Ok(view);
        }
        let view = Arc::new(compose(key.clone(), workspace, self.inner.names)?);
        self.inner.views.insert(key.clone(), view.clone());
        Ok(view)
    }

    /// The view a run begins with. Where a connection of the platform lacks the definition of a tool it offers, its server is asked
    /// first, once; what it says is used at once and kept.
    ///
    /// # Errors
    /// As [`Gateway::view`].
    pub async fn open(&self, key: &ViewKey) -> Result<Arc<View>, Failure> {
        self.complete(key.principal.tenant).await;
        self.view(key)
    }

    /// Asks for definitions that a connection of the platform lacks.
    pub(crate) async fn complete(&self, tenant: Tenant) {
        let lacking = |gateway: &Self| {
            let workspace = gateway.workspace(tenant).ok();
            workspace.filter(|workspace| !workspace.incomplete.is_empty())
        };
        if lacking(self).is_none() {
            return;
        }
        // Whoever comes meanwhile waits for the same answer.
        let mut completed = self.inner.completed.lock().await;
        let Some(workspace) = lacking(self) else { return };
        for id in &workspace.incomplete {
            let version = workspace
                .connection(*id)
                .map_or(0, |connection| connection.version);
            if !completed.insert((*id, version)) {
                continue;
            }
            if let Err(error) = self.inner.connections.prepare(tenant, *id).await {
                tracing::warn!(%error, connection = %id, "the definitions of a connection cannot be completed");
            }
            if let Err(error) = self.refresh(tenant).await {
                tracing::error!(%error, "the policy facts could not be read again");
            }
        }
    }

    /// Notices of what changes.
    #[must_use]
    pub fn changes(&self) -> broadcast::Receiver<Change> {
        self.inner.changes.subscribe()
    }

    /// Tells whoever listens that something changed.
    pub fn notify(&self, tenant: Tenant, what: Changed) {
        // Nobody listening is fine.
        drop(self.inner.changes.send(Change { tenant, what }));
    }

    /// Reads a workspace's facts again, after something in it changed.
    ///
    /// # Errors
    /// When the store cannot be read; the facts so far stay in force.
    pub async fn refresh(&self, tenant: Tenant) -> Result<(), StoreError> {
        let _one_at_a_time = self.inner.reading.lock().await;
        let rules = self.inner.rules.load().get(&tenant).cloned().unwrap_or_default();
        let fresh = Workspace::load(&self.inner.store, tenant, &self.inner.registry, rules).await?;
        let mut all = HashMap::clone(&self.inner.workspaces.load());
        all.insert(tenant, Arc::new(fresh));
        self.inner.workspaces.store(Arc::new(all));
        self.notify(tenant, Changed::Policy);
        Ok(())
    }

    /// Takes up what another process changed: the facts, and the settings of connections.
    ///
    /// # Errors
    /// When the store cannot be read; the facts so far stay in force.
    pub async fn catch_up(&self, tenant: Tenant) -> Result<(), Failure> {
        let before = self.workspace(tenant)?;
        if self.inner.store.epoch(tenant).await? == before.epoch {
            return Ok(());
        }
        self.refresh(tenant).await?;
        let now = self.workspace(tenant)?;
        for (id, was) in &before.connections {
            match now.connections.get(id) {
                Some(is) if is.version == was.version => {}
                Some(_) => self.connections().changed(*id),
                None => self.connections().remove(*id).await,
            }
        }
        Ok(())
    }

    /// Puts other rules in force. Raises the epoch, so that a call decided under the old ones is decided again.
    ///
    /// # Errors
    /// When the store cannot be written or read; the rules so far stay in force.
    pub async fn set_rules(&self, tenant: Tenant, rules: RuleSet) -> Result<(), StoreError> {
        let mut all = HashMap::clone(&self.inner.rules.load());
        all.insert(tenant, rules);
        self.inner
            .store
            .raise_epoch(tenant, &store::Change::by_system("rules.load"))
            .await?;
        self.inner.rules.store(Arc::new(all));
        self.refresh(tenant).await
    }

    /// Whether calls can be recorded, and so made.
    pub async fn healthy(&self) -> bool {
        self.inner.store.healthy().await
    }

    /// What the writer of the record did since the start.
    #[must_use]
    pub fn record_counts(&self) -> RecordCounts {
        self.inner.store.writer_counts()
    }

    /// Waits for calls that outlive their callers, at most until the deadline.
    pub async fn drain(&self, deadline: Duration) {
        self.inner.tasks.close();
        if tokio::time::timeout(deadline, self.inner.tasks.wait())
            .await
            .is_err()
        {
            tracing::warn!(
                left = self.inner.tasks.len(),
                "calls were still under way at the end"
            );
        }
    }
}

/// A store failure as an operator sees it.
impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let detail = error.to_string();
        if let StoreError::Database(source) = &error
            && error.is_passing()
        {
            tracing::error!(error = %source, "the database takes nothing at the moment");
            let detail = "the database takes nothing at the moment, so nothing was done; try again later";
            return Self::new(FailureKind::Unavailable, "record.unavailable", detail);
        }
        match error {
            StoreError::NotFound { what } => Self::not_found(what),
            StoreError::Conflict { .. } => Self::new(FailureKind::Conflict, "resource.name_taken", detail),
            StoreError::Version { .. } => {
                Self::new(FailureKind::Conflict, "resource.version_conflict", detail).at("expected_version")
            }
            StoreError::Full { .. } => Self::new(FailureKind::Conflict, "resource.limit_reached", detail),
            StoreError::NotPending { .. } => Self::new(FailureKind::Conflict, "approval.closed", detail),
            StoreError::BadCursor => Self::new(FailureKind::Invalid, "input.bad_cursor", detail).at("cursor"),
            StoreError::Unsound { .. } => Self::new(FailureKind::Invalid, "input.invalid", detail),
            StoreError::TooLarge { .. } => Self::new(FailureKind::Invalid, "input.too_large", detail),
            StoreError::Unavailable { .. } => {
                Self::new(FailureKind::Unavailable, "record.unavailable", detail)
            }
            other => Self::internal("the store failed", other),
        }
    }
}
