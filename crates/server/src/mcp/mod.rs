//! Inbound MCP over Streamable HTTP, both eras: who may use what is the gateway's business; here it is put on the wire.
//!
//! `/mcp` (the agent of the credential), `/mcp/{agent}`, `/mcp/{agent}/{connection}` (one connection, unprefixed names) and
//! `/mcp/-/operator` (capabilities for administrators).

mod answer;
mod client;
mod conclude;
mod direct;
mod ears;
mod elder;
mod flight;
mod headers;
mod legacy;
mod listen;
mod lists;
mod log;
mod modern;
mod operator;
mod orphans;
mod outside;
mod parked;
mod place;
mod post;
pub mod probe;
mod rounds;
mod seal;
mod serve;
mod session;
mod sessions;
mod standing;
mod talk;
mod version;
mod watch;
mod welcome;
mod wire;

use axum::Router;
use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{DefaultBodyLimit, FromRequestParts, RawPathParams};
use axum::response::Response;
use axum::routing::post;
use domain::Principal;
use gateway::Failure;
use http::request::Parts;

use crate::auth::authenticate_mcp;
use crate::oauth::challenged;
use crate::problem::Problem;
use crate::state::AppState;

pub(crate) use direct::{posted, takes};
pub(crate) use orphans::end_orphans;
pub(crate) use sessions::Sessions;

use place::Place;

/// The MCP endpoints.
pub(crate) fn router() -> Router<AppState> {
    let endpoint = || post(post::post).get(standing::get).delete(standing::delete);
    Router::new()
        .route("/mcp", endpoint())
        .route("/mcp/{agent}", endpoint())
        .route("/mcp/{agent}/{connection}", endpoint())
        .route("/mcp/-/operator", endpoint())
        // The application's own limit applies.
        .layer(DefaultBodyLimit::disable())
}

/// Who asks, and at which endpoint; proven and allowed before a body is read.
struct Guest {
    principal: Principal,
    place: Place,
}

impl FromRequestParts<AppState> for Guest {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Self::Rejection> {
        let path = parts.uri.path().to_owned();
        let guest = Self::named(parts, state, &path).await;
        guest.map_err(|problem| challenged(state, &parts.headers, &path, problem))
    }
}

impl Guest {
    /// Who comes by a path that the router took apart.
    async fn named(parts: &mut Parts, state: &AppState, path: &str) -> Result<Self, Problem> {
        let principal = authenticate_mcp(state, &parts.headers, path).await?;
        let place = if parts.uri.path() == "/mcp/-/operator" {
            Place::operator(&principal)
        } else {
            let params = match RawPathParams::from_request_parts(parts, state).await {
                Ok(params) => Some(params),
                // A name that is no text names nobody; it is not the same as naming none.
                Err(RawPathParamsRejection::InvalidUtf8InPathParam(_)) => {
                    return Err(Problem(Failure::not_found("agent")));
                }
                Err(_) => None,
            };
            let named = |key: &str| {
                params
                    .as_ref()?
                    .iter()
                    .find(|(name, _)| *name == key)
                    .map(|(_, value)| value)
            };
            Place::of(&principal, named("agent"), named("connection"))
        };
        Ok(Self {
            principal,
            place: place.map_err(Problem)?,
        })
    }
}
