//! Replies and how they are played.

use std::collections::VecDeque;
use std::future::pending;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures::Stream;
use http::{HeaderName, HeaderValue, Response, StatusCode};
use http_body_util::StreamBody;
use hyper::body::Frame;
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio_util::sync::CancellationToken;

use crate::scripted::{Log, Received};

/// What to answer one request with.
#[derive(Debug, Clone)]
pub struct Reply {
    head: Head,
    steps: VecDeque<Step>,
}

/// One piece of a response's body, in the order they are played.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Step {
    /// Send these bytes at once.
    Bytes(Bytes),
    /// Let this time pass.
    Pause(Duration),
    /// Wait for the test to cancel this token.
    Until(CancellationToken),
    /// Send whatever comes out of this, until it ends.
    Feed(Feed),
    /// Send nothing more and keep the response open.
    Hang,
    /// Break the connection off.
    Break,
}

/// Pieces of a body that are not known yet. Where nothing came in place of a piece, the connection is broken off.
#[derive(Debug, Clone)]
pub struct Feed(Arc<std::sync::Mutex<UnboundedReceiver<Option<Bytes>>>>);

impl Feed {
    /// What this receives.
    #[must_use]
    pub fn new(pieces: UnboundedReceiver<Option<Bytes>>) -> Self {
        Self(Arc::new(std::sync::Mutex::new(pieces)))
    }

    /// The next piece; none at the end.
    async fn next(&self) -> Option<Option<Bytes>> {
        std::future::poll_fn(|context| {
            self.0
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .poll_recv(context)
        })
        .await
    }
}

#[derive(Debug, Clone)]
enum Head {
    Answer {
        status: u16,
        headers: Vec<(String, String)>,
        until: Option<CancellationToken>,
    },
    Hang,
    Close,
}

impl Reply {
    /// An empty response of this status.
    #[must_use]
    pub fn status(status: u16) -> Self {
        Self {
            head: Head::Answer {
                status,
                headers: Vec::new(),
                until: None,
            },
            steps: VecDeque::new(),
        }
    }

    /// A response whose body is exactly these bytes, of no stated type.
    #[must_use]
    pub fn bytes(status: u16, body: impl Into<Bytes>) -> Self {
        Self::status(status).then(Step::Bytes(body.into()))
    }

    /// A JSON response.
    #[must_use]
    pub fn json(status: u16, body: &Value) -> Self {
        Self::bytes(status, body.to_string()).header("content-type", "application/json")
    }

    /// The JSON-RPC result of a request, as JSON.
    #[must_use]
    pub fn result(request: &Received, result: Value) -> Self {
        Self::json(
            200,
            &json!({ "jsonrpc": "2.0", "id": request.json()["id"], "result": result }),
        )
    }

    /// The JSON-RPC error of a request, as JSON with status 200.
    #[must_use]
    pub fn error(request: &Received, code: i64, message: &str) -> Self {
        let error = json!({ "code": code, "message": message });
        Self::json(
            200,
            &json!({ "jsonrpc": "2.0", "id": request.json()["id"], "error": error }),
        )
    }

    /// An event stream that ends after these messages. More steps can follow.
    #[must_use]
    pub fn events<'a>(messages: impl IntoIterator<Item = &'a Value>) -> Self {
        let stream = Self::status(200).header("content-type", "text/event-stream");
        messages
            .into_iter()
            .fold(stream, |stream, message| stream.then(Step::event(message)))
    }

    /// A JSON response that comes in pieces of `size` bytes, `pause` apart.
    #[must_use]
    pub fn drip(body: &Value, size: usize, pause: Duration) -> Self {
        let whole = Bytes::from(body.to_string());
        let stream = Self::status(200).header("content-type", "application/json");
        whole.chunks(size.max(1)).fold(stream, |stream, piece| {
            stream
                .then(Step::Bytes(Bytes::copy_from_slice(piece)))
                .then(Step::Pause(pause))
        })
    }

    /// No response, ever; the connection stays open.
    #[must_use]
    pub fn hang() -> Self {
        Self {
            head: Head::Hang,
            steps: VecDeque::new(),
        }
    }

    /// No response; the connection is closed.
    #[must_use]
    pub fn close() -> Self {
        Self {
            head: Head::Close,
            steps: VecDeque::new(),
        }
    }

    /// What a plain server of revision 2025-06-18 without sessions answers: `initialize` and `ping` get results,
    /// notifications 202, `tools/list` one tool `echo`, GET and DELETE 405, everything else -32601.
    #[must_use]
    pub fn legacy(request: &Received) -> Self {
        let message = request.json();
        let is_request = message["id"].is_string() || message["id"].is_number();
        match message["method"].as_str() {
            Some("initialize") => {
                let server = json!({ "name": "scripted", "version": "1" });
                let result = json!({ "protocolVersion": "2025-06-18", "capabilities": { "tools": {} }, "serverInfo": server });
                Self::result(request, result)
            }
            Some("ping") => Self::result(request, json!({})),
            Some("tools/list") => {
                let echo = json!({ "name": "echo", "inputSchema": { "type": "object" } });
                Self::result(request, json!({ "tools": [echo] }))
            }
            Some(_) if is_request => Self::error(request, -32601, "Method not found"),
            Some(_) => Self::status(202),
            None if request.method == http::Method::POST => Self::status(202),
            None => Self::status(405),
        }
    }

    /// Adds a header. On a reply without a response it means nothing.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        if let Head::Answer { headers, .. } = &mut self.head {
            headers.push((name.to_owned(), value.to_owned()));
        }
        self
    }

    /// Adds a piece to the body.
    #[must_use]
    pub fn then(mut self, step: Step) -> Self {
        self.steps.push_back(step);
        self
    }

    /// Holds even the status line back until the test cancels this token.
    #[must_use]
    pub fn after(mut self, token: CancellationToken) -> Self {
        if let Head::Answer { until, .. } = &mut self.head {
            *until = Some(token);
        }
        self
    }
}

