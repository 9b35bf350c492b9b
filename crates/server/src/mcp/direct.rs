//! A message posted to an MCP endpoint, answered without the router: it is the way of every call of a tool.

use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode, header};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};

use super::Guest;
use super::place::Place;
use super::post;
use crate::auth::authenticate_mcp;
use crate::oauth::challenged;
use crate::pace::Paced;
use crate::problem::Problem;
use crate::state::AppState;

/// The path of an endpoint, taken apart as the router does.
#[derive(Debug, PartialEq, Eq)]
enum Path<'a> {
    Agent(Option<&'a str>, Option<&'a str>),
    Operator,
}

impl<'a> Path<'a> {
    /// None where the router has to look: other paths, and names with escapes.
    fn read(path: &'a str) -> Option<Self> {
        let rest = path.strip_prefix("/mcp")?;
        if rest.is_empty() {
            return Some(Self::Agent(None, None));
        }
        let rest = rest.strip_prefix('/')?;
        if rest == "-/operator" {
            return Some(Self::Operator);
        }
        let (agent, connection) = match rest.split_once('/') {
            Some((agent, connection)) => (agent, Some(connection)),
            None => (rest, None),
        };
        let plain = |name: &str| !name.is_empty() && !name.contains(['/', '%']);
        (plain(agent) && connection.is_none_or(plain)).then_some(Self::Agent(Some(agent), connection))
    }
}

/// Whether a request goes this way.
pub(crate) fn takes(request: &hyper::Request<Paced>) -> bool {
    request.method() == Method::POST && Path::read(request.uri().path()).is_some()
}

/// Answers one that does: who asks is proven, and may be here, before the body is read.
pub(crate) async fn posted(state: &AppState, request: hyper::Request<Paced>) -> Response {
    let (head, body) = request.into_parts();
    let limit = state.max_body_bytes;
    if announced(&head.headers).is_some_and(|length| length > limit) {
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    }
    let guest = match Path::read(head.uri.path()) {
        Some(path) => Guest::at(state, &head.headers, (path, head.uri.path())).await,
        None => return StatusCode::NOT_FOUND.into_response(),
    };
    let guest = match guest {
        Ok(guest) => guest,
        Err(problem) => return challenged(state, &head.headers, head.uri.path(), problem),
    };
    match whole(body, limit).await {
        Ok(body) => post::answer(state, &guest, &head.headers, &body).await,
        Err(status) => status.into_response(),
    }
}

impl Guest {
    async fn at(
        state: &AppState,
        headers: &HeaderMap,
        (path, text): (Path<'_>, &str),
    ) -> Result<Self, Problem> {
        let principal = authenticate_mcp(state, headers, text).await.map_err(Problem)?;
        let place = match path {
            Path::Agent(agent, connection) => Place::of(&principal, agent, connection),
            Path::Operator => Place::operator(&principal),
        };
        let place = place.map_err(Problem)?;
        Ok(Self { principal, place })
    }
}

fn announced(headers: &HeaderMap) -> Option<usize> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

async fn whole(body: Paced, limit: usize) -> Result<Bytes, StatusCode> {
    match Limited::new(body, limit).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(StatusCode::PAYLOAD_TOO_LARGE),
        Err(_) => Err(StatusCode::BAD_REQUEST),
    }
}

#[cfg(test)]
mod tests {
    use super::Path;

    #[test]
    fn paths() {
        let cases = [
            ("/mcp", Some(Path::Agent(None, None))),
            ("/mcp/default", Some(Path::Agent(Some("default"), None))),
            (
                "/mcp/default/files",
                Some(Path::Agent(Some("default"), Some("files"))),
            ),
            ("/mcp/-/operator", Some(Path::Operator)),
            ("/mcp/-", Some(Path::Agent(Some("-"), None))),
            ("/mcp/", None),
            ("/mcp//", None),
            ("/mcp//files", None),
            ("/mcp/default/", None),
            ("/mcp/a/b/c", None),
            ("/mcp/a%2Fb", None),
            ("/mcp/-/oper%61tor", None),
            ("/mcpx", None),
            ("/api/v1/mcp", None),
        ];
        for (path, want) in cases {
            assert_eq!(Path::read(path), want, "{path}");
        }
    }
}
