//! Routes whose paths and shapes clients of another product fix (`docs/compatible.md`): thin translations to the same capabilities.
//!
//! Nothing is decided here. Each route puts what it was given into the words of a capability, asks the gateway on the surface
//! `compatible`, and puts the answer into the words of the client.

mod activity;
mod authorizations;
mod calls;
mod catalog;
mod client;
mod connections;
mod error;
mod identities;
mod voice;

use axum::Router;
use axum::routing::{MethodRouter, get, post, put};

use crate::state::AppState;

const SERVERS: &str = "/phone/hosted-agent-config/mcp-servers";

/// The routes under `/api/v1`.
pub(crate) fn router() -> Router<AppState> {
    let servers = |rest: &str| format!("{SERVERS}{rest}");
    let routes: Vec<(String, MethodRouter<AppState>)> = vec![
        (
            "/identities".to_owned(),
            get(identities::list).post(identities::create),
        ),
        ("/identities/{handle}".to_owned(), get(identities::show)),
        ("/api-keys".to_owned(), post(identities::key)),
        (servers(""), get(connections::list).post(connections::create)),
        (
            servers("/{id}"),
            get(connections::show)
                .patch(connections::update)
                .delete(connections::remove),
        ),
        (servers("/{id}/test"), post(connections::test)),
        (servers("/{id}/refresh"), post(connections::refresh)),
        (servers("/{id}/catalog"), get(catalog::page)),
        (servers("/{id}/oauth/authorizations"), post(authorizations::start)),
        (
            servers("/{id}/oauth/authorizations/{transaction}"),
            get(authorizations::show).delete(authorizations::cancel),
        ),
        (
            servers("/{id}/oauth/disconnect"),
            post(authorizations::disconnect),
        ),
        (
            "/phone/hosted-agent-config".to_owned(),
            get(voice::config).put(voice::replace),
        ),
        (
            "/phone/hosted-agent-config/authority-mode".to_owned(),
            put(voice::authority),
        ),
        ("/phone/hosted-agent-voices".to_owned(), get(voice::voices)),
        ("/phone/calls".to_owned(), get(calls::list)),
        ("/phone/calls/{call}".to_owned(), get(calls::show)),
        (
            "/phone/calls/{call}/transcripts".to_owned(),
            get(calls::transcripts),
        ),
        ("/phone/calls/{call}/hangup".to_owned(), post(calls::hangup)),
        (
            "/phone/calls/{call}/tool-invocations".to_owned(),
            get(activity::all),
        ),
        (
            "/phone/calls/{call}/mcp-activity".to_owned(),
            get(activity::external),
        ),
        ("/phone/place-call".to_owned(), post(calls::place)),
    ];
    routes.into_iter().fold(Router::new(), |router, (path, route)| {
        // Some of these clients write a slash at the end of some paths, and none of them follows a redirect.
        router
            .route(&path, route.clone())
            .route(&format!("{path}/"), route)
    })
}

/// The one route under `/api`.
pub(crate) fn whoami() -> MethodRouter<AppState> {
    get(identities::whoami)
}
