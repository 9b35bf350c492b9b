//! The API's documentation: the document itself, and a page that reads it. Nothing is loaded from elsewhere.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header;

use crate::page;
use crate::state::AppState;

/// The OpenAPI document.
pub(crate) async fn openapi(State(state): State<AppState>) -> Response {
    (
        [(header::CONTENT_TYPE, "application/json")],
        state.openapi.clone(),
    )
        .into_response()
}

/// A page that shows it.
pub(crate) async fn page() -> Response {
    page::html(include_str!("assets/docs.html"))
}
