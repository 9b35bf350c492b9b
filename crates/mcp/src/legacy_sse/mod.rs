//! HTTP with SSE (2024-11-05): one long stream for everything the server says, and an address to post to.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::HeaderValue;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::endpoint::{self, Endpoint, VERSION};
use crate::error::{ConnectError, Phase, RequestError};
use crate::http::Content;
use crate::peer::{Answer, Call, Channel, Listener, Session, Ticket};
use crate::sse::EventStream;
use crate::target::{ClientProfile, HttpTarget, Limits};
use crate::version::ProtocolVersion;

/// The stream is expected to be silent; whoever waits on it has a deadline of his own.
const ENDLESS: Duration = Duration::from_secs(365 * 24 * 3600);

/// The address messages are posted to.
pub(crate) struct SsePost {
    endpoint: Endpoint,
}

/// Opens the stream and waits for the address the server names. Nothing has been said yet.
pub(crate) async fn start(
    target: HttpTarget,
    client: ClientProfile,
    limits: Limits,
    listener: Arc<dyn Listener>,
    deadline: Instant,
) -> Result<Arc<Session>, ConnectError> {
    let stream_at = Endpoint::new(target)?;
    let mut stream = open(&stream_at, &limits, deadline)
        .await
        .map_err(ConnectError::Refused)?;
    let address = named_address(&mut stream, stream_at.url(), deadline)
        .await
        .map_err(ConnectError::Refused)?;
    let post = SsePost {
        endpoint: stream_at.named(&address)?,
    };
    let over = CancellationToken::new();
    let session = Session::new(Channel::Sse(Box::new(post)), client, limits, listener, over);
    session.spawn(read(Arc::clone(&session), stream));
    Ok(session)
}

async fn open(endpoint: &Endpoint, limits: &Limits, deadline: Instant) -> Result<EventStream, RequestError> {
    let response = endpoint.get(|_| Ok(()), deadline).await?;
    if !response.status.is_success() {
        return Err(endpoint::refusal(response, deadline).await);
    }
    if response.content() != Content::Events {
        return Err(RequestError::Malformed(
            "the answer to GET is not an event stream".to_owned(),
        ));
    }
    response.events(limits.max_message).map_err(endpoint::failure)
}

async fn named_address(stream: &mut EventStream, base: &Url, deadline: Instant) -> Result<Url, RequestError> {
    while let Some(event) = stream.next(deadline).await.map_err(endpoint::failure)? {
        if event.event == "endpoint" {
            let named = String::from_utf8_lossy(&event.data);
            let address = base
                .join(named.trim())
                .map_err(|_| RequestError::Malformed("the server named an unusable address".to_owned()))?;
            // The guard checks this again with every message; refusing here says it once and clearly.
            if address.origin() != base.origin() {
                return Err(RequestError::Malformed(
                    "the server named an address on another origin".to_owned(),
                ));
            }
            return Ok(address);
        }
    }
    Err(RequestError::Malformed(
        "the stream ended before the server named an address".to_owned(),
    ))
}

async fn read(session: Arc<Session>, mut stream: EventStream) {
    loop {
        let next = tokio::select! {
            next = stream.next(Instant::now() + ENDLESS) => next,
            () = session.over.cancelled() => return,
        };
        match next {
            Ok(Some(event)) if event.event == "message" && !event.data.is_empty() => {
                session.receive(&event.data)
            }
            Ok(Some(_)) => {}
            Ok(None) => return session.end("the server ended the stream"),
            Err(error) => return session.end(format!("the stream broke: {error}")),
        }
    }
}

impl SsePost {
    /// Posts a request and waits for its answer on the stream.
    pub(crate) async fn ask(
        &self,
        body: Bytes,
        mut waiting: oneshot::Receiver<Answer>,
        deadline: Instant,
        call: &mut Call<'_>,
    ) -> Answer {
        let version = call.agreed_version();
        call.ticket = Ticket::Posted;
        // The answer may overtake the acknowledgement of the POST.
        let posted = tokio::select! {
            biased;
            Ok(answer) = &mut waiting => return answer,
            posted = self.post(body, version, deadline) => posted,
        };
        if let Err(error) = posted {
            if !error.sent() {
                call.ticket = Ticket::Nothing;
            }
            // The address holds the session: where it leads nowhere any more, the session is gone, whatever its stream does.
            if version.is_some() && matches!(error.http_status(), Some(404 | 410)) {
                call.expire();
                return Err(RequestError::SessionExpired);
            }
            return Err(error);
        }
        match timeout_at(deadline, waiting).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Err(RequestError::Closed {
                reason: "the session is over".to_owned(),
                sent: true,
            }),
            Err(_) => Err(RequestError::Timeout {
                phase: Phase::Answer,
                sent: true,
            }),
        }
    }

    /// Posts a message; the server only acknowledges.
    pub(crate) async fn post(
        &self,
        body: Bytes,
        version: Option<ProtocolVersion>,
        deadline: Instant,
    ) -> Result<(), RequestError> {
        let headers = |headers: &mut http::HeaderMap| {
            if let Some(version) = version.filter(|version| version.has_version_header()) {
                headers.insert(VERSION, HeaderValue::from_static(version.as_str()));
            }
            Ok(())
        };
        let response = self.endpoint.post(headers, body, deadline).await?;
        if response.status.is_success() {
            // Read to its end so that the connection can be used again.
            drop(response.excerpt(deadline).await);
            return Ok(());
        }
        Err(endpoint::refusal(response, deadline).await)
    }
}
