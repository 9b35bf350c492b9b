//! Shows, lists and removes connections.

use ::connections::preset;
use api::Page;
use api::connections::{
    Account, Auth, Connection, ConnectionPreset, ConnectionQuery, ListConnections, Verified,
};
use domain::{AccountKind, AccountState, AccountStatus, ConnectionOwner, Endpoint, Surface};
use gateway::capability::{Capability, Context, Declaration, Failure, Method};

use super::{CHANGE_OWN, READ_OWN};
use crate::{convert, find, paging};

const SHOW: Declaration = READ_OWN;

const LIST: Declaration = Declaration {
    id: "connections.list",
    title: "List connections",
    description: "Lists the MCP servers of the workspace with their lights, oldest first. Never their secrets.",
    path: "/connections",
    paged: true,
    ..READ_OWN
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
    ..CHANGE_OWN
};

pub(super) fn capabilities() -> Vec<Capability> {
    vec![
        Capability::new(SHOW, show),
        Capability::new(LIST, list),
        Capability::new(REMOVE, remove),
    ]
}

async fn show(context: Context, query: ConnectionQuery) -> Result<Connection, Failure> {
    one(&context, &*find::connection(&context, &query.connection)?).await
}

async fn list(context: Context, query: ListConnections) -> Result<Page<Connection>, Failure> {
    let wanted = paging::request(query.cursor, query.limit);
    let page = match (&query.agent, context.surface) {
        (None, Surface::Api | Surface::Mcp | Surface::Cli | Surface::Agent | Surface::Page) => {
            context
                .store()
                .list_connections(context.tenant(), &wanted)
                .await?
        }
        (named, _) => {
            let agent = find::own_agent(&context, named.as_deref())?;
            let mut own = context.store().connections_of(context.tenant(), agent.id).await?;
            own.sort_by_key(|connection| connection.id);
            paging::cut("own", own, |connection| connection.id.to_string(), &wanted)?
        }
    };
    let accounts = context.store().all_accounts(context.tenant()).await?;
    Ok(paging::page(page, |connection| {
        let account = accounts
            .iter()
            .find(|account| account.connection == connection.id);
        of(&context, &connection, account)
    }))
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

/// A connection as it is shown, with its account as it stands now.
pub(super) async fn one(context: &Context, connection: &domain::Connection) -> Result<Connection, Failure> {
    let account = match connection.account.kind.has_tokens() {
        true => context.store().account(context.tenant(), connection.id).await?,
        false => None,
    };
    Ok(of(context, connection, account.as_ref()))
}

fn account(context: &Context, connection: &domain::Connection, state: Option<&AccountState>) -> Account {
    let settings = connection.account.oauth.as_deref();
    let party = state.and_then(|state| state.party.as_ref());
    let text = |text: &std::sync::Arc<str>| text.to_string();
    Account {
        status: state
            .map_or(AccountStatus::NotConnected, |state| state.status)
            .to_string(),
        expires_at: state.and_then(|state| state.expires_at).map(convert::time),
        refresh_supported: state.is_some_and(|state| state.refreshable)
            || connection.account.kind != AccountKind::Oauth,
        requested_scopes: state.map(|state| state.requested.clone()).unwrap_or_default(),
        granted_scopes: state.map(|state| state.granted.clone()).unwrap_or_default(),
        error_code: state.and_then(|state| state.error_code.clone()),
        error_detail: state.and_then(|state| state.error_detail.clone()),
        issuer: party
            .map(|party| party.issuer.clone())
            .or_else(|| settings.and_then(|settings| settings.issuer.as_ref().map(text))),
        client_id: party
            .map(|party| party.client_id.clone())
            .or_else(|| settings.and_then(|settings| settings.client_id.as_ref().map(text))),
        callback_uri: context.gateway.connections().sign_in().callback().into(),
    }
}

fn of(context: &Context, connection: &domain::Connection, state: Option<&AccountState>) -> Connection {
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
            account: connection
                .account
                .kind
                .has_tokens()
                .then(|| account(context, connection, state)),
        },
        headers: connection.header_names.iter().map(ToString::to_string).collect(),
        sharing: convert::sharing(connection.sharing),
        allowed_tools: connection
            .allowed_tools
            .as_ref()
            .map(|names| names.iter().map(ToString::to_string).collect()),
        context: super::context::shown(&connection.context),
        enabled: connection.enabled,
        trusted: connection.trusted,
        call_timeout_ms: connection.call_timeout_ms,
        preset: connection.preset.as_ref().map(|preset| ConnectionPreset {
            id: preset.id.to_string(),
            variant: preset.variant.to_string(),
            provided: preset.provided,
        }),
        verified: connection.verified.map(|found| Verified {
            proof: convert::proof(found.proof),
            at: convert::time(found.at),
        }),
        preparation_status: convert::preparation(connection.state),
        health_code: connection.health.to_string(),
        health_detail: connection.health_detail.clone(),
        light: convert::light(preset::light(connection, connection.light(state, context.now))),
        checked_at: connection.checked_at.map(convert::time),
        protocol: connection.negotiated.as_deref().map(str::to_owned),
        capabilities: super::context::capabilities(context, connection),
        catalog_version: connection.catalogue_version,
        catalog_fetched_at: connection.catalogue_at.map(convert::time),
        version: connection.version,
        created_at: convert::time(connection.created_at),
    }
}
