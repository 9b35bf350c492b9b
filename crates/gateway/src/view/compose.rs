//! Composes a view from the facts of a workspace.

use std::sync::{Arc, OnceLock};

use domain::{Agent, ConnectionId, Snapshot, SnapshotTool};
use policy::{Effective, EndpointScope, Facts, NameLimits};
use serde_json::value::RawValue;
use tokio::sync::OnceCell;

use super::lists::Lists;
use super::{AgentRef, Scope, ViewKey};
use crate::Failure;
use crate::facts::{KnownTool, Workspace};

/// What one principal sees of one agent through one endpoint. Immutable; composed anew when the policy changes.
pub struct View {
    pub(crate) key: ViewKey,
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) agent: Agent,
    pub(crate) connection: Option<ConnectionId>,
    pub(crate) effective: Effective,
    /// Set once the snapshot is in the store.
    pub(crate) stored: OnceCell<()>,
    pub(super) lists: OnceLock<Lists>,
}

impl View {
    /// The agent.
    #[must_use]
    pub const fn agent(&self) -> &Agent {
        &self.agent
    }

    /// The snapshot: what is there, what is not, and why.
    #[must_use]
    pub fn snapshot(&self) -> &Arc<Snapshot> {
        self.effective.snapshot()
    }

    /// The facts it was composed from.
    #[must_use]
    pub const fn workspace(&self) -> &Arc<Workspace> {
        &self.workspace
    }

    /// The one connection of a single-connection endpoint.
    #[must_use]
    pub const fn connection(&self) -> Option<ConnectionId> {
        self.connection
    }

    /// The tools that are there, as MCP definitions: untouched but for `name` where it is prefixed, in order of the name.
    #[must_use]
    pub fn tools(&self) -> &[Box<RawValue>] {
        &self.lists().tools
    }

    pub(crate) fn known(&self, tool: &SnapshotTool) -> Option<&KnownTool> {
        self.workspace.tools.get(&tool.tool)
    }
}

/// Composes the view a key asks for.
pub(crate) fn compose(key: ViewKey, workspace: Arc<Workspace>, names: NameLimits) -> Result<View, Failure> {
    let agent = find_agent(&key, &workspace)?.clone();
    let connection = match &key.scope {
        Scope::All => None,
        Scope::Namespace(name) => Some(
            workspace
                .connection_by_namespace(name)
                .ok_or_else(no_connection)?
                .id,
        ),
        Scope::Connection(id) => Some(workspace.connection(*id).ok_or_else(no_connection)?.id),
    };
    let none = Vec::new();
    let facts = Facts {
        tenant: workspace.tenant,
        principal: key.principal,
        agent: &agent,
        channel: key.channel,
        epoch: workspace.epoch,
        endpoint: connection.map_or(EndpointScope::All, EndpointScope::Connection),
        grants: workspace.grants.get(&agent.id).unwrap_or(&none),
        connections: &workspace.connection_facts,
        tools: &workspace.tool_facts,
        turn: None,
        carried: None,
        rules: &workspace.rules,
        names,
    };
    let effective = policy::compose(&facts);
    Ok(View {
        key,
        agent,
        connection,
        effective,
        stored: OnceCell::new(),
        lists: OnceLock::new(),
        workspace,
    })
}

fn no_connection() -> Failure {
    Failure::not_found("connection")
}

/// An agent-bound credential finds its own agent and no other; the rest of the workspace does not exist for it.
fn find_agent<'a>(key: &ViewKey, workspace: &'a Workspace) -> Result<&'a Agent, Failure> {
    let bound = key.principal.bound_agent();
    let found = match &key.agent {
        AgentRef::Bound => bound.and_then(|id| workspace.agent(id)),
        AgentRef::Handle(handle) => workspace.agent_by_handle(handle),
        AgentRef::Id(id) => workspace.agent(*id),
    };
    found
        .filter(|agent| bound.is_none_or(|id| id == agent.id))
        .ok_or_else(|| Failure::not_found("agent"))
}
