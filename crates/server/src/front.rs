//! What every request goes through, whatever it asks for: an id, the guard, and a document for whatever goes wrong.
//!
//! These are plain calls rather than layers of the router, because every call of a tool pays for them.

use std::panic::AssertUnwindSafe;

use axum::response::{IntoResponse as _, Response};
use futures::FutureExt as _;
use http::{HeaderValue, StatusCode, header};
use tower::ServiceExt as _;

use crate::pace::{Late, Paced};
use crate::problem::Problem;
use crate::{App, mcp, problem, request_id};

/// Answers a request.
pub(crate) async fn respond(app: App, request: hyper::Request<Paced>) -> Response {
    let id = request_id::of(request.headers());
    let late = request.extensions().get::<Late>().cloned();
    let answered = AssertUnwindSafe(guarded(app, request)).catch_unwind().await;
    let mut response = answered.unwrap_or_else(problem::after_panic);
    if late.is_some_and(|late| late.is()) {
        // Whatever was made of half a body is no answer, and what else comes on this connection is not a request.
        response = StatusCode::REQUEST_TIMEOUT.into_response();
        response
            .headers_mut()
            .insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    problem::name_request(&mut response, &id).await;
    response.headers_mut().insert(request_id::NAME, id);
    response
}

async fn guarded(app: App, request: hyper::Request<Paced>) -> Response {
    if let Err(failure) = app.state.guard.check(request.headers(), request.uri()) {
        return Problem(failure).into_response();
    }
    if mcp::takes(&request) {
        return mcp::posted(&app.state, request).await;
    }
    app.router
        .oneshot(request)
        .await
        .unwrap_or_else(|never| match never {})
}
