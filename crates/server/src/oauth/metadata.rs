//! What clients read before they sign in (RFC 9728, RFC 8414).

use axum::Json;
use axum::extract::{RawPathParams, State};
use axum::response::{IntoResponse as _, Response};
use gateway::Failure;
use http::{HeaderMap, HeaderValue, header};
use identity::oauth::SCOPE;
use serde_json::json;

use crate::problem::Problem;
use crate::state::AppState;

/// The metadata of an MCP endpoint as a protected resource. It names us, never a server behind us, and says of every agent the same: who
/// has not signed in learns of none whether there is one.
pub(super) async fn resource(
    State(state): State<AppState>,
    params: RawPathParams,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let resources = state.sign_in.resources();
    let endpoint = params
        .iter()
        .next()
        .map_or_else(|| "/mcp".to_owned(), |(_, path)| format!("/{path}"));
    let path = resources
        .path(&resources.at(&endpoint))
        .ok_or_else(|| Problem(Failure::not_found("MCP endpoint")))?;
    let said = json!({
        "resource": resources.seen_from(host(&headers), &path),
        "authorization_servers": [resources.issuer()],
        "scopes_supported": [SCOPE],
        "bearer_methods_supported": ["header"],
        "resource_name": "Switchboard",
    });
    Ok(kept(Json(said).into_response()))
}

/// The metadata of the authorization server.
pub(super) async fn server(State(state): State<AppState>) -> Response {
    let resources = state.sign_in.resources();
    let said = json!({
        "issuer": resources.issuer(),
        "authorization_endpoint": resources.at("/oauth/authorize"),
        "token_endpoint": resources.at("/oauth/token"),
        "registration_endpoint": resources.at("/oauth/register"),
        "revocation_endpoint": resources.at("/oauth/revoke"),
        "scopes_supported": [SCOPE],
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_methods_supported": ["none"],
        "revocation_endpoint_auth_methods_supported": ["none"],
        "code_challenge_methods_supported": ["S256"],
        "client_id_metadata_document_supported": true,
        "authorization_response_iss_parameter_supported": true,
    });
    kept(Json(said).into_response())
}

/// The host a request came by; the guard has let it through.
pub(super) fn host(headers: &HeaderMap) -> Option<&str> {
    headers.get(header::HOST)?.to_str().ok()
}

fn kept(mut response: Response) -> Response {
    let value = HeaderValue::from_static("public, max-age=300");
    response.headers_mut().insert(header::CACHE_CONTROL, value);
    response
}
