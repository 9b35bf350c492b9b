//! Agents: identities that use tools.

use api::agents::{Agent, AgentQuery, CreateAgent, UpdateAgent};
use api::{Page, PageQuery};
use domain::{AgentId, Effect, Handle, Risk, Surface};
use gateway::capability::{Action, Capability, Context, Declaration, Failure, Method};

use crate::{convert, find, paging};

const SURFACES: &[Surface] = &[Surface::Api, Surface::Mcp, Surface::Cli, Surface::Compatible];

const BASE: Declaration = Declaration {
    id: "agents.show",
    title: "Show an agent",
    description: "Shows an agent: what it is for and whether it is enabled.",
    method: Method::Get,
    path: "/agents/{agent}",
    success: 200,
    paged: false,
    idempotent: false,
    risk: Risk::Low,
    effect: Effect::ReadOnly,
    surfaces: SURFACES,
    action: Action::Own,
    command: None,
};

const LIST: Declaration = Declaration {
    id: "agents.list",
    title: "List agents",
    description: "Lists the agents of the workspace, oldest first.",
    path: "/agents",
    paged: true,
    ..BASE
};

const CREATE: Declaration = Declaration {
    id: "agents.create",
    title: "Create an agent",
    description: "Makes an agent. It may use nothing until it is granted something.",
    method: Method::Post,
    path: "/agents",
    success: 201,
    idempotent: true,
    risk: Risk::Medium,
    effect: Effect::Mutating,
    action: Action::Administer,
    ..BASE
};

/// Where what exists is changed.
const CHANGING: &[Surface] = &[Surface::Api, Surface::Mcp, Surface::Cli];

const UPDATE: Declaration = Declaration {
    id: "agents.update",
    title: "Change an agent",
    description: "Changes an agent's description, enables, disables or claims it. One that is disabled, or not claimed, may call nothing.",
    surfaces: CHANGING,
    method: Method::Patch,
    idempotent: false,
    success: 200,
    path: "/agents/{agent}",
    ..CREATE
};

const REMOVE: Declaration = Declaration {
    id: "agents.remove",
    title: "Remove an agent",
    description: "Removes an agent with its grants; its keys stop working. What it did stays in the record.",
    surfaces: CHANGING,
    method: Method::Delete,
    idempotent: false,
    success: 204,
    path: "/agents/{agent}",
    risk: Risk::High,
    ..CREATE
};

pub(crate) fn capabilities() -> Vec<Capability> {
    vec![
        Capability::new(BASE, show),
        Capability::new(LIST, list),
        Capability::new(CREATE, create),
        Capability::new(UPDATE, update),
        Capability::new(REMOVE, remove),
    ]
}

async fn show(context: Context, query: AgentQuery) -> Result<Agent, Failure> {
    Ok(shown(find::agent(&context, &query.agent)?))
}

async fn list(context: Context, query: PageQuery) -> Result<Page<Agent>, Failure> {
    if let Some(bound) = context.principal.bound_agent() {
        let own = find::agent(&context, &bound.to_string())?;
        return Ok(Page {
            items: vec![shown(own)],
            next_cursor: None,
        });
    }
    let page = context
        .store()
        .list_agents(context.tenant(), &paging::request(query.cursor, query.limit))
        .await?;
    Ok(paging::page(page, shown))
}

async fn create(context: Context, input: CreateAgent) -> Result<Agent, Failure> {
    let handle = Handle::new(&input.handle).map_err(|error| Failure::field("handle", error.to_string()))?;
    let agent = domain::Agent {
        id: AgentId::generate(),
        handle,
        description: input.description,
        enabled: true,
        claimed: input.claimed.unwrap_or(true),
        version: 1,
        created_at: context.now,
        updated_at: context.now,
    };
    let change = find::change(&context, CREATE.id);
    Ok(shown(
        context
            .store()
            .create_agent(context.tenant(), &change, agent)
            .await?,
    ))
}

async fn update(context: Context, input: UpdateAgent) -> Result<Agent, Failure> {
    let mut agent = find::agent(&context, &input.agent)?;
    agent.version = input.expected_version;
    if let Some(description) = input.description {
        agent.description = description;
    }
    if let Some(enabled) = input.enabled {
        agent.enabled = enabled;
    }
    match input.claimed {
        Some(true) => agent.claimed = true,
        Some(false) if agent.claimed => {
            let detail = "a claim is not taken back; disable the agent instead";
            return Err(Failure::field("claimed", detail));
        }
        Some(false) | None => {}
    }
    let change = find::change(&context, UPDATE.id);
    Ok(shown(
        context
            .store()
            .update_agent(context.tenant(), &change, agent)
            .await?,
    ))
}

async fn remove(context: Context, query: AgentQuery) -> Result<(), Failure> {
    let agent = find::agent(&context, &query.agent)?;
    context
        .store()
        .remove_agent(context.tenant(), &find::change(&context, REMOVE.id), agent.id)
        .await?;
    context.gateway.keys_changed().await?;
    Ok(())
}

pub(crate) fn shown(agent: domain::Agent) -> Agent {
    Agent {
        id: agent.id.uuid(),
        handle: agent.handle.to_string(),
        description: agent.description,
        enabled: agent.enabled,
        claimed: agent.claimed,
        version: agent.version,
        created_at: convert::time(agent.created_at),
        updated_at: convert::time(agent.updated_at),
    }
}
