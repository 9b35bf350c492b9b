//! What every test stands on: a real store, real decisions, and the connections of one process.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use connections::{
    Cleared, CommandTable, ConnectionEvent, ConnectionEventKind, Connections, Dispatch, Dispatched, Limits,
    Options, Relay, SecretSource, SessionKey, StdioSpec,
};
use domain::{
    Account, Actor, Agent, AgentId, Arguments, Call, CallEvents, CallId, Channel, ClientContext, Connection,
    ConnectionId, ConnectionOwner, ConnectionState, DefinitionState, Digest, Effect, Endpoint, Entry, Fact,
    Grant, GrantSubject, Handle, Health, Hints, Identity, Label, Namespace, NoEvents, Permission, Principal,
    Risk, Secret, Sharing, Target, Tenant, ToolRef, Transport,
};
use mcp::egress::Egress;
use policy::{
    CallFacts, ConnectionFact, Decision, EndpointScope, Facts, NameLimits, Permit, RuleSet, ToolFact,
};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use store::{Change, PinName, RootKey, RootKeys, SecretOwner, SecretSlot, Store, ToolPin};
use tokio::sync::broadcast;

/// One process's worth of connections over a store of its own.
pub(crate) struct House {
    pub(crate) connections: Connections,
    pub(crate) store: Store,
    pub(crate) tenant: Tenant,
    pub(crate) events: broadcast::Receiver<ConnectionEvent>,
    agent: Agent,
    pub(crate) folder: tempfile::TempDir,
}

/// What a house is built from.
#[derive(Default)]
pub(crate) struct Plan {
    pub(crate) commands: Vec<(&'static str, StdioSpec)>,
    pub(crate) urls: Vec<String>,
    pub(crate) limits: Limits,
}

/// A connection of the test's making.
pub(crate) struct Wanted<'a> {
    pub(crate) at: At<'a>,
    pub(crate) sharing: Sharing,
    pub(crate) account: Account,
    pub(crate) allowed: Option<Vec<Arc<str>>>,
    pub(crate) timeout_ms: Option<u32>,
}

