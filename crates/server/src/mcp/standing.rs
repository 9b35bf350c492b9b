//! GET and DELETE of legacy sessions: the standing stream, resuming a broken one, and the end.

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use gateway::{Failure, FailureKind};
use http::{HeaderMap, HeaderValue, StatusCode, header};

use super::Guest;
use super::answer::empty_response;
use super::headers::{accepts, not_acceptable};
use super::legacy::{SESSION, session};
use super::log::{self, Reading, Resumable};
use super::post::with_status;
use super::version::Claimed;
use super::watch::{self, Opening, Wants};
use crate::problem::Problem;
use crate::state::AppState;

const LAST_EVENT: &str = "last-event-id";

/// Opens the stream of a session, or resumes one that broke.
pub(super) async fn get(State(state): State<AppState>, guest: Guest, headers: HeaderMap) -> Response {
    if !accepts(&headers, &["text/event-stream"]) {
        return with_status(
            StatusCode::NOT_ACCEPTABLE,
            Problem(not_acceptable("text/event-stream")),
        );
    }
    let session = match found(&state, &guest, &headers) {
        Ok(session) => session,
        Err(response) => return *response,
    };
    if let Some(last) = headers.get(LAST_EVENT) {
        let resumed = last
            .to_str()
            .ok()
            .and_then(place)
            .and_then(|(stream, from)| Some((stream, from, session.kept(stream)?)));
        if let Some((stream, from, log)) = resumed {
            let (of, busy) = (session.clone(), session.occupy());
            let done = Box::new(move || {
                of.sent(stream);
                drop(busy);
            });
            let resumable = Some(Resumable {
                stream,
                prime: false,
                done,
            });
            return log::respond(Reading {
                log,
                from,
                resumable,
                guard: None,
            });
        }
    }
    let Some(key) = guest.place.view_key(guest.principal) else {
        return no_stream();
    };
    let changes = state.gateway.changes();
    let now = match state.gateway.view(&key) {
        Ok(view) => view.marks(),
        Err(failure) => return Problem(failure).into_response(),
    };
    let opening = Opening {
        key,
        marks: session.saw(now).unwrap_or(now),
        changes,
        ended: session.stand(),
        held: Box::new(session.occupy()),
        wants: Wants::Session(session.clone()),
        first: None,
    };
    watch::respond(&state, opening)
}

/// Ends a session.
pub(super) async fn delete(State(state): State<AppState>, guest: Guest, headers: HeaderMap) -> Response {
    match found(&state, &guest, &headers) {
        Ok(session) => {
            state.sessions.end(&state.gateway, &session);
            empty_response(StatusCode::NO_CONTENT)
        }
        Err(response) => *response,
    }
}

fn found(
    state: &AppState,
    guest: &Guest,
    headers: &HeaderMap,
) -> Result<std::sync::Arc<super::session::Session>, Box<Response>> {
    // The stateless revision knows neither GET nor DELETE, and clients without a session have nothing to get or end.
    if Claimed::by(headers) == Claimed::Modern || !headers.contains_key(SESSION) {
        return Err(Box::new(no_stream()));
    }
    match session(state, guest, headers) {
        Ok(Some(session)) => Ok(session),
        Ok(None) => Err(Box::new(no_stream())),
        Err(failure) => Err(Box::new(Problem(failure).into_response())),
    }
}

fn no_stream() -> Response {
    let detail = "GET and DELETE are for sessions: send the Mcp-Session-Id that initialize gave";
    let failure = Failure::new(FailureKind::Malformed, "mcp.session_required", detail);
    let mut response = with_status(StatusCode::METHOD_NOT_ALLOWED, Problem(failure));
    response
        .headers_mut()
        .insert(header::ALLOW, HeaderValue::from_static("POST"));
    response
}

/// The stream an event id belongs to, and the number of the event after it.
fn place(id: &str) -> Option<(u64, u64)> {
    let (stream, next) = id.split_once('-')?;
    Some((stream.parse().ok()?, next.parse().ok()?))
}
