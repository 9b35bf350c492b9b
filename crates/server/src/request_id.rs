//! `X-Request-Id`, in and out.

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http::{HeaderValue, StatusCode, header};
use uuid::Uuid;

use crate::pace::Late;

/// The header.
pub(crate) const NAME: &str = "x-request-id";
const MAX: usize = 128;

/// Takes the client's id where it is harmless, else makes one; the response carries it.
pub(crate) async fn tag(request: Request, next: Next) -> Response {
    let given = request
        .headers()
        .get(NAME)
        .filter(|value| harmless(value.as_bytes()))
        .cloned();
    let id = given.unwrap_or_else(fresh);
    let late = request.extensions().get::<Late>().cloned();
    let mut response = next.run(request).await;
    if late.is_some_and(|late| late.is()) {
        // Whatever was made of half a body is no answer, and what else comes on this connection is not a request.
        response = StatusCode::REQUEST_TIMEOUT.into_response();
        response
            .headers_mut()
            .insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    crate::problem::name_request(&mut response, &id).await;
    response.headers_mut().insert(NAME, id);
    response
}

fn harmless(value: &[u8]) -> bool {
    (1..=MAX).contains(&value.len())
        && value
            .iter()
            .all(|b| b.is_ascii_alphanumeric() || b"-_.:/".contains(b))
}

fn fresh() -> HeaderValue {
    HeaderValue::from_str(&Uuid::now_v7().to_string()).unwrap_or_else(|_| HeaderValue::from_static("none"))
}
