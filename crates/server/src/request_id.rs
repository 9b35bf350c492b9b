//! `X-Request-Id`, in and out.

use http::{HeaderMap, HeaderValue};
use uuid::Uuid;

/// The header.
pub(crate) const NAME: &str = "x-request-id";
const MAX: usize = 128;

/// The client's id where it is harmless, else a new one; the response carries it.
pub(crate) fn of(headers: &HeaderMap) -> HeaderValue {
    let given = headers
        .get(NAME)
        .filter(|value| harmless(value.as_bytes()))
        .cloned();
    given.unwrap_or_else(fresh)
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
