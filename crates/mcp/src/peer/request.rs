//! A request on its way to a server.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::value::RawValue;
use tokio::time::Instant;

use super::Patience;
use crate::param_headers::ParamHeaders;
use crate::wire::Object;

/// A request: what to ask, on whose behalf, and until when.
#[derive(Clone, Debug)]
pub struct Request {
    /// The method, for example `tools/call`.
    pub method: Cow<'static, str>,
    /// The parameters. `_meta` is kept except for keys that describe the exchange itself: progress token, protocol
    /// version, client info, capabilities and subscription id are ours.
    pub params: Object,
    /// The client this request is made for, where it is not ourselves. Modern servers see it; legacy ones were told
    /// once, when the session began.
    pub context: Option<ClientContext>,
    /// Whether to ask for progress. It arrives at [`Events`](super::Events) under a token of ours.
    pub progress_token: bool,
    /// When to give up. Nothing extends it.
    pub deadline: Instant,
    /// Gives up earlier, by a clock that stands while the server waits for an answer of the client.
    pub patience: Option<Arc<Patience>>,
    /// Which arguments a modern HTTP server wants repeated in headers.
    pub param_headers: Option<Arc<ParamHeaders>>,
}

/// The client a request is made for.
#[derive(Clone, Debug, Default)]
pub struct ClientContext {
    /// Its capabilities object; ours if absent.
    pub capabilities: Option<Box<RawValue>>,
    /// Its `Implementation` object; ours if absent.
    pub info: Option<Box<RawValue>>,
    /// The lowest log level it wants to see.
    pub log_level: Option<String>,
}

impl Request {
    /// A request for ourselves, without progress.
    pub fn new(method: impl Into<Cow<'static, str>>, params: Object, deadline: Instant) -> Self {
        Self {
            method: method.into(),
            params,
            context: None,
            progress_token: false,
            deadline,
            patience: None,
            param_headers: None,
        }
    }

    /// On behalf of a client.
    #[must_use]
    pub fn on_behalf_of(mut self, context: ClientContext) -> Self {
        self.context = Some(context);
        self
    }

    /// Asking for progress.
    #[must_use]
    pub const fn with_progress(mut self) -> Self {
        self.progress_token = true;
        self
    }

    /// Given up by this clock instead of at the deadline.
    #[must_use]
    pub fn by(mut self, patience: &Arc<Patience>) -> Self {
        self.deadline = patience.latest();
        self.patience = Some(Arc::clone(patience));
        self
    }

    /// With arguments repeated in headers.
    #[must_use]
    pub fn with_param_headers(mut self, plan: Arc<ParamHeaders>) -> Self {
        self.param_headers = Some(plan);
        self
    }
}
