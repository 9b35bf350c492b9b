//! A small workspace that rules and names are tried on.

#![expect(clippy::unwrap_used, reason = "what must hold and does not fails the target")]

use std::collections::BTreeSet;
use std::sync::Arc;

use domain::{
    Agent, Arguments, Call, CallId, Channel, ConnectionOwner, DefinitionState, Digest, Effect, Epoch, Grant,
    GrantSubject, Handle, Hints, Identity, KeyKind, Namespace, Permission, Principal, Risk, Surface, Target,
    Tenant, Timestamp, ToolRef,
};
use policy::{
    AcceptNewTools, ConnectionFact, Effective, EndpointScope, Facts, NameLimits, RuleSet, ToolFact, compose,
};

/// The `n`th id of its kind.
pub(super) fn id<T: std::str::FromStr<Err = domain::ParseIdError>>(n: u8) -> T {
    format!("019a0000-0000-7000-8000-0000000000{n:02x}")
        .parse()
        .unwrap()
}

pub(super) fn tool(connection: u8, name: &str) -> ToolRef {
    ToolRef::Upstream {
        connection: id(connection),
        name: name.into(),
    }
}

/// Everything but the rules.
pub(super) struct World {
    pub(super) agent: Agent,
    pub(super) tools: Vec<ToolFact>,
    connections: Vec<ConnectionFact>,
    grants: Vec<Grant>,
}

impl World {
    /// Two connections, four tools and a capability, granted in every way.
    pub(super) fn new() -> Self {
        let agent = Agent {
            id: id(1),
            handle: Handle::new("helper").unwrap(),
            description: String::new(),
            enabled: true,
            claimed: true,
            version: 1,
            created_at: Timestamp::from_micros(0),
            updated_at: Timestamp::from_micros(0),
        };
        let tools = [
            (
                tool(2, "read"),
                Risk::Low,
                Effect::ReadOnly,
                Permission::Unattended,
            ),
            (tool(2, "write"), Risk::High, Effect::Mutating, Permission::Allow),
            (
                tool(3, "send"),
                Risk::Medium,
                Effect::Mutating,
                Permission::Unattended,
            ),
            (tool(3, "drop"), Risk::High, Effect::Mutating, Permission::Deny),
            (
                ToolRef::Capability("list_runs".into()),
                Risk::Low,
                Effect::ReadOnly,
                Permission::Allow,
            ),
        ];
        let grants = tools.iter().map(|(tool, .., permission)| Grant {
            agent: agent.id,
            subject: GrantSubject::Tool(tool.clone()),
            permission: *permission,
            at: Timestamp::from_micros(0),
        });
        Self {
            grants: grants.collect(),
            tools: tools
                .iter()
                .map(|(tool, risk, effect, _)| fact(tool, *risk, *effect))
                .collect(),
            connections: vec![connection(2, "mail"), connection(3, "files")],
            agent,
        }
    }

    /// The same facts the other way round.
    pub(super) fn turned(mut self) -> Self {
        self.tools.reverse();
        self.connections.reverse();
        self.grants.reverse();
        self
    }

    pub(super) fn compose(&self, rules: &RuleSet) -> Effective {
        compose(&Facts {
            tenant: tenant(),
            principal: principal(),
            agent: &self.agent,
            channel: Channel::Mcp,
            epoch: Epoch(1),
            endpoint: EndpointScope::All,
            grants: &self.grants,
            connections: &self.connections,
            tools: &self.tools,
            turn: None,
            carried: None::<&BTreeSet<ToolRef>>,
            rules,
            names: NameLimits::default(),
        })
    }

    pub(super) fn call(&self, tool: &ToolFact, arguments: &Arguments) -> Call {
        Call {
            id: CallId::generate(),
            principal: principal(),
            agent: Some(self.agent.id),
            channel: Channel::Mcp,
            surface: None,
            run: None,
            target: Target::Tool(tool.tool.clone()),
            exposed: Arc::clone(tool.tool.name()),
            definition: tool.definition,
            arguments: arguments.clone(),
        }
    }
}

fn fact(tool: &ToolRef, risk: Risk, effect: Effect) -> ToolFact {
    ToolFact {
        tool: tool.clone(),
        definition: Digest::of(tool.name().as_bytes()),
        state: DefinitionState::Pinned,
        risk,
        effect,
        hints: Hints::default(),
        surfaces: Arc::new([Surface::Agent]),
        seen: true,
    }
}

fn connection(n: u8, namespace: &str) -> ConnectionFact {
    ConnectionFact {
        id: id(n),
        owner: ConnectionOwner::Workspace,
        namespace: Namespace::new(namespace).unwrap(),
        enabled: true,
        trusted: true,
        ready: true,
        allowed_tools: None,
        context: domain::ContextSelection::All,
        accept_new_tools: AcceptNewTools::Admit,
        default_tools: Arc::from([]),
    }
}

fn tenant() -> Tenant {
    Tenant {
        organization: id(8),
        workspace: id(9),
    }
}

fn principal() -> Principal {
    Principal {
        tenant: tenant(),
        identity: Identity::Key {
            id: id(7),
            kind: KeyKind::Agent(id(1)),
        },
    }
}