pub(crate) enum At<'a> {
    Command(&'a str),
    Url(&'a str, Transport),
}

impl<'a> Wanted<'a> {
    pub(crate) fn command(name: &'a str) -> Self {
        Self::of(At::Command(name))
    }

    pub(crate) fn url(url: &'a str) -> Self {
        Self::of(At::Url(url, Transport::StreamableHttp))
    }

    fn of(at: At<'a>) -> Self {
        let account = Account::NONE;
        Self {
            at,
            sharing: Sharing::Shared,
            account,
            allowed: None,
            timeout_ms: None,
        }
    }

    pub(crate) fn sharing(mut self, sharing: Sharing) -> Self {
        self.sharing = sharing;
        self
    }
}

impl House {
    pub(crate) async fn build(plan: Plan) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let keys = RootKeys::only(RootKey::generate().unwrap());
        let store = Store::open(store::Options::sqlite(folder.path().join("data.db"), keys))
            .await
            .unwrap();
        let tenant = store.bootstrap().await.unwrap().tenant;
        let agent = Agent {
            id: AgentId::generate(),
            handle: Handle::new("tester").unwrap(),
            description: String::new(),
            enabled: true,
            claimed: true,
            version: 1,
            created_at: domain::Clock::System.now(),
            updated_at: domain::Clock::System.now(),
        };
        let agent = store
            .create_agent(tenant, &Change::by_system("test"), agent)
            .await
            .unwrap();
        let mut egress = Egress::public();
        for url in &plan.urls {
            egress = egress.register(url).unwrap();
        }
        let mut options = Options::new(store.clone());
        options.commands = plan.commands.into_iter().collect();
        options.egress = Arc::new(egress);
        options.limits = plan.limits;
        let connections = Connections::new(options).unwrap();
        let events = connections.events();
        Self {
            connections,
            store,
            tenant,
            events,
            agent,
            folder,
        }
    }

    pub(crate) async fn add(&self, wanted: Wanted<'_>) -> ConnectionId {
        let id = ConnectionId::generate();
        let (endpoint, name) = match wanted.at {
            At::Command(name) => (
                Endpoint::Command {
                    configured: name.into(),
                },
                name,
            ),
            At::Url(url, transport) => (
                Endpoint::Url {
                    url: url.into(),
                    transport,
                },
                "remote",
            ),
        };
        let connection = Connection {
            id,
            owner: ConnectionOwner::Workspace,
            label: Label::new(&format!("{name} {id}")).unwrap(),
            namespace: Namespace::new(&id.uuid().simple().to_string()[12..]).unwrap(),
            endpoint,
            account: wanted.account,
            header_names: Vec::new(),
            sharing: wanted.sharing,
            allowed_tools: wanted.allowed,
            context: domain::ContextSelection::All,
            enabled: true,
            trusted: true,
            call_timeout_ms: wanted.timeout_ms,
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
            created_at: domain::Clock::System.now(),
        };
        self.store
            .create_connection(self.tenant, &Change::by_system("test"), connection)
            .await
            .unwrap();
        id
    }

    pub(crate) async fn set_credential(&self, id: ConnectionId, secret: &str) {
        let slot = SecretSlot {
            owner: SecretOwner::Connection(id),
            field: "credential".to_owned(),
        };
        let change = Change::by_system("test");
        self.store
            .vault()
            .put(self.tenant, &change, &slot, &Secret::new(secret))
            .await
            .unwrap();
    }

    pub(crate) async fn stored(&self, id: ConnectionId) -> Connection {
        self.store.connection(self.tenant, id).await.unwrap().unwrap()
    }

    pub(crate) async fn pin(&self, id: ConnectionId, name: &str) -> ToolPin {
        self.store
            .pin(
                self.tenant,
                &PinName {
                    connection: id,
                    name: name.into(),
                },
            )
            .await
            .unwrap()
            .unwrap()
    }

    /// A permit for exactly this, by the policy itself.
    pub(crate) fn permit(&self, target: Target, arguments: &Value, effect: Effect) -> Permit {
        let tenant = self.tenant;
        let principal = Principal {
            tenant,
            identity: Identity::System,
        };
        let id = target.connection().unwrap();
        let definition = Digest::of(b"definition");
        let connections = [usable(id)];
        let (subjects, tools) = match &target {
            Target::Tool(tool) => {
                let fact = ToolFact {
                    tool: tool.clone(),
                    definition,
                    state: DefinitionState::Pinned,
                    risk: Risk::Low,
                    effect,
                    hints: Hints::default(),
                    surfaces: Arc::from([]),
                    seen: true,
                };
                (vec![GrantSubject::Tool(tool.clone())], vec![fact])
            }
            Target::Prompt { .. } => (vec![GrantSubject::Prompts(id)], vec![]),
            Target::Resource { .. } => (vec![GrantSubject::Resources(id)], vec![]),
            Target::Skill { .. } => (vec![GrantSubject::Skills(id)], vec![]),
        };
        let grant = |subject| Grant {
            agent: self.agent.id,
            subject,
            permission: Permission::Unattended,
            at: domain::Clock::System.now(),
        };
        let grants: Vec<Grant> = subjects.into_iter().map(grant).collect();
        let effective = policy::compose(&Facts {
            tenant,
            principal,
            agent: &self.agent,
            channel: Channel::Api,
            epoch: domain::Epoch(0),
            endpoint: EndpointScope::Connection(id),
            grants: &grants,
            connections: &connections,
            tools: &tools,
            turn: None,
            carried: None,
            rules: &RuleSet::empty(),
            names: NameLimits::default(),
        });
        let call = Call {
            id: CallId::generate(),
            principal,
            agent: Some(self.agent.id),
            channel: Channel::Api,
            surface: None,
            run: None,
            exposed: target.name().clone(),
            target,
            definition,
            arguments: Arguments::new(to_raw_value(arguments).unwrap()).unwrap(),
        };
        let facts = CallFacts::at(domain::Clock::System.now());
        let decision = match call.target {
            Target::Tool(_) => policy::decide(&effective, call, &facts),
            Target::Prompt { .. } | Target::Resource { .. } | Target::Skill { .. } => {
                policy::decide_context(&effective, call, &facts)
            }
        };
        match decision {
            Decision::Allow(permit) => permit,
            other => panic!("not allowed: {other:?}"),
        }
    }

    /// The call, decided and recorded.
    pub(crate) async fn clear(&self, target: Target, arguments: &Value, effect: Effect) -> Cleared {
        let permit = self.permit(target, arguments, effect);
        let entry = decided(&permit);
        if permit.needs_intent() {
            let epoch = self.store.epoch(self.tenant).await.unwrap();
            let intent = self
                .store
                .begin_intent(self.tenant, entry, epoch, None)
                .await
                .unwrap();
            return Cleared::with_intent(permit, intent).unwrap();
        }
        let recorded = self.store.record(self.tenant, entry).unwrap();
        Cleared::recorded(permit, &recorded).unwrap()
    }

    pub(crate) async fn call_with(
        &self,
        (id, tool, effect): (ConnectionId, &str, Effect),
        arguments: Value,
        to: Dispatch,
        events: Arc<dyn CallEvents>,
    ) -> Dispatched {
        let target = Target::Tool(ToolRef::Upstream {
            connection: id,
            name: tool.into(),
        });
        let cleared = self.clear(target, &arguments, effect).await;
        self.connections.dispatch(cleared, to, events).await
    }

    /// Calls a tool that only reads.
    pub(crate) async fn read(&self, id: ConnectionId, tool: &str, arguments: Value) -> Dispatched {
        self.call_with(
            (id, tool, Effect::ReadOnly),
            arguments,
            plain(),
            Arc::new(NoEvents),
        )
        .await
    }

    /// Calls a tool that may change something.
    pub(crate) async fn act(&self, id: ConnectionId, tool: &str, arguments: Value) -> Dispatched {
        self.call_with(
            (id, tool, Effect::Mutating),
            arguments,
            plain(),
            Arc::new(NoEvents),
        )
        .await
    }

    pub(crate) async fn relay(
        &self,
        target: Target,
        arguments: Value,
        relay: Relay,
        to: Dispatch,
    ) -> Dispatched {
        let cleared = self.clear(target, &arguments, Effect::ReadOnly).await;
        self.connections
            .relay(cleared, relay, to, Arc::new(NoEvents))
            .await
    }

    /// Waits for an event of a connection that this finds.
    pub(crate) async fn hear(
        &mut self,
        id: ConnectionId,
        wanted: impl Fn(&ConnectionEventKind) -> bool,
    ) -> ConnectionEventKind {
        let waiting = async {
            loop {
                let event = self.events.recv().await.unwrap();
                if event.id == id && wanted(&event.kind) {
                    return event.kind;
                }
            }
        };
        tokio::time::timeout(Duration::from_secs(20), waiting)
            .await
            .expect("the event does not come")
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

fn decided(permit: &Permit) -> Entry {
    let call = permit.call();
    Entry {
        call: call.id,
        actor: Actor::of(&call.principal, call.agent),
        at: domain::Clock::System.now(),
        fact: Fact::Decided {
            target: call.target.clone(),
            exposed: call.exposed.clone(),
            channel: call.channel,
            surface: None,
            run: None,
            arguments: call.arguments.digest(),
            definition: call.definition,
            snapshot: None,
            decision: "allow".into(),
            reason: permit.reason().clone(),
            risk: permit.risk(),
            effect: permit.effect(),
            approval: None,
            epoch: permit.epoch(),
        },
    }
}

/// A call nothing special surrounds.
pub(crate) fn plain() -> Dispatch {
    from(None)
}

/// A call from a client's session.
pub(crate) fn from(session: Option<&str>) -> Dispatch {
    Dispatch {
        session: SessionKey {
            session: session.map(Arc::from),
            principal: Identity::System,
            agent: None,
        },
        client: ClientContext::default(),
        extras: Vec::new(),
        progress: false,
        timeout: None,
    }
}

/// The misbehaving child with these arguments.
pub(crate) fn child(arguments: &[&str]) -> StdioSpec {
    let program = testkit::program::program("scripted-child").unwrap();
    let mut argv = vec![known(&program.to_string_lossy())];
    argv.extend(arguments.iter().map(|argument| known(argument)));
    StdioSpec {
        argv,
        env: Vec::new(),
        inherited: Vec::new(),
        cwd: None,
    }
}

pub(crate) fn known(text: &str) -> SecretSource {
    SecretSource::Known(Secret::new(text))
}

pub(crate) fn table(commands: Vec<(&'static str, StdioSpec)>) -> CommandTable {
    commands.into_iter().collect()
}

/// The structured content of a result.
pub(crate) fn structured(dispatched: &Dispatched) -> Value {
    match &dispatched.body {
        connections::DispatchBody::Result(raw) => {
            let value: Value = serde_json::from_str(raw.get()).unwrap();
            value["structuredContent"].clone()
        }
        other => panic!(
            "no result: {other:?} {} {:?}",
            dispatched.detail, dispatched.outcome
        ),
    }
}

/// Whether a process is alive: not gone, and not merely waiting to be buried.
pub(crate) fn alive(pid: u64) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        stat.rsplit_once(')')
            .is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
    })
}

/// Waits until something is so; fails after 20 s.
pub(crate) async fn until(what: &str, so: impl Fn() -> bool) {
    for _ in 0..2_000 {
        if so() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("not so: {what}");
}

pub(crate) fn raw(value: &Value) -> Arc<RawValue> {
    Arc::from(to_raw_value(value).unwrap())
}

/// What deciding knows of a connection with nothing against it.
fn usable(id: ConnectionId) -> ConnectionFact {
    ConnectionFact {
        id,
        owner: ConnectionOwner::Workspace,
        namespace: Namespace::new("n").unwrap(),
        enabled: true,
        trusted: true,
        ready: true,
        allowed_tools: None,
        context: domain::ContextSelection::All,
        accept_new_tools: policy::AcceptNewTools::default(),
        default_tools: Arc::from([]),
    }
}
