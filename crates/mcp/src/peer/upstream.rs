//! The handle on a live session.

use std::fmt;
use std::sync::Arc;

use serde_json::value::RawValue;
use tokio::time::Instant;

use super::session::{Agreed, Manner};
use super::{
    Channel, Events, Listener, LogLine, Request, ServerFacts, Session, Subscription, connect, negotiate,
    subscription,
};
use crate::error::{ConnectError, RequestError};
use crate::target::{Limits, Negotiated, Target};
use crate::version::Era;
use crate::wire::{Object, codes};

/// One negotiated, live session with one server. Cheap to clone; when the last clone is dropped, the session ends and
/// a child process is killed with all it started. Prefer [`close`](Self::close), which lets a child exit by itself.
#[derive(Clone)]
pub struct Upstream {
    owner: Arc<Owner>,
    agreed: Arc<Agreed>,
}

/// Ends the session when dropped.
pub(crate) struct Owner(pub(crate) Arc<Session>);

impl Upstream {
    /// Connects to a server and agrees on a version. With what an earlier connection
    /// [negotiated](Self::negotiated), nothing is probed again unless that fails.
    pub async fn connect(
        target: Target,
        remembered: Option<Negotiated>,
        listener: Arc<dyn Listener>,
    ) -> Result<Self, ConnectError> {
        Box::pin(connect::connect(target, remembered, listener)).await
    }

    pub(crate) fn new(owner: Owner, agreed: Arc<Agreed>) -> Self {
        Self {
            owner: Arc::new(owner),
            agreed,
        }
    }

    fn session(&self) -> &Arc<Session> {
        &self.owner.0
    }

    /// What was agreed on; worth remembering.
    pub fn negotiated(&self) -> Negotiated {
        self.agreed.negotiated
    }

    /// What the server said about itself.
    pub fn server(&self) -> &ServerFacts {
        &self.agreed.facts
    }

    /// The limits of the session.
    pub fn limits(&self) -> &Limits {
        &self.session().limits
    }

    /// Sends a request and waits for its result, which is returned untouched: also `input_required` and tool errors
    /// are results. Dropping the future withdraws the request or tells the server that nobody waits any more.
    pub async fn request(
        &self,
        request: Request,
        events: Arc<dyn Events>,
    ) -> Result<Box<RawValue>, RequestError> {
        let session = self.session();
        let version = session.version();
        let manner = Manner {
            version,
            standing: false,
            cancellable: true,
        };
        let answer = session.ask(&request, Arc::clone(&events), manner).await;
        if version.era() == Era::Modern
            && let Err(RequestError::Rpc {
                code: codes::UNSUPPORTED_VERSION,
                data: Some(data),
                ..
            }) = &answer
            && let Some(version) = negotiate::supported(data, Era::Modern)
        {
            // The server refused the version without looking at the request, and names one we speak.
            return session.ask(&request, events, Manner { version, ..manner }).await;
        }
        answer
    }

    /// Sends a notification, within the session's limit for a call.
    pub async fn notify(&self, method: &str, params: Object) -> Result<(), RequestError> {
        let deadline = Instant::now() + self.limits().call;
        self.session().tell(method, &params, deadline).await
    }

    /// Subscribes to changes at a modern server; what arrives goes to the listener. The filter is the
    /// `notifications` object of `subscriptions/listen`. Legacy servers speak unasked, to the session's own listener.
    pub async fn listen(
        &self,
        filter: &Object,
        listener: Arc<dyn Listener>,
    ) -> Result<Subscription, RequestError> {
        let deadline = Instant::now() + self.limits().call;
        subscription::open(self.session(), filter, listener, deadline).await
    }

    /// Whether new requests are refused because the session is over or the server has forgotten it.
    pub fn is_closed(&self) -> bool {
        self.session().calls.closed().is_some()
    }

    /// Waits until the session is over.
    pub async fn closed(&self) {
        self.session().over.cancelled().await;
    }

    /// How many calls are in flight.
    pub fn in_flight(&self) -> usize {
        self.session().calls.len()
    }

    /// The last lines from outside the protocol: stderr, stray output, and our notes on the server's mistakes.
    pub fn log(&self) -> Vec<LogLine> {
        self.session().log.lines()
    }

    /// Ends the session for every clone and waits until nothing of it is left: a child has its input closed and is
    /// given time to exit before it is signalled; a legacy HTTP server is told.
    pub async fn close(self) {
        let session = self.session();
        if let Channel::Streamable(http) = &session.channel
            && !self.is_closed()
        {
            http.forget(session.version(), Instant::now() + session.limits.grace)
                .await;
        }
        session.end("closed by us");
        session.tasks.close();
        session.tasks.wait().await;
    }
}

impl fmt::Debug for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Upstream")
            .field("negotiated", &self.agreed.negotiated)
            .field("closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        // After `close` there is nothing left to kill, and the group knows it.
        if let Channel::Pipe(pipe) = &self.0.channel {
            pipe.kill();
        }
        self.0.end("nobody uses the session any more");
    }
}
