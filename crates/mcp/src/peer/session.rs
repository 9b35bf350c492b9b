//! The shared state of one session and the ways out of it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use serde_json::value::RawValue;
use tokio::runtime::Handle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::inflight::InFlight;
use super::log::LogRing;
use super::{Answer, Events, LineSource, Listener, LogLine, Request, ServerFacts};
use crate::error::{Phase, RequestError};
use crate::legacy_sse::SsePost;
use crate::stdio::Pipe;
use crate::streamable::{Exchange, Streamable};
use crate::target::{ClientProfile, Limits, Negotiated};
use crate::version::{Era, ProtocolVersion};
use crate::wire::{self, Object, RpcError, Stamp};

/// How messages leave.
pub(crate) enum Channel {
    Pipe(Pipe),
    Streamable(Box<Streamable>),
    Sse(Box<SsePost>),
}

/// What was agreed on when the session began.
pub(crate) struct Agreed {
    pub(crate) negotiated: Negotiated,
    pub(crate) facts: ServerFacts,
}

/// One session. Tasks that read the server hold it; they end when it is closed.
pub(crate) struct Session {
    pub(crate) channel: Channel,
    pub(crate) client: ClientProfile,
    pub(crate) limits: Limits,
    pub(crate) listener: Arc<dyn Listener>,
    pub(crate) calls: InFlight,
    pub(crate) log: LogRing,
    pub(crate) agreed: OnceLock<Arc<Agreed>>,
    /// Cancelled when the session is over; every task of it listens.
    pub(crate) over: CancellationToken,
    pub(crate) tasks: TaskTracker,
    runtime: Handle,
    next_id: AtomicU64,
}

/// How a request goes out, as far as it differs from the session's ordinary way.
#[derive(Clone, Copy)]
pub(crate) struct Manner {
    /// The revision spoken; it decides about `_meta`, headers and cancellation.
    pub(crate) version: ProtocolVersion,
    /// A subscription: long-lived, and not a call the server is busy with.
    pub(crate) standing: bool,
    /// Whether the server is told when nobody waits any more.
    pub(crate) cancellable: bool,
}

impl Session {
    pub(crate) fn new(
        channel: Channel,
        client: ClientProfile,
        limits: Limits,
        listener: Arc<dyn Listener>,
        over: CancellationToken,
    ) -> Arc<Self> {
        Arc::new(Self {
            channel,
            client,
            log: LogRing::new(limits.stderr_ring),
            limits,
            listener,
            calls: InFlight::default(),
            agreed: OnceLock::new(),
            over,
            tasks: TaskTracker::new(),
            runtime: Handle::current(),
            next_id: AtomicU64::new(1),
        })
    }

