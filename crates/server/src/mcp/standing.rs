//! GET and DELETE of legacy sessions: the standing stream, resuming a broken one, and the end.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use gateway::{Failure, FailureKind};
use http::{HeaderMap, HeaderValue, StatusCode, header};

use super::Guest;
use super::answer::empty_response;
use super::headers::{accepts, not_acceptable};
use super::legacy::session;
use super::log::{self, Reading, Resumable};
use super::post::with_status;
use super::session::Session;
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
        Err(Missing::Era | Missing::Unnamed) => return no_stream(),
        Err(Missing::Gone(failure)) => return Problem(failure).into_response(),
    };
    if let Some(last) = headers.get(LAST_EVENT).filter(|last| !last.is_empty()) {
        let resumed = last
            .to_str()
            .ok()
            .and_then(place)
            .and_then(|(stream, from)| Some((stream, from, session.kept(stream)?)));
        return match resumed {
            Some(resumed) => resume(&session, resumed),
            None => gone(),
        };
    }
    let Some(key) = guest.place.view_key(guest.principal) else {
        return no_stream();
    };
    let changes = state.gateway.changes();
    let now = match state.gateway.view(&key) {
        Ok(view) => view.marks(),
        Err(failure) => return Problem(failure).into_response(),
    };
    let (ended, heard) = session.stand();
    let opening = Opening {
        key,
        marks: session.saw(now).unwrap_or(now),
        changes,
        ended,
        heard: Some(heard),
        held: Box::new(session.occupy()),
        wants: Wants::Session(session.clone()),
        first: None,
    };
    watch::respond(&state, opening)
}

fn resume(session: &Arc<Session>, (stream, from, log): (u64, u64, Arc<log::Log>)) -> Response {
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
    log::respond(Reading {
        log,
        from,
        resumable,
        guard: None,
    })
}

/// The stream was read to its end, or is too long ago. In its place the standing stream would look like it, and end the one that stands.
fn gone() -> Response {
    let detail =
        "the stream of this Last-Event-ID cannot be resumed: it was sent to its end, or is too long ago";
    let failure = Failure::new(FailureKind::Malformed, "mcp.stream_gone", detail);
    Problem(failure).into_response()
}

/// Ends a session.
pub(super) async fn delete(State(state): State<AppState>, guest: Guest, headers: HeaderMap) -> Response {
    match found(&state, &guest, &headers) {
        Ok(session) => {
            state.sessions.end(&state.gateway, &session);
            empty_response(StatusCode::NO_CONTENT)
        }
        Err(Missing::Era) => not_allowed("revision 2026-07-28 has no sessions to end"),
        Err(Missing::Unnamed) => {
            let detail = "which session? send the Mcp-Session-Id that initialize gave";
            Problem(Failure::new(
                FailureKind::Malformed,
                "mcp.session_required",
                detail,
            ))
            .into_response()
        }
        Err(Missing::Gone(failure)) => Problem(failure).into_response(),
    }
}

/// Why there is no session to get a stream of, or to end.
enum Missing {
    /// The stateless revision knows neither GET nor DELETE.
    Era,
    /// The request names none.
    Unnamed,
    /// It names none of its sender's here.
    Gone(Failure),
}

fn found(state: &AppState, guest: &Guest, headers: &HeaderMap) -> Result<Arc<Session>, Missing> {
    if Claimed::by(headers) == Claimed::Modern {
        return Err(Missing::Era);
    }
    session(state, guest, headers)
        .map_err(Missing::Gone)?
        .ok_or(Missing::Unnamed)
}

/// What every revision answers a GET where there is no stream: 405 (2025-11-25, "Listening for Messages from the Server").
fn no_stream() -> Response {
    let detail = "there is no stream here: it is for sessions of an agent's endpoint, named by the Mcp-Session-Id that initialize gave";
    not_allowed(detail)
}

fn not_allowed(detail: &str) -> Response {
    let failure = Failure::new(FailureKind::Malformed, "request.method_not_allowed", detail);
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
