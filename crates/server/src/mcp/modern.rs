//! Requests of revision 2026-07-28: each says who sends it; headers repeat what intermediaries look at.

use std::sync::Arc;

use axum::response::Response;
use gateway::View;
use http::{HeaderMap, StatusCode};
use serde_json::value::RawValue;

use super::Guest;
use super::answer::{RpcError, codes, empty_response, json_response};
use super::client::{Client, introduced};
use super::headers::{mismatch, repeat_arguments, repeat_body};
use super::serve::Request;
use super::version::{Claimed, Era, MODERN};
use super::wire::{Members, Message};
use crate::state::AppState;

/// Answers a message.
pub(super) async fn serve(
    state: &AppState,
    guest: &Guest,
    (headers, claimed): (&HeaderMap, Claimed<'_>),
    message: Message<'_>,
) -> Response {
    let (id, method, params) = match message {
        Message::Request { id, method, params } => (id, method, params),
        // This revision has none over HTTP; a stray one does no harm.
        Message::Notification { .. } | Message::Response { .. } => {
            return empty_response(StatusCode::ACCEPTED);
        }
    };
    let (client, view) = match checked(state, guest, (headers, claimed), (&method, params)) {
        Ok(checked) => checked,
        Err(error) => {
            // Whatever is wrong with the envelope, the request was not looked at.
            let status = match error.code {
                codes::INVALID_PARAMS => StatusCode::BAD_REQUEST,
                _ => error.status(Era::Modern),
            };
            return json_response(status, error.write(Some(id)));
        }
    };
    let request = Request {
        state,
        operator: &state.sessions.inner.operator,
        principal: guest.principal,
        place: &guest.place,
        client,
        view,
        id,
        method: &method,
        params,
    };
    request.serve().await
}

/// Who sends it, once headers and metadata agree; and the view, where it was looked at.
fn checked(
    state: &AppState,
    guest: &Guest,
    (headers, claimed): (&HeaderMap, Claimed<'_>),
    (method, params): (&str, Option<&RawValue>),
) -> Result<(Client, Option<Arc<View>>), RpcError> {
    let incomplete = || {
        RpcError::invalid(
            "params._meta must carry io.modelcontextprotocol/protocolVersion and …/clientCapabilities",
        )
    };
    let members = Members::of_params(params).ok_or_else(incomplete)?;
    let meta = members
        .get("_meta")
        .and_then(Members::read)
        .ok_or_else(incomplete)?;
    let introduced = introduced(&meta);
    let version = introduced.version.ok_or_else(incomplete)?;
    let said = match claimed {
        Claimed::Nothing => return Err(mismatch("the MCP-Protocol-Version header is missing")),
        Claimed::Legacy(version) => version.as_str(),
        Claimed::Modern => MODERN,
        Claimed::Unknown(version) => version,
    };
    if said != version {
        return Err(mismatch(
            "the MCP-Protocol-Version header and the body name different versions",
        ));
    }
    if version != MODERN {
        return Err(RpcError::unsupported(&version));
    }
    repeat_body(headers, method, &members)?;
    let client = introduced.client.ok_or_else(incomplete)?;
    if method != "tools/call" {
        return Ok((client, None));
    }
    // A view that is not there is told of later.
    let view = guest
        .place
        .view_key(guest.principal)
        .and_then(|key| state.gateway.view(&key).ok());
    if let (Some(view), Some(name)) = (&view, members.text("name")) {
        repeat_arguments(headers, &view.mirrored(&name), members.get("arguments"))?;
    }
    Ok((client, view))
}
