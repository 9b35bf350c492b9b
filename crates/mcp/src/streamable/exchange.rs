//! One request over Streamable HTTP: the POST, its answer, and resuming a stream that was closed early.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{HeaderMap, HeaderValue};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, sleep_until, timeout_at};

use super::Streamable;
use crate::endpoint::{self, LAST_EVENT, SESSION};
use crate::error::{Phase, RequestError};
use crate::http::{Content, HttpResponse};
use crate::peer::{Answer, Call, Events, Manner, Own, Request, Session, Ticket};
use crate::sse::EventStream;
use crate::version::Era;

/// The reconnection time where a server names none (2025-11-25 leaves it open).
const RETRY: Duration = Duration::from_secs(1);
/// A server that asks for less is not taken at its word: it would be hammered.
const MIN_RETRY: Duration = Duration::from_millis(50);
/// Attempts in a row that bring nothing new before a call is given up.
const MAX_BARREN: u32 = 5;

/// A request and what it needs on its way.
#[derive(Clone, Copy)]
pub(crate) struct Exchange<'a> {
    pub(crate) session: &'a Arc<Session>,
    pub(crate) id: u64,
    pub(crate) request: &'a Request,
    pub(crate) events: &'a Arc<dyn Events>,
    pub(crate) manner: Manner,
}

impl Exchange<'_> {
    const fn deadline(&self) -> Instant {
        self.request.deadline
    }

    fn take(&self, bytes: &[u8], http_status: u16) -> Result<Option<Answer>, RequestError> {
        let own = Own {
            id: self.id,
            events: self.events,
            http_status: Some(http_status),
        };
        self.session
            .receive_for(own, bytes)
            .map_err(RequestError::Malformed)
    }
}

impl Streamable {
    /// Posts a request and waits for its answer, wherever the server gives it.
    pub(crate) async fn ask(
        &self,
        exchange: Exchange<'_>,
        body: Bytes,
        waiting: oneshot::Receiver<Answer>,
        call: &mut Call<'_>,
    ) -> Answer {
        if exchange.manner.version.era() == Era::Legacy {
            call.ticket = Ticket::Posted;
        }
        let answer = tokio::select! {
            answer = self.exchange(exchange, body) => answer,
            // Answered on the standing stream, or the session is over.
            Ok(answer) = waiting => answer,
        };
        match &answer {
            Err(RequestError::SessionExpired) => exchange.session.expire(),
            Err(error) if !error.sent() => call.ticket = Ticket::Nothing,
            Ok(_) | Err(_) => {}
        }
        answer
    }

    async fn exchange(&self, exchange: Exchange<'_>, body: Bytes) -> Answer {
        let deadline = exchange.deadline();
        let headers = |headers: &mut HeaderMap| {
            self.request_headers(headers, exchange.request, exchange.manner.version)
        };
        let response = self.endpoint.post(headers, body, deadline).await?;
        if !response.status.is_success() {
            return Err(self.refused(response, deadline).await);
        }
        if exchange.request.method == "initialize"
            && let Some(id) = response.headers.get(SESSION)
        {
            let mut id = id.clone();
            id.set_sensitive(true);
            // A second `initialize` of the same session does not happen; the first id stands.
            drop(self.session_id.set(id));
        }
        let status = response.status.as_u16();
        match response.content() {
            Content::Events => {
                let stream = self.events(response, exchange)?;
                self.follow(exchange, stream, status).await
            }
            Content::Json | Content::Other | Content::Absent => {
                let limit = exchange.session.limits.max_message;
                let bytes = response.bytes(limit, deadline).await.map_err(endpoint::failure)?;
                if bytes.trim_ascii().is_empty() {
                    return self.answered_elsewhere(deadline, status).await;
                }
                exchange.take(&bytes, status)?.unwrap_or_else(|| {
                    Err(RequestError::Malformed(
                        "the response does not answer the request".to_owned(),
                    ))
                })
            }
        }
    }

    fn events(&self, response: HttpResponse, exchange: Exchange<'_>) -> Result<EventStream, RequestError> {
        response
            .events(exchange.session.limits.max_message)
            .map_err(endpoint::failure)
    }

