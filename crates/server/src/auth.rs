//! Who asks: a key in `Authorization: Bearer` or `X-API-Key`, on loopback too.

use axum::extract::FromRequestParts;
use domain::{Identity, Principal};
use gateway::{Failure, FailureKind};
use http::request::Parts;
use http::{HeaderMap, header};
use identity::oauth::Tokens;
use uuid::Uuid;

use crate::problem::Problem;
use crate::state::AppState;

/// A proven principal. A handler that needs one names it in its signature.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Caller(pub(crate) Principal);

impl FromRequestParts<AppState> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Self::Rejection> {
        authenticate(state, &parts.headers).map(Self).map_err(Problem)
    }
}

/// Checks the credential and its rate. Tokens of MCP clients are for MCP endpoints, and prove nothing here.
pub(crate) fn authenticate(state: &AppState, headers: &HeaderMap) -> Result<Principal, Failure> {
    let principal = credential(headers)?
        .and_then(|text| state.keys.check(text))
        .ok_or_else(unauthenticated)?;
    admitted(state, principal)
}

/// The same at the MCP endpoint with this path, where a token that is for it proves its client.
pub(crate) async fn authenticate_mcp(
    state: &AppState,
    headers: &HeaderMap,
    path: &str,
) -> Result<Principal, Failure> {
    let text = credential(headers)?.ok_or_else(unauthenticated)?;
    let found = if Tokens::is_meant(text) {
        state.sign_in.tokens().check(text, path).await
    } else {
        state.keys.check(text)
    };
    admitted(state, found.ok_or_else(unauthenticated)?)
}

fn admitted(state: &AppState, principal: Principal) -> Result<Principal, Failure> {
    match principal.identity {
        Identity::Key { id, .. } => admit(state, id.uuid())?,
        Identity::Client { consent, .. } => admit(state, consent.uuid())?,
        Identity::Member { .. } | Identity::System => {}
    }
    Ok(principal)
}

fn admit(state: &AppState, key: Uuid) -> Result<(), Failure> {
    state.limits.admit(key).map_err(|wait| {
        let detail = "this key sends more requests than it may; slow down";
        let mut failure = Failure::new(FailureKind::RateLimited, "request.rate_limited", detail);
        // Whole seconds, RFC 9110 section 10.2.3; one that is begun counts, or the repeat would come too early.
        failure.retry_after = Some(wait.as_secs() + u64::from(wait.subsec_nanos() > 0));
        failure
    })
}

/// The key's text. Two different ones are refused rather than chosen between.
fn credential(headers: &HeaderMap) -> Result<Option<&str>, Failure> {
    let bearer = one(headers, header::AUTHORIZATION.as_str())?.and_then(|value| {
        let (scheme, key) = value.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| key.trim())
    });
    let plain = one(headers, "x-api-key")?;
    match (bearer, plain) {
        (Some(a), Some(b)) if a != b => Err(Failure::new(
            FailureKind::Malformed,
            "auth.two_credentials",
            "Authorization and X-API-Key carry different keys; send one",
        )),
        (bearer, plain) => Ok(bearer.or(plain)),
    }
}

fn one<'a>(headers: &'a HeaderMap, name: &str) -> Result<Option<&'a str>, Failure> {
    let mut values = headers.get_all(name).iter();
    let first = values.next();
    if values.next().is_some() {
        let detail = format!("the header {name} is given more than once");
        return Err(Failure::new(
            FailureKind::Malformed,
            "auth.two_credentials",
            detail,
        ));
    }
    Ok(first.and_then(|value| value.to_str().ok()))
}

fn unauthenticated() -> Failure {
    Failure::new(
        FailureKind::Unauthenticated,
        "auth.required",
        "send a valid key as `Authorization: Bearer` or `X-API-Key`",
    )
}
