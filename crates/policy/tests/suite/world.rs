//! Facts written down in a few words, as the fixture files and the property tests need them.

use std::collections::BTreeSet;
use std::str::FromStr;
use std::sync::Arc;

use domain::{
    Agent, AgentId, Answer, Arguments, Call, CallId, Channel, ConnectionId, ConnectionOwner, Digest, Effect,
    Epoch, Grant, GrantSubject, Handle, Hints, Identity, KeyKind, Namespace, Principal, Risk, Surface,
    Target, Tenant, Timestamp, ToolRef,
};
use policy::{
    AcceptNewTools, ApprovalFact, ConnectionFact, Effective, EndpointScope, Facts, NameLimits, RuleSet,
    RuleSource, ToolFact, TurnPolicy, compose,
};
use serde::Deserialize;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct World {
    pub(crate) agent: String,
    pub(crate) agent_enabled: bool,
    pub(crate) principal: String,
    pub(crate) channel: String,
    pub(crate) epoch: u64,
    /// A connection's namespace, or empty for everything.
    pub(crate) endpoint: String,
    pub(crate) connections: Vec<ConnectionLine>,
    pub(crate) tools: Vec<ToolLine>,
    pub(crate) grants: Vec<GrantLine>,
    pub(crate) rules: Vec<RuleLine>,
    pub(crate) turn: Option<TurnLine>,
    pub(crate) carried: Option<Vec<String>>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ConnectionLine {
    pub(crate) name: String,
    /// An agent's handle, or empty for the workspace.
    pub(crate) owner: String,
    pub(crate) enabled: bool,
    pub(crate) trusted: bool,
    pub(crate) ready: bool,
    pub(crate) allowed: Option<Vec<String>>,
    pub(crate) accept: String,
    /// What the platform gives every agent.
    pub(crate) default_tools: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ToolLine {
    pub(crate) id: String,
    pub(crate) risk: String,
    pub(crate) effect: String,
    pub(crate) state: String,
    pub(crate) read_only_hint: Option<bool>,
    pub(crate) surfaces: Vec<String>,
    pub(crate) seen: bool,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GrantLine {
    /// A tool, `prompts:<namespace>` or `resources:<namespace>`.
    pub(crate) on: String,
    pub(crate) says: String,
    /// Another agent than the world's.
    pub(crate) agent: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RuleLine {
    pub(crate) id: String,
    pub(crate) text: String,
    #[serde(default)]
    pub(crate) disabled: bool,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct TurnLine {
    pub(crate) only: Option<Vec<String>>,
    pub(crate) without: Vec<String>,
    pub(crate) max_risk: Option<String>,
    pub(crate) ask_from: Option<String>,
}

impl Default for World {
    fn default() -> Self {
        Self {
            agent: "helper".into(),
            agent_enabled: true,
            principal: "agent_key".into(),
            channel: "mcp".into(),
            epoch: 1,
            endpoint: String::new(),
            connections: vec![],
            tools: vec![],
            grants: vec![],
            rules: vec![],
            turn: None,
            carried: None,
        }
    }
}

impl Default for ConnectionLine {
    fn default() -> Self {
        Self {
            name: String::new(),
            owner: String::new(),
            enabled: true,
            trusted: true,
            ready: true,
            allowed: None,
            accept: "admit".into(),
            default_tools: vec![],
        }
    }
}

impl Default for ToolLine {
    fn default() -> Self {
        Self {
            id: String::new(),
            risk: "low".into(),
            effect: "mutating".into(),
            state: "pinned".into(),
            read_only_hint: None,
            surfaces: vec!["agent".into()],
            seen: true,
        }
    }
}

/// A world as the types of the crate, owned.
pub(crate) struct Built {
    pub(crate) agent: Agent,
    pub(crate) principal: Principal,
    pub(crate) channel: Channel,
    pub(crate) epoch: Epoch,
    pub(crate) endpoint: EndpointScope,
    pub(crate) connections: Vec<ConnectionFact>,
    pub(crate) tools: Vec<ToolFact>,
    pub(crate) grants: Vec<Grant>,
    pub(crate) rules: RuleSet,
    pub(crate) turn: Option<TurnPolicy>,
    pub(crate) carried: Option<BTreeSet<ToolRef>>,
}

/// An id that is always the same for the same name.
pub(crate) fn id<T: FromStr<Err = domain::ParseIdError>>(name: &str) -> T {
    let hex = Digest::of(name.as_bytes()).to_string();
    format!(
        "{}-{}-7{}-8{}-{}",
        &hex[..8],
        &hex[8..12],
        &hex[13..16],
        &hex[17..20],
        &hex[20..32]
    )
    .parse()
    .unwrap()
}

pub(crate) fn tenant() -> Tenant {
    Tenant {
        organization: id("organization"),
        workspace: id("workspace"),
    }
}

pub(crate) fn principal(kind: &str, agent: AgentId) -> Principal {
    let identity = match kind {
        "owner" | "admin" | "member" | "viewer" | "billing" => Identity::Member {
            id: id("member"),
            role: kind.parse().unwrap(),
        },
        "mcp_client" => Identity::Client {
            consent: id("consent"),
            agent,
        },
        "admin_key" => Identity::Key {
            id: id("key"),
            kind: KeyKind::Admin,
        },
        "agent_key" => Identity::Key {
            id: id("key"),
            kind: KeyKind::Agent(agent),
        },
        "system" => Identity::System,
        other => panic!("no principal `{other}`"),
    };
    Principal {
        tenant: tenant(),
        identity,
    }
}

/// `<namespace>/<tool>` or a capability's id.
pub(crate) fn tool(text: &str) -> ToolRef {
    match text.split_once('/') {
        Some((connection, name)) => ToolRef::Upstream {
            connection: id(connection),
            name: name.into(),
        },
        None => ToolRef::Capability(text.into()),
    }
}

pub(crate) fn definition(tool: &str) -> Digest {
    Digest::of(format!("definition of {tool}").as_bytes())
}

fn subject(text: &str) -> GrantSubject {
    match text.split_once(':') {
        Some(("prompts", connection)) => GrantSubject::Prompts(id(connection)),
        Some(("resources", connection)) => GrantSubject::Resources(id(connection)),
        Some(("skills", connection)) => GrantSubject::Skills(id(connection)),
        _ => GrantSubject::Tool(tool(text)),
    }
}

impl World {
    pub(crate) fn build(&self) -> Built {
        let rules: Vec<RuleSource> = self
            .rules
            .iter()
            .map(|r| RuleSource {
                id: r.id.as_str().into(),
                text: r.text.as_str().into(),
                description: String::new(),
                enabled: !r.disabled,
            })
            .collect();
        let agent = AgentId::from_str(&id::<AgentId>(&self.agent).to_string()).unwrap();
        Built {
            agent: Agent {
                id: agent,
                handle: Handle::new(&self.agent).unwrap(),
                description: String::new(),
                enabled: self.agent_enabled,
                claimed: true,
                version: 1,
                created_at: Timestamp::from_micros(0),
                updated_at: Timestamp::from_micros(0),
            },
            principal: principal(&self.principal, agent),
            channel: self.channel.parse().unwrap(),
            epoch: Epoch(self.epoch),
            endpoint: match self.endpoint.as_str() {
                "" => EndpointScope::All,
                namespace => EndpointScope::Connection(id(namespace)),
            },
            connections: self.connections.iter().map(ConnectionLine::build).collect(),
            tools: self.tools.iter().map(ToolLine::build).collect(),
            grants: self.grants.iter().map(|grant| grant.build(&self.agent)).collect(),
            rules: RuleSet::parse(&rules).unwrap_or_else(|problems| panic!("{problems:#?}")),
            turn: self.turn.as_ref().map(TurnLine::build),
            carried: self
                .carried
                .as_ref()
                .map(|tools| tools.iter().map(|t| tool(t)).collect()),
        }
    }

    pub(crate) fn compose(&self) -> Effective {
        self.build().compose()
    }
}

impl Built {
    pub(crate) fn facts(&self) -> Facts<'_> {
        Facts {
            tenant: tenant(),
            principal: self.principal,
            agent: &self.agent,
            channel: self.channel,
            epoch: self.epoch,
            endpoint: self.endpoint,
            grants: &self.grants,
            connections: &self.connections,
            tools: &self.tools,
            turn: self.turn.as_ref(),
            carried: self.carried.as_ref(),
            rules: &self.rules,
            names: NameLimits::default(),
        }
    }

    pub(crate) fn compose(&self) -> Effective {
        compose(&self.facts())
    }

    /// A call of this world's agent.
    pub(crate) fn call(&self, target: Target, arguments: &str) -> Call {
        let name = match &target {
            Target::Tool(ToolRef::Upstream { connection, name }) => {
                let namespace = self
                    .connections
                    .iter()
                    .find(|c| c.id == *connection)
                    .map(|c| c.namespace.to_string());
                format!("{}/{name}", namespace.unwrap_or_default())
            }
            other => other.name().to_string(),
        };
        Call {
            id: CallId::generate(),
            principal: self.principal,
            agent: Some(self.agent.id),
            channel: self.channel,
            surface: None,
            run: None,
            target,
            exposed: name.as_str().into(),
            definition: definition(&name),
            arguments: self::arguments(arguments),
        }
    }
}

pub(crate) fn arguments(text: &str) -> Arguments {
    Arguments::new(serde_json::value::RawValue::from_string(text.into()).unwrap()).unwrap()
}

/// The answer to exactly this call.
pub(crate) fn approval(call: &Call, answer: Answer, expires_at: Timestamp) -> ApprovalFact {
    ApprovalFact {
        id: id("approval"),
        principal: call.principal,
        agent: call.agent.unwrap(),
        target: call.target.clone(),
        definition: call.definition,
        arguments: call.arguments.digest(),
        answer,
        expires_at,
    }
}

impl ConnectionLine {
    fn build(&self) -> ConnectionFact {
        ConnectionFact {
            id: id::<ConnectionId>(&self.name),
            owner: match self.owner.as_str() {
                "" => ConnectionOwner::Workspace,
                handle => ConnectionOwner::Agent(id(handle)),
            },
            namespace: Namespace::new(&self.name).unwrap(),
            enabled: self.enabled,
            trusted: self.trusted,
            ready: self.ready,
            context: domain::ContextSelection::All,
            allowed_tools: self
                .allowed
                .as_ref()
                .map(|tools| tools.iter().map(|t| Arc::from(t.as_str())).collect()),
            accept_new_tools: match self.accept.as_str() {
                "admit" => AcceptNewTools::Admit,
                "low_risk" => AcceptNewTools::LowRisk,
                "quarantine" => AcceptNewTools::Quarantine,
                other => panic!("no accept mode `{other}`"),
            },
            default_tools: self.default_tools.iter().map(|t| Arc::from(t.as_str())).collect(),
        }
    }
}

impl ToolLine {
    fn build(&self) -> ToolFact {
        ToolFact {
            tool: tool(&self.id),
            definition: definition(&self.id),
            state: self.state.parse().unwrap(),
            risk: self.risk.parse().unwrap(),
            effect: self.effect.parse::<Effect>().unwrap(),
            hints: Hints {
                read_only: self.read_only_hint,
                ..Hints::default()
            },
            surfaces: self
                .surfaces
                .iter()
                .map(|s| s.parse::<Surface>().unwrap())
                .collect(),
            seen: self.seen,
        }
    }
}

impl GrantLine {
    fn build(&self, agent: &str) -> Grant {
        Grant {
            agent: id(self.agent.as_deref().unwrap_or(agent)),
            subject: subject(&self.on),
            permission: self.says.parse().unwrap(),
            at: Timestamp::from_micros(0),
        }
    }
}

impl TurnLine {
    fn build(&self) -> TurnPolicy {
        let risk = |word: &Option<String>| word.as_ref().map(|word| word.parse::<Risk>().unwrap());
        TurnPolicy {
            only: self
                .only
                .as_ref()
                .map(|tools| tools.iter().map(|t| tool(t)).collect()),
            without: self.without.iter().map(|t| tool(t)).collect(),
            max_risk: risk(&self.max_risk),
            ask_from: risk(&self.ask_from),
        }
    }
}
