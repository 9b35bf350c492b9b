//! Messages of revisions 2024-11-05 to 2025-11-25: sessions begun with `initialize`, and clients that do without.

use std::sync::Arc;

use axum::body::to_bytes;
use axum::response::{IntoResponse as _, Response};
use domain::{ClientContext, PeerError};
use gateway::{Failure, FailureKind};
use http::{HeaderMap, HeaderValue, StatusCode};
use serde_json::value::RawValue;

use super::Guest;
use super::answer::{Answer, Hints, RpcError, codes, empty_response, json_response};
use super::client::{Can, Client, shared};
use super::outside::Outside;
use super::serve::Request;
use super::session::{Opening, Session};
use super::sessions::{NoSession, Sessions};
use super::version::{Claimed, Era, Legacy};
use super::welcome;
use super::wire::{Members, Message, text_of};
use crate::problem::Problem;
use crate::state::AppState;

/// The header that names a session.
pub(super) const SESSION: &str = "mcp-session-id";
/// Messages of one batch.
const BATCH: usize = 32;
/// How every message of ours begins.
const ANSWER: &str = r#"{"jsonrpc""#;
/// Bytes of the answers to one batch.
const BATCH_BYTES: usize = 32 << 20;

/// Answers a message.
pub(super) async fn serve(
    state: &AppState,
    guest: &Guest,
    (headers, version): (&HeaderMap, Legacy),
    message: Message<'_>,
) -> Response {
    if let Message::Request { id, method, params } = &message
        && method == "initialize"
    {
        return initialize(state, guest, id, *params);
    }
    let session = match session(state, guest, headers) {
        Ok(session) => session,
        Err(failure) => return Problem(failure).into_response(),
    };
    match message {
        Message::Request { id, method, params } => {
            let mut client = session
                .as_ref()
                .map_or_else(|| Client::stateless(version), Client::of);
            client.hear(Members::of_params(params).and_then(|members| members.get("_meta")));
            request(state, guest, client, (id, &method, params)).await
        }
        Message::Notification { method, params } => {
            if let Some(session) = session {
                notified(state, &session, &method, params);
            }
            empty_response(StatusCode::ACCEPTED)
        }
        Message::Response { id, answer } => {
            if let Some(session) = session {
                session.answered(id, answer.map(ToOwned::to_owned).map_err(peer_error));
            }
            empty_response(StatusCode::ACCEPTED)
        }
    }
}

/// The session a request names; none where it names none.
pub(super) fn session(
    state: &AppState,
    guest: &Guest,
    headers: &HeaderMap,
) -> Result<Option<Arc<Session>>, Failure> {
    let Some(value) = headers.get(SESSION) else {
        return Ok(None);
    };
    let id = value.to_str().unwrap_or_default();
    let found = state
        .sessions
        .find(&state.gateway, id, (&guest.principal, &guest.place));
    found.map(Some).ok_or_else(session_not_found)
}

pub(super) fn session_not_found() -> Failure {
    let detail = "there is no such session; begin a new one with initialize";
    Failure::new(FailureKind::NotFound, "mcp.session_not_found", detail)
}

/// Begins a session.
fn initialize(state: &AppState, guest: &Guest, id: &RawValue, params: Option<&RawValue>) -> Response {
    let refuse =
        |error: RpcError| json_response(error.status(Era::Legacy(Legacy::NEWEST)), error.write(Some(id)));
    let Some(params) = params.and_then(Members::read) else {
        return refuse(RpcError::invalid(
            "initialize takes protocolVersion, capabilities and clientInfo",
        ));
    };
    let Some(asked) = params.text("protocolVersion") else {
        return refuse(RpcError::invalid("params.protocolVersion is missing"));
    };
    let version = Legacy::named(&asked).unwrap_or(Legacy::NEWEST);
    let view = match guest
        .place
        .view_key(guest.principal)
        .map(|key| state.gateway.view(&key))
        .transpose()
    {
        Ok(view) => view,
        Err(failure) => return Problem(failure).into_response(),
    };
    let capabilities = params
        .get("capabilities")
        .filter(|raw| raw.get().starts_with('{'));
    let context = ClientContext {
        capabilities: capabilities.map(shared),
        info: params
            .get("clientInfo")
            .filter(|raw| raw.get().starts_with('{'))
            .map(shared),
        log_level: None,
        meta: None,
    };
    let Some(session_id) = Sessions::new_id() else {
        return no_session(NoSession::NoRandom);
    };
    let opening = Opening {
        id: session_id,
        owner: guest.principal,
        place: guest.place.clone(),
        agent: view.as_ref().map(|view| view.agent().id),
        version,
        can: Can::read(capabilities, Era::Legacy(version)),
        context,
    };
    let session = match state.sessions.open(&state.gateway, opening) {
        Ok(session) => session,
        Err(none) => return no_session(none),
    };
    // Takes note of whether the agent is enabled.
    session.lost_agent(&state.gateway);
    if session.agent.is_some() {
        let outside = Outside::of(&session, state.gateway.answer_within());
        let whose = (&session.id, &session.owner, session.agent);
        state.gateway.attend(whose, Arc::new(outside));
    }
    state.metrics.session();
    let answer = Answer::of(&welcome::initialize(version, view.as_deref()));
    let body = answer.write(id, Era::Legacy(version), Hints::Kind);
    let mut response = json_response(StatusCode::OK, body);
    if let Ok(value) = HeaderValue::from_str(&session.id) {
        response.headers_mut().insert(SESSION, value);
    }
    response
}

