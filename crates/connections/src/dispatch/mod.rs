//! Calls on their way to a server and what comes back.

mod bridge;
mod outcome;
mod relay;
mod request;
mod run;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use domain::{AgentId, ClientContext, Identity, Outcome};
use serde_json::value::RawValue;

pub(crate) use self::bridge::answering;
pub use self::relay::Relay;

/// Whose upstream session a call uses where sessions are not shared: that of a client's session, else that of a principal
/// acting as or for an agent.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SessionKey {
    /// The client's session, where it has one.
    pub session: Option<Arc<str>>,
    /// Who acts.
    pub principal: Identity,
    /// The agent acting or acted for.
    pub agent: Option<AgentId>,
}

/// What surrounds a call on its way to a server.
#[derive(Debug, Clone)]
pub struct Dispatch {
    /// Whose upstream session it uses.
    pub session: SessionKey,
    /// What the client said about itself. Its capabilities go along where the protocol carries them with every request; all of
    /// it goes to sessions of its own.
    pub client: ClientContext,
    /// Members of the request's params that go along as they are: `inputResponses` and `requestState`, nothing else.
    pub extras: Vec<(Arc<str>, Arc<RawValue>)>,
    /// Whether progress is wanted.
    pub progress: bool,
    /// Longest wait for the answer; none = the connection's own limit. It never extends the connection's limit.
    pub timeout: Option<Duration>,
}

/// What became of a call. Never a reason to crash: the caller can always go on.
#[derive(Debug)]
pub struct Dispatched {
    /// How it ended.
    pub outcome: Outcome,
    /// What the server said.
    pub body: DispatchBody,
    /// Whether anything may have reached the server.
    pub sent: bool,
    /// For people and models where there is no body: what happened, without secrets. May quote the server, cut short.
    pub detail: String,
    /// The HTTP status, where the failure came with one.
    pub http_status: Option<u16>,
    /// When the server asks to come back.
    pub retry_after: Option<Duration>,
}

/// What the server said.
#[derive(Debug)]
pub enum DispatchBody {
    /// Its result, untouched; it may itself say `isError`.
    Result(Box<RawValue>),
    /// It needs input first (`resultType: input_required`), untouched.
    InputRequired(Box<RawValue>),
    /// A JSON-RPC error.
    Rpc {
        /// The code.
        code: i64,
        /// The message; untrusted text.
        message: String,
        /// Further data, untouched.
        data: Option<Box<RawValue>>,
    },
    /// Nothing; the detail says why.
    None,
}
