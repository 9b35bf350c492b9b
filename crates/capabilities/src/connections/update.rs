//! Changes a connection.

use std::sync::Arc;

use ::connections::preset;
use api::connections::{Connection, UpdateConnection};
use api::context::ConnectionContext;
use domain::{AccountKind, ContextSelection, Endpoint, Label, PresetRef};
use gateway::capability::{Capability, Context, Declaration, Failure, Method};

use super::presets::{self, Wanted};
use super::{CHANGE_OWN, account, add, settings, shown};
use crate::{convert, find};

const UPDATE: Declaration = Declaration {
    id: "connections.update",
    title: "Change a connection",
    description: "Changes a connection's settings. Changing its URL, transport or kind of account clears the statement of trust \
                  unless it is given again. What is taken away ends at the next call.",
    method: Method::Patch,
    path: "/connections/{connection}",
    success: 200,
    idempotent: false,
    ..CHANGE_OWN
};

pub(super) fn capability() -> Capability {
    Capability::new(UPDATE, update)
}

async fn update(context: Context, input: UpdateConnection) -> Result<Connection, Failure> {
    let before = find::connection(&context, &input.connection)?;
    let mut input = input;
    let chosen = match input.variant.take() {
        Some(variant) => Some(choose(&context, &before, variant, &mut input)?),
        None => None,
    };
    let mut after = domain::Connection::clone(&before);
    after.version = input.expected_version;
    if let Some(label) = &input.label {
        after.label = Label::new(label).map_err(|error| Failure::field("label", error.to_string()))?;
    }
    endpoint(&context, &input, &mut after).await?;
    let moved = after.endpoint != before.endpoint;
    if moved && before.account.kind != AccountKind::None && input.auth.is_none() {
        let detail = "changing the URL or transport of a connection with an account needs auth again";
        return Err(Failure::field("auth", detail));
    }
    let given = input
        .auth
        .map(|auth| account::read(auth, Some(&before.account)))
        .transpose()?;
    if let Some(given) = &given {
        after.account = given.account.clone();
    }
    let headers = input.headers.map(settings::headers).transpose()?;
    if let Some(headers) = &headers {
        after.header_names = headers.names();
    }
    settings::apart(&after.account, &after.header_names)?;
    if let Some(sharing) = input.sharing {
        after.sharing = convert::to_sharing(sharing);
    }
    if let Some(allowed) = input.allowed_tools {
        after.allowed_tools = allowed.map(add::unique).transpose()?;
    }
    if let Some(wanted) = input.context {
        after.context = selected(&context, &before, wanted)?;
    }
    after.enabled = input.enabled.unwrap_or(after.enabled);
    after.call_timeout_ms = input.call_timeout_ms.or(after.call_timeout_ms);
    let other = moved || after.account.kind != before.account.kind;
    let provided =
        |connection: &domain::Connection| connection.preset.as_ref().is_some_and(|preset| preset.provided);
    // What the platform gave and somebody switched off comes back like any other connection: looked at, trusted and granted.
    let given_up = provided(&before) && !after.enabled;
    after.trusted = input.trusted.unwrap_or(before.trusted && !other && !given_up);
    after.preset = chosen.or_else(|| preset::still(&after));
    if given.is_some() || headers.is_some() {
        after.verified = None;
    }
    let change = find::change(&context, UPDATE.id);
    let stored = context
        .store()
        .update_connection(context.tenant(), &change, after)
        .await?;
    let old: &[Arc<str>] = &before.header_names;
    settings::keep(
        &context,
        stored.id,
        UPDATE.id,
        given.as_ref(),
        headers.as_ref().map(|new| (old, new)),
    )
    .await?;
    context.gateway.refresh(context.tenant()).await?;
    let manner = stored.sharing != before.sharing || stored.call_timeout_ms != before.call_timeout_ms;
    if other || given.is_some() || headers.is_some() || manner || !stored.enabled {
        context.gateway.connections().changed(stored.id);
    }
    if stored.enabled && (other || given.is_some() || headers.is_some() || !before.enabled) {
        context
            .gateway
            .connections()
            .schedule(context.tenant(), stored.id);
    }
    shown::one(&context, &stored).await
}

/// What is chosen besides tools, held to what the server lists.
fn selected(
    context: &Context,
    before: &domain::Connection,
    wanted: ConnectionContext,
) -> Result<ContextSelection, Failure> {
    let workspace = find::workspace(context)?;
    let listed = workspace.catalogue(before.id);
    let listed = listed.map(|found| (&**found, &before.context));
    super::context::read(Some(wanted), listed)
}

/// What another variant of the preset says takes the place of what the input leaves out.
fn choose(
    context: &Context,
    before: &domain::Connection,
    variant: String,
    input: &mut UpdateConnection,
) -> Result<PresetRef, Failure> {
    let Some(known) = &before.preset else {
        let detail = "this connection was made from no preset; change its settings themselves";
        return Err(Failure::field("variant", detail));
    };
    let wanted = Wanted {
        variant: Some(variant),
        url: input.url.take(),
        transport: input.transport.map(convert::to_transport),
        auth: input.auth.take(),
    };
    let chosen = presets::choose(context, &known.id, wanted)?;
    let had_headers = preset::of(known).is_some_and(|(_, variant)| !variant.headers.is_empty());
    if had_headers || !chosen.headers.is_empty() {
        input.headers.get_or_insert_default().extend(chosen.headers);
    }
    input.url = Some(chosen.url);
    input.transport = Some(convert::transport(chosen.transport));
    input.auth = Some(chosen.auth);
    Ok(chosen.reference)
}

async fn endpoint(
    context: &Context,
    input: &UpdateConnection,
    after: &mut domain::Connection,
) -> Result<(), Failure> {
    if input.url.is_none() && input.transport.is_none() {
        return Ok(());
    }
    let Endpoint::Url { url, transport } = &after.endpoint else {
        let detail = "this connection is a command of the operator's configuration; change it there";
        return Err(Failure::field(
            if input.url.is_some() { "url" } else { "transport" },
            detail,
        ));
    };
    let transport = input.transport.map_or(*transport, convert::to_transport);
    let url = add::url(context, input.url.as_deref().unwrap_or(url), transport).await?;
    after.endpoint = Endpoint::Url {
        url: url.into(),
        transport,
    };
    Ok(())
}
