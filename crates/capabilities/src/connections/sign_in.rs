//! Signing in to servers. Anybody who administers may ask for the link; a person goes through it on a page.

use api::connections::{
    Authorization, AuthorizationQuery, Connection, Disconnect, OpenAuthorization, OpenedAuthorization,
    StartAuthorization,
};
use domain::{AuthorizationId, AuthorizationStatus, Identity, Role, Surface};
use gateway::FailureKind;
use gateway::capability::{Action, Capability, Context, Declaration, Failure, Method};

use super::{CHANGE, CHANGE_OWN, READ_OWN, shown};
use crate::{convert, find};

const START: Declaration = Declaration {
    id: "start_mcp_authorization",
    title: "Begin to sign in to a server",
    description: "Finds the server's authorization server, becomes its client, and answers with a link. A person opens the link within \
                  ten minutes and approves there; a program cannot. Any change of the connection calls it off.",
    path: "/connections/{connection}/authorizations",
    command: Some("connections authorize"),
    ..CHANGE_OWN
};

const SHOW: Declaration = Declaration {
    id: "connections.authorization",
    title: "Show a sign-in",
    description: "Shows how a sign-in stands: whether a person went through it, and why it failed where it did.",
    path: "/connections/{connection}/authorizations/{authorization}",
    ..READ_OWN
};

const CANCEL: Declaration = Declaration {
    id: "connections.cancel_authorization",
    title: "Call a sign-in off",
    description: "Ends a sign-in that no person has been through yet.",
    method: Method::Delete,
    path: "/connections/{connection}/authorizations/{authorization}",
    success: 204,
    idempotent: false,
    command: Some("connections cancel-authorization"),
    ..CHANGE_OWN
};

const DISCONNECT: Declaration = Declaration {
    id: "connections.disconnect",
    title: "Disconnect a server's account",
    description: "Forgets the tokens of the account that somebody signed in to; nothing is issued or renewed any more. The settings stay.",
    path: "/connections/{connection}/disconnect",
    success: 200,
    ..CHANGE_OWN
};

const OPEN: Declaration = Declaration {
    id: "authorize_mcp_server",
    title: "Go through a sign-in",
    description: "Sends the person in front of the page to the authorization server, and binds the sign-in to this browser.",
    path: "/authorizations/{authorization}/open",
    success: 200,
    idempotent: false,
    surfaces: &[Surface::Page],
    action: Action::Represent,
    command: None,
    ..CHANGE
};

pub(super) fn capabilities() -> Vec<Capability> {
    vec![
        Capability::new(START, start),
        Capability::new(SHOW, show),
        Capability::new(CANCEL, cancel),
        Capability::new(DISCONNECT, disconnect),
        Capability::new(OPEN, open),
    ]
}

async fn start(context: Context, input: StartAuthorization) -> Result<Authorization, Failure> {
    let connection = find::connection(&context, &input.connection)?;
    let change = find::change(&context, START.id);
    let begun = context
        .gateway
        .connections()
        .begin_sign_in(context.tenant(), connection.id, input.expected_version, &change)
        .await;
    Ok(told(&context, &begun?))
}

async fn show(context: Context, query: AuthorizationQuery) -> Result<Authorization, Failure> {
    let found = wanted(&context, &query).await?;
    Ok(told(&context, &found))
}

async fn cancel(context: Context, query: AuthorizationQuery) -> Result<(), Failure> {
    let found = wanted(&context, &query).await?;
    let change = find::change(&context, CANCEL.id);
    let connections = context.gateway.connections();
    let cancelled = connections.cancel_sign_in(context.tenant(), found.id, &change);
    Ok(cancelled.await?)
}

async fn disconnect(context: Context, input: Disconnect) -> Result<Connection, Failure> {
    let connection = find::connection(&context, &input.connection)?;
    let change = find::change(&context, DISCONNECT.id);
    let connections = context.gateway.connections();
    connections
        .disconnect_account(context.tenant(), connection.id, input.expected_version, &change)
        .await?;
    context.gateway.refresh(context.tenant()).await?;
    shown::one(&context, &*find::connection(&context, &input.connection)?).await
}

async fn open(context: Context, input: OpenAuthorization) -> Result<OpenedAuthorization, Failure> {
    may_represent(&context).await?;
    let change = find::change(&context, OPEN.id);
    let id = AuthorizationId::from_uuid(input.authorization);
    let connections = context.gateway.connections();
    let opened = connections
        .open_sign_in(context.tenant(), id, input.browser, &change)
        .await?;
    Ok(OpenedAuthorization {
        url: opened.url.into(),
        browser: opened.browser.expose().to_owned(),
    })
}

/// A sign-in of the connection that is named.
async fn wanted(context: &Context, query: &AuthorizationQuery) -> Result<domain::Authorization, Failure> {
    let connection = find::connection(context, &query.connection)?;
    let id = AuthorizationId::from_uuid(query.authorization);
    let found = context.store().authorization(context.tenant(), id).await?;
    found
        .filter(|found| found.connection == connection.id)
        .ok_or_else(|| Failure::not_found("sign-in").at("authorization"))
}

fn told(context: &Context, found: &domain::Authorization) -> Authorization {
    let page = || context.gateway.connections().sign_in_page(found.id).to_string();
    Authorization {
        id: found.id.uuid(),
        connection_id: found.connection.uuid(),
        status: found.status.to_string(),
        expires_at: convert::time(found.expires_at),
        connect_url: (found.status == AuthorizationStatus::Pending).then(page),
        requested_scopes: found.requested.clone(),
        issuer: found.party.issuer.clone(),
        error_code: found.error_code.clone(),
        error_detail: found.error_detail.clone(),
        version: (found.status == AuthorizationStatus::Completed).then_some(found.version),
    }
}

/// An account is the workspace's towards others: its Owner speaks for it, or whoever administers the organization.
async fn may_represent(context: &Context) -> Result<(), Failure> {
    let Identity::Member { id, role } = context.principal.identity else {
        return Ok(());
    };
    let member = context.store().member(context.tenant(), id).await?;
    let organization = member.and_then(|member| member.organization_role);
    if role == Role::Owner || organization.is_some_and(Role::administers) {
        return Ok(());
    }
    let detail = "signing in for the workspace needs its Owner, or an Owner or Admin of the organization";
    Err(Failure::new(
        FailureKind::Forbidden,
        "members.beyond_own_role",
        detail,
    ))
}
