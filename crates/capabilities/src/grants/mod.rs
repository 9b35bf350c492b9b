//! Grants: what an agent was given. Only a grant gives.

use api::Page;
use api::grants::{Grant, GrantKind, ListGrants, RemoveGrant, SetGrant};
use domain::{Effect, GrantSubject, Permission, Risk, Surface, ToolRef};
use gateway::Workspace;
use gateway::capability::{Action, Capability, Context, Declaration, Failure, FailureKind, Method};

use crate::{convert, find, paging};

const SET: Declaration = Declaration {
    id: "grants.set",
    title: "Grant a tool",
    description: "Says what an agent may do with one exact tool, or with a connection's prompts, resources or skills: deny, ask, allow \
                  (a high-risk tool asks) or unattended (nobody is asked).",
    method: Method::Put,
    path: "/agents/{agent}/grants",
    success: 200,
    paged: false,
    idempotent: false,
    risk: Risk::High,
    effect: Effect::Mutating,
    surfaces: &[Surface::Api, Surface::Mcp, Surface::Cli],
    action: Action::Administer,
    command: None,
};

const REMOVE: Declaration = Declaration {
    id: "grants.remove",
    title: "Take a grant away",
    description: "Takes a grant away. It bites at the next call, even inside a running session.",
    method: Method::Delete,
    success: 204,
    risk: Risk::Medium,
    ..SET
};

const LIST: Declaration = Declaration {
    id: "grants.list",
    title: "List grants",
    description: "Lists what agents were given, oldest first.",
    method: Method::Get,
    path: "/grants",
    paged: true,
    risk: Risk::Low,
    effect: Effect::ReadOnly,
    action: Action::Read,
    ..SET
};

pub(crate) fn capabilities() -> Vec<Capability> {
    vec![
        Capability::new(SET, set),
        Capability::new(REMOVE, remove),
        Capability::new(LIST, list),
    ]
}

async fn set(context: Context, input: SetGrant) -> Result<Grant, Failure> {
    let agent = find::agent(&context, &input.agent)?;
    let subject = find::subject(
        &context,
        input.connection.as_deref(),
        input.tool.as_deref(),
        input.kind,
    )?;
    let permission = convert::to_permission(input.permission);
    let yes_or_no = matches!(permission, Permission::Allow | Permission::Deny);
    if !matches!(subject, GrantSubject::Tool(_)) && !yes_or_no {
        return Err(Failure::field(
            "permission",
            "prompts, resources and skills know allow and deny only",
        ));
    }
    let workspace = find::workspace(&context)?;
    if !known(&workspace, &subject) {
        let detail = "the connection does not list such a tool; test or refresh the connection first, or correct the name";
        return Err(Failure::new(FailureKind::Invalid, "grant.unknown_tool", detail).at("tool"));
    }
    let grant = domain::Grant {
        agent: agent.id,
        subject,
        permission,
        at: context.now,
    };
    let change = find::change(&context, SET.id);
    context
        .store()
        .set_grants(context.tenant(), &change, std::slice::from_ref(&grant))
        .await?;
    Ok(shown(&workspace, grant))
}

/// Only what was discovered can be granted.
fn known(workspace: &Workspace, subject: &GrantSubject) -> bool {
    match subject {
        GrantSubject::Tool(tool) => workspace.knows(tool),
        GrantSubject::Prompts(_) | GrantSubject::Resources(_) | GrantSubject::Skills(_) => true,
    }
}

async fn remove(context: Context, input: RemoveGrant) -> Result<(), Failure> {
    let agent = find::agent(&context, &input.agent)?;
    let subject = find::subject(
        &context,
        input.connection.as_deref(),
        input.tool.as_deref(),
        input.kind,
    )?;
    context
        .store()
        .remove_grant(
            context.tenant(),
            &find::change(&context, REMOVE.id),
            agent.id,
            &subject,
        )
        .await?;
    Ok(())
}

async fn list(context: Context, query: ListGrants) -> Result<Page<Grant>, Failure> {
    let agent = query
        .agent
        .as_deref()
        .map(|named| find::agent(&context, named))
        .transpose()?;
    let wanted = paging::request(query.cursor, query.limit);
    let page = context
        .store()
        .list_grants(context.tenant(), agent.map(|a| a.id), &wanted)
        .await?;
    let workspace = find::workspace(&context)?;
    Ok(paging::page(page, |grant| shown(&workspace, grant)))
}

fn shown(workspace: &Workspace, grant: domain::Grant) -> Grant {
    let connection = grant.subject.connection();
    Grant {
        agent_id: grant.agent.uuid(),
        agent: workspace
            .agent(grant.agent)
            .map(|a| a.handle.to_string())
            .unwrap_or_default(),
        kind: match grant.subject {
            GrantSubject::Tool(_) => GrantKind::Tool,
            GrantSubject::Prompts(_) => GrantKind::Prompts,
            GrantSubject::Resources(_) => GrantKind::Resources,
            GrantSubject::Skills(_) => GrantKind::Skills,
        },
        connection_id: connection.map(|id| id.uuid()),
        connection: connection
            .and_then(|id| workspace.connection(id))
            .map(|c| c.namespace.to_string()),
        tool: match &grant.subject {
            GrantSubject::Tool(ToolRef::Capability(name) | ToolRef::Upstream { name, .. }) => {
                Some(name.to_string())
            }
            GrantSubject::Prompts(_) | GrantSubject::Resources(_) | GrantSubject::Skills(_) => None,
        },
        permission: convert::permission(grant.permission),
        at: convert::time(grant.at),
    }
}
