//! Codes and refresh tokens become tokens, and tokens are given back.

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::{HeaderMap, StatusCode, header};
use identity::oauth::{Parameters, Refusal, SCOPE};
use serde_json::json;

use super::{refused, unkept};
use crate::problem::Problem;
use crate::state::AppState;

pub(super) async fn token(State(state): State<AppState>, headers: HeaderMap, body: Bytes) -> Response {
    let issued = match form(&headers, &body) {
        Ok(parameters) => state.sign_in.exchange(&parameters).await,
        Err(refusal) => Err(refusal),
    };
    match issued {
        Ok(issued) => {
            let said = json!({
                "access_token": issued.access.expose(),
                "token_type": "Bearer",
                "expires_in": issued.expires_in,
                "refresh_token": issued.refresh.expose(),
                "scope": SCOPE,
            });
            unkept(Json(said).into_response())
        }
        Err(refusal) => refused(&refusal),
    }
}

pub(super) async fn revoke(State(state): State<AppState>, headers: HeaderMap, body: Bytes) -> Response {
    let given = match form(&headers, &body) {
        Ok(parameters) => state.sign_in.give_back(&parameters).await,
        Err(refusal) => Err(refusal),
    };
    match given {
        // Whether there was such a token is not told (RFC 7009 section 2.2).
        Ok(()) => match state.gateway.keys_changed().await {
            Ok(()) => unkept(StatusCode::OK.into_response()),
            Err(failure) => Problem(failure).into_response(),
        },
        Err(refusal) => refused(&refusal),
    }
}

fn form(headers: &HeaderMap, body: &[u8]) -> Result<Parameters, Refusal> {
    let kind = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let is_form = kind.is_some_and(|kind| {
        let kind = kind.split(';').next().unwrap_or_default();
        kind.trim()
            .eq_ignore_ascii_case("application/x-www-form-urlencoded")
    });
    if is_form {
        return Ok(Parameters::read(body));
    }
    Err(Refusal {
        code: "invalid_request",
        detail: "send the parameters as application/x-www-form-urlencoded".to_owned(),
    })
}
