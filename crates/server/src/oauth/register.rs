//! Clients register themselves (RFC 7591).

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use identity::oauth::{Refusal, Registration, SCOPE};
use serde_json::json;

use super::{refused, unkept};
use crate::state::AppState;

pub(super) async fn register(State(state): State<AppState>, body: Bytes) -> Response {
    if state.limits.admit_registration().is_err() {
        let detail = "many clients register at this moment; try again in a few seconds";
        return refused(&Refusal {
            code: "slow_down",
            detail: detail.to_owned(),
        });
    }
    let Ok(registration) = serde_json::from_slice::<Registration>(&body) else {
        let detail = "the body must be client metadata as a JSON object (RFC 7591 section 2)";
        return refused(&Refusal {
            code: "invalid_client_metadata",
            detail: detail.to_owned(),
        });
    };
    let client = match state.sign_in.register(registration).await {
        Ok(client) => client,
        Err(refusal) => return refused(&refusal),
    };
    // What is granted, which may differ from what was asked for (section 3.2.1).
    let said = json!({
        "client_id": client.id.to_string(),
        "client_id_issued_at": client.created_at.micros() / 1_000_000,
        "client_name": client.name,
        "redirect_uris": client.redirect_uris,
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
        "scope": SCOPE,
    });
    unkept((StatusCode::CREATED, Json(said)).into_response())
}
