//! All routes.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use bytes::Bytes;
use tower_http::limit::RequestBodyLimitLayer;

use crate::guard::Guard;
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::state::{AppState, Options, Parts};
use crate::{compatible, docs, health, mcp, oauth, openapi, page, people, problem, rest, sign_in};

/// The HTTP application.
#[derive(Clone)]
pub struct App {
    pub(crate) router: Router,
    pub(crate) state: AppState,
    pub(crate) head_within: Duration,
    pub(crate) body_within: Duration,
}

impl App {
    /// Puts the routes together.
    #[must_use]
    pub fn new(options: Options) -> Self {
        let document = openapi::document(options.gateway.registry()).to_string();
        let state = AppState(Arc::new(Parts {
            guard: Guard::new(&options),
            limits: Limits::new(options.rate_per_second, options.rate_burst),
            sessions: mcp::Sessions::new(options.sessions),
            metrics: Metrics::default(),
            openapi: Bytes::from(document),
            secure: options.public_url.starts_with("https:"),
            gateway: options.gateway,
            keys: options.keys,
            people: options.people,
            sign_in: options.sign_in,
            max_body_bytes: options.max_body_bytes,
        }));
        let pages = Router::new()
            .route(
                "/connect/{authorization}",
                get(sign_in::connect).post(sign_in::go),
            )
            .route("/api/mcp/auth/callback", get(sign_in::callback))
            .route("/oauth/client.json", get(sign_in::metadata))
            .route("/assets/{file}", get(page::asset))
            .route("/docs", get(docs::page))
            .route("/openapi.json", get(docs::openapi))
            .route("/health", get(health::health))
            .route("/ready", get(health::ready))
            .route("/metrics", get(health::metrics));
        let router = pages
            .route("/api/whoami", compatible::whoami())
            .nest("/api/v1", rest::router(&state).merge(compatible::router()))
            .merge(mcp::router())
            .merge(oauth::router())
            .merge(people::router())
            .fallback(problem::no_route)
            .method_not_allowed_fallback(problem::no_method)
            .layer(RequestBodyLimitLayer::new(options.max_body_bytes))
            .with_state(state.clone());
        Self {
            router,
            state,
            head_within: options.head_within,
            body_within: options.body_within,
        }
    }
}
