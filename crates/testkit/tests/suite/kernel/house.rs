//! What every test starts from: a database, the kernel over it, an agent with its key, and an administrator.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use connections::registry::RegistryOptions;
use connections::schema::Schemas;
use connections::{CommandTable, Connections, Limits};
use domain::{
    Agent, AgentId, CallId, Channel, Clock, Entry, Fact, Handle, Identity, KeyId, KeyKind, MemberId,
    OutcomeCode, PageRequest, Principal, Reason, Role, Status, Surface, Tenant, Timestamp,
};
use gateway::{
    AgentRef, Capability, ContextRequest, Exchange, Failure, Gateway, KeyTable, Later, Operation, Ports,
    Registry, Reload, ReloadReport, Reply, ReplyBody, Scope, ToolReply, ToolRequest, View, ViewKey,
};
use mcp::egress::{Egress, Resolver};
use mcp::http::CertificateDer;
use policy::{NameLimits, RuleSet, RuleSource};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use store::{
    ActivityFilter, ActivityItem, AuditFilter, Backend, Change, JournalLimits, RootKey, RootKeys, Store,
};

use super::upstream::Upstream;

/// Where time stands when a test begins: 2027-01-15, 08:00 UTC.
pub(crate) const START: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);
/// How long questions stay open.
pub(crate) const TTL: Duration = Duration::from_secs(600);

/// A database of one test, which can be opened and closed.
pub(crate) struct Bench {
    backend: Backend,
    keys: RootKeys,
    pub(crate) clock: Clock,
    pub(crate) folder: Option<tempfile::TempDir>,
}

impl Bench {
    pub(crate) fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("switchboard.db");
        Self::of(Backend::Sqlite { path }, Some(folder))
    }

    pub(crate) fn of(backend: Backend, folder: Option<tempfile::TempDir>) -> Self {
        let keys = RootKeys::only(RootKey::generate().unwrap());
        Self {
            backend,
            keys,
            clock: Clock::test(START),
            folder,
        }
    }

    pub(crate) async fn open(&self) -> Store {
        let mut options = store::Options::new(self.backend.clone(), self.keys.clone());
        options.clock = self.clock.clone();
        // Tests chain by hand.
        options.journal = JournalLimits {
            chain_within: Duration::from_secs(3600),
            ..JournalLimits::default()
        };
        Store::open(options).await.unwrap()
    }
}

/// One process: the kernel and all it stands on.
pub(crate) struct House {
    pub(crate) gateway: Gateway,
    pub(crate) store: Store,
    pub(crate) tenant: Tenant,
    pub(crate) clock: Clock,
    pub(crate) agent: Agent,
    /// A key bound to the agent.
    pub(crate) caller: Principal,
    /// An administrator's key.
    pub(crate) admin: Principal,
    /// An administrator's key of another organization.
    pub(crate) stranger: Principal,
    pub(crate) bench: Bench,
}

/// What a house may have besides.
#[derive(Default)]
pub(crate) struct Plan {
    pub(crate) urls: Vec<String>,
    pub(crate) commands: CommandTable,
    pub(crate) limits: Limits,
    /// Capabilities besides our own.
    pub(crate) more: Vec<Capability>,
    /// Whether workspaces are given the platform's connections.
    pub(crate) provides: bool,
    /// Names that are not asked of the system.
    pub(crate) resolver: Resolver,
    /// Authorities besides the public ones.
    pub(crate) roots: Vec<CertificateDer<'static>>,
    /// The registry of servers.
    pub(crate) registry: RegistryOptions,
}

struct NoReload;

impl Reload for NoReload {
    fn reload(&self, _tenant: Tenant) -> Later<'_, ReloadReport> {
        Box::pin(async { Ok(ReloadReport::default()) })
    }
}

struct NoKeys;

impl KeyTable for NoKeys {
    fn refresh(&self) -> Later<'_, ()> {
        Box::pin(async { Ok(()) })
    }
}

/// A principal with a key of its own.
pub(crate) fn key(tenant: Tenant, kind: KeyKind) -> Principal {
    Principal {
        tenant,
        identity: Identity::Key {
            id: KeyId::generate(),
            kind,
        },
    }
}

/// An Owner who signed in.
pub(crate) fn in_person(tenant: Tenant) -> Principal {
    Principal {
        tenant,
        identity: Identity::Member {
            id: MemberId::generate(),
            role: Role::Owner,
        },
    }
}

impl House {
    /// A house from which these upstreams can be reached.
    pub(crate) async fn with(bench: Bench, upstreams: &[&Upstream]) -> Self {
        let urls = upstreams
            .iter()
            .map(|upstream| upstream.server.url().to_owned())
            .collect();
        Self::build(
            bench,
            Plan {
                urls,
                ..Plan::default()
            },
        )
        .await
    }

