//! How MCP clients sign in: the metadata they find us by, and the endpoints of the authorization server.

mod authorize;
mod challenge;
mod consent;
mod metadata;
mod register;
mod token;

use axum::Json;
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use http::{HeaderValue, StatusCode, header};
use identity::oauth::Refusal;
use serde_json::json;

use crate::state::AppState;

pub(crate) use challenge::challenged;

/// Largest form or registration, in bytes.
const MOST: usize = 64 * 1024;

pub(crate) fn router() -> Router<AppState> {
    Router::new()
        .route("/.well-known/oauth-protected-resource", get(metadata::resource))
        .route(
            "/.well-known/oauth-protected-resource/{*endpoint}",
            get(metadata::resource),
        )
        .route("/.well-known/oauth-authorization-server", get(metadata::server))
        .route("/oauth/register", post(register::register))
        .route("/oauth/authorize", get(authorize::ask).post(authorize::answer))
        .route("/oauth/token", post(token::token))
        .route("/oauth/revoke", post(token::revoke))
        .layer(DefaultBodyLimit::max(MOST))
}

/// A refusal as RFC 6749 section 5.2 and RFC 7591 section 3.2.2 have it.
fn refused(refusal: &Refusal) -> Response {
    let status = match refusal.code {
        "temporarily_unavailable" => StatusCode::SERVICE_UNAVAILABLE,
        "server_error" => StatusCode::INTERNAL_SERVER_ERROR,
        "slow_down" => StatusCode::TOO_MANY_REQUESTS,
        // 401 would have to name a way to authenticate, and clients have none here.
        _ => StatusCode::BAD_REQUEST,
    };
    let said = json!({ "error": refusal.code, "error_description": refusal.detail });
    unkept((status, Json(said)).into_response())
}

/// Nobody keeps it (RFC 6749 section 5.1).
fn unkept(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::PRAGMA, HeaderValue::from_static("no-cache"));
    response
}
