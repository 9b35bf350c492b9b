//! A client sends a person here: they are asked, and sent back with the answer.

use api::clients::{AllowClient, AllowedClient};
use axum::body::Bytes;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse as _, Response};
use domain::Surface;
use gateway::{Failure, Operation};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use identity::SignedIn;
use identity::oauth::{AuthorizationRequest, Parameters, Unredirected};

use super::consent;
use crate::people::{browser, html};
use crate::problem::Problem;
use crate::state::AppState;

/// The question.
pub(super) async fn ask(
    State(state): State<AppState>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    let query = query.unwrap_or_default();
    let request = match read(&state, query.as_bytes()).await {
        Ok(request) => request,
        Err(response) => return response,
    };
    let here = format!("/oauth/authorize?{query}");
    match browser::wanted(&state, &headers, &here).await {
        Ok(who) => consent::page(&state, (&who, &request), &query).await,
        Err(way) => way,
    }
}

/// The answer. What the client asks is read again: the form says nothing that was not in the question.
pub(super) async fn answer(
    State(state): State<AppState>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Problem> {
    browser::own_form(&state, &headers)?;
    let form = Parameters::read(&body);
    let field = |name: &str| form.one(name).ok().flatten();
    let query = field("request").unwrap_or_default();
    let request = match read(&state, query.as_bytes()).await {
        Ok(request) => request,
        Err(response) => return Ok(response),
    };
    let here = format!("/oauth/authorize?{query}");
    let who = match browser::wanted(&state, &headers, &here).await {
        Ok(who) => who,
        Err(way) => return Ok(way),
    };
    let issuer = state.sign_in.resources().issuer();
    if field("answer") != Some("allow") {
        let denied = [
            ("error", "access_denied"),
            ("error_description", "the person did not let the client in"),
        ];
        return Ok(back(&request.back(&issuer, &denied)));
    }
    let agent = request
        .agent()
        .or_else(|| field("agent"))
        .unwrap_or_default()
        .to_owned();
    let code = allowed(&state, &who, (&request, agent)).await?;
    Ok(back(&request.back(&issuer, &[("code", &code)])))
}

async fn allowed(
    state: &AppState,
    who: &SignedIn,
    (request, agent): (&AuthorizationRequest, String),
) -> Result<String, Failure> {
    let fault = |error| Failure::internal("the client cannot be let in", error);
    let input = AllowClient {
        client_id: request.client.id.clone(),
        client_name: request.client.name.clone(),
        redirect_uri: request.redirect_uri.clone(),
        challenge: request.challenge.clone(),
        resource: request.resource.clone(),
        agent,
    };
    let operation = Operation {
        principal: who.principal,
        surface: Surface::Page,
        id: "clients.allow".to_owned(),
        input: serde_json::to_value(input).map_err(fault)?,
        idempotency_key: None,
    };
    let said = state.gateway.operate(operation).await?.body.unwrap_or_default();
    let AllowedClient { code } = serde_json::from_value(said).map_err(fault)?;
    Ok(code)
}

async fn read(state: &AppState, query: &[u8]) -> Result<AuthorizationRequest, Response> {
    let read = state.sign_in.read(&Parameters::read(query)).await;
    read.map_err(|refused| match refused {
        Unredirected::Sent(to) => back(&to),
        Unredirected::Shown(refusal) => {
            let body = format!(
                "<section class=\"card\"><p>The program that sent you here asks in a way this server does not take.</p>\
                 <dl><dt>What is wrong</dt><dd>{}</dd><dt>Code</dt><dd><code>{}</code></dd></dl>\
                 <p class=\"hint\">You were not sent back to it, because it is not certain where it is.</p></section>",
                html::escaped(&refusal.detail),
                refusal.code
            );
            html::page(StatusCode::BAD_REQUEST, "This client cannot sign in", &body)
        }
    })
}

/// Sends the browser back to the client, whose addresses were checked and need not be pages.
fn back(to: &str) -> Response {
    let mut response = StatusCode::SEE_OTHER.into_response();
    let headers = response.headers_mut();
    match HeaderValue::from_str(to) {
        Ok(to) => headers.insert(header::LOCATION, to),
        Err(_) => return Problem(Failure::not_found("client")).into_response(),
    };
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}