    /// Runs a task that belongs to the session and ends with it.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.tasks.spawn_on(task, &self.runtime);
    }

    /// The revision in force; before agreement, the newest.
    pub(crate) fn version(&self) -> ProtocolVersion {
        self.agreed_version().unwrap_or(ProtocolVersion::NEWEST)
    }

    /// The revision agreed on, once it is.
    pub(crate) fn agreed_version(&self) -> Option<ProtocolVersion> {
        self.agreed.get().map(|agreed| agreed.negotiated.version)
    }

    /// Whether an id is one we have given out.
    pub(crate) fn gave_out(&self, id: u64) -> bool {
        id < self.next_id.load(Ordering::Relaxed)
    }

    /// Sends a request and waits for its answer. Dropping the future withdraws or cancels the request.
    pub(crate) async fn ask(
        self: &Arc<Self>,
        request: &Request,
        events: Arc<dyn Events>,
        manner: Manner,
    ) -> Answer {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let body = self.encode(id, request, manner);
        let waiting = self
            .calls
            .enter(id, Arc::clone(&events), manner.standing)
            .map_err(|reason| RequestError::Closed {
                reason: reason.to_string(),
                sent: false,
            })?;
        let mut call = Call {
            session: self,
            id,
            manner,
            ticket: Ticket::Nothing,
        };
        let asking = async {
            match &self.channel {
                Channel::Pipe(pipe) => pipe.ask(body, waiting, request.deadline, &mut call).await,
                Channel::Sse(post) => post.ask(body.into(), waiting, request.deadline, &mut call).await,
                Channel::Streamable(http) => {
                    let exchange = Exchange {
                        session: self,
                        id,
                        request,
                        events: &events,
                        manner,
                    };
                    http.ask(exchange, body.into(), waiting, &mut call).await
                }
            }
        };
        let answer = tokio::select! {
            biased;
            answer = asking => Some(answer),
            () = out_of_patience(request) => None,
        };
        let answer = answer.unwrap_or_else(|| Err(self.late(&mut call)));
        if answer_is_final(&answer) {
            call.ticket = Ticket::Nothing;
        }
        answer
    }

    /// The clock of a call ran out. What went over HTTP counts as sent: how far it came is not known.
    fn late(&self, call: &mut Call<'_>) -> RequestError {
        let taken_back = !call.take_back();
        let sent = !taken_back || matches!(self.channel, Channel::Streamable(_));
        RequestError::Timeout {
            phase: if sent { Phase::Answer } else { Phase::Send },
            sent,
        }
    }

    /// Sends a notification.
    pub(crate) async fn tell(
        self: &Arc<Self>,
        method: &str,
        params: &Object,
        deadline: Instant,
    ) -> Result<(), RequestError> {
        if let Some(reason) = self.calls.closed() {
            return Err(RequestError::Closed {
                reason: reason.to_string(),
                sent: false,
            });
        }
        let body = wire::notification(method, params, Stamp::default());
        match &self.channel {
            Channel::Pipe(pipe) => pipe.tell(body, deadline).await,
            Channel::Sse(post) => post.post(body.into(), self.agreed_version(), deadline).await,
            Channel::Streamable(http) => {
                http.post(Some(method), body.into(), self.version(), deadline)
                    .await
            }
        }
    }

    /// Answers a server's request, without waiting for delivery.
    pub(crate) fn reply(self: &Arc<Self>, id: &str, outcome: &Result<Box<RawValue>, RpcError>) {
        self.calls.answered(id);
        if self
            .agreed_version()
            .is_some_and(|version| version.era() == Era::Modern)
        {
            return;
        }
        self.dispatch(match outcome {
            Ok(result) => wire::answer(id, result),
            Err(error) => wire::failure(id, error),
        });
    }

    /// Sends bytes in the background; lost if the session ends first.
    pub(crate) fn dispatch(self: &Arc<Self>, body: Vec<u8>) {
        match &self.channel {
            Channel::Pipe(pipe) => pipe.offer(body),
            Channel::Sse(_) | Channel::Streamable(_) => {
                let session = Arc::clone(self);
                self.spawn(async move {
                    tokio::select! {
                        () = session.over.cancelled() => {}
                        () = session.post_quietly(body.into()) => {}
                    }
                });
            }
        }
    }

    async fn post_quietly(&self, body: Bytes) {
        let deadline = Instant::now() + self.limits.connect;
        let outcome = match &self.channel {
            Channel::Pipe(_) => Ok(()),
            Channel::Sse(post) => post.post(body, self.agreed_version(), deadline).await,
            Channel::Streamable(http) => http.post(None, body, self.version(), deadline).await,
        };
        if let Err(error) = outcome {
            tracing::debug!(%error, "a message to an mcp server was not delivered");
        }
    }

    /// Tells a legacy or stdio server that nobody waits for a request any more.
    fn cancel(self: &Arc<Self>, id: u64) {
        let Ok(params) = Object::new().with("requestId", &id) else {
            return;
        };
        self.dispatch(wire::notification(
            "notifications/cancelled",
            &params,
            Stamp::default(),
        ));
    }

    /// Ends the session: every call fails, every task stops. Later reasons are ignored.
    pub(crate) fn end(&self, reason: impl Into<Arc<str>>) {
        let reason = reason.into();
        if self.calls.close(&reason) {
            self.over.cancel();
            // While connecting, the caller hears of it by the error.
            if self.agreed.get().is_some() {
                self.listener.closed(&reason);
            }
        }
    }

    /// Refuses new calls and lets those in flight finish: the server has forgotten the session.
    pub(crate) fn expire(&self) {
        self.calls.refuse(&Arc::from("the server ended the session"));
    }

    /// Keeps and reports a line from outside the protocol.
    pub(crate) fn note(&self, line: LogLine) {
        self.listener.line(&line);
        self.log.push(line);
    }

    /// Keeps and reports our own note on something the protocol does not allow.
    pub(crate) fn remark(&self, text: &str) {
        self.note(LogLine::cut(LineSource::Protocol, text.as_bytes()));
    }

    fn encode(&self, id: u64, request: &Request, manner: Manner) -> Vec<u8> {
        let mut stamp = Stamp {
            progress: request.progress_token.then_some(id),
            ..Stamp::default()
        };
        if manner.version.era() == Era::Modern {
            let context = request.context.as_ref();
            stamp.version = Some(manner.version.as_str());
            stamp.info = context
                .and_then(|c| c.info.as_deref())
                .or(Some(&self.client.info));
            stamp.capabilities = context
                .and_then(|c| c.capabilities.as_deref())
                .or(Some(&self.client.capabilities));
            stamp.log_level = context.and_then(|c| c.log_level.as_deref());
        }
        wire::request(id, &request.method, &request.params, stamp)
    }
}

async fn out_of_patience(request: &Request) {
    match &request.patience {
        Some(patience) => patience.over().await,
        None => std::future::pending().await,
    }
}

/// An answer after which the server no longer works on the request.
const fn answer_is_final(answer: &Answer) -> bool {
    matches!(
        answer,
        Ok(_)
            | Err(RequestError::Rpc { .. }
                | RequestError::Http { .. }
                | RequestError::Redirect { .. }
                | RequestError::TooLarge { .. }
                | RequestError::SessionExpired)
    )
}

/// What has to be taken back if the call is given up.
pub(crate) enum Ticket {
    /// Nothing was handed over, or closing the exchange is the cancellation.
    Nothing,
    /// A line in a pipe's queue, which may still be withdrawn.
    Queued(Arc<crate::stdio::Claim>),
    /// A request that has been posted.
    Posted,
}

/// A call in flight; dropping it takes it out of the table and takes back what was handed over.
pub(crate) struct Call<'a> {
    session: &'a Arc<Session>,
    id: u64,
    manner: Manner,
    pub(crate) ticket: Ticket,
}

impl Call<'_> {
    /// The revision agreed on, once it is.
    pub(crate) fn agreed_version(&self) -> Option<ProtocolVersion> {
        self.session.agreed_version()
    }

    /// The server has forgotten the session.
    pub(crate) fn expire(&self) {
        self.session.expire();
    }

    /// Withdraws what has not left yet; whether the request may have reached the server.
    pub(crate) fn take_back(&mut self) -> bool {
        match std::mem::replace(&mut self.ticket, Ticket::Nothing) {
            Ticket::Nothing => false,
            Ticket::Queued(claim) if claim.withdraw() => false,
            Ticket::Queued(_) | Ticket::Posted => {
                if self.manner.cancellable && !self.session.over.is_cancelled() {
                    self.session.cancel(self.id);
                }
                true
            }
        }
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        self.session.calls.leave(self.id);
        self.take_back();
    }
}
