//! Whether the process lives, and whether it can serve.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{StatusCode, header};

use crate::state::AppState;

/// The process lives.
pub(crate) async fn health() -> &'static str {
    "ok"
}

/// Calls can be recorded, and so made. No upstream is waited for.
pub(crate) async fn ready(State(state): State<AppState>) -> Response {
    if state.gateway.healthy().await {
        (StatusCode::OK, "ready").into_response()
    } else {
        (
            StatusCode::SERVICE_UNAVAILABLE,
            [(header::CONTENT_TYPE, "text/plain")],
            "the record cannot be written",
        )
            .into_response()
    }
}

/// Counters in the Prometheus text format.
pub(crate) async fn metrics(State(state): State<AppState>) -> Response {
    let text = state.metrics.text(&state.gateway.record_counts());
    (
        [(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")],
        text,
    )
        .into_response()
}