impl Step {
    /// A server-sent event carrying one JSON-RPC message.
    #[must_use]
    pub fn event(message: &Value) -> Self {
        Self::Bytes(Bytes::from(format!("event: message\ndata: {message}\n\n")))
    }

    /// A comment line, the event stream's keep-alive.
    #[must_use]
    pub fn keep_alive() -> Self {
        Self::Bytes(Bytes::from_static(b": keep-alive\n\n"))
    }
}

/// Why the server breaks a connection off: because the script says so, or because it is no valid response.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refusal {
    #[error("the script closes the connection")]
    Scripted,
    #[error("the script's reply is not valid HTTP")]
    Invalid(#[from] http::Error),
}

/// An exchange under way. If it is dropped before it is over, the client has gone.
#[derive(Debug)]
pub(super) struct Playing {
    log: Arc<Log>,
    over: bool,
}

impl Playing {
    pub(super) fn begin(log: Arc<Log>) -> Self {
        Self { log, over: false }
    }

    fn finish(&mut self) {
        self.over = true;
    }
}

impl Drop for Playing {
    fn drop(&mut self) {
        if !self.over {
            self.log.abandon();
        }
    }
}

/// Plays a reply; the body's steps are played as the client reads.
pub(super) async fn play(
    reply: Reply,
    mut playing: Playing,
) -> Result<Response<StreamBody<impl Stream<Item = Result<Frame<Bytes>, Refusal>> + Send>>, Refusal> {
    let (status, headers) = match reply.head {
        Head::Answer {
            status,
            headers,
            until,
        } => {
            if let Some(until) = until {
                until.cancelled().await;
            }
            (status, headers)
        }
        Head::Hang => pending().await,
        Head::Close => {
            playing.finish();
            return Err(Refusal::Scripted);
        }
    };
    let mut response = Response::new(body(reply.steps, playing));
    *response.status_mut() = StatusCode::from_u16(status).map_err(http::Error::from)?;
    for (name, value) in headers {
        let name = HeaderName::try_from(name).map_err(http::Error::from)?;
        response
            .headers_mut()
            .append(name, HeaderValue::try_from(value).map_err(http::Error::from)?);
    }
    Ok(response)
}

fn body(
    steps: VecDeque<Step>,
    playing: Playing,
) -> StreamBody<impl Stream<Item = Result<Frame<Bytes>, Refusal>> + Send> {
    let stream = futures::stream::unfold((steps, playing), |(mut steps, mut playing)| async move {
        loop {
            match steps.pop_front() {
                Some(Step::Bytes(bytes)) => return Some((Ok(Frame::data(bytes)), (steps, playing))),
                Some(Step::Pause(pause)) => tokio::time::sleep(pause).await,
                Some(Step::Until(token)) => token.cancelled().await,
                Some(Step::Hang) => pending().await,
                Some(Step::Feed(feed)) => match feed.next().await {
                    Some(Some(bytes)) => {
                        steps.push_front(Step::Feed(feed));
                        return Some((Ok(Frame::data(bytes)), (steps, playing)));
                    }
                    Some(None) => steps.push_front(Step::Break),
                    None => {}
                },
                Some(Step::Break) => {
                    // Lets what was said so far reach the client: hyper forgets what it has not flushed.
                    tokio::task::yield_now().await;
                    playing.finish();
                    return Some((Err(Refusal::Scripted), (VecDeque::new(), playing)));
                }
                None => {
                    playing.finish();
                    return None;
                }
            }
        }
    });
    StreamBody::new(stream)
}
