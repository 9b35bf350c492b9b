//! What every test starts from: a fresh database, and the words to fill it with.

use std::sync::Arc;
use std::time::Duration;

use domain::{
    Account, AccountKind, Actor, Agent, AgentId, CallId, Channel, Clock, Connection, ConnectionId,
    ConnectionOwner, ConnectionState, Digest, Effect, Endpoint, Entry, Epoch, Fact, Handle, Health, KeyId,
    KeyKind, Label, Namespace, Outcome, Reason, ReasonCode, Risk, Secret, Sharing, Target, Tenant, Timestamp,
    ToolRef, Transport,
};
use sea_orm::{ConnectionTrait as _, DatabaseConnection};
use store::{Backend, Change, JournalLimits, KeyRecord, Options, RootKey, RootKeys, Store};

/// A database of one test, which can be opened and closed.
pub(crate) struct Bench {
    pub(crate) backend: Backend,
    pub(crate) keys: RootKeys,
    pub(crate) clock: Clock,
    raw_url: String,
    _dir: Option<tempfile::TempDir>,
}

/// Where time stands when a test begins.
pub(crate) const START: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

impl Bench {
    pub(crate) fn sqlite() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("switchboard.db");
        let raw_url = format!("sqlite://{}", path.display());
        Self::new(Backend::Sqlite { path }, raw_url, Some(dir))
    }

    fn new(backend: Backend, raw_url: String, dir: Option<tempfile::TempDir>) -> Self {
        let keys = RootKeys::only(RootKey::generate().unwrap());
        Self {
            backend,
            keys,
            clock: Clock::test(START),
            raw_url,
            _dir: dir,
        }
    }

    pub(crate) fn options(&self) -> Options {
        let mut options = Options::new(self.backend.clone(), self.keys.clone());
        options.clock = self.clock.clone();
        // Tests chain by hand.
        options.journal = JournalLimits {
            chain_within: Duration::from_secs(3600),
            ..JournalLimits::default()
        };
        options
    }

    pub(crate) async fn open(&self) -> Store {
        Store::open(self.options()).await.unwrap()
    }

    /// An opened store with its first tenant.
    pub(crate) async fn start(&self) -> (Store, Tenant) {
        let store = self.open().await;
        let tenant = store.bootstrap().await.unwrap().tenant;
        (store, tenant)
    }

    /// A second way into the database, for looking and for tampering.
    pub(crate) async fn raw(&self) -> DatabaseConnection {
        sea_orm::Database::connect(&self.raw_url).await.unwrap()
    }

    pub(crate) async fn tamper(&self, sql: &str) {
        let raw = self.raw().await;
        raw.execute_unprepared(sql).await.unwrap();
        raw.close().await.unwrap();
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the suite is told of a PostgreSQL server by its environment"
)]
fn postgres_server() -> Option<String> {
    std::env::var("SWITCHBOARD_TEST_POSTGRES").ok()
}

/// Runs a test on a database of its own on the PostgreSQL server, and drops it whatever comes of the test.
pub(crate) async fn on_postgres<F>(test: impl FnOnce(Arc<Bench>) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let Some(server) = postgres_server() else {
        println!("left out: SWITCHBOARD_TEST_POSTGRES names no server");
        return;
    };
    let name = format!("switchboard_{}", uuid::Uuid::now_v7().simple());
    let admin = sea_orm::Database::connect(&server).await.unwrap();
    admin
        .execute_unprepared(&format!("CREATE DATABASE {name}"))
        .await
        .unwrap();
    let (base, _) = server.rsplit_once('/').unwrap();
    let url = format!("{base}/{name}");
    let backend = Backend::Postgres {
        url: Secret::new(&*url),
        max_connections: 8,
    };
    let outcome = tokio::spawn(test(Arc::new(Bench::new(backend, url, None)))).await;
    admin
        .execute_unprepared(&format!("DROP DATABASE {name} WITH (FORCE)"))
        .await
        .unwrap();
    admin.close().await.unwrap();
    if let Err(error) = outcome {
        std::panic::resume_unwind(error.into_panic());
    }
}