    pub(crate) async fn build(bench: Bench, plan: Plan) -> Self {
        let store = bench.open().await;
        let tenant = store.bootstrap().await.unwrap().tenant;
        let other = store.create_organization("other").await.unwrap();
        let agent = Agent {
            id: AgentId::generate(),
            handle: Handle::new("default").unwrap(),
            description: String::new(),
            enabled: true,
            claimed: true,
            version: 1,
            created_at: START,
            updated_at: START,
        };
        let agent = store
            .create_agent(tenant, &Change::by_system("test"), agent)
            .await
            .unwrap();
        let ours = capabilities::registry().unwrap();
        let clock = bench.clock.clone();
        let schemas = Schemas::default();
        let egress = plan
            .urls
            .iter()
            .fold(Egress::public(), |egress, url| egress.register(url).unwrap())
            .with_resolver(plan.resolver);
        let connections = Connections::new(connections::Options {
            clock: clock.clone(),
            commands: plan.commands,
            egress: Arc::new(egress),
            schemas: schemas.clone(),
            limits: plan.limits,
            extra_roots: plan.roots,
            provides: plan.provides,
            registry: plan.registry,
            ..connections::Options::new(store.clone())
        })
        .unwrap();
        connections.provide(tenant).await.unwrap();
        let gateway = Gateway::start(gateway::Options {
            store: store.clone(),
            connections,
            registry: Registry::new(ours.iter().cloned().chain(plan.more).collect()).unwrap(),
            clock: clock.clone(),
            schemas,
            names: NameLimits::default(),
            public_url: "http://localhost:7100".into(),
            approval_ttl: TTL,
            ports: Ports {
                reload: Arc::new(NoReload),
                keys: Arc::new(NoKeys),
            },
        })
        .await
        .unwrap();
        let caller = key(tenant, KeyKind::Agent(agent.id));
        let (admin, stranger) = (key(tenant, KeyKind::Admin), key(other, KeyKind::Admin));
        Self {
            gateway,
            store,
            tenant,
            clock,
            agent,
            caller,
            admin,
            stranger,
            bench,
        }
    }

    /// Calls a capability as an administrator over REST.
    pub(crate) async fn ask(&self, id: &str, input: Value) -> Result<Value, Failure> {
        self.ask_as(self.admin, Surface::Api, (id, input))
            .await
            .map(|reply| reply.body.unwrap_or_default())
    }

    /// The same where it must succeed.
    pub(crate) async fn admin(&self, id: &str, input: Value) -> Value {
        self.ask(id, input.clone())
            .await
            .unwrap_or_else(|failure| panic!("{id} {input}: {failure}"))
    }

    pub(crate) async fn ask_as(
        &self,
        principal: Principal,
        surface: Surface,
        (id, input): (&str, Value),
    ) -> Result<Reply, Failure> {
        let operation = Operation {
            principal,
            surface,
            id: id.to_owned(),
            input,
            idempotency_key: None,
        };
        self.gateway.operate(operation).await
    }

    /// Adds an upstream as a trusted connection under this name and discovers what it offers.
    pub(crate) async fn connect(&self, name: &str, upstream: &Upstream) {
        self.connect_to(name, upstream.server.url(), json!({})).await;
    }

    pub(crate) async fn connect_to(&self, name: &str, url: &str, more: Value) {
        let mut input = json!({ "label": name, "namespace": name, "url": url, "transport": "streamable_http", "trusted": true });
        for (key, value) in more.as_object().unwrap() {
            input[key] = value.clone();
        }
        self.admin("connections.add", input).await;
        let report = self
            .admin("connections.test", json!({ "connection": name }))
            .await;
        assert_eq!(report["ok"], true, "{report:#}");
    }

    /// Lists again what a connection's server offers.
    pub(crate) async fn refresh(&self, name: &str) -> Value {
        self.admin("connections.refresh", json!({ "connection": name }))
            .await
    }

    /// Changes a connection's settings.
    pub(crate) async fn change(&self, name: &str, change: Value) {
        let now = self
            .admin("connections.show", json!({ "connection": name }))
            .await;
        let mut input = json!({ "connection": name, "expected_version": now["version"] });
        for (key, value) in change.as_object().unwrap() {
            input[key] = value.clone();
        }
        self.admin("connections.update", input).await;
    }

    /// Grants the agent a tool `connection/tool`, or a built-in one.
    pub(crate) async fn grant(&self, tool: &str, permission: &str) {
        let mut input = named(tool);
        input["agent"] = json!("default");
        input["permission"] = json!(permission);
        self.admin("grants.set", input).await;
    }

