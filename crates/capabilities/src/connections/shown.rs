//! Shows, lists and removes connections.

use api::connections::{Auth, Connection, ConnectionQuery};
use api::{Page, PageQuery};
use domain::{ConnectionOwner, Endpoint};
use gateway::capability::{Capability, Context, Declaration, Failure, Method};

use super::{CHANGE, READ};
use crate::{convert, find, paging};

const SHOW: Declaration = READ;

const LIST: Declaration = Declaration {
    id: "connections.list",
    title: "List connections",
    description: "Lists the MCP servers of the workspace with their lights, oldest first. Never their secrets.",
    path: "/connections",
    paged: true,
    ..READ
};

const REMOVE: Declaration = Declaration {
    id: "connections.remove",
    title: "Remove a connection",
    description: "Removes a connection with its secrets, its catalogue, what was said about its tools, and all grants on them. A \
                  command of the operator's configuration comes back, disabled, unless it is taken out there.",
    method: Method::Delete,
    path: "/connections/{connection}",
    success: 204,
    idempotent: false,
    ..CHANGE
};

pub(super) fn capabilities() -> Vec<Capability> {
    vec![
        Capability::new(SHOW, show),
        Capability::new(LIST, list),
        Capability::new(REMOVE, remove),
    ]
}

async fn show(context: Context, query: ConnectionQuery) -> Result<Connection, Failure> {
    Ok(of(&*find::connection(&context, &query.connection)?))
}

async fn list(context: Context, query: PageQuery) -> Result<Page<Connection>, Failure> {
    let wanted = paging::request(query.cursor, query.limit);
    let page = context
        .store()
        .list_connections(context.tenant(), &wanted)
        .await?;
    Ok(paging::page(page, |connection| of(&connection)))
}

async fn remove(context: Context, query: ConnectionQuery) -> Result<(), Failure> {
    let connection = find::connection(&context, &query.connection)?;
    let change = find::change(&context, REMOVE.id);
    context
        .store()
        .remove_connection(context.tenant(), &change, connection.id)
        .await?;
    context.gateway.refresh(context.tenant()).await?;
    context.gateway.connections().remove(connection.id).await;
    Ok(())
}

/// A connection as it is shown.
pub(super) fn of(connection: &domain::Connection) -> Connection {
    let (url, command) = match &connection.endpoint {
        Endpoint::Url { url, .. } => (Some(url.to_string()), None),
        Endpoint::Command { configured } => (None, Some(configured.to_string())),
    };
    Connection {
        id: connection.id.uuid(),
        label: connection.label.to_string(),
        namespace: connection.namespace.to_string(),
        agent_id: match connection.owner {
            ConnectionOwner::Workspace => None,
            ConnectionOwner::Agent(agent) => Some(agent.uuid()),
        },
        transport: convert::transport(connection.endpoint.transport()),
        url,
        command,
        auth: Auth {
            kind: connection.account.kind.to_string(),
            configured: connection.account.configured,
            header_name: connection.account.header_name.as_deref().map(str::to_owned),
            value_prefix: connection.account.value_prefix.as_deref().map(str::to_owned),
        },
        headers: connection.header_names.iter().map(ToString::to_string).collect(),
        sharing: convert::sharing(connection.sharing),
        allowed_tools: connection
            .allowed_tools
            .as_ref()
            .map(|names| names.iter().map(ToString::to_string).collect()),
        enabled: connection.enabled,
        trusted: connection.trusted,
        call_timeout_ms: connection.call_timeout_ms,
        preparation_status: convert::preparation(connection.state),
        health_code: connection.health.to_string(),
        health_detail: connection.health_detail.clone(),
        light: convert::light(connection.health.light()),
        checked_at: connection.checked_at.map(convert::time),
        protocol: connection.negotiated.as_deref().map(str::to_owned),
        catalog_version: connection.catalogue_version,
        catalog_fetched_at: connection.catalogue_at.map(convert::time),
        version: connection.version,
        created_at: convert::time(connection.created_at),
    }
}