/// Declares tests that run on both databases.
macro_rules! both {
    ($($name:ident),* $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                super::$name(std::sync::Arc::new(crate::harness::Bench::sqlite())).await;
            })*
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                crate::harness::on_postgres(super::$name).await;
            })*
        }
    };
}
pub(crate) use both;

pub(crate) fn change() -> Change {
    Change::by_system("test.change")
}

pub(crate) fn agent(handle: &str) -> Agent {
    Agent {
        id: AgentId::generate(),
        handle: Handle::new(handle).unwrap(),
        description: format!("the agent {handle}"),
        enabled: true,
        claimed: true,
        version: 1,
        created_at: START,
        updated_at: START,
    }
}

pub(crate) fn connection(label: &str) -> Connection {
    let label = Label::new(label).unwrap();
    Connection {
        id: ConnectionId::generate(),
        owner: ConnectionOwner::Workspace,
        namespace: Namespace::suggest(label.as_str()),
        label,
        endpoint: Endpoint::Url {
            url: "https://mcp.example.com/mcp".into(),
            transport: Transport::Auto,
        },
        account: Account {
            kind: AccountKind::Header,
            header_name: Some("X-Token".into()),
            value_prefix: Some("Token ".into()),
            oauth: None,
            configured: false,
        },
        header_names: vec!["X-Region".into(), "X-Team".into()],
        sharing: Sharing::Shared,
        allowed_tools: Some(vec!["read".into(), "write".into()]),
        context: domain::ContextSelection::All,
        enabled: true,
        trusted: false,
        call_timeout_ms: Some(30_000),
        preset: None,
        verified: None,
        state: ConnectionState::Pending,
        health: Health::Unchecked,
        health_detail: None,
        checked_at: None,
        negotiated: None,
        catalogue_version: 0,
        catalogue_at: None,
        version: 1,
        created_at: START,
    }
}

pub(crate) fn key(kind: KeyKind) -> KeyRecord {
    KeyRecord {
        id: KeyId::generate(),
        kind,
        name: "laptop".to_owned(),
        secret_hash: [7; 32],
        created_at: START,
        last_used_at: None,
        revoked_at: None,
    }
}

pub(crate) fn actor(agent: Option<AgentId>) -> Actor {
    Actor {
        kind: "agent_key".into(),
        id: KeyId::generate().to_string().into(),
        agent,
    }
}

/// A decision about a call to a tool of this name.
pub(crate) fn decided(name: &str, decision: &str, effect: Effect) -> Entry {
    Entry {
        call: CallId::generate(),
        actor: actor(Some(AgentId::generate())),
        at: START,
        fact: Fact::Decided {
            target: Target::Tool(ToolRef::Upstream {
                connection: ConnectionId::generate(),
                name: name.into(),
            }),
            exposed: format!("server__{name}").into(),
            channel: Channel::Mcp,
            surface: None,
            run: None,
            arguments: Digest::of(b"arguments"),
            definition: Digest::of(b"definition"),
            snapshot: Some(Digest::of(b"snapshot")),
            decision: decision.into(),
            reason: Reason::by_rule(ReasonCode::GrantAllows, "rule-1"),
            risk: Risk::Low,
            effect,
            approval: None,
            epoch: Epoch(1),
        },
    }
}

/// The outcome of a call.
pub(crate) fn ended(call: CallId, outcome: Outcome) -> Entry {
    Entry {
        call,
        actor: actor(None),
        at: START,
        fact: Fact::Ended {
            outcome,
            duration_us: 1234,
            result: Some(Digest::of(b"result")),
        },
    }
}

/// Records an entry and waits until it is written.
pub(crate) async fn write(store: &Store, tenant: Tenant, entry: &Entry) {
    store
        .record(tenant, entry.clone())
        .unwrap()
        .written()
        .await
        .unwrap();
}