    pub(crate) async fn revoke(&self, tool: &str) {
        let mut input = named(tool);
        input["agent"] = json!("default");
        self.admin("grants.remove", input).await;
    }

    pub(crate) async fn classify(&self, tool: &str, risk: &str, effect: &str) {
        let mut input = named(tool);
        input["risk"] = json!(risk);
        input["effect"] = json!(effect);
        self.admin("tools.classify", input).await;
    }

    /// A low-risk tool that only reads, allowed.
    pub(crate) async fn reading(&self, tool: &str) {
        self.classify(tool, "low", "read_only").await;
        self.grant(tool, "allow").await;
    }

    /// A low-risk tool that changes something, allowed.
    pub(crate) async fn changing(&self, tool: &str) {
        self.classify(tool, "low", "mutating").await;
        self.grant(tool, "allow").await;
    }

    pub(crate) async fn rule(&self, id: &str, text: &str) {
        let source = RuleSource {
            id: id.into(),
            text: text.into(),
            description: String::new(),
            enabled: true,
        };
        self.gateway
            .set_rules(self.tenant, RuleSet::parse(&[source]).unwrap())
            .await
            .unwrap();
    }

    pub(crate) async fn no_rules(&self) {
        self.gateway
            .set_rules(self.tenant, RuleSet::empty())
            .await
            .unwrap();
    }

    /// What the agent sees now.
    pub(crate) fn view(&self) -> Arc<View> {
        self.view_of(self.caller, Scope::All)
    }

    pub(crate) fn view_of(&self, principal: Principal, scope: Scope) -> Arc<View> {
        let key = ViewKey {
            principal,
            agent: AgentRef::Id(self.agent.id),
            scope,
            channel: Channel::Mcp,
        };
        self.gateway.view(&key).unwrap()
    }

    /// The names the agent sees now.
    pub(crate) fn names(&self) -> Vec<String> {
        names(&self.view())
    }

    /// Calls a tool as the agent, and holds the explanation given before to what was then decided.
    pub(crate) async fn call(&self, name: &str, arguments: Value) -> ToolReply {
        self.call_in(&self.view(), name, arguments).await
    }

    pub(crate) async fn call_in(&self, view: &Arc<View>, name: &str, arguments: Value) -> ToolReply {
        let explained = {
            let now = self.gateway.view(&ViewKey {
                principal: self.caller,
                agent: AgentRef::Id(self.agent.id),
                scope: Scope::All,
                channel: Channel::Mcp,
            });
            let same = now.ok().filter(|now| Arc::ptr_eq(now, view));
            let given = arguments
                .is_object()
                .then(|| domain::Arguments::new(raw(&arguments)).unwrap());
            match (same, given) {
                (Some(view), Some(given)) => self.gateway.explain(&view, name, Some(given)).await.ok(),
                _ => None,
            }
        };
        let reply = self.gateway.call(view, request(name, &arguments)).await;
        let unjudged = matches!(
            reply.outcome.code,
            Some(OutcomeCode::InvalidArguments | OutcomeCode::RecordUnavailable)
        );
        if let Some(explained) = explained.filter(|_| !unjudged) {
            let Decided { decision, reason, .. } = Decided::of(&self.item(reply.call).await);
            assert_eq!(
                (explained.decision, &explained.reason),
                (&*decision, &reason),
                "{name} {arguments}"
            );
        }
        reply
    }

    pub(crate) async fn read(&self, method: &str, subject: &str, params: Value) -> ToolReply {
        let request = ContextRequest {
            method: method.into(),
            subject: subject.into(),
            params: raw(&params),
            exchange: Exchange::default(),
        };
        self.gateway.context(&self.view(), request).await
    }

    /// Waits until everything recorded so far is written: entries are written in the order they were recorded.
    pub(crate) async fn settle(&self) {
        self.admin("current_time", json!({})).await;
    }

    /// The one item of a call in the activity, once it has ended.
    pub(crate) async fn item(&self, call: CallId) -> ActivityItem {
        self.settle().await;
        let filter = ActivityFilter {
            call: Some(call),
            ..ActivityFilter::default()
        };
        let mut found = self.activity(filter).await;
        assert_eq!(found.len(), 1, "one call is one item");
        found.remove(0)
    }

    pub(crate) async fn activity(&self, filter: ActivityFilter) -> Vec<ActivityItem> {
        let mut all = Vec::new();
        let mut page = PageRequest {
            limit: 100,
            cursor: None,
        };
        loop {
            let found = self.store.list_activity(self.tenant, &filter, &page).await;
            let found = found.unwrap();
            all.extend(found.items);
            match found.next_cursor {
                Some(cursor) => page.cursor = Some(cursor),
                None => return all,
            }
        }
    }

