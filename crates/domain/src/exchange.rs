//! What passes between a caller and an upstream server while a call is under way, besides arguments and result.

use std::fmt;
use std::sync::Arc;

use serde_json::value::RawValue;

/// What the calling client said about itself. Passed to upstreams of its own session; never to shared ones.
#[derive(Debug, Clone, Default)]
pub struct ClientContext {
    /// Its MCP capabilities object, as it sent it.
    pub capabilities: Option<Arc<RawValue>>,
    /// Its `Implementation` object, as it sent it.
    pub info: Option<Arc<RawValue>>,
    /// The log level it asked for.
    pub log_level: Option<Arc<str>>,
    /// Protocol extras of its request that go along untouched (`_meta` without the reserved keys).
    pub meta: Option<Arc<RawValue>>,
}

/// A refusal in the protocol's own terms: JSON-RPC 2.0 error object.
#[derive(Debug, Clone)]
pub struct PeerError {
    /// The code.
    pub code: i64,
    /// The message.
    pub message: String,
    /// Further data, untouched.
    pub data: Option<Arc<RawValue>>,
}

impl fmt::Display for PeerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.code)
    }
}

/// Where the answer to an upstream's own request goes, once.
pub type PeerResponder = Box<dyn FnOnce(Result<Box<RawValue>, PeerError>) + Send>;

/// Receives what an upstream says during one call: progress, log messages, and its own requests (elicitation, sampling, roots).
/// Implementations must not block.
pub trait CallEvents: Send + Sync {
    /// A notification that belongs to the call.
    fn notification(&self, method: &str, params: Option<&RawValue>);

    /// A request of the upstream; dropping the responder refuses it.
    fn request(&self, method: &str, params: Option<&RawValue>, responder: PeerResponder);
}

/// For callers that listen to nothing: notifications are dropped, requests refused.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoEvents;

impl CallEvents for NoEvents {
    fn notification(&self, _method: &str, _params: Option<&RawValue>) {}

    fn request(&self, method: &str, _params: Option<&RawValue>, responder: PeerResponder) {
        responder(Err(PeerError {
            code: -32601,
            message: format!("the caller does not support {method}"),
            data: None,
        }));
    }
}
