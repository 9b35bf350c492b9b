//! All connections of a process: the one handle.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use arc_swap::ArcSwap;
use dashmap::DashMap;
use domain::{Clock, ConnectionId, Endpoint, Tenant};
use futures::future::join_all;
use mcp::egress::{Egress, EgressRefusal, Road};
use mcp::http::{HttpClient, HttpOptions};
use mcp::wire::WireError;
use mcp::{ClientProfile, Reaper};
use serde_json::json;
use store::{Change, Store};
use tokio::runtime::Handle;
use tokio::sync::broadcast;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use url::Url;

use crate::pool::{Line, LiveFacts, Settings, shorten, subscribe, sweep};
use crate::preset;
use crate::registry::Registry;
use crate::schema::Schemas;
use crate::{
    CommandTable, ConnectionError, ConnectionEvent, ConnectionEventKind, Limits, Options, SessionKey,
    SignInOptions,
};

/// Events that wait for a slow receiver; it then misses the oldest.
const EVENTS: usize = 1_024;
/// How long the reaper may take for what is left.
const REAPED: Duration = Duration::from_secs(3);

/// All connections of a process. Cheap to clone.
#[derive(Clone)]
pub struct Connections {
    pub(crate) inner: Arc<Inner>,
}

/// The connections of a process cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The HTTP client cannot be made, for example because an extra root is not a certificate.
    #[error("the HTTP client cannot be set up")]
    Http(#[from] mcp::http::HttpError),
    /// Our own profile cannot be written.
    #[error("the client profile cannot be set up")]
    Profile(#[from] WireError),
}

pub(crate) struct Inner {
    pub(crate) store: Store,
    pub(crate) clock: Clock,
    pub(crate) commands: ArcSwap<CommandTable>,
    pub(crate) reaper: Option<Reaper>,
    pub(crate) egress: Arc<Egress>,
    pub(crate) http: HttpClient,
    pub(crate) sign_in: SignInOptions,
    /// For authorization servers, with the guard of that purpose.
    pub(crate) sign_in_http: HttpClient,
    pub(crate) schemas: Schemas,
    pub(crate) limits: Limits,
    /// Whether workspaces are given the platform's connections.
    pub(crate) provides: bool,
    pub(crate) registry: Registry,
    pub(crate) profile: ClientProfile,
    pub(crate) lines: DashMap<ConnectionId, Arc<Line>>,
    /// Who hears what servers say outside of calls in a client's own sessions.
    pub(crate) owners: DashMap<SessionKey, Arc<dyn domain::CallEvents>>,
    pub(crate) tasks: TaskTracker,
    pub(crate) runtime: Handle,
    events: broadcast::Sender<ConnectionEvent>,
    stop: CancellationToken,
    over: AtomicBool,
}

impl Connections {
    /// Sets up, connecting to nothing. Must be called in a tokio runtime, on which everything then runs.
    ///
    /// # Errors
    /// The HTTP client or our client profile cannot be made.
    pub fn new(options: Options) -> Result<Self, SetupError> {
        let Options {
            store,
            clock,
            commands,
            reaper,
            egress,
            sign_in,
            extra_roots,
            schemas,
            limits,
            provides,
            registry,
        } = options;
        let client = |egress: &Arc<Egress>| {
            HttpClient::new(HttpOptions {
                limits: limits.http,
                egress: egress.clone(),
                extra_roots: extra_roots.clone(),
            })
        };
        let (http, sign_in_http) = (client(&egress)?, client(&sign_in.egress)?);
        let registry = Registry::new(&registry, client(&registry.egress)?);
        let inner = Arc::new(Inner {
            store,
            clock,
            commands: ArcSwap::from_pointee(commands),
            reaper,
            egress,
            http,
            sign_in,
            sign_in_http,
            schemas,
            profile: profile()?,
            lines: DashMap::new(),
            owners: DashMap::new(),
            tasks: TaskTracker::new(),
            runtime: Handle::current(),
            events: broadcast::channel(EVENTS).0,
            stop: CancellationToken::new(),
            over: AtomicBool::new(false),
            limits,
            provides,
            registry,
        });
        let every = inner
            .limits
            .idle
            .min(inner.limits.check)
            .div_f64(4.0)
            .clamp(Duration::from_millis(20), Duration::from_secs(30));
        let (stop, weak) = (inner.stop.clone(), Arc::downgrade(&inner));
        inner.tasks.spawn(async move {
            stop.run_until_cancelled(sweep(weak, every)).await;
        });
        Ok(Self { inner })
    }

    /// What happens from now on.
    #[must_use]
    pub fn events(&self) -> broadcast::Receiver<ConnectionEvent> {
        self.inner.events.subscribe()
    }

    /// The compiled schemas.
    #[must_use]
    pub fn schemas(&self) -> &Schemas {
        &self.inner.schemas
    }

    /// The bounds everything is under.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.inner.limits
    }

    /// The operator's commands as they stand.
    #[must_use]
    pub fn commands(&self) -> Arc<CommandTable> {
        self.inner.commands.load_full()
    }

    /// Whether a URL may be registered and used: public `https`, or an exact URL of the operator. Names are resolved, so that a person
    /// hears at once; it replaces none of the checks at connect.
    ///
    /// # Errors
    /// [`ConnectionError::Egress`] or, for text that is no URL, [`ConnectionError::Settings`].
    pub async fn check_url(&self, url: &str) -> Result<(), ConnectionError> {
        let url = self.inner.egress.admit(url)?;
        self.inner.egress.check_resolved(&url).await?;
        Ok(())
    }

    /// Whether the operator registered exactly this URL for MCP servers.
    #[must_use]
    pub fn is_registered(&self, url: &str) -> bool {
        let url = self.inner.egress.admit(url);
        url.is_ok_and(|url| self.inner.egress.check_url(&url) == Ok(Road::Registered))
    }

    /// Gives a workspace the connections that the platform gives, where this deployment gives any and it was not looked at for them
    /// yet. Nothing is asked of a server. Says whether something was made.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn provide(&self, tenant: Tenant) -> Result<bool, ConnectionError> {
        let given = self
            .inner
            .provides
            .then(|| preset::provided(self.inner.clock.now()));
        let Some(given) = given.flatten() else {
            return Ok(false);
        };
        let change = Change::by_system("platform.provide");
        let made = self
            .inner
            .store
            .provide(tenant, &change, given, preset::alike)
            .await?;
        Ok(made.is_some())
    }

    /// Takes up changed settings or secrets of a connection: the next use reads them, sessions made with the old ones end after the
    /// calls in flight.
    pub fn changed(&self, id: ConnectionId) {
        if let Some(line) = self.inner.lines.get(&id) {
            self.inner.end_gently(line.renew());
        }
    }

    /// A client's session began: what servers say outside of calls, in sessions opened for it, goes to this listener.
    pub fn attend(&self, key: SessionKey, listener: Arc<dyn domain::CallEvents>) {
        self.inner.owners.insert(key, listener);
    }

    /// Tells the servers with sessions opened for a client's session something it said: a notification without params. Servers of
    /// the stateless revision know none (2026-07-28, Streamable HTTP).
    pub fn tell(&self, key: &SessionKey, method: &'static str) {
        for line in &self.inner.lines {
            let Some(live) = line
                .own_now(key)
                .filter(|live| live.era() == mcp::version::Era::Legacy)
            else {
                continue;
            };
            let connection = line.id;
            let task = async move {
                if let Err(error) = live.upstream.notify(method, mcp::wire::Object::new()).await {
                    tracing::debug!(%error, %connection, method, "a server was not told");
                }
            };
            self.inner.tasks.spawn_on(task, &self.inner.runtime);
        }
    }

    /// A client's session ended: so do the upstream sessions opened for it, and what it subscribed to.
    pub fn end_session(&self, key: &SessionKey) {
        self.inner.owners.remove(key);
        for line in &self.inner.lines {
            if let Some(live) = line.take_own(key) {
                self.inner.close_later(live);
            }
            let unwanted = line.unwant_all(key);
            if !unwanted.is_empty() {
                self.inner.unsubscribe_later(&line, unwanted);
            }
        }
    }

    /// A connection is no more, or is to be used no more: everything of it ends, calls in flight included.
    pub async fn remove(&self, id: ConnectionId) {
        if let Some((_, line)) = self.inner.lines.remove(&id) {
            line.stop.cancel();
            join_all(line.take_all().iter().map(|live| live.close())).await;
        }
    }

    /// Takes over another set of commands: what changed is stopped and prepared again, what is gone is stopped. Replaced secrets are
    /// taken up at once; without this it happens at the next opening of a session, and for open ones at the next sweep.
    pub async fn reload(&self, commands: CommandTable) {
        let before = self.inner.commands.swap(Arc::new(commands));
        let now = self.inner.commands.load_full();
        let lines: Vec<_> = self.inner.lines.iter().map(|line| line.clone()).collect();
        for line in lines {
            self.inner.take_up_secrets(&line).await;
            let Ok(Some(connection)) = self.inner.store.connection(line.tenant, line.id).await else {
                continue;
            };
            let Endpoint::Command { configured } = &connection.endpoint else {
                continue;
            };
            if !before.agrees(&now, configured) {
                self.inner.end_gently(line.renew());
                self.schedule(line.tenant, line.id);
            }
        }
    }

    /// Puts other URLs of the operator in force, beside public `https`. Sessions over those that were taken away end after the calls in
    /// flight, and what is reached another way now is prepared again, which says so.
    ///
    /// # Errors
    /// The first that cannot be registered, and why; then all stays as it was.
    pub async fn reload_urls(&self, urls: &[String]) -> Result<(), (String, EgressRefusal)> {
        let ways = self.ways().await;
        self.inner.egress.replace(urls.iter().map(String::as_str))?;
        for (line, url, before) in ways {
            if self.inner.egress.check_url(&url).ok() != before {
                self.inner.end_gently(line.renew());
                self.schedule(line.tenant, line.id);
            }
        }
        Ok(())
    }

    /// Puts other URLs of the operator in force for signing in, beside public `https`.
    ///
    /// # Errors
    /// The first that cannot be registered, and why; then all stays as it was.
    pub fn reload_sign_in_urls(&self, urls: &[String]) -> Result<(), (String, EgressRefusal)> {
        self.inner.sign_in.egress.replace(urls.iter().map(String::as_str))
    }

    /// Which way the URL of each connection in memory is reached; none where it is refused.
    async fn ways(&self) -> Vec<(Arc<Line>, Url, Option<Road>)> {
        let lines: Vec<_> = self.inner.lines.iter().map(|line| line.clone()).collect();
        let mut ways = Vec::with_capacity(lines.len());
        for line in lines {
            let stored = self.inner.store.connection(line.tenant, line.id).await;
            let Ok(Some(connection)) = stored else { continue };
            let Endpoint::Url { url, .. } = &connection.endpoint else {
                continue;
            };
            if let (true, Ok(url)) = (connection.enabled, Url::parse(url)) {
                let way = self.inner.egress.check_url(&url).ok();
                ways.push((line, url, way));
            }
        }
        ways
    }

    /// What is going on at a connection.
    #[must_use]
    pub fn live(&self, id: ConnectionId) -> LiveFacts {
        self.inner
            .lines
            .get(&id)
            .map(|line| line.facts(&self.inner.limits))
            .unwrap_or_default()
    }

    /// Ends everything and waits until nothing is left, at most so long; what is then left is killed.
    pub async fn shutdown(&self, within: Duration) {
        self.inner.over.store(true, Ordering::Release);
        self.inner.stop.cancel();
        let lines: Vec<_> = self.inner.lines.iter().map(|line| line.clone()).collect();
        self.inner.lines.clear();
        // Nobody's turn comes any more.
        lines.iter().for_each(|line| line.calls.close());
        for live in lines.iter().flat_map(|line| line.take_all()) {
            self.inner.close_later(live);
        }
        self.inner.tasks.close();
        if timeout(within, self.inner.tasks.wait()).await.is_err() {
            tracing::warn!("not every connection ended in time; what is left of them is killed");
        }
        if let Some(reaper) = &self.inner.reaper {
            reaper.close(REAPED).await;
        }
    }
}

