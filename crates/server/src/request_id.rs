//! `X-Request-Id`, in and out.

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use http::HeaderValue;
use uuid::Uuid;

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
    let mut response = next.run(request).await;
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
