//! A POST to an MCP endpoint: reads the message and finds the era it belongs to.

use axum::body::Bytes;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::{HeaderMap, StatusCode};

use super::answer::{RpcError, codes, json_response};
use super::headers::{accepts, not_acceptable, not_json, sends_json};
use super::version::{Claimed, Era, Legacy};
use super::wire::{BadMessage, Members, Message, unambiguous};
use super::{Guest, legacy, modern};
use crate::problem::Problem;
use crate::state::AppState;

/// Answers a message that the router let through.
pub(super) async fn post(
    State(state): State<AppState>,
    guest: Guest,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    answer(&state, &guest, &headers, &body).await
}

/// Answers a message.
pub(super) async fn answer(state: &AppState, guest: &Guest, headers: &HeaderMap, body: &[u8]) -> Response {
    if !sends_json(headers) {
        return with_status(StatusCode::UNSUPPORTED_MEDIA_TYPE, Problem(not_json()));
    }
    if !accepts(headers, &["application/json", "text/event-stream"]) {
        let what = "application/json and text/event-stream";
        return with_status(StatusCode::NOT_ACCEPTABLE, Problem(not_acceptable(what)));
    }
    let text = match std::str::from_utf8(body) {
        Ok(text) if unambiguous(text) => text,
        Ok(_) | Err(_) => return unreadable(BadMessage::Json),
    };
    if text.trim_start().starts_with('[') {
        return legacy::batch(state, guest, headers, text).await;
    }
    match Message::read(text) {
        Ok(message) => one(state, guest, headers, message).await,
        Err(bad) => unreadable(bad),
    }
}

async fn one(state: &AppState, guest: &Guest, headers: &HeaderMap, message: Message<'_>) -> Response {
    let (method, params) = match &message {
        Message::Request { method, params, .. } | Message::Notification { method, params } => {
            (&**method, *params)
        }
        Message::Response { .. } => {
            return legacy::serve(state, guest, (headers, Legacy::NEWEST), message).await;
        }
    };
    let claimed = Claimed::by(headers);
    // Where the header says it, the metadata is looked at once, later.
    let introduces = (claimed == Claimed::Modern && method != "initialize") || introduces(params);
    match era(claimed, method, introduces) {
        Ok(Era::Modern) => modern::serve(state, guest, (headers, claimed), message).await,
        Ok(Era::Legacy(version)) => legacy::serve(state, guest, (headers, version), message).await,
        Err(error) => {
            let id = match &message {
                Message::Request { id, .. } => Some(*id),
                Message::Notification { .. } | Message::Response { .. } => None,
            };
            json_response(StatusCode::BAD_REQUEST, error.write(id))
        }
    }
}

/// A request that introduces itself is modern; so is one whose header says so, but for `initialize`, which begins a session whatever
/// the header says.
fn era(claimed: Claimed<'_>, method: &str, introduces: bool) -> Result<Era, RpcError> {
    match (claimed, introduces) {
        (_, true) => Ok(Era::Modern),
        (Claimed::Legacy(version), false) => Ok(Era::Legacy(version)),
        (Claimed::Nothing, false) => Ok(Era::Legacy(Legacy::WITHOUT_HEADER)),
        (Claimed::Modern | Claimed::Unknown(_), false) if method == "initialize" => {
            Ok(Era::Legacy(Legacy::NEWEST))
        }
        (Claimed::Modern, false) => Ok(Era::Modern),
        (Claimed::Unknown(version), false) => Err(RpcError::unsupported(version)),
    }
}

fn introduces(params: Option<&serde_json::value::RawValue>) -> bool {
    let Some(params) = params.filter(|raw| raw.get().contains("protocolVersion")) else {
        return false;
    };
    let meta = Members::read(params).and_then(|members| members.get("_meta"));
    meta.and_then(Members::read)
        .is_some_and(|meta| meta.get("io.modelcontextprotocol/protocolVersion").is_some())
}

fn unreadable(bad: BadMessage) -> Response {
    let code = match bad {
        BadMessage::Json => codes::PARSE,
        BadMessage::Shape => codes::INVALID_REQUEST,
    };
    json_response(
        StatusCode::BAD_REQUEST,
        RpcError::new(code, bad.to_string()).write(None),
    )
}

/// A problem under another status than its kind's.
pub(super) fn with_status(status: StatusCode, problem: Problem) -> Response {
    let mut response = problem.into_response();
    *response.status_mut() = status;
    response
}
