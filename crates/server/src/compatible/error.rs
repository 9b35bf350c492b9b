//! Errors in the shape these clients read: `{"detail": text}` or `{"detail": {"error": code, "message": text}}`.

use axum::Json;
use axum::response::{IntoResponse, Response};
use gateway::{Failure, FailureKind};
use http::{HeaderValue, StatusCode, header};
use serde_json::{Value, json};

use crate::problem::{Problem, status};

/// A failure on its way out.
pub(crate) struct Refusal(Failure);

impl Refusal {
    /// Settings that cannot be taken (422).
    pub(super) fn invalid(field: &str, detail: impl Into<String>) -> Self {
        Self(Failure::field(field, detail))
    }

    /// Nothing that may be known of (404).
    pub(super) fn not_found(what: &str) -> Self {
        Self(Failure::not_found(what))
    }
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        Self(failure)
    }
}

impl From<Problem> for Refusal {
    fn from(Problem(failure): Problem) -> Self {
        Self(failure)
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let Self(failure) = self;
        let status = match failure.kind {
            // These clients know settings that cannot be taken by one status.
            FailureKind::Malformed => StatusCode::UNPROCESSABLE_ENTITY,
            kind => status(kind),
        };
        let message = match &failure.field {
            Some(field) => format!("{field}: {}", failure.detail),
            None => failure.detail.clone(),
        };
        let detail = match code(&failure) {
            Some(code) => json!({ "error": code, "message": message }),
            None => Value::String(message),
        };
        let mut response = (status, Json(json!({ "detail": detail }))).into_response();
        if let Some(seconds) = failure.retry_after {
            response
                .headers_mut()
                .insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

/// The code a program reads, where there is more than one thing to do. Clients misread other words here, so these are the only ones.
fn code(failure: &Failure) -> Option<&'static str> {
    match (failure.code, failure.kind) {
        ("idempotency.conflict", _) => Some("idempotency_key_reused"),
        ("idempotency.in_progress", _) => Some("idempotency_in_progress"),
        ("resource.limit_reached", _) => Some("connection_limit_reached"),
        ("resource.name_taken", _) => Some("label_taken"),
        ("resource.version_conflict", _) => Some("stale_version"),
        ("authorization.client_required", _) => Some("client_configuration_required"),
        ("authorization.issuer_required", _) => Some("issuer_required"),
        ("authorization.connection_changed", _) => Some("connection_changed"),
        ("authorization.not_oauth", _) => Some("not_oauth"),
        ("phone.no_carrier", _) => Some("hosted_agent_unavailable"),
        (_, FailureKind::Conflict) => Some("conflict"),
        _ => None,
    }
}
