//! From facts to the effective policy.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use domain::{
    Absent, ConnectionId, ConnectionOwner, ContextAccess, DefinitionState, Effect, Grant, GrantSubject,
    Namespace, Permission, Principal, Reason, ReasonCode, Risk, Snapshot, SnapshotParts, SnapshotTool,
    Surface, ToolRef, Verdict,
};

use crate::names::{self, Named};
use crate::rules::{Bench, ResidualSet, Settled, ToolSubject, Who};
use crate::{AcceptNewTools, ConnectionFact, EndpointScope, Facts, ToolFact, TurnPolicy};

/// The effective policy of one run: its snapshot, and what is left of the rules per tool.
#[derive(Debug, Clone)]
pub struct Effective {
    snapshot: Arc<Snapshot>,
    principal: Principal,
    who: Who,
    tools: HashMap<ToolRef, Known>,
}

impl Effective {
    /// The snapshot.
    #[must_use]
    pub const fn snapshot(&self) -> &Arc<Snapshot> {
        &self.snapshot
    }

    /// Who it was composed for.
    #[must_use]
    pub const fn principal(&self) -> Principal {
        self.principal
    }

    pub(crate) const fn who(&self) -> &Who {
        &self.who
    }

    /// What is known of a tool; none when it does not exist in this view.
    pub(crate) fn known(&self, tool: &ToolRef) -> Option<&Known> {
        self.tools.get(tool)
    }
}

/// A tool of the view, there or not.
#[derive(Debug, Clone)]
pub(crate) struct Known {
    pub(crate) exposed: Arc<str>,
    pub(crate) risk: Risk,
    pub(crate) effect: Effect,
    pub(crate) namespace: Option<Namespace>,
    pub(crate) standing: Standing,
}

/// How a tool stands in the view.
#[derive(Debug, Clone)]
pub(crate) enum Standing {
    /// It is there.
    Present(Box<Present>),
    /// It is not, for this reason.
    Absent(Reason),
}

/// What a call of a tool that is there needs.
#[derive(Debug, Clone)]
pub(crate) struct Present {
    pub(crate) tool: SnapshotTool,
    pub(crate) permission: Permission,
    pub(crate) residual: Option<Arc<ResidualSet>>,
}

/// Composes the effective policy. Total: every tool is in the snapshot once, as there or as absent with its one reason. The order
/// of the facts does not matter.
#[must_use]
pub fn compose(facts: &Facts<'_>) -> Effective {
    let who = Who {
        handle: facts.agent.handle.as_str().into(),
        id: facts.agent.id.to_string().into(),
        caller_kind: facts.principal.kind(),
        caller_id: facts.principal.id_text().into(),
        channel: facts.channel,
    };
    let view = View::of(facts);
    let mut bench = facts.rules.bench(&who);
    let mut tools = HashMap::with_capacity(view.tools.len());
    for (tool, exposed) in view.tools.iter().zip(view.names()) {
        let namespace = view
            .connection(tool)
            .map(|connection| connection.namespace.clone());
        let standing = match view.permission(tool) {
            Ok(given) => view.present(tool, given, &exposed, &mut bench),
            Err(code) => Standing::Absent(Reason::new(code)),
        };
        tools.insert(
            tool.tool.clone(),
            Known {
                exposed,
                risk: tool.risk,
                effect: tool.effect,
                namespace,
                standing,
            },
        );
    }
    let snapshot = Snapshot::seal(parts(facts, &tools, view.contexts()));
    Effective {
        snapshot: Arc::new(snapshot),
        principal: facts.principal,
        who,
        tools,
    }
}

fn parts(facts: &Facts<'_>, tools: &HashMap<ToolRef, Known>, contexts: Vec<ContextAccess>) -> SnapshotParts {
    let mut parts = SnapshotParts {
        tenant: facts.tenant,
        agent: facts.agent.id,
        channel: facts.channel,
        epoch: facts.epoch,
        tools: Vec::with_capacity(tools.len()),
        absent: Vec::new(),
        contexts,
    };
    for (tool, known) in tools {
        match &known.standing {
            Standing::Present(present) => parts.tools.push(present.tool.clone()),
            Standing::Absent(reason) => {
                let exposed = known.exposed.clone();
                parts.absent.push(Absent {
                    exposed,
                    tool: tool.clone(),
                    reason: reason.clone(),
                });
            }
        }
    }
    parts
}

