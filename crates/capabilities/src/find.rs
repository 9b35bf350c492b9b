//! What people name in an input, found in the facts of their workspace.

use std::sync::Arc;

use domain::{Agent, Connection, ConnectionOwner, GrantSubject, ToolRef};
use gateway::capability::{Context, Failure};
use gateway::{AgentRef, Scope, View, ViewKey, Workspace};
use store::Change;

/// The facts of the caller's workspace.
pub(crate) fn workspace(context: &Context) -> Result<Arc<Workspace>, Failure> {
    context.gateway.workspace(context.tenant())
}

/// The agent named by handle or id.
pub(crate) fn agent(context: &Context, named: &str) -> Result<Agent, Failure> {
    workspace(context)?
        .find_agent(named)
        .filter(|found| only_own(context).is_none_or(|own| own == found.id))
        .cloned()
        .ok_or_else(|| Failure::not_found("agent").at("agent"))
}

/// The agent named by handle or id, or the one whose key asks.
pub(crate) fn own_agent(context: &Context, named: Option<&str>) -> Result<Agent, Failure> {
    match (named, context.principal.bound_agent()) {
        (Some(named), _) => agent(context, named),
        (None, Some(bound)) => agent(context, &bound.to_string()),
        (None, None) => {
            let detail = "say which agent; only an agent's own key can leave it out";
            Err(Failure::field("agent", detail))
        }
    }
}

/// The one agent whose things may be known of: on the compatible routes a key that is bound to an agent sees that one alone.
fn only_own(context: &Context) -> Option<domain::AgentId> {
    let compatible = matches!(context.surface, domain::Surface::Compatible);
    context.principal.bound_agent().filter(|_| compatible)
}

/// Whether a connection may be known of on this surface: the compatible routes know only those of agents.
fn in_sight(context: &Context, connection: &Connection) -> bool {
    match connection.owner {
        ConnectionOwner::Workspace => !matches!(context.surface, domain::Surface::Compatible),
        ConnectionOwner::Agent(agent) => only_own(context).is_none_or(|own| own == agent),
    }
}

/// The connection named by namespace or id.
pub(crate) fn connection(context: &Context, named: &str) -> Result<Arc<Connection>, Failure> {
    workspace(context)?
        .find_connection(named)
        .filter(|found| in_sight(context, found))
        .cloned()
        .ok_or_else(|| Failure::not_found("connection").at("connection"))
}

/// The agent's view on a channel: of the named agent, or of the one the credential is bound to.
pub(crate) fn view(
    context: &Context,
    named: Option<&str>,
    channel: domain::Channel,
) -> Result<Arc<View>, Failure> {
    let agent = match named {
        Some(named) => AgentRef::Id(agent(context, named)?.id),
        None if context.principal.bound_agent().is_some() => AgentRef::Bound,
        None => {
            let detail = "say which agent; only an agent's own key can leave it out";
            return Err(Failure::field("agent", detail));
        }
    };
    let key = ViewKey {
        principal: context.principal,
        agent,
        scope: Scope::All,
        channel,
    };
    // An agent that may not be known is told from none in nothing.
    context.gateway.view(&key).map_err(|failure| failure.at("agent"))
}

/// What a grant is about, from the words of an input.
pub(crate) fn subject(
    context: &Context,
    named: Option<&str>,
    tool: Option<&str>,
    kind: Option<api::grants::GrantKind>,
) -> Result<GrantSubject, Failure> {
    use api::grants::GrantKind;
    let found = named.map(|named| connection(context, named)).transpose()?;
    match (kind.unwrap_or(GrantKind::Tool), found, tool) {
        (GrantKind::Tool, Some(connection), Some(tool)) => Ok(GrantSubject::Tool(ToolRef::Upstream {
            connection: connection.id,
            name: workspace(context)?.present_name(&connection, tool).into(),
        })),
        (GrantKind::Tool, None, Some(tool)) => {
            let registry = context.gateway.registry();
            let found = registry.get(tool).or_else(|| registry.by_tool_name(tool));
            let capability = found.filter(|c| c.declaration.on(domain::Surface::Agent));
            let id = capability
                .ok_or_else(|| Failure::not_found("built-in tool").at("tool"))?
                .declaration
                .id;
            Ok(GrantSubject::Tool(ToolRef::Capability(id.into())))
        }
        (GrantKind::Tool, _, None) => Err(Failure::field("tool", "say which tool, by its own name")),
        (GrantKind::Prompts, Some(connection), None) => Ok(GrantSubject::Prompts(connection.id)),
        (GrantKind::Resources, Some(connection), None) => Ok(GrantSubject::Resources(connection.id)),
        (GrantKind::Skills, Some(connection), None) => Ok(GrantSubject::Skills(connection.id)),
        (GrantKind::Prompts | GrantKind::Resources | GrantKind::Skills, None, _) => Err(Failure::field(
            "connection",
            "say which connection's prompts, resources or skills are meant",
        )),
        (GrantKind::Prompts | GrantKind::Resources | GrantKind::Skills, Some(_), Some(_)) => Err(
            Failure::field("tool", "a grant of prompts, resources or skills names no tool"),
        ),
    }
}

/// The change a handler is about to make, as it will stand in the record.
pub(crate) fn change(context: &Context, action: &str) -> Change {
    Change {
        call: context.call,
        actor: domain::Actor::of(&context.principal, context.agent),
        action: action.into(),
    }
}
