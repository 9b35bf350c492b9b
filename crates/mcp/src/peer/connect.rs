//! Opening a session: which transport, which era, and what to try when the first way fails.

use std::sync::Arc;

use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use super::negotiate::{Opening, negotiate};
use super::upstream::Owner;
use super::{Channel, Listener, Session, Upstream};
use crate::error::{ConnectError, RequestError};
use crate::streamable::Streamable;
use crate::target::{Negotiated, Target, Transport, TransportKind};
use crate::version::{Era, ProtocolVersion};
use crate::{legacy_sse, stdio, streamable};

/// Connects, remembering nothing itself.
pub(crate) async fn connect(
    target: Target,
    remembered: Option<Negotiated>,
    listener: Arc<dyn Listener>,
) -> Result<Upstream, ConnectError> {
    let deadline = Instant::now() + target.limits.connect;
    let attempt = Attempt {
        target,
        listener,
        deadline,
    };
    match attempt.first_way(remembered) {
        (TransportKind::Sse, opening) => match attempt.open(TransportKind::Sse, opening).await {
            // What was remembered may no longer hold; an explicit choice does.
            Err(error) if matches!(attempt.target.transport, Transport::Auto(_)) && mismatch(&error) => {
                attempt
                    .try_both(TransportKind::StreamableHttp, attempt.probe())
                    .await
            }
            outcome => outcome,
        },
        (TransportKind::StreamableHttp, opening) => {
            match attempt.try_both(TransportKind::StreamableHttp, opening).await {
                Err(error)
                    if matches!(attempt.target.transport, Transport::Auto(_))
                        && not_this_transport(&error) =>
                {
                    // If that fails too, the first refusal says more.
                    attempt.open(TransportKind::Sse, LEGACY).await.map_err(|_| error)
                }
                outcome => outcome,
            }
        }
        (TransportKind::Stdio, opening) => attempt.try_both(TransportKind::Stdio, opening).await,
    }
}

const LEGACY: Opening = Opening::Initialize(ProtocolVersion::NEWEST_LEGACY);

struct Attempt {
    target: Target,
    listener: Arc<dyn Listener>,
    deadline: Instant,
}

impl Attempt {
    fn first_way(&self, remembered: Option<Negotiated>) -> (TransportKind, Opening) {
        let transport = match &self.target.transport {
            Transport::Stdio(_) => TransportKind::Stdio,
            Transport::StreamableHttp(_) => TransportKind::StreamableHttp,
            Transport::Sse(_) => TransportKind::Sse,
            Transport::Auto(_) => match remembered.map(|negotiated| negotiated.transport) {
                Some(TransportKind::Sse) => TransportKind::Sse,
                _ => TransportKind::StreamableHttp,
            },
        };
        let opening = match remembered.map(|negotiated| negotiated.version) {
            Some(version) if version.era() == Era::Legacy => Opening::Initialize(version),
            _ if transport == TransportKind::Sse => LEGACY,
            _ => self.probe(),
        };
        (transport, opening)
    }

    fn probe(&self) -> Opening {
        Opening::Probe(match &self.target.transport {
            Transport::Stdio(_) => self.target.limits.probe,
            Transport::StreamableHttp(_) | Transport::Sse(_) | Transport::Auto(_) => {
                self.target.limits.http_probe
            }
        })
    }

    /// One way, and the other where the first shows that it was the wrong one: servers die of a probe they do not
    /// understand, and remembered versions grow old.
    async fn try_both(&self, transport: TransportKind, opening: Opening) -> Result<Upstream, ConnectError> {
        let first = self.open(transport, opening).await;
        match (&first, opening) {
            (Err(ConnectError::Closed { .. }), Opening::Probe(_)) => self.open(transport, LEGACY).await,
            (Err(error), Opening::Initialize(_)) if mismatch(error) => {
                self.open(transport, self.probe()).await
            }
            _ => first,
        }
    }

    async fn open(&self, transport: TransportKind, opening: Opening) -> Result<Upstream, ConnectError> {
        let session = self.start(transport).await?;
        // From here on, dropping the owner ends whatever was started.
        let owner = Owner(Arc::clone(&session));
        let agreed = match negotiate(&session, opening, transport, self.deadline).await {
            Ok(agreed) => agreed,
            Err(error) => return Err(explain(&session, error).await),
        };
        let legacy = agreed.negotiated.version.era() == Era::Legacy;
        if transport == TransportKind::StreamableHttp && legacy && session.limits.standing_stream {
            session.spawn(streamable::listen(Arc::clone(&session)));
            streamable::settled(&session).await;
        }
        Ok(Upstream::new(owner, agreed))
    }

    async fn start(&self, kind: TransportKind) -> Result<Arc<Session>, ConnectError> {
        let Target {
            transport,
            client,
            limits,
        } = self.target.clone();
        let listener = Arc::clone(&self.listener);
        match (transport, kind) {
            (Transport::Stdio(command), _) => stdio::start(&command, client, limits, listener),
            (Transport::Sse(http) | Transport::Auto(http), TransportKind::Sse) => {
                legacy_sse::start(http, client, limits, listener, self.deadline).await
            }
            (Transport::StreamableHttp(http) | Transport::Auto(http) | Transport::Sse(http), _) => {
                let channel = Channel::Streamable(Box::new(Streamable::new(http)?));
                Ok(Session::new(
                    channel,
                    client,
                    limits,
                    listener,
                    CancellationToken::new(),
                ))
            }
        }
    }
}

/// Adds a child's last words to a failure, once its output is read.
async fn explain(session: &Session, error: ConnectError) -> ConnectError {
    session.end("connecting failed");
    session.tasks.close();
    let ConnectError::Closed { reason } = error else {
        return error;
    };
    drop(timeout(session.limits.grace, session.tasks.wait()).await);
    ConnectError::Closed {
        reason: match session.log.last_words() {
            Some(words) => format!("{reason}; it last wrote: {words}"),
            None => reason,
        },
    }
}

/// The server does not do what was remembered of it.
const fn mismatch(error: &ConnectError) -> bool {
    match error {
        ConnectError::Closed { .. } | ConnectError::Version { .. } => true,
        ConnectError::Refused(RequestError::Http { status, .. }) => matches!(*status, 400 | 404..=422),
        ConnectError::Refused(error) => {
            matches!(error, RequestError::Rpc { .. } | RequestError::Malformed(_))
        }
        ConnectError::Target(_) | ConnectError::Spawn { .. } | ConnectError::Timeout(_) => false,
    }
}

/// The refusals after which the older transport is tried (2025-11-25, transports "Backwards Compatibility").
fn not_this_transport(error: &ConnectError) -> bool {
    match error {
        ConnectError::Refused(RequestError::Malformed(_)) => true,
        ConnectError::Refused(_) => error
            .http_status()
            .is_some_and(|status| (400..500).contains(&status) && !matches!(status, 401 | 403 | 429)),
        ConnectError::Target(_)
        | ConnectError::Spawn { .. }
        | ConnectError::Closed { .. }
        | ConnectError::Timeout(_)
        | ConnectError::Version { .. } => false,
    }
}
