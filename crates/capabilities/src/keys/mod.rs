//! API keys.

use api::keys::{Caller, CallerQuery, CreateKey, CreatedKey, Key, KeyQuery};
use api::words::KeyKind;
use api::{Page, PageQuery};
use domain::{Effect, Identity, KeyId, Risk, Surface};
use gateway::capability::{Action, Capability, Context, Declaration, Failure, Method};
use store::KeyRecord;

use crate::{agents, convert, find, paging};

/// Making a key answers with a secret, which must not travel through a model: that one is not on the operator's MCP endpoint.
const CREATE: Declaration = Declaration {
    id: "keys.create",
    title: "Create a key",
    description: "Makes an API key: an administrator's, or one bound to an agent. Its secret is shown this once.",
    method: Method::Post,
    path: "/keys",
    success: 201,
    paged: false,
    idempotent: false,
    risk: Risk::High,
    effect: Effect::Mutating,
    surfaces: &[Surface::Api, Surface::Cli, Surface::Compatible],
    action: Action::Administer,
    command: None,
};

const LIST: Declaration = Declaration {
    id: "keys.list",
    title: "List keys",
    description: "Lists the API keys of the workspace, revoked ones too, oldest first. Never their secrets.",
    method: Method::Get,
    success: 200,
    paged: true,
    risk: Risk::Low,
    effect: Effect::ReadOnly,
    surfaces: &[Surface::Api, Surface::Mcp, Surface::Cli],
    action: Action::Read,
    ..CREATE
};

const REVOKE: Declaration = Declaration {
    id: "keys.revoke",
    title: "Revoke a key",
    description: "Revokes a key: the next request with it is refused. A revoked key stays so.",
    method: Method::Delete,
    path: "/keys/{key}",
    success: 204,
    surfaces: &[Surface::Api, Surface::Mcp, Surface::Cli],
    ..CREATE
};

const WHO: Declaration = Declaration {
    id: "whoami",
    title: "Who asks",
    description: "Says whose key this is: its kind, its workspace, and the agent it acts as.",
    path: "/whoami",
    paged: false,
    surfaces: &[Surface::Api, Surface::Mcp, Surface::Cli, Surface::Compatible],
    action: Action::Use,
    ..LIST
};

pub(crate) fn capabilities() -> Vec<Capability> {
    vec![
        Capability::new(CREATE, create),
        Capability::new(LIST, list),
        Capability::new(REVOKE, revoke),
        Capability::new(WHO, who),
    ]
}

async fn create(context: Context, input: CreateKey) -> Result<CreatedKey, Failure> {
    let kind = match (input.kind, input.agent.as_deref()) {
        (KeyKind::Admin, None) => domain::KeyKind::Admin,
        (KeyKind::Admin, Some(_)) => {
            return Err(Failure::field(
                "agent",
                "an administrator's key is bound to no agent; leave the agent out",
            ));
        }
        (KeyKind::Agent, Some(named)) => domain::KeyKind::Agent(find::agent(&context, named)?.id),
        (KeyKind::Agent, None) => return Err(Failure::field("agent", "say which agent the key acts as")),
    };
    let change = find::change(&context, CREATE.id);
    let created = identity::new_key(kind, &input.name, context.now)
        .map_err(|error| Failure::internal("a key could not be made", error))?;
    context
        .store()
        .insert_key(context.tenant(), &change, created.record.clone())
        .await?;
    context.gateway.keys_changed().await?;
    Ok(CreatedKey {
        key: shown(created.record),
        secret: created.secret.expose().to_owned(),
    })
}

async fn list(context: Context, query: PageQuery) -> Result<Page<Key>, Failure> {
    let page = context
        .store()
        .list_keys(context.tenant(), &paging::request(query.cursor, query.limit))
        .await?;
    Ok(paging::page(page, shown))
}

async fn revoke(context: Context, query: KeyQuery) -> Result<(), Failure> {
    let id = KeyId::from_uuid(query.key);
    context
        .store()
        .revoke_key(context.tenant(), &find::change(&context, REVOKE.id), id)
        .await?;
    context.gateway.keys_changed().await?;
    Ok(())
}

async fn who(context: Context, _query: CallerQuery) -> Result<Caller, Failure> {
    let tenant = context.tenant();
    let (id, key) = match context.principal.identity {
        Identity::Key { id, .. } => (Some(id.uuid()), context.store().key(tenant, id).await?),
        Identity::Member { id, .. } => (Some(id.uuid()), None),
        Identity::Client { consent, .. } => (Some(consent.uuid()), None),
        Identity::System => (None, None),
    };
    let agent = match context.principal.bound_agent() {
        Some(agent) => Some(find::agent(&context, &agent.to_string())?),
        None => None,
    };
    Ok(Caller {
        kind: context.principal.kind().to_owned(),
        id,
        organization_id: tenant.organization.uuid(),
        workspace_id: tenant.workspace.uuid(),
        key: key.map(shown),
        agent: agent.map(agents::shown),
    })
}

fn shown(key: KeyRecord) -> Key {
    let (kind, agent_id) = match key.kind {
        domain::KeyKind::Admin => (KeyKind::Admin, None),
        domain::KeyKind::Agent(agent) => (KeyKind::Agent, Some(agent.uuid())),
    };
    Key {
        id: key.id.uuid(),
        kind,
        agent_id,
        name: key.name,
        created_at: convert::time(key.created_at),
        last_used_at: key.last_used_at.map(convert::time),
        revoked_at: key.revoked_at.map(convert::time),
    }
}