    /// All calls of a tool by its exposed name, oldest first.
    pub(crate) async fn calls_of(&self, exposed: &str) -> Vec<ActivityItem> {
        self.settle().await;
        let mut found = self
            .activity(ActivityFilter {
                tool: Some(exposed.into()),
                ..ActivityFilter::default()
            })
            .await;
        found.reverse();
        found
    }

    /// Every fact of the record, oldest first.
    pub(crate) async fn entries(&self) -> Vec<Entry> {
        self.settle().await;
        let mut all = Vec::new();
        let mut page = PageRequest {
            limit: 100,
            cursor: None,
        };
        loop {
            let found = self
                .store
                .list_audit(self.tenant, &AuditFilter::default(), &page)
                .await
                .unwrap();
            all.extend(found.items.into_iter().map(|item| item.entry));
            match found.next_cursor {
                Some(cursor) => page.cursor = Some(cursor),
                None => break,
            }
        }
        all.reverse();
        all
    }

    /// Ends every test: the record is whole.
    pub(crate) async fn verify(&self) {
        self.settle().await;
        self.store.chain_once().await.unwrap();
        let found = self.store.verify(self.tenant, None, |_| {}).await.unwrap();
        assert_eq!(found.first_bad, None);
        // What settling itself recorded may come after.
        assert!(found.links > 0 && found.unchained_tail <= 2, "{found:?}");
    }

    /// Answers a question as the administrator.
    pub(crate) async fn answer(&self, approval: domain::ApprovalId, decision: &str) -> Value {
        self.admin(
            "resolve_approval",
            json!({ "approval": approval.uuid(), "decision": decision }),
        )
        .await
    }
}

/// A decision, as it stands in the record.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Decided {
    pub(crate) decision: Arc<str>,
    pub(crate) reason: Reason,
    pub(crate) risk: domain::Risk,
    pub(crate) effect: domain::Effect,
    pub(crate) channel: Channel,
    pub(crate) epoch: domain::Epoch,
}

impl Decided {
    pub(crate) fn of(item: &ActivityItem) -> Self {
        let Fact::Decided {
            decision,
            reason,
            risk,
            effect,
            channel,
            epoch,
            ..
        } = &item.decided.fact
        else {
            panic!("no decision: {item:?}")
        };
        Self {
            decision: decision.clone(),
            reason: reason.clone(),
            risk: *risk,
            effect: *effect,
            channel: *channel,
            epoch: *epoch,
        }
    }
}

/// `connection/tool` as the members of an input; without a slash, a built-in tool.
fn named(tool: &str) -> Value {
    match tool.split_once('/') {
        Some((connection, tool)) => json!({ "connection": connection, "tool": tool }),
        None => json!({ "tool": tool }),
    }
}

pub(crate) fn names(view: &View) -> Vec<String> {
    let name = |raw: &RawValue| {
        let tool: BTreeMap<String, Value> = serde_json::from_str(raw.get()).unwrap();
        tool["name"].as_str().unwrap().to_owned()
    };
    view.tools().iter().map(|raw| name(raw)).collect()
}

pub(crate) fn raw(value: &Value) -> Box<RawValue> {
    to_raw_value(value).unwrap()
}

pub(crate) fn request(name: &str, arguments: &Value) -> ToolRequest {
    ToolRequest {
        name: name.into(),
        arguments: Some(raw(arguments)),
        exchange: Exchange::default(),
    }
}

/// What a reply says: its code, or the tool's own result.
pub(crate) fn notice(reply: &ToolReply) -> &gateway::Notice {
    match &reply.body {
        ReplyBody::Notice(notice) => notice,
        other => panic!("no notice: {other:?}"),
    }
}

pub(crate) fn result(reply: &ToolReply) -> Value {
    match &reply.body {
        ReplyBody::Result(raw) => serde_json::from_str(raw.get()).unwrap(),
        other => panic!("no result: {other:?}"),
    }
}

pub(crate) fn asked(reply: &ToolReply) -> domain::ApprovalId {
    match &reply.body {
        ReplyBody::Approval(notice) => {
            assert_eq!(reply.outcome.status, Status::Waiting);
            notice.approval
        }
        other => panic!("nobody is asked: {other:?}"),
    }
}

/// The code of a reply that is no plain success.
pub(crate) fn code(reply: &ToolReply) -> &'static str {
    reply.outcome.code.map_or("", OutcomeCode::as_str)
}

/// The reason of a denial.
#[track_caller]
pub(crate) fn denied(reply: &ToolReply) -> &'static str {
    assert_eq!(reply.outcome.status, Status::Denied, "{reply:?}");
    notice(reply).code
}
