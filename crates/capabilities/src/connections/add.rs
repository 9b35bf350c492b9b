//! Adds a remote server.

use ::connections::headers::Headers;
use api::connections::{AddConnection, AuthInput, Connection};
use domain::{
    ConnectionId, ConnectionOwner, ConnectionState, Endpoint, Health, Label, Namespace, Sharing, Surface,
    Transport,
};
use gateway::Workspace;
use gateway::capability::{Capability, Context, Declaration, Failure};

use super::account::{self, Given};
use super::presets::{self, Chosen, Wanted};
use super::{CHANGE_OWN, settings, shown};
use crate::{convert, find};

const ADD: Declaration = CHANGE_OWN;

pub(super) fn capability() -> Capability {
    Capability::new(ADD, add)
}

async fn add(context: Context, input: AddConnection) -> Result<Connection, Failure> {
    let workspace = find::workspace(&context)?;
    let owner = match (&input.agent, context.surface) {
        (None, Surface::Api | Surface::Mcp | Surface::Cli | Surface::Agent | Surface::Page) => {
            ConnectionOwner::Workspace
        }
        (named, _) => ConnectionOwner::Agent(find::own_agent(&context, named.as_deref())?.id),
    };
    let mut input = input;
    let chosen = match input.preset.take() {
        Some(named) => Some(chosen(&context, &named, &mut input)?),
        None if input.variant.is_some() => {
            return Err(Failure::field(
                "variant",
                "a variant is one of a preset; say which preset",
            ));
        }
        None => None,
    };
    let label = input
        .label
        .ok_or_else(|| Failure::field("label", "say what people call it"))?;
    let label = Label::new(&label).map_err(|error| Failure::field("label", error.to_string()))?;
    let transport = input.transport.map_or(Transport::Auto, convert::to_transport);
    let url_text = input
        .url
        .ok_or_else(|| Failure::field("url", "say where the server is, or name a preset"))?;
    let url = url(&context, &url_text, transport).await?;
    let namespace = match &input.namespace {
        Some(text) => Namespace::new(text).map_err(|error| Failure::field("namespace", error.to_string()))?,
        None => free_namespace(&workspace, label.as_str()),
    };
    let given = account::read(input.auth.unwrap_or(AuthInput::None), None)?;
    let headers = settings::headers(input.headers)?;
    let header_names = headers.names();
    settings::apart(&given.account, &header_names)?;
    let connection = domain::Connection {
        id: ConnectionId::generate(),
        owner,
        label,
        namespace,
        endpoint: Endpoint::Url {
            url: url.into(),
            transport,
        },
        account: given.account.clone(),
        header_names,
        sharing: input.sharing.map_or(Sharing::Shared, convert::to_sharing),
        allowed_tools: match input.allowed_tools {
            Some(named) => Some(unique(named)?),
            None => chosen.as_ref().map(|chosen| chosen.starters.clone()),
        },
        context: super::context::read(input.context, None)?,
        enabled: input.enabled.unwrap_or(true),
        trusted: input.trusted.unwrap_or(false),
        call_timeout_ms: input.call_timeout_ms,
        preset: chosen.map(|chosen| chosen.reference),
        verified: None,
        state: ConnectionState::Pending,
        health: Health::Unchecked,
        health_detail: None,
        checked_at: None,
        negotiated: None,
        catalogue_version: 0,
        catalogue_at: None,
        version: 1,
        created_at: context.now,
    };
    let stored = store(&context, connection, &given, &headers).await?;
    context.gateway.refresh(context.tenant()).await?;
    // A server that is switched off is not reached, not even to look what it has.
    if stored.enabled {
        context
            .gateway
            .connections()
            .schedule(context.tenant(), stored.id);
    }
    shown::one(&context, &stored).await
}

/// Stores a connection with its secrets, or not at all.
async fn store(
    context: &Context,
    connection: domain::Connection,
    given: &Given,
    headers: &Headers,
) -> Result<domain::Connection, Failure> {
    let change = find::change(context, ADD.id);
    let stored = context
        .store()
        .create_connection(context.tenant(), &change, connection)
        .await?;
    let kept = settings::keep(context, stored.id, ADD.id, Some(given), Some((&[], headers))).await;
    if let Err(failure) = kept {
        // Without its secrets it would be a connection nobody asked for.
        context
            .store()
            .remove_connection(context.tenant(), &change, stored.id)
            .await?;
        return Err(failure);
    }
    Ok(stored)
}

/// What the preset says takes the place of what the input leaves out.
fn chosen(context: &Context, named: &str, input: &mut AddConnection) -> Result<Chosen, Failure> {
    let wanted = Wanted {
        variant: input.variant.take(),
        url: input.url.take(),
        transport: input.transport.map(convert::to_transport),
        auth: input.auth.take(),
    };
    let mut chosen = presets::choose(context, named, wanted)?;
    input.label.get_or_insert_with(|| chosen.preset.name.clone());
    input.url = Some(chosen.url.clone());
    input.transport = Some(convert::transport(chosen.transport));
    input.auth = Some(std::mem::replace(&mut chosen.auth, AuthInput::None));
    input.headers.append(&mut chosen.headers);
    Ok(chosen)
}

/// A URL that may be reached: public HTTPS, or exactly one the operator registered.
pub(super) async fn url(context: &Context, text: &str, transport: Transport) -> Result<String, Failure> {
    if transport == Transport::Stdio {
        let detail =
            "commands come from the operator's configuration only; add the server there as [[connections]]";
        return Err(Failure::field("transport", detail));
    }
    context
        .gateway
        .connections()
        .check_url(text)
        .await
        .map_err(|error| Failure::from(&error).at("url"))?;
    Ok(text.trim().to_owned())
}

pub(super) fn unique(names: Vec<String>) -> Result<Vec<std::sync::Arc<str>>, Failure> {
    let mut seen = std::collections::HashSet::new();
    if names.is_empty() || !names.iter().all(|name| seen.insert(name.as_str())) {
        return Err(Failure::field(
            "allowed_tools",
            "must be a list of different names with at least one, or null for all",
        ));
    }
    Ok(names.into_iter().map(Into::into).collect())
}

fn free_namespace(workspace: &Workspace, label: &str) -> Namespace {
    let wanted = Namespace::suggest(label);
    let taken = |name: &Namespace| workspace.connection_by_namespace(name).is_some();
    if !taken(&wanted) {
        return wanted;
    }
    (2..)
        .map(|n| wanted.numbered(n))
        .find(|name| !taken(name))
        .unwrap_or(wanted)
}