fn no_session(none: NoSession) -> Response {
    let detail = match none {
        NoSession::Full => "too many sessions are open; end one with DELETE, or try again later",
        NoSession::NoRandom => "no random numbers from the operating system",
    };
    Problem(Failure::new(
        FailureKind::Unavailable,
        "mcp.sessions_exhausted",
        detail,
    ))
    .into_response()
}

async fn request(
    state: &AppState,
    guest: &Guest,
    client: Client,
    (id, method, params): (&RawValue, &str, Option<&RawValue>),
) -> Response {
    let request = Request {
        state,
        operator: &state.sessions.inner.operator,
        principal: guest.principal,
        place: &guest.place,
        client,
        view: None,
        id,
        method,
        params,
    };
    request.serve().await
}

fn notified(state: &AppState, session: &Session, method: &str, params: Option<&RawValue>) {
    match method {
        "notifications/cancelled" => {
            let members = params.and_then(Members::read).unwrap_or_default();
            if let Some(id) = members.get("requestId") {
                session.cancel(id);
            }
        }
        // Only upstreams with a session of the client's own were told that it has any.
        "notifications/roots/list_changed" if session.can.roots => {
            let whose = (&session.id, &session.owner, session.agent);
            state
                .gateway
                .tell_upstreams(whose, "notifications/roots/list_changed");
        }
        _ => {}
    }
}

fn peer_error(raw: &RawValue) -> PeerError {
    let members = Members::read(raw).unwrap_or_default();
    let code = members
        .get("code")
        .and_then(|code| code.get().parse().ok())
        .unwrap_or(codes::INTERNAL);
    let message = members
        .get("message")
        .and_then(text_of)
        .unwrap_or_default()
        .into_owned();
    PeerError {
        code,
        message,
        data: members.get("data").map(shared),
    }
}

/// A batch: 2025-03-26 has them, no other revision does.
pub(super) async fn batch(state: &AppState, guest: &Guest, headers: &HeaderMap, text: &str) -> Response {
    let bad = |why: &'static str| {
        json_response(
            StatusCode::BAD_REQUEST,
            RpcError::new(codes::INVALID_REQUEST, why).write(None),
        )
    };
    let session = match session(state, guest, headers) {
        Ok(session) => session,
        Err(failure) => return Problem(failure).into_response(),
    };
    let version = match (&session, Claimed::by(headers)) {
        (Some(session), _) => session.version,
        (None, Claimed::Nothing) => Legacy::WITHOUT_HEADER,
        (None, Claimed::Legacy(version)) => version,
        (None, Claimed::Modern | Claimed::Unknown(_)) => Legacy::NEWEST,
    };
    if version != Legacy::V2025_03_26 {
        return bad("batches exist in protocol version 2025-03-26 only; send one message per request");
    }
    let messages: Vec<&RawValue> = match serde_json::from_str(text) {
        Ok(messages) => messages,
        Err(_) => {
            return json_response(
                StatusCode::BAD_REQUEST,
                RpcError::new(codes::PARSE, "the body is not JSON").write(None),
            );
        }
    };
    if messages.is_empty() || messages.len() > BATCH {
        return bad("a batch has 1 to 32 messages");
    }
    let mut answers = Vec::new();
    let mut size = 0;
    for raw in messages {
        match Message::read(raw.get()) {
            Err(_) => {
                answers.push(RpcError::new(codes::INVALID_REQUEST, "not a JSON-RPC message").write(None))
            }
            Ok(Message::Request { id, method, params }) => {
                let answer = in_batch(state, guest, session.as_ref(), (id, &method, params)).await;
                size += answer.len();
                answers.push(answer);
            }
            Ok(Message::Notification { method, params }) => {
                if let Some(session) = &session {
                    notified(state, session, &method, params);
                }
            }
            Ok(Message::Response { id, answer }) => {
                if let Some(session) = &session {
                    session.answered(id, answer.map(ToOwned::to_owned).map_err(peer_error));
                }
            }
        }
        if size > BATCH_BYTES {
            return bad("the answers to this batch are too large together; send its messages one by one");
        }
    }
    match answers.is_empty() {
        true => empty_response(StatusCode::ACCEPTED),
        false => json_response(StatusCode::OK, format!("[{}]", answers.join(","))),
    }
}

/// A request of a batch. Nothing can be said before its answer, so it is served as from a client that hears nothing.
async fn in_batch(
    state: &AppState,
    guest: &Guest,
    session: Option<&Arc<Session>>,
    (id, method, params): (&RawValue, &str, Option<&RawValue>),
) -> String {
    if method == "initialize" {
        return RpcError::new(codes::INVALID_REQUEST, "initialize is never part of a batch").write(Some(id));
    }
    let client = session.map_or_else(|| Client::stateless(Legacy::V2025_03_26), Client::quiet);
    let response = request(state, guest, client, (id, method, params)).await;
    let body = to_bytes(response.into_body(), BATCH_BYTES).await.ok();
    let text = body
        .and_then(|body| String::from_utf8(body.to_vec()).ok())
        .and_then(|text| {
            if text.starts_with(ANSWER) {
                return Some(text);
            }
            // Something may be said before the answer all the same; the answer comes last.
            let mut said = text.lines().filter_map(|line| line.strip_prefix("data: "));
            said.rfind(|message| message.starts_with(ANSWER))
                .map(str::to_owned)
        });
    text.unwrap_or_else(|| {
        RpcError::new(codes::INTERNAL, "the request could not be answered in a batch").write(Some(id))
    })
}
