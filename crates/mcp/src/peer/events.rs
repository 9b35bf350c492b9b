//! What a server says besides its answers, and how its own requests are answered.

use std::fmt;
use std::sync::Weak;

use serde_json::value::RawValue;

use super::session::Session;
use crate::wire::{RpcError, codes};

/// Receives what belongs to one call. Called in order, from the task that reads the server: return at once.
pub trait Events: Send + Sync {
    /// Progress under our own token, or a log message.
    fn notification(&self, method: &str, params: Option<&RawValue>);

    /// A request of a legacy server that belongs to this call. Dropping it answers that nobody is there to answer.
    fn request(&self, request: ServerRequest) {
        drop(request);
    }
}

/// Receives what belongs to no call. Called in order, from the task that reads the server: return at once.
pub trait Listener: Send + Sync {
    /// A list changed, a resource was updated, a log message outside any call.
    fn notification(&self, method: &str, params: Option<&RawValue>);

    /// A request of a legacy server that belongs to no single call. Dropping it answers that nobody is there to answer.
    fn request(&self, request: ServerRequest) {
        drop(request);
    }

    /// A line a child wrote to stderr, or something outside the protocol that was survived.
    fn line(&self, line: &LogLine) {
        let _: &LogLine = line;
    }

    /// The session is over; said once.
    fn closed(&self, reason: &str) {
        let _: &str = reason;
    }
}

/// Ignores everything; for calls and sessions nobody watches.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Events for Silent {
    fn notification(&self, _method: &str, _params: Option<&RawValue>) {}
}

impl Listener for Silent {
    fn notification(&self, _method: &str, _params: Option<&RawValue>) {}
}

/// Where a line came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineSource {
    /// The child's standard error.
    Stderr,
    /// The child's standard output, where it was not JSON-RPC.
    Stdout,
    /// Our own note on something the protocol does not allow.
    Protocol,
}

/// A line worth showing to whoever looks after the server. Untrusted text, cut at 4 KiB.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// Where it came from.
    pub source: LineSource,
    /// The text, without its line end.
    pub text: String,
}

/// A request of the server's own: sampling, elicitation or roots.
#[derive(Debug)]
pub struct ServerRequest {
    /// The method.
    pub method: String,
    /// The parameters, untouched.
    pub params: Option<Box<RawValue>>,
    /// Answers it.
    pub responder: Responder,
}

/// Answers one server request, once. Dropped without an answer, it says that nobody is there to answer.
pub struct Responder {
    session: Weak<Session>,
    /// The id as the server wrote it; taken when answered.
    id: Option<String>,
}

impl Responder {
    pub(crate) const fn new(session: Weak<Session>, id: String) -> Self {
        Self {
            session,
            id: Some(id),
        }
    }

    /// The request's id as raw JSON, by which a `notifications/cancelled` of the server names it.
    pub fn id(&self) -> &str {
        self.id.as_deref().unwrap_or_default()
    }

    /// Sends the answer. Delivery is not confirmed; a session that is gone takes it silently.
    pub fn answer(mut self, outcome: Result<Box<RawValue>, RpcError>) {
        self.send(&outcome);
    }

    fn send(&mut self, outcome: &Result<Box<RawValue>, RpcError>) {
        if let (Some(id), Some(session)) = (self.id.take(), self.session.upgrade()) {
            session.reply(&id, outcome);
        }
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        if self.id.is_some() {
            self.send(&Err(RpcError::new(
                codes::METHOD_NOT_FOUND,
                "nobody is there to answer this request",
            )));
        }
    }
}

impl fmt::Debug for Responder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Responder")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}
