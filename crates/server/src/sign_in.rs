//! The pages a person goes through to sign in to a server: the one that sends them off, and the one they come back to.

use api::connections::{OpenAuthorization, OpenedAuthorization};
use axum::Json;
use axum::extract::{Path, RawQuery, State};
use axum::response::{IntoResponse, Response};
use domain::Surface;
use gateway::{Failure, Operation};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde_json::json;

use crate::auth::Caller;
use crate::page;
use crate::problem::{Problem, status};
use crate::state::AppState;

/// What binds sign-ins to a browser.
const COOKIE: &str = "switchboard_sign_in";
/// How long it is kept, in seconds: as long as a sign-in may take.
const KEPT: u32 = 600;

/// The page that sends a person off. It shows nothing by itself: the person's key asks for what there is.
pub(crate) async fn connect(State(state): State<AppState>, Path(_id): Path<uuid::Uuid>) -> Response {
    let callback = state.gateway.callback();
    let html = include_str!("assets/connect.html").replace("{callback}", &escaped(&callback));
    page::with_status(StatusCode::OK, html)
}

/// The person goes: binds the sign-in to the browser and says where it is sent.
pub(crate) async fn go(
    State(state): State<AppState>,
    Caller(principal): Caller,
    Path(id): Path<uuid::Uuid>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let input = OpenAuthorization {
        authorization: id,
        browser: kept(&headers),
    };
    let operation = Operation {
        principal,
        surface: Surface::Page,
        id: "authorize_mcp_server".to_owned(),
        input: serde_json::to_value(input)
            .map_err(|error| Failure::internal("the sign-in cannot be opened", error))?,
        idempotency_key: None,
    };
    let opened = state.gateway.operate(operation).await?.body.unwrap_or_default();
    let OpenedAuthorization { url, browser } = serde_json::from_value(opened)
        .map_err(|error| Failure::internal("the sign-in cannot be opened", error))?;
    let secure = if state.secure { "; Secure" } else { "" };
    // Lax: it has to come along when the authorization server sends the person back.
    let cookie = format!("{COOKIE}={browser}; Path=/; Max-Age={KEPT}; HttpOnly; SameSite=Lax{secure}");
    let cookie = HeaderValue::from_str(&cookie)
        .map_err(|error| Failure::internal("the browser cannot be bound to the sign-in", error))?;
    let mut response = Json(json!({ "url": url })).into_response();
    response.headers_mut().insert(header::SET_COOKIE, cookie);
    response
        .headers_mut()
        .insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

/// Where the authorization server sends the person back to.
pub(crate) async fn callback(
    State(state): State<AppState>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    let kept = kept(&headers);
    let finished = state
        .gateway
        .finish_sign_in(query.as_deref().unwrap_or_default(), kept.as_deref())
        .await;
    let (status, title, text) = match &finished {
        Ok(_) => (
            StatusCode::OK,
            "Connected",
            "The account is connected, and what the server offers is being read. You can close this window.",
        ),
        Err(failure) => (status(failure.kind), "Not connected", failure.detail.as_str()),
    };
    let html = include_str!("assets/connected.html")
        .replace("{title}", title)
        .replace("{text}", &escaped(text));
    page::with_status(status, html)
}

/// Who we are to authorization servers.
pub(crate) async fn metadata(State(state): State<AppState>) -> Response {
    let mut response = Json(state.gateway.client_metadata()).into_response();
    response.headers_mut().insert(
        header::CACHE_CONTROL,
        HeaderValue::from_static("public, max-age=3600"),
    );
    response
}

/// What the browser has kept; none where it has kept several things by that name.
fn kept(headers: &HeaderMap) -> Option<String> {
    let mut found = headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .filter(|(name, _)| *name == COOKIE)
        .map(|(_, value)| value.to_owned());
    let first = found.next();
    first.filter(|_| found.next().is_none())
}

/// Text of others, as text of a page.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}
