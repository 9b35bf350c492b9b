//! What a browser keeps, and whether a form was sent by a page of ours.

use axum::response::{IntoResponse as _, Redirect, Response};
use domain::Secret;
use gateway::{Failure, FailureKind};
use http::{HeaderMap, HeaderValue, header};
use identity::{Sessions, SignedIn};

use crate::problem::Problem;
use crate::state::AppState;

/// The session's cookie; over TLS under a name that nothing but this very host can set.
const COOKIE: &str = "switchboard_session";
const HOST_COOKIE: &str = "__Host-switchboard_session";

fn name(state: &AppState) -> &'static str {
    if state.secure { HOST_COOKIE } else { COOKIE }
}

/// Who is signed in with this browser.
pub(crate) async fn signed_in(state: &AppState, headers: &HeaderMap) -> Option<SignedIn> {
    let token = cookie(headers, name(state))?;
    state.people.sessions().check(&token).await
}

/// The same, or the way to the sign-in page and back to here.
pub(crate) async fn wanted(state: &AppState, headers: &HeaderMap, here: &str) -> Result<SignedIn, Response> {
    match signed_in(state, headers).await {
        Some(signed_in) => Ok(signed_in),
        None => {
            let to: String = url::form_urlencoded::byte_serialize(here.as_bytes()).collect();
            Err(Redirect::to(&format!("/sign-in?return_to={to}")).into_response())
        }
    }
}

/// The value of a cookie; none where there are several by that name.
pub(crate) fn cookie(headers: &HeaderMap, wanted: &str) -> Option<String> {
    let mut found = headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .filter(|(name, _)| *name == wanted)
        .map(|(_, value)| value.to_owned());
    let first = found.next();
    first.filter(|_| found.next().is_none())
}

/// Has the browser keep a session's token.
pub(super) fn keep(state: &AppState, response: &mut Response, token: &Secret) {
    put(state, response, token.expose(), Sessions::SECONDS);
}

/// Has it forget.
pub(super) fn forget(state: &AppState, response: &mut Response) {
    put(state, response, "", 0);
}

fn put(state: &AppState, response: &mut Response, value: &str, seconds: u64) {
    let secure = if state.secure { "; Secure" } else { "" };
    // Lax: the person comes back from other sites, and from the client that sent them.
    let cookie = format!(
        "{}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}",
        name(state)
    );
    if let Ok(mut cookie) = HeaderValue::from_str(&cookie) {
        cookie.set_sensitive(true);
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
}

/// Refuses a form that no page of this server sent: what somebody does here, they do here. Browsers say where a form comes from, in one
/// of two headers; what says nothing is no browser.
pub(crate) fn own_form(state: &AppState, headers: &HeaderMap) -> Result<(), Problem> {
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or("null"));
    let site = text("sec-fetch-site");
    let origin = text("origin");
    let host = text("host").unwrap_or_default();
    let own = |origin: &str| {
        let scheme = if state.secure { "https" } else { "http" };
        origin == state.sign_in.resources().issuer() || origin == format!("{scheme}://{host}")
    };
    let fits = match (site, origin) {
        (None, None) => false,
        (site, origin) => site.is_none_or(|site| site == "same-origin") && origin.is_none_or(own),
    };
    if fits {
        return Ok(());
    }
    let detail = "this form was not sent by a page of this server; open the page and send it from there";
    Err(Problem(Failure::new(
        FailureKind::Forbidden,
        "request.foreign_form",
        detail,
    )))
}

/// What the browser calls itself.
pub(super) fn agent(headers: &HeaderMap) -> String {
    let said = headers
        .get(header::USER_AGENT)
        .and_then(|value| value.to_str().ok());
    said.unwrap_or("a browser that does not say what it is")
        .to_owned()
}
