//! The pages that are written by hand: answering an approval, and the API's documentation. Everything they need is in the binary.

use axum::extract::Path;
use axum::response::{IntoResponse, Response};
use gateway::Failure;
use http::{HeaderName, HeaderValue, StatusCode, header};

use crate::problem::Problem;

/// Nothing from elsewhere, nothing inline, no framing.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The page on which a person answers an approval. It shows nothing by itself: the person's key fetches what there is to see.
pub(crate) async fn approval(Path(_id): Path<uuid::Uuid>) -> Response {
    html(include_str!("assets/approval.html"))
}

/// Scripts and styles of the pages.
pub(crate) async fn asset(Path(file): Path<String>) -> Response {
    let (kind, text) = match file.as_str() {
        "approval.js" => (
            "text/javascript; charset=utf-8",
            include_str!("assets/approval.js"),
        ),
        "connect.js" => (
            "text/javascript; charset=utf-8",
            include_str!("assets/connect.js"),
        ),
        "connected.js" => (
            "text/javascript; charset=utf-8",
            include_str!("assets/connected.js"),
        ),
        "docs.js" => ("text/javascript; charset=utf-8", include_str!("assets/docs.js")),
        "icon.svg" => ("image/svg+xml", include_str!("assets/icon.svg")),
        "page.css" => ("text/css; charset=utf-8", include_str!("assets/page.css")),
        _ => return Problem(Failure::not_found("file")).into_response(),
    };
    secured((StatusCode::OK, [(header::CONTENT_TYPE, kind)], text).into_response())
}

/// An HTML page under the strict policy.
pub(crate) fn html(text: &'static str) -> Response {
    with_status(StatusCode::OK, text)
}

/// The same with another status.
pub(crate) fn with_status(status: StatusCode, text: impl IntoResponse) -> Response {
    let mut response = (status, text).into_response();
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("text/html; charset=utf-8"),
    );
    secured(response)
}

fn secured(mut response: Response) -> Response {
    let headers = response.headers_mut();
    let set = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-cache"),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
    ];
    for (name, value) in set {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}