/// What gives an agent a tool.
#[derive(Debug, Clone, Copy)]
struct Given {
    permission: Permission,
    /// Nobody granted it: the platform gives it to every agent.
    by_default: bool,
}

impl Given {
    const fn by_grant(permission: Permission) -> Self {
        Self {
            permission,
            by_default: false,
        }
    }
}

/// The facts, made easy to look up.
struct View<'a> {
    facts: &'a Facts<'a>,
    connections: HashMap<ConnectionId, &'a ConnectionFact>,
    grants: HashMap<&'a GrantSubject, Permission>,
    tools: Vec<&'a ToolFact>,
}

impl<'a> View<'a> {
    fn of(facts: &'a Facts<'a>) -> Self {
        let mut grants = HashMap::with_capacity(facts.grants.len());
        for Grant {
            subject, permission, ..
        } in facts.grants.iter().filter(|grant| grant.agent == facts.agent.id)
        {
            // Should a subject be granted twice, the stricter grant holds.
            let held = grants.entry(subject).or_insert(*permission);
            *held = (*held).max(*permission);
        }
        let mut tools: BTreeMap<&ToolRef, &ToolFact> = BTreeMap::new();
        for tool in facts.tools {
            let kept = tools.entry(&tool.tool).or_insert(tool);
            if strictness(tool) > strictness(kept) {
                *kept = tool;
            }
        }
        Self {
            facts,
            connections: facts
                .connections
                .iter()
                .map(|connection| (connection.id, connection))
                .collect(),
            grants,
            tools: tools.into_values().collect(),
        }
    }

