//! The facts of one workspace under one policy epoch. Immutable; a change makes a new one.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use connections::preset;
use domain::{
    Agent, AgentId, Connection, ConnectionId, DefinitionState, Digest, Effect, Epoch, Grant, GrantSubject,
    Handle, Hints, Namespace, Permission, Risk, Target, Tenant, ToolRef,
};
use policy::{ConnectionFact, NameLimits, RuleSet, ToolFact};
use store::Catalogue;

use super::KnownTool;

/// The facts of one workspace.
#[derive(Debug)]
pub struct Workspace {
    /// Whose.
    pub tenant: Tenant,
    /// Under which policy.
    pub epoch: Epoch,
    pub(crate) agents: HashMap<AgentId, Agent>,
    pub(crate) handles: HashMap<Handle, AgentId>,
    pub(crate) grants: HashMap<AgentId, Vec<Grant>>,
    pub(crate) connections: HashMap<ConnectionId, Arc<Connection>>,
    pub(crate) namespaces: HashMap<Namespace, ConnectionId>,
    pub(crate) catalogues: HashMap<ConnectionId, Arc<Catalogue>>,
    pub(crate) connection_facts: Vec<ConnectionFact>,
    pub(crate) tool_facts: Vec<ToolFact>,
    pub(crate) tools: HashMap<ToolRef, KnownTool>,
    pub(crate) classified: HashSet<ToolRef>,
    pub(crate) problems: HashMap<ToolRef, String>,
    pub(crate) rules: RuleSet,
    /// Connections of the platform that lack the definition of a tool they offer.
    pub(crate) incomplete: Vec<ConnectionId>,
}

/// What is known about one tool, for people.
#[derive(Debug, Clone)]
pub struct KnownFacts {
    /// The name agents usually see.
    pub exposed: Arc<str>,
    /// Its title.
    pub title: Option<String>,
    /// What it says it does.
    pub description: Option<String>,
    /// Its risk.
    pub risk: Risk,
    /// Whether it changes anything.
    pub effect: Effect,
    /// Whether a person, a preset or a declaration said so.
    pub classified: bool,
    /// What its server says about it.
    pub hints: Hints,
    /// Where its definition stands.
    pub state: DefinitionState,
    /// The digest of the pinned definition.
    pub digest: Digest,
    /// Why it cannot be used, where it cannot.
    pub problem: Option<String>,
}

impl Workspace {
    /// The agent with this id.
    #[must_use]
    pub fn agent(&self, id: AgentId) -> Option<&Agent> {
        self.agents.get(&id)
    }

    /// The agent with this handle.
    #[must_use]
    pub fn agent_by_handle(&self, handle: &Handle) -> Option<&Agent> {
        self.handles.get(handle).and_then(|id| self.agents.get(id))
    }

    /// The agent a person means: by handle, or by id.
    #[must_use]
    pub fn find_agent(&self, named: &str) -> Option<&Agent> {
        let by_handle = Handle::new(named)
            .ok()
            .and_then(|handle| self.agent_by_handle(&handle));
        by_handle.or_else(|| named.parse().ok().and_then(|id| self.agents.get(&id)))
    }

    /// The connection with this id.
    #[must_use]
    pub fn connection(&self, id: ConnectionId) -> Option<&Arc<Connection>> {
        self.connections.get(&id)
    }

    /// The connection with this namespace.
    #[must_use]
    pub fn connection_by_namespace(&self, namespace: &Namespace) -> Option<&Arc<Connection>> {
        self.namespaces
            .get(namespace)
            .and_then(|id| self.connections.get(id))
    }

    /// The connection a person means: by namespace, or by id.
    #[must_use]
    pub fn find_connection(&self, named: &str) -> Option<&Arc<Connection>> {
        let by_name = Namespace::new(named)
            .ok()
            .and_then(|name| self.connection_by_namespace(&name));
        by_name.or_else(|| named.parse().ok().and_then(|id| self.connections.get(&id)))
    }