    /// Some legacy servers acknowledge a request and answer on the standing stream.
    async fn answered_elsewhere(&self, deadline: Instant, status: u16) -> Answer {
        if !self.standing_open() {
            let text = format!("HTTP status {status} without an answer");
            return Err(RequestError::Malformed(text));
        }
        sleep_until(deadline).await;
        Err(RequestError::Timeout {
            phase: Phase::Answer,
            sent: true,
        })
    }

    /// Reads a call's stream until its answer, resuming it where a legacy server allows that (SEP-1699).
    async fn follow(&self, exchange: Exchange<'_>, first: EventStream, status: u16) -> Answer {
        let deadline = exchange.deadline();
        let mut stream = first;
        let mut cursor = Cursor::default();
        let mut unreadable = None;
        loop {
            let broken = match stream.next(deadline).await {
                Ok(Some(event)) => {
                    cursor.barren = 0;
                    if event.event == "message" && !event.data.is_empty() {
                        match exchange.take(&event.data, status) {
                            Ok(Some(answer)) => return answer,
                            Ok(None) => {}
                            Err(error) => {
                                exchange.session.remark(&error.to_string());
                                unreadable = Some(error);
                            }
                        }
                    }
                    continue;
                }
                Ok(None) => "the stream ended without an answer".to_owned(),
                Err(error) => match endpoint::failure(error) {
                    RequestError::Closed { reason, .. } => reason,
                    error => return Err(error),
                },
            };
            cursor.note(&stream);
            stream = match (
                self.resume(exchange, &mut cursor, broken).await,
                unreadable.take(),
            ) {
                (Ok(stream), _) => stream,
                // The stream ended as it should, after what must have been the answer.
                (Err(RequestError::Closed { .. }), Some(error)) => return Err(error),
                (Err(error), _) => return Err(error),
            };
        }
    }

    /// Opens the stream again after the last event seen.
    async fn resume(
        &self,
        exchange: Exchange<'_>,
        cursor: &mut Cursor,
        broken: String,
    ) -> Result<EventStream, RequestError> {
        let closed = |reason: String| RequestError::Closed { reason, sent: true };
        let version = exchange.manner.version;
        let Some(last) = cursor.last.clone().filter(|_| version.era() == Era::Legacy) else {
            return Err(closed(broken));
        };
        loop {
            cursor.barren += 1;
            if cursor.barren > MAX_BARREN {
                return Err(closed(broken));
            }
            timeout_at(
                exchange.deadline(),
                sleep(cursor.retry.unwrap_or(RETRY).max(MIN_RETRY)),
            )
            .await
            .map_err(|_| RequestError::Timeout {
                phase: Phase::Answer,
                sent: true,
            })?;
            let headers = |headers: &mut HeaderMap| {
                self.session_headers(headers, version);
                headers.insert(LAST_EVENT, last.clone());
                Ok(())
            };
            match self.endpoint.get(headers, exchange.deadline()).await {
                Ok(response) if response.status.is_success() && response.content() == Content::Events => {
                    return self.events(response, exchange);
                }
                Ok(response) if response.status.is_server_error() => {}
                Ok(response) if response.status.as_u16() == 404 => return Err(closed(broken)),
                Ok(_) => return Err(closed(broken)),
                Err(RequestError::Unreachable(_) | RequestError::Closed { .. }) => {}
                Err(RequestError::Timeout { phase, .. }) => {
                    return Err(RequestError::Timeout { phase, sent: true });
                }
                Err(error) => return Err(closed(error.to_string())),
            }
        }
    }
}

/// Where a stream was left.
#[derive(Default)]
struct Cursor {
    last: Option<HeaderValue>,
    retry: Option<Duration>,
    barren: u32,
}

impl Cursor {
    fn note(&mut self, stream: &EventStream) {
        if let Some(id) = stream
            .last_event_id()
            .and_then(|id| HeaderValue::from_str(id).ok())
        {
            self.last = Some(id);
        }
        self.retry = stream.retry().or(self.retry);
    }
}