    fn connection(&self, tool: &ToolFact) -> Option<&'a ConnectionFact> {
        tool.tool
            .connection()
            .and_then(|id| self.connections.get(&id).copied())
    }

    /// The exposed names of all tools, in their order.
    fn names(&self) -> Vec<Arc<str>> {
        let named = |tool: &&'a ToolFact| {
            let bare = match self.facts.endpoint {
                EndpointScope::All => false,
                EndpointScope::Connection(id) => tool.tool.connection() == Some(id),
            };
            let namespace = self.connection(tool).map(|connection| &connection.namespace);
            Named {
                tool: &tool.tool,
                namespace: namespace.filter(|_| !bare),
            }
        };
        let tools: Vec<Named<'_>> = self.tools.iter().map(named).collect();
        let EndpointScope::Connection(id) = self.facts.endpoint else {
            return names::assign(&tools, self.facts.names);
        };
        // Tools that are not at this door must not take a name from those that are.
        let (at, away): (Vec<Named<'_>>, Vec<Named<'_>>) = tools
            .iter()
            .copied()
            .partition(|named| named.tool.connection() == Some(id));
        let mut at = names::assign(&at, self.facts.names).into_iter();
        let mut away = names::assign(&away, self.facts.names).into_iter();
        tools
            .iter()
            .filter_map(|named| {
                if named.tool.connection() == Some(id) {
                    at.next()
                } else {
                    away.next()
                }
            })
            .collect()
    }

    /// What gives the agent this tool, after everything that can be against it without a rule; in the order people are told.
    fn permission(&self, tool: &ToolFact) -> Result<Given, ReasonCode> {
        self.surface(tool)?;
        if !self.facts.agent.enabled {
            return Err(ReasonCode::AgentDisabled);
        }
        if !self.facts.agent.claimed {
            return Err(ReasonCode::AgentUnclaimed);
        }
        if tool.tool.connection().is_some() {
            let connection = self.connection(tool).ok_or(ReasonCode::ConnectionNotReady)?;
            usable(connection)?;
            if !offers(connection, tool.tool.name()) {
                return Err(ReasonCode::NotOffered);
            }
        }
        match tool.state {
            DefinitionState::Pinned => {}
            DefinitionState::Quarantined => return Err(ReasonCode::Quarantined),
            DefinitionState::Gone => return Err(ReasonCode::Gone),
            DefinitionState::Unusable => return Err(ReasonCode::SchemaUnusable),
        }
        let given = self.granted(tool)?;
        if self.facts.turn.is_some_and(|turn| !admits(turn, tool)) {
            return Err(ReasonCode::TurnPolicy);
        }
        if self
            .facts
            .carried
            .is_some_and(|carried| !carried.contains(&tool.tool))
        {
            return Err(ReasonCode::ChannelExcludes);
        }
        Ok(given)
    }

    fn surface(&self, tool: &ToolFact) -> Result<(), ReasonCode> {
        let here = match (self.facts.endpoint, tool.tool.connection()) {
            (EndpointScope::All, None) => tool.surfaces.contains(&Surface::Agent),
            (EndpointScope::All, Some(_)) => true,
            (EndpointScope::Connection(_), None) => false,
            (EndpointScope::Connection(only), Some(id)) => only == id,
        };
        if here { Ok(()) } else { Err(ReasonCode::Surface) }
    }

    /// A grant of exactly this tool, else the implied one of a connection bound to this agent, else what the platform gives every
    /// agent. A connection bound to another agent is out of reach whatever is granted.
    fn granted(&self, tool: &ToolFact) -> Result<Given, ReasonCode> {
        let owner = self
            .connection(tool)
            .map_or(ConnectionOwner::Workspace, |connection| connection.owner);
        if matches!(owner, ConnectionOwner::Agent(other) if other != self.facts.agent.id) {
            return Err(ReasonCode::NoGrant);
        }
        let exact = self.grants.get(&GrantSubject::Tool(tool.tool.clone())).copied();
        match (exact, owner) {
            (Some(Permission::Deny), _) => Err(ReasonCode::GrantDenies),
            (Some(permission), _) => Ok(Given::by_grant(permission)),
            (None, ConnectionOwner::Agent(_)) => self.implied(tool).map(Given::by_grant),
            (None, ConnectionOwner::Workspace) if self.by_default(tool) => Ok(Given {
                permission: Permission::Allow,
                by_default: true,
            }),
            (None, ConnectionOwner::Workspace) => Err(ReasonCode::NoGrant),
        }
    }

    /// Whether the platform gives this tool to every agent: only what is low risk, whoever classified it.
    fn by_default(&self, tool: &ToolFact) -> bool {
        let named = |connection: &ConnectionFact| {
            connection
                .default_tools
                .iter()
                .any(|name| name == tool.tool.name())
        };
        matches!(tool.risk, Risk::Low) && self.connection(tool).is_some_and(named)
    }

    fn implied(&self, tool: &ToolFact) -> Result<Permission, ReasonCode> {
        let accept = self
            .connection(tool)
            .map_or(AcceptNewTools::Quarantine, |connection| {
                connection.accept_new_tools
            });
        let admitted = match accept {
            AcceptNewTools::Admit => true,
            AcceptNewTools::LowRisk => tool.seen || matches!(tool.risk, Risk::Low),
            AcceptNewTools::Quarantine => tool.seen,
        };
        if admitted {
            Ok(Permission::Unattended)
        } else {
            Err(ReasonCode::Quarantined)
        }
    }

    fn present(&self, tool: &ToolFact, given: Given, exposed: &Arc<str>, bench: &mut Bench<'_>) -> Standing {
        let namespace = self
            .connection(tool)
            .map(|connection| connection.namespace.as_str());
        let settled = bench.settle(ToolSubject {
            name: tool.tool.name(),
            namespace,
            risk: tool.risk,
            effect: tool.effect,
        });
        let Settled {
            forbids,
            fails,
            asks,
            residual,
        } = settled;
        if let Some(rule) = forbids {
            return Standing::Absent(Reason::by_rule(ReasonCode::RuleForbids, rule));
        }
        if let Some(rule) = fails {
            return Standing::Absent(Reason::by_rule(ReasonCode::RuleFailed, rule));
        }
        let (verdict, reason) = verdict(tool, given, self.facts.turn, asks);
        let read_only = matches!(tool.effect, Effect::ReadOnly);
        let tool = SnapshotTool {
            exposed: exposed.clone(),
            tool: tool.tool.clone(),
            definition: tool.definition,
            risk: tool.risk,
            effect: tool.effect,
            parallel: read_only || tool.hints.read_only == Some(true),
            verdict,
            reason,
            residual: residual.as_ref().map(|set| set.ids()).unwrap_or_default(),
        };
        Standing::Present(Box::new(Present {
            tool,
            permission: given.permission,
            residual,
        }))
    }

    /// Prompts, resources and skills are read as they are listed, with no call that could wait for a person: a grant that asks gives none.
    fn contexts(&self) -> Vec<ContextAccess> {
        let mut contexts = Vec::new();
        for connection in self.connections.values() {
            let here = match self.facts.endpoint {
                EndpointScope::All => true,
                EndpointScope::Connection(only) => only == connection.id,
            };
            if !here || !self.facts.agent.enabled || usable(connection).is_err() {
                continue;
            }
            let prompts = self.may_read(connection, &GrantSubject::Prompts(connection.id));
            let resources = self.may_read(connection, &GrantSubject::Resources(connection.id));
            let skills = self.may_read(connection, &GrantSubject::Skills(connection.id));
            if prompts || resources || skills {
                contexts.push(ContextAccess {
                    connection: connection.id,
                    prompts,
                    resources,
                    skills,
                    offered: connection.context.clone(),
                });
            }
        }
        contexts
    }

    fn may_read(&self, connection: &ConnectionFact, subject: &GrantSubject) -> bool {
        let own = match connection.owner {
            ConnectionOwner::Agent(owner) if owner == self.facts.agent.id => true,
            ConnectionOwner::Agent(_) => return false,
            ConnectionOwner::Workspace => false,
        };
        match self.grants.get(subject) {
            Some(Permission::Allow | Permission::Unattended) => true,
            Some(Permission::Ask | Permission::Deny) => false,
            None => own,
        }
    }
}

