//! The pages a person goes through to sign in to a server: the one that sends them off, and the one they come back to.

use api::connections::{OpenAuthorization, OpenedAuthorization};
use axum::Json;
use axum::extract::{Path, RawQuery, State};
use axum::response::{IntoResponse, Redirect, Response};
use domain::Surface;
use gateway::{Failure, Operation};
use http::{HeaderMap, HeaderValue, StatusCode, header};

use crate::page;
use crate::people::browser;
use crate::people::html::{self, escaped};
use crate::problem::{Problem, status};
use crate::state::AppState;

/// What binds sign-ins to a browser.
const COOKIE: &str = "switchboard_sign_in";
/// How long it is kept, in seconds: as long as a sign-in may take.
const KEPT: u32 = 600;

/// The page that sends a person off, once they have said who they are.
pub(crate) async fn connect(
    State(state): State<AppState>,
    Path(id): Path<uuid::Uuid>,
    headers: HeaderMap,
) -> Response {
    if let Err(way) = browser::wanted(&state, &headers, &format!("/connect/{id}")).await {
        return way;
    }
    let body = format!(
        "<section class=\"card\"><p>You go to the server's own sign-in page, and come back here. Switchboard never sees your password \
         there.</p><form method=\"post\" action=\"/connect/{id}\"><div class=\"row\"><button type=\"submit\">Go to the sign-in \
         page</button></div></form></section><details><summary>If that page does not let you in</summary>\
         <p>It says that the redirect does not match: register <code>{}</code> there, to the letter.</p>\
         <p>It says that the app is not verified or that you have no access: add your account to the app's test users there.</p></details>",
        escaped(&state.gateway.callback())
    );
    // Where the person goes on to is known only after the form was sent, and is an https address then, or one of this machine.
    let onward = ["https:", "http://127.0.0.1:*", "http://localhost:*"];
    let whole = html::whole("Connect an account", &body);
    page::with_form(StatusCode::OK, whole, &onward.map(str::to_owned))
}

/// The person goes: binds the sign-in to them and to the browser, and sends them off.
pub(crate) async fn go(
    State(state): State<AppState>,
    Path(id): Path<uuid::Uuid>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    browser::own_form(&state, &headers)?;
    let who = match browser::wanted(&state, &headers, &format!("/connect/{id}")).await {
        Ok(who) => who,
        Err(way) => return Ok(way),
    };
    let input = OpenAuthorization {
        authorization: id,
        browser: browser::cookie(&headers, COOKIE),
    };
    let operation = Operation {
        principal: who.principal,
        surface: Surface::Page,
        id: "authorize_mcp_server".to_owned(),
        input: serde_json::to_value(input)
            .map_err(|error| Failure::internal("the sign-in cannot be opened", error))?,
        idempotency_key: None,
    };
    let opened = match state.gateway.operate(operation).await {
        Ok(reply) => reply.body.unwrap_or_default(),
        Err(failure) => {
            let body = format!(
                "<section class=\"card\"><p role=\"alert\">{}</p></section>",
                escaped(&failure.detail)
            );
            return Ok(html::page(status(failure.kind), "Not connected", &body));
        }
    };
    let OpenedAuthorization { url, browser } = serde_json::from_value(opened)
        .map_err(|error| Failure::internal("the sign-in cannot be opened", error))?;
    let secure = if state.secure { "; Secure" } else { "" };
    // Lax: it has to come along when the authorization server sends the person back.
    let cookie = format!("{COOKIE}={browser}; Path=/; Max-Age={KEPT}; HttpOnly; SameSite=Lax{secure}");
    let cookie = HeaderValue::from_str(&cookie)
        .map_err(|error| Failure::internal("the browser cannot be bound to the sign-in", error))?;
    let mut response = Redirect::to(&url).into_response();
    response.headers_mut().append(header::SET_COOKIE, cookie);
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
    let kept = browser::cookie(&headers, COOKIE);
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
