//! What a client without a valid credential is told at an MCP endpoint: where to sign in (RFC 9728 section 5.1).

use axum::response::{IntoResponse as _, Response};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use identity::oauth::SCOPE;

use super::metadata::host;
use crate::problem::Problem;
use crate::state::AppState;

/// The answer of a problem, which says where to sign in if it is that nobody did.
pub(crate) fn challenged(state: &AppState, headers: &HeaderMap, path: &str, problem: Problem) -> Response {
    let mut response = problem.into_response();
    if response.status() != StatusCode::UNAUTHORIZED {
        return response;
    }
    let resources = state.sign_in.resources();
    let Some(endpoint) = resources.path(&resources.at(path)) else {
        return response;
    };
    let at = resources.seen_from(
        host(headers),
        &format!("/.well-known/oauth-protected-resource{endpoint}"),
    );
    // A client that sent a token learns that this one is the trouble (RFC 6750 section 3.1).
    let trouble = if headers.contains_key(header::AUTHORIZATION) {
        ", error=\"invalid_token\", error_description=\"the token is not valid here: it has lapsed, was revoked, or is for another endpoint\""
    } else {
        ""
    };
    let said =
        format!("Bearer realm=\"switchboard\", resource_metadata=\"{at}\", scope=\"{SCOPE}\"{trouble}");
    if let Ok(value) = HeaderValue::from_str(&said) {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, value);
    }
    response
}
