//! What a surface brings along for a call.

use std::sync::Arc;
use std::time::Duration;

use domain::{CallEvents, ClientContext, NoEvents, RunId};
use serde_json::value::RawValue;

/// What surrounds a call: who listens, which session it belongs to, how long it may take. Dropping the future of a call cancels
/// it, except a call that may change something and was sent: that one finishes and is recorded.
#[derive(Clone)]
pub struct Exchange {
    /// Receives progress, log messages and the upstream's own requests.
    pub events: Arc<dyn CallEvents>,
    /// Whether the caller asked for progress.
    pub progress: bool,
    /// What the client said about itself.
    pub client: ClientContext,
    /// The client's session, where it has one: per-session upstreams are keyed by it.
    pub session: Option<Arc<str>>,
    /// The run it belongs to, where there is one.
    pub run: Option<RunId>,
    /// Longest wait for the answer; none = the connection's own limit.
    pub timeout: Option<Duration>,
    /// Members of the request's params that go to the upstream as they are (`inputResponses`, `requestState`), in order.
    pub extras: Vec<(Arc<str>, Arc<RawValue>)>,
}

impl Default for Exchange {
    fn default() -> Self {
        Self {
            events: Arc::new(NoEvents),
            progress: false,
            client: ClientContext::default(),
            session: None,
            run: None,
            timeout: None,
            extras: Vec::new(),
        }
    }
}

/// A tool call.
#[derive(Clone)]
pub struct ToolRequest {
    /// The exposed name.
    pub name: Arc<str>,
    /// The arguments as they came; none = `{}`.
    pub arguments: Option<Box<RawValue>>,
    /// What surrounds it.
    pub exchange: Exchange,
}

/// A request about prompts and resources: `prompts/get`, `resources/read`, `completion/complete`, `resources/subscribe`,
/// `resources/unsubscribe`.
#[derive(Clone)]
pub struct ContextRequest {
    /// The MCP method.
    pub method: Arc<str>,
    /// The exposed prompt name, or the resource's URI (for a completion: of the prompt or template referred to).
    pub subject: Arc<str>,
    /// The params as they came, without `_meta`, `inputResponses` and `requestState`.
    pub params: Box<RawValue>,
    /// What surrounds it.
    pub exchange: Exchange,
}