impl Inner {
    /// The connection in memory; a new one knows nothing yet.
    pub(crate) fn line(&self, tenant: Tenant, id: ConnectionId) -> Result<Arc<Line>, ConnectionError> {
        if self.stopping() {
            return Err(ConnectionError::Stopped);
        }
        let new = || Arc::new(Line::new(tenant, id, &self.limits, self.stop.child_token()));
        let line = self.lines.entry(id).or_insert_with(new).clone();
        // Ids are unique, but a caller of another tenant must not find out.
        if line.tenant == tenant {
            Ok(line)
        } else {
            Err(ConnectionError::NotFound)
        }
    }

    /// Whether everything is about to end.
    pub(crate) fn stopping(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    /// Tells whoever listens.
    pub(crate) fn tell(&self, line: &Line, kind: ConnectionEventKind) {
        // That nobody listens is no failure.
        drop(self.events.send(ConnectionEvent {
            tenant: line.tenant,
            id: line.id,
            kind,
        }));
    }

    /// Ends sessions once the calls in flight on them are over.
    pub(crate) fn end_gently(&self, sessions: Vec<Arc<crate::pool::Live>>) {
        for live in sessions {
            let longest = self.limits.call;
            let task = async move {
                live.quiet(longest).await;
                live.close().await;
            };
            self.tasks
                .spawn_on(self.stop.clone().run_until_cancelled_owned(task), &self.runtime);
        }
    }

    fn unsubscribe_later(self: &Arc<Self>, line: &Arc<Line>, uris: Vec<Arc<str>>) {
        let Some(live) = line.shared_now() else { return };
        let (inner, line) = (self.clone(), line.clone());
        let task = async move {
            let deadline = tokio::time::Instant::now() + inner.limits.call;
            match live.era() {
                mcp::version::Era::Modern => {
                    drop(inner.ask_for_news(&line, &live, None, deadline).await);
                }
                mcp::version::Era::Legacy => {
                    for uri in uris {
                        drop(subscribe(&live, "resources/unsubscribe", &uri, deadline).await);
                    }
                }
            }
        };
        self.tasks.spawn_on(task, &self.runtime);
    }

    /// What an error says to people, without our secrets.
    pub(crate) fn words(&self, error: &ConnectionError, settings: Option<&Settings>) -> String {
        let text = error.to_string();
        settings.map_or_else(|| shorten(&text), |settings| settings.scrub(&text))
    }
}

/// Who we are to servers whose sessions are shared. Questions to people and to models are passed on to the caller; folders of ours
/// are nobody's business.
fn profile() -> Result<ClientProfile, WireError> {
    let capabilities =
        json!({ "elicitation": { "form": {}, "url": {} }, "sampling": { "tools": {}, "context": {} } });
    let capabilities = mcp::wire::raw(&capabilities)?;
    ClientProfile::new("switchboard", env!("CARGO_PKG_VERSION"), capabilities)?.titled("Switchboard")
}