    /// What an agent's grant says about a subject; none where there is no grant.
    #[must_use]
    pub fn permission(&self, agent: AgentId, subject: &GrantSubject) -> Option<Permission> {
        self.grants
            .get(&agent)?
            .iter()
            .find(|g| g.subject == *subject)
            .map(|g| g.permission)
    }

    /// All tools, in no order.
    pub fn tools(&self) -> impl Iterator<Item = &ToolRef> {
        self.tool_facts.iter().map(|fact| &fact.tool)
    }

    /// Whether a person, a preset or a declaration said how risky a tool is.
    #[must_use]
    pub fn classified(&self, tool: &ToolRef) -> bool {
        match tool {
            ToolRef::Capability(_) => true,
            ToolRef::Upstream { .. } => self.classified.contains(tool),
        }
    }

    /// What is known about one tool.
    #[must_use]
    pub fn tool(&self, tool: &ToolRef) -> Option<KnownFacts> {
        let fact = self.tool_facts.iter().find(|f| f.tool == *tool)?;
        let said = self.tools.get(tool).map(KnownTool::said).unwrap_or_default();
        let namespace = tool
            .connection()
            .and_then(|id| self.connections.get(&id))
            .map(|c| &c.namespace);
        let exposed = match tool {
            ToolRef::Capability(name) => Arc::from(name.replace('.', "_")),
            ToolRef::Upstream { connection, name } => {
                policy::names::expose(namespace, name, *connection, NameLimits::default())
            }
        };
        Some(KnownFacts {
            exposed,
            title: said.0,
            description: said.1,
            risk: fact.risk,
            effect: fact.effect,
            classified: self.classified(tool),
            hints: fact.hints,
            state: fact.state,
            digest: fact.definition,
            problem: self.problems.get(tool).cloned(),
        })
    }

    /// The name a connection's server has for a tool by now, where it renamed it; else the name as given.
    #[must_use]
    pub fn present_name<'a>(&self, connection: &Connection, name: &'a str) -> &'a str {
        let listed = |name: &str| {
            let tool = ToolRef::Upstream {
                connection: connection.id,
                name: name.into(),
            };
            self.tool_facts
                .iter()
                .any(|fact| fact.tool == tool && fact.state != DefinitionState::Gone)
        };
        if listed(name) {
            return name;
        }
        connection
            .preset
            .as_ref()
            .and_then(|preset| {
                preset::names(preset, name)
                    .into_iter()
                    .find(|other| listed(other))
            })
            .unwrap_or(name)
    }

    /// Whether a tool is known: built in for agents, or listed by its server at some time.
    #[must_use]
    pub fn knows(&self, tool: &ToolRef) -> bool {
        self.tools.contains_key(tool)
    }

    /// How risky a target is: a tool by what a person or its declaration says; prompts and resources are low.
    #[must_use]
    pub fn risk(&self, target: &Target) -> Option<Risk> {
        self.weight(target).map(|(risk, _)| risk)
    }

    /// How risky a target is, and whether it changes anything.
    pub(crate) fn weight(&self, target: &Target) -> Option<(Risk, Effect)> {
        match target {
            Target::Tool(tool) => self
                .tool_facts
                .iter()
                .find(|f| f.tool == *tool)
                .map(|f| (f.risk, f.effect)),
            Target::Prompt { .. } | Target::Resource { .. } | Target::Skill { .. } => {
                Some((Risk::Low, Effect::ReadOnly))
            }
        }
    }

    /// Whether a connection of the platform lacks the definition of a tool it offers; opening a view asks for it.
    #[must_use]
    pub const fn is_incomplete(&self) -> bool {
        !self.incomplete.is_empty()
    }

    /// A connection's catalogue, once it was discovered.
    #[must_use]
    pub fn catalogue(&self, id: ConnectionId) -> Option<&Arc<Catalogue>> {
        self.catalogues.get(&id)
    }
}
