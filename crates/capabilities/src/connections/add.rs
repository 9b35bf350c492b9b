//! Adds a remote server.

use api::connections::{AddConnection, AuthInput, Connection};
use domain::{
    ConnectionId, ConnectionOwner, ConnectionState, Endpoint, Health, Label, Namespace, Sharing, Transport,
};
use gateway::Workspace;
use gateway::capability::{Capability, Context, Declaration, Failure};

use super::{CHANGE, account, settings, shown};
use crate::{convert, find};

const ADD: Declaration = CHANGE;

pub(super) fn capability() -> Capability {
    Capability::new(ADD, add)
}

async fn add(context: Context, input: AddConnection) -> Result<Connection, Failure> {
    let workspace = find::workspace(&context)?;
    let label = Label::new(&input.label).map_err(|error| Failure::field("label", error.to_string()))?;
    let transport = input.transport.map_or(Transport::Auto, convert::to_transport);
    let url = url(&context, &input.url, transport).await?;
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
        owner: ConnectionOwner::Workspace,
        label,
        namespace,
        endpoint: Endpoint::Url {
            url: url.into(),
            transport,
        },
        account: given.account.clone(),
        header_names,
        sharing: input.sharing.map_or(Sharing::Shared, convert::to_sharing),
        allowed_tools: input.allowed_tools.map(unique).transpose()?,
        enabled: input.enabled.unwrap_or(true),
        trusted: input.trusted.unwrap_or(false),
        call_timeout_ms: input.call_timeout_ms,
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
    let change = find::change(&context, ADD.id);
    let stored = context
        .store()
        .create_connection(context.tenant(), &change, connection)
        .await?;
    let kept = settings::keep(&context, stored.id, ADD.id, Some(&given), Some((&[], &headers))).await;
    if let Err(failure) = kept {
        // Without its secrets it would be a connection nobody asked for.
        context
            .store()
            .remove_connection(context.tenant(), &change, stored.id)
            .await?;
        return Err(failure);
    }
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
