//! A whole Switchboard in the test's own process: store, connections, kernel and HTTP on a loopback port.

mod bounds;
mod front;
mod make;
mod people;
mod strangers;

use std::sync::Arc;
use std::time::Duration;

use connections::{CommandTable, Connections, Limits};
use domain::{AgentId, Clock, Tenant};
use gateway::{Gateway, Later, Ports, ReloadReport};
use identity::oauth::{AuthorizationServer, ClientDocuments, Fetching, Tokens};
use identity::{Keys, People, Sessions};
use store::Store;
use tokio::net::TcpListener;
use tokio_util::sync::DropGuard;

pub use bounds::Bounds;
pub use front::Front;
pub use make::{Made, Wanted};
pub use strangers::Stranger;

/// What a house may reach and start, and within which bounds.
#[derive(Debug, Default)]
pub struct Plan {
    /// URLs of the operator.
    pub reachable: Vec<String>,
    /// Commands of the operator.
    pub commands: CommandTable,
    /// The bounds of connections.
    pub limits: Limits,
    /// The bounds of clients.
    pub bounds: Bounds,
    /// What it takes for the time.
    pub clock: Clock,
}

/// A running Switchboard. Dropping it stops it and removes its files.
pub struct House {
    /// Where it serves, without a slash at the end.
    pub url: String,
    /// A key of an administrator.
    pub admin: String,
    /// The agent `default`.
    pub agent: AgentId,
    /// Its key.
    pub agent_key: String,
    /// The tenant.
    pub tenant: Tenant,
    /// The kernel.
    pub gateway: Gateway,
    /// The database.
    pub store: Store,
    /// The connections.
    pub connections: Connections,
    /// The valid keys.
    pub keys: Keys,
    /// The people.
    pub people: People,
    root: store::RootKeys,
    stop: DropGuard,
    folder: tempfile::TempDir,
}

impl House {
    /// Starts one that may reach these URLs.
    ///
    /// # Panics
    ///
    /// If anything of it does not start.
    pub async fn start(reachable: &[&str]) -> Self {
        Self::build(Plan {
            reachable: reachable.iter().map(|url| (*url).to_owned()).collect(),
            ..Plan::default()
        })
        .await
    }

    /// Starts one with bounds and commands of its own.
    ///
    /// # Panics
    ///
    /// As [`Self::start`].
    #[expect(clippy::unwrap_used, reason = "a test that cannot start its house has failed")]
    pub async fn build(plan: Plan) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = store::RootKeys::only(store::RootKey::generate().unwrap());
        let mut house = Self::open(folder, root, plan).await;
        house.admin = house.make_admin().await;
        let made = house.make_agent("default").await;
        (house.agent, house.agent_key) = (made.agent, made.key);
        house
    }

    /// Stops it and starts it again on what it stored, at another port.
    ///
    /// # Panics
    ///
    /// As [`Self::start`].
    pub async fn restart(self, reachable: &[&str]) -> Self {
        let Self {
            admin,
            agent,
            agent_key,
            connections,
            store,
            root,
            folder,
            stop,
            ..
        } = self;
        drop(stop);
        connections.shutdown(Duration::from_secs(1)).await;
        store.close().await;
        let plan = Plan {
            reachable: reachable.iter().map(|url| (*url).to_owned()).collect(),
            ..Plan::default()
        };
        Self {
            admin,
            agent,
            agent_key,
            ..Self::open(folder, root, plan).await
        }
    }

    #[expect(clippy::unwrap_used, reason = "a test that cannot start its house has failed")]
    async fn open(folder: tempfile::TempDir, root: store::RootKeys, plan: Plan) -> Self {
        let Plan {
            reachable,
            commands,
            limits,
            bounds,
            clock,
        } = plan;
        let mut options = store::Options::sqlite(folder.path().join("data.db"), root.clone());
        options.clock = clock.clone();
        let store = Store::open(options).await.unwrap();
        let tenant = store.bootstrap().await.unwrap().tenant;
        let keys = Keys::load(store.clone(), clock.clone()).await.unwrap();
        let egress = reachable
            .iter()
            .fold(mcp::egress::Egress::public(), |egress, url| {
                egress.register(url).unwrap()
            });
        let mut options = connections::Options::new(store.clone());
        options.egress = Arc::new(egress);
        options.commands = commands;
        options.limits = limits;
        let schemas = options.schemas.clone();
        let connections = Connections::new(options).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let gateway = Gateway::start(gateway::Options {
            store: store.clone(),
            connections: connections.clone(),
            registry: capabilities::registry().unwrap(),
            clock: clock.clone(),
            schemas,
            names: policy::NameLimits::default(),
            public_url: url.as_str().into(),
            approval_ttl: Duration::from_secs(3_600),
            ports: Ports {
                reload: Arc::new(Fixed),
                keys: Arc::new(Table(keys.clone())),
            },
        })
        .await
        .unwrap();
        let (people, sign_in) = door((&store, &clock), tenant, &url).await;
        let ending = server::Ending::default();
        let app = server::App::new(server::Options {
            gateway: gateway.clone(),
            keys: keys.clone(),
            people: people.clone(),
            sign_in,
            public_url: url.clone(),
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            max_body_bytes: bounds.body_bytes,
            head_within: bounds.head_within,
            body_within: bounds.body_within,
            sessions: bounds.sessions,
            rate_per_second: bounds.rate_per_second,
            rate_burst: bounds.burst,
        });
        tokio::spawn(follow(connections.clone(), gateway.clone()));
        tokio::spawn(server::serve(listener, app, ending.clone()));
        Self {
            url,
            admin: String::new(),
            agent: AgentId::generate(),
            agent_key: String::new(),
            tenant,
            gateway,
            store,
            connections,
            keys,
            people,
            root,
            stop: ending.stop.drop_guard(),
            folder,
        }
    }
}

/// Where people and MCP clients come in.
#[expect(clippy::unwrap_used, reason = "a test that cannot start its house has failed")]
async fn door((store, clock): (&Store, &Clock), tenant: Tenant, url: &str) -> (People, AuthorizationServer) {
    let known = || (store.clone(), clock.clone());
    let sessions = Sessions::load(store.clone(), clock.clone()).await.unwrap();
    let tokens = Tokens::load(store.clone(), clock.clone()).await.unwrap();
    let sign_in = AuthorizationServer::new(
        known(),
        tenant.organization,
        url.parse().unwrap(),
        Arc::new(NoDocuments),
        tokens,
    );
    (People::new(known(), tenant, sessions), sign_in)
}

/// What changes at connections changes what agents see.
async fn follow(connections: Connections, gateway: Gateway) {
    let mut events = connections.events();
    while let Ok(event) = events.recv().await {
        if gateway.follow(&event) && gateway.refresh(event.tenant).await.is_err() {
            return;
        }
    }
}

/// There is no configuration to read again.
struct Fixed;

impl gateway::Reload for Fixed {
    fn reload(&self, _tenant: Tenant) -> Later<'_, ReloadReport> {
        Box::pin(async { Ok(ReloadReport::default()) })
    }
}

struct Table(Keys);

impl gateway::KeyTable for Table {
    fn refresh(&self) -> Later<'_, ()> {
        Box::pin(async { Ok(self.0.refresh().await?) })
    }
}

/// Nothing outside is read.
struct NoDocuments;

impl ClientDocuments for NoDocuments {
    fn fetch(&self, _url: url::Url) -> Fetching<'_> {
        Box::pin(async { Err("nothing outside is read here".to_owned()) })
    }
}
