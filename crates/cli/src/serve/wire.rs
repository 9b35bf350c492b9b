//! Puts the parts together.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use anyhow::Context as _;
use connections::registry::RegistryOptions;
use connections::schema::Schemas;
use connections::{Connections, Limits, SignInOptions};
use domain::{Clock, Tenant};
use gateway::{Gateway, Ports, Registry};
use identity::People;
use identity::oauth::AuthorizationServer;
use mcp::egress::Egress;
use policy::NameLimits;
use store::Store;
use url::Url;

use super::commands;
use super::ports::{Configuration, Credentials};
use super::strangers::Strangers;
use crate::config::{Config, Flags, Purpose};

/// The parts of a serving process. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Parts {
    pub(crate) store: Store,
    pub(crate) credentials: Credentials,
    pub(crate) people: People,
    pub(crate) sign_in: AuthorizationServer,
    pub(crate) connections: Connections,
    pub(crate) gateway: Gateway,
    pub(crate) tenant: Tenant,
}

/// Wires everything; nothing listens yet.
pub(super) async fn wire(
    config: &Config,
    flags: &Flags,
    store: Store,
    registry: Registry,
) -> anyhow::Result<Parts> {
    let start = store
        .bootstrap()
        .await
        .context("the first tenant cannot be made")?;
    let credentials = Credentials::load(&store)
        .await
        .context("the keys cannot be read")?;
    let schemas = Schemas::default();
    let options = connections::Options {
        commands: commands::table(&config.connections),
        reaper: reaper(),
        egress: Arc::new(egress(config, Purpose::Mcp)?),
        sign_in: SignInOptions {
            egress: Arc::new(egress(config, Purpose::Oauth)?),
            public_url: Url::parse(&config.server.public_url).context("server.public_url")?,
            state_key: super::state_key(config, &flags.data)?,
        },
        schemas: schemas.clone(),
        limits: limits(config),
        provides: config.presets.provide_exa,
        registry: browsed(config)?,
        ..connections::Options::new(store.clone())
    };
    let connections = Connections::new(options).context("the upstream client cannot be set up")?;
    for tenant in store.tenants().await.context("the workspaces cannot be read")? {
        let provided = connections.provide(tenant).await;
        provided.context("a workspace cannot be given the platform's connections")?;
    }
    let own = Arc::new(OnceLock::new());
    let gateway = Gateway::start(gateway::Options {
        store: store.clone(),
        connections: connections.clone(),
        registry,
        clock: Clock::System,
        schemas,
        names: NameLimits::new(config.names.max_length),
        public_url: config.server.public_url.trim_end_matches('/').into(),
        approval_ttl: Duration::from_secs(config.approvals.expire_after_seconds),
        ports: Ports {
            reload: Arc::new(Configuration {
                flags: flags.clone(),
                parts: own.clone(),
            }),
            keys: Arc::new(credentials.clone()),
        },
    })
    .await
    .context("the policy facts cannot be read")?;
    let people = People::new(
        (store.clone(), Clock::System),
        start.tenant,
        credentials.sessions.clone(),
    );
    let sign_in = AuthorizationServer::new(
        (store.clone(), Clock::System),
        start.tenant.organization,
        Url::parse(&config.server.public_url).context("server.public_url")?,
        Arc::new(Strangers::new(egress(config, Purpose::Oauth)?)?),
        credentials.tokens.clone(),
    );
    let parts = Parts {
        store,
        credentials,
        people,
        sign_in,
        connections,
        gateway,
        tenant: start.tenant,
    };
    // The port needs the parts and the parts need the port; this is the one knot, tied once.
    let tied = own.set(parts.clone());
    debug_assert!(tied.is_ok(), "wired once");
    Ok(parts)
}

/// This program again, as the process that ends our children if we are killed.
fn reaper() -> Option<mcp::Reaper> {
    match std::env::current_exe() {
        Ok(program) => Some(mcp::Reaper::new([program.into_os_string(), "reap".into()])),
        Err(error) => {
            tracing::warn!(%error, "where this program lies is not known; if it is killed, children may stay behind");
            None
        }
    }
}

/// Public HTTPS, and exactly the internal addresses the operator registered for this purpose.
pub(crate) fn egress(config: &Config, purpose: Purpose) -> anyhow::Result<Egress> {
    let mut urls = config.internal(purpose);
    urls.try_fold(Egress::public(), |egress, url| {
        egress
            .register(url)
            .with_context(|| format!("internal_urls: {url}"))
    })
}

/// The registry of servers that people search.
fn browsed(config: &Config) -> anyhow::Result<RegistryOptions> {
    let url = config.registry.url.trim();
    Ok(RegistryOptions {
        url: (!url.is_empty())
            .then(|| Url::parse(url))
            .transpose()
            .context("registry.url")?,
        egress: Arc::new(egress(config, Purpose::Registry)?),
        keep: Duration::from_secs(config.registry.keep_seconds.max(1)),
    })
}

fn limits(config: &Config) -> Limits {
    let seconds = Duration::from_secs;
    let up = &config.upstream;
    Limits {
        connect: seconds(up.connect_seconds),
        discovery: seconds(up.discovery_seconds),
        call: seconds(up.call_seconds),
        answer: seconds(up.answer_seconds),
        calls: up.max_in_flight,
        processes: up.max_processes,
        idle: seconds(up.idle_seconds),
        relist: seconds(up.relist_seconds),
        check: seconds(up.check_seconds.max(1)),
        items: up.max_tools,
        message: up.max_message_bytes,
        ..Limits::default()
    }
}

impl Parts {
    /// The HTTP application.
    pub(super) fn app(&self, config: &Config) -> server::App {
        server::App::new(server::Options {
            gateway: self.gateway.clone(),
            keys: self.credentials.keys.clone(),
            people: self.people.clone(),
            sign_in: self.sign_in.clone(),
            public_url: config.server.public_url.clone(),
            allowed_hosts: config.server.allowed_hosts.clone(),
            allowed_origins: config.server.allowed_origins.clone(),
            max_body_bytes: config.server.max_body_bytes,
            head_within: Duration::from_secs(config.server.head_seconds),
            body_within: Duration::from_secs(config.server.body_seconds),
            sessions: server::SessionLimits {
                total: config.mcp.max_sessions,
                per_key: config.mcp.max_sessions_per_key,
                idle: Duration::from_secs(config.mcp.session_idle_seconds),
            },
            rate_per_second: config.server.rate_per_second,
            rate_burst: config.server.rate_burst,
        })
    }

    /// Reads the configuration again and says in the log what came of it.
    pub(super) async fn reload_all(&self) {
        match self.gateway.reload(self.tenant).await {
            Ok(report) => {
                tracing::info!(
                    connections = report.connections,
                    rules = report.rules,
                    "configuration read again"
                );
                report
                    .problems
                    .iter()
                    .for_each(|problem| tracing::warn!("not taken over: {problem}"));
            }
            Err(failure) => tracing::error!(%failure, "the configuration could not be read again"),
        }
    }
}
