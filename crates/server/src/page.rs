//! The pages that are written by hand: answering an approval, and the API's documentation. Everything they need is in the binary.

use axum::extract::Path;
use axum::response::{IntoResponse, Response};
use gateway::Failure;
use http::{HeaderName, HeaderValue, StatusCode, header};

use crate::problem::Problem;

/// Nothing from elsewhere, nothing inline, no framing.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Scripts and styles of the pages.
pub(crate) async fn asset(Path(file): Path<String>) -> Response {
    let (kind, text) = match file.as_str() {
        "approval.js" => (
            "text/javascript; charset=utf-8",
            include_str!("assets/approval.js"),
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

/// An HTML page with a form, which may be sent to this server; `onward` are the origins and schemes its answer may send the browser on to.
pub(crate) fn with_form(status: StatusCode, text: impl IntoResponse, onward: &[String]) -> Response {
    let mut response = with_status(status, text);
    let form = format!("form-action 'self' {}", onward.join(" "));
    let policy = POLICY.replace("form-action 'none'", form.trim_end());
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        response
            .headers_mut()
            .insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    // Under `no-referrer` browsers say of a form that it comes from nowhere (`Origin: null`, Fetch section 3.2), and we ask where it is from.
    response
        .headers_mut()
        .insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    // What a person wrote, or is asked, is nobody's to keep.
    response
        .headers_mut()
        .insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
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

#[cfg(test)]
mod tests {
    use http::{StatusCode, header};

    use super::with_form;

    #[test]
    fn forms_say_where_they_come_from_and_go_nowhere_else() {
        let response = with_form(StatusCode::OK, "<form>", &["https://client.example".to_owned()]);
        let text = |name| response.headers().get(name).unwrap().to_str().unwrap().to_owned();
        assert_eq!(text(header::REFERRER_POLICY), "same-origin");
        let policy = text(header::CONTENT_SECURITY_POLICY);
        assert!(
            policy.contains("form-action 'self' https://client.example;"),
            "{policy}"
        );
        assert!(!policy.contains("form-action 'none'"), "{policy}");
    }
}
