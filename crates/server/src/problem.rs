//! The one mapping from failures to RFC 9457 problem documents.

use std::any::Any;

use axum::Json;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use gateway::{Failure, FailureKind};
use http::{HeaderValue, StatusCode, header};

const MEDIA_TYPE: HeaderValue = HeaderValue::from_static("application/problem+json");
/// Largest problem document that is read again to put the request's id in.
const MAX_BYTES: usize = 64 * 1024;

/// A failure on its way out.
pub(crate) struct Problem(pub(crate) Failure);

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Self {
        Self(failure)
    }
}

/// The status of a kind of failure.
pub(crate) const fn status(kind: FailureKind) -> StatusCode {
    match kind {
        FailureKind::Invalid => StatusCode::UNPROCESSABLE_ENTITY,
        FailureKind::Malformed => StatusCode::BAD_REQUEST,
        FailureKind::Unauthenticated => StatusCode::UNAUTHORIZED,
        FailureKind::Forbidden => StatusCode::FORBIDDEN,
        FailureKind::NotFound => StatusCode::NOT_FOUND,
        FailureKind::Conflict => StatusCode::CONFLICT,
        FailureKind::RateLimited => StatusCode::TOO_MANY_REQUESTS,
        FailureKind::Upstream => StatusCode::BAD_GATEWAY,
        FailureKind::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        FailureKind::Timeout => StatusCode::GATEWAY_TIMEOUT,
        FailureKind::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// The document of a failure.
pub(crate) fn document(failure: &Failure) -> api::problem::Problem {
    let status = status(failure.kind);
    api::problem::Problem {
        kind: format!("urn:switchboard:problem:{}", failure.code),
        title: status.canonical_reason().unwrap_or("Error").to_owned(),
        status: status.as_u16(),
        code: failure.code.to_owned(),
        detail: failure.detail.clone(),
        field: failure.field.clone(),
        request_id: None,
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = status(self.0.kind);
        let mut response = (status, Json(document(&self.0))).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, MEDIA_TYPE);
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(
                header::WWW_AUTHENTICATE,
                HeaderValue::from_static("Bearer realm=\"switchboard\""),
            );
        }
        if let Some(seconds) = self.0.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

/// Nothing is served at this path.
pub(crate) async fn no_route(request: Request) -> Problem {
    let detail = format!(
        "nothing is served at {}; /openapi.json lists the operations",
        request.uri().path()
    );
    Failure::new(FailureKind::NotFound, "request.no_route", detail).into()
}

/// The path exists, but not with this method.
pub(crate) async fn no_method(request: Request) -> Response {
    let detail = format!("{} is not served with {}", request.uri().path(), request.method());
    let mut response = Problem(Failure::new(
        FailureKind::Malformed,
        "request.method_not_allowed",
        detail,
    ))
    .into_response();
    *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
    response
}

/// A fault of ours. What it was stands in the log.
pub(crate) fn after_panic(panic: Box<dyn Any + Send + 'static>) -> Response {
    let said = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied());
    Problem(Failure::internal(
        "the request met a fault of ours",
        said.unwrap_or("a panic"),
    ))
    .into_response()
}

/// Puts the request's id, and the response's true status, into a problem document; gives plain errors of layers a document.
pub(crate) async fn name_request(response: &mut Response, id: &HeaderValue) {
    let status = response.status();
    if !status.is_client_error() && !status.is_server_error() {
        return;
    }
    let kind = response.headers().get(header::CONTENT_TYPE);
    let is_problem = kind == Some(&MEDIA_TYPE);
    // A JSON-RPC error or a page: those surfaces have their own shape.
    let shapes: [&[u8]; 2] = [b"application/json", b"text/html"];
    let is_other = kind.is_some_and(|kind| shapes.iter().any(|shape| kind.as_bytes().starts_with(shape)));
    if is_other && !is_problem {
        return;
    }
    let body = std::mem::replace(response.body_mut(), Body::empty());
    let mut document = match to_bytes(body, MAX_BYTES)
        .await
        .ok()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
    {
        Some(document) if is_problem => document,
        _ => plain(status),
    };
    document.status = status.as_u16();
    document.title = status.canonical_reason().unwrap_or("Error").to_owned();
    document.request_id = id.to_str().ok().map(str::to_owned);
    let headers = response.headers_mut();
    headers.remove(header::CONTENT_LENGTH);
    headers.insert(header::CONTENT_TYPE, MEDIA_TYPE);
    *response.body_mut() = Body::from(serde_json::to_vec(&document).unwrap_or_default());
}

/// The document of an error that a layer or the framework answered with.
fn plain(status: StatusCode) -> api::problem::Problem {
    let (code, detail) = match status {
        StatusCode::REQUEST_TIMEOUT => (
            "request.too_slow",
            "the body did not arrive within server.body_seconds",
        ),
        StatusCode::PAYLOAD_TOO_LARGE => ("request.too_large", "the body is larger than this server takes"),
        StatusCode::UNSUPPORTED_MEDIA_TYPE => ("request.media_type", "the body must be application/json"),
        StatusCode::NOT_ACCEPTABLE => (
            "request.not_acceptable",
            "nothing this request accepts can be answered",
        ),
        _ if status.is_client_error() => ("request.refused", "the request cannot be served as it is"),
        _ => (
            "server.internal",
            "the request met a fault of ours; the server's log has the cause",
        ),
    };
    api::problem::Problem {
        kind: format!("urn:switchboard:problem:{code}"),
        title: String::new(),
        status: status.as_u16(),
        code: code.to_owned(),
        detail: detail.to_owned(),
        field: None,
        request_id: None,
    }
}
