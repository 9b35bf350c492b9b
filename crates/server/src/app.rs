//! All routes.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::get;
use bytes::Bytes;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::limit::RequestBodyLimitLayer;

use crate::guard::{self, Guard};
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::state::{AppState, Options};
use crate::{docs, health, mcp, openapi, page, problem, request_id, rest};

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
        let state = AppState {
            guard: Arc::new(Guard::new(&options)),
            limits: Arc::new(Limits::new(options.rate_per_second, options.rate_burst)),
            sessions: mcp::Sessions::new(options.sessions),
            metrics: Arc::new(Metrics::default()),
            openapi: Arc::new(Bytes::from(document)),
            gateway: options.gateway,
            keys: options.keys,
        };
        let pages = Router::new()
            .route("/approvals/{approval}", get(page::approval))
            .route("/assets/{file}", get(page::asset))
            .route("/docs", get(docs::page))
            .route("/openapi.json", get(docs::openapi))
            .route("/health", get(health::health))
            .route("/ready", get(health::ready))
            .route("/metrics", get(health::metrics));
        let router = pages
            .nest("/api/v1", rest::router(&state))
            .merge(mcp::router(&state))
            .fallback(problem::no_route)
            .method_not_allowed_fallback(problem::no_method)
            .layer(RequestBodyLimitLayer::new(options.max_body_bytes))
            .layer(from_fn_with_state(state.clone(), guard::check))
            .layer(CatchPanicLayer::custom(problem::after_panic))
            .layer(from_fn(request_id::tag))
            .with_state(state.clone());
        Self {
            router,
            state,
            head_within: options.head_within,
            body_within: options.body_within,
        }
    }
}