/// The first thing that asks, in the order they are looked at; else the grant.
fn verdict(
    tool: &ToolFact,
    Given {
        permission,
        by_default,
    }: Given,
    turn: Option<&TurnPolicy>,
    asks: Option<Arc<str>>,
) -> (Verdict, Reason) {
    if matches!(permission, Permission::Ask) {
        return (Verdict::Ask, Reason::new(ReasonCode::GrantAsks));
    }
    if turn
        .and_then(|turn| turn.ask_from)
        .is_some_and(|from| tool.risk >= from)
    {
        return (Verdict::Ask, Reason::new(ReasonCode::TurnAsks));
    }
    if let Some(rule) = asks {
        return (Verdict::Ask, Reason::by_rule(ReasonCode::RuleAsks, rule));
    }
    match (permission, tool.risk) {
        (Permission::Unattended, _) => (Verdict::Allow, Reason::new(ReasonCode::GrantUnattended)),
        (_, Risk::High) => (Verdict::Ask, Reason::new(ReasonCode::HighRisk)),
        (_, Risk::Low) if by_default => (Verdict::Allow, Reason::new(ReasonCode::PlatformDefault)),
        (_, Risk::Low | Risk::Medium) => (Verdict::Allow, Reason::new(ReasonCode::GrantAllows)),
    }
}

const fn usable(connection: &ConnectionFact) -> Result<(), ReasonCode> {
    if !connection.enabled {
        return Err(ReasonCode::ConnectionDisabled);
    }
    if !connection.trusted {
        return Err(ReasonCode::ConnectionUntrusted);
    }
    if !connection.ready {
        return Err(ReasonCode::ConnectionNotReady);
    }
    Ok(())
}

fn offers(connection: &ConnectionFact, name: &str) -> bool {
    connection
        .allowed_tools
        .as_ref()
        .is_none_or(|allowed| allowed.iter().any(|tool| &**tool == name))
}

fn admits(turn: &TurnPolicy, tool: &ToolFact) -> bool {
    turn.only.as_ref().is_none_or(|only| only.contains(&tool.tool))
        && !turn.without.contains(&tool.tool)
        && turn.max_risk.is_none_or(|most| tool.risk <= most)
}

/// Orders facts about the same tool, should there be two: the one that gives less is kept.
fn strictness(tool: &ToolFact) -> (bool, Risk, bool, bool, domain::Digest) {
    (
        !tool.state.callable(),
        tool.risk,
        matches!(tool.effect, Effect::Mutating),
        !tool.seen,
        tool.definition,
    )
}
