//! An MCP server over HTTP in this process, scripted by a closure that sees every request.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures::stream::{self, BoxStream, StreamExt};
use http::{HeaderMap, Method, Request, Response};
use http_body_util::{BodyExt, Full, StreamBody, combinators::BoxBody};
use hyper::body::{Frame, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// One request as the server saw it.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) verb: Method,
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    /// The message; null where there is no body.
    pub(crate) body: Value,
}

impl Seen {
    /// The JSON-RPC method, or the HTTP method where there is no message.
    pub(crate) fn method(&self) -> &str {
        self.body["method"].as_str().unwrap_or(self.verb.as_str())
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// The answer to this request with a result.
    pub(crate) fn result(&self, result: Value) -> Value {
        json!({"jsonrpc": "2.0", "id": self.body["id"], "result": result})
    }

    /// The answer to this request with an error.
    pub(crate) fn error(&self, code: i64, data: Value) -> Value {
        json!({"jsonrpc": "2.0", "id": self.body["id"], "error": {"code": code, "message": "no", "data": data}})
    }
}

/// What the server answers.
pub(crate) enum Reply {
    /// A status, extra headers, and a body with its type.
    Whole(u16, Vec<(&'static str, String)>, &'static str, String),
    /// An event stream: what is sent, as it becomes ready.
    Stream(BoxStream<'static, String>),
}

impl Reply {
    pub(crate) fn json(value: &Value) -> Self {
        Self::status(200, &value.to_string())
    }

    pub(crate) fn status(status: u16, body: &str) -> Self {
        Self::Whole(status, Vec::new(), "application/json", body.to_owned())
    }

    pub(crate) fn with(self, name: &'static str, value: &str) -> Self {
        match self {
            Self::Whole(status, mut headers, kind, body) => {
                headers.push((name, value.to_owned()));
                Self::Whole(status, headers, kind, body)
            }
            Self::Stream(_) => self,
        }
    }

    /// These pieces, then the end of the stream.
    pub(crate) fn pieces(pieces: Vec<String>) -> Self {
        Self::Stream(stream::iter(pieces).boxed())
    }

    /// These pieces, then silence until the client leaves.
    pub(crate) fn held(pieces: Vec<String>) -> Self {
        Self::Stream(stream::iter(pieces).chain(stream::pending()).boxed())
    }
}

/// A message as an event.
pub(crate) fn event(message: &Value) -> String {
    format!("event: message\ndata: {message}\n\n")
}

type Script = dyn Fn(&Seen) -> Reply + Send + Sync;

/// The running server; stops when dropped.
pub(crate) struct Server {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
    arrivals: tokio::sync::Mutex<mpsc::UnboundedReceiver<Seen>>,
    left: tokio::sync::Mutex<mpsc::UnboundedReceiver<String>>,
    _tasks: JoinSet<()>,
}

impl Server {
    pub(crate) async fn start(script: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (arrived, arrivals) = mpsc::unbounded_channel();
        let (leaving, left) = mpsc::unbounded_channel();
        let desk = Arc::new(Desk {
            script: Box::new(script),
            seen: Arc::clone(&seen),
            arrived,
            leaving,
        });
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                stream.set_nodelay(true).unwrap();
                let desk = Arc::clone(&desk);
                connections.spawn(async move {
                    let service = service_fn(move |request| {
                        let desk = Arc::clone(&desk);
                        async move { Ok::<_, Infallible>(desk.answer(request).await) }
                    });
                    let builder = hyper_util::server::conn::auto::Builder::new(TokioExecutor::new());
                    drop(builder.serve_connection(TokioIo::new(stream), service).await);
                });
            }
        });
        let (arrivals, left) = (tokio::sync::Mutex::new(arrivals), tokio::sync::Mutex::new(left));
        Self {
            address,
            seen,
            arrivals,
            left,
            _tasks: tasks,
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// The methods seen so far.
    pub(crate) fn methods(&self) -> Vec<String> {
        self.seen().iter().map(|seen| seen.method().to_owned()).collect()
    }

    /// Waits for a request by its method.
    pub(crate) async fn arrival(&self, method: &str) -> Seen {
        let mut arrivals = self.arrivals.lock().await;
        let wait = async {
            loop {
                let seen = arrivals.recv().await.unwrap();
                if seen.method() == method {
                    return seen;
                }
            }
        };
        tokio::time::timeout(crate::watch::LONG, wait)
            .await
            .unwrap_or_else(|_| panic!("no {method} arrives"))
    }

    /// Waits until a stream of this method is no longer read.
    pub(crate) async fn client_left(&self, method: &str) {
        let mut left = self.left.lock().await;
        let wait = async { while left.recv().await.unwrap() != method {} };
        tokio::time::timeout(crate::watch::LONG, wait)
            .await
            .unwrap_or_else(|_| panic!("{method} is still read"));
    }
}

struct Desk {
    script: Box<Script>,
    seen: Arc<Mutex<Vec<Seen>>>,
    arrived: mpsc::UnboundedSender<Seen>,
    leaving: mpsc::UnboundedSender<String>,
}

impl Desk {
    async fn answer(&self, request: Request<Incoming>) -> Response<BoxBody<Bytes, Infallible>> {
        let (head, body) = request.into_parts();
        let body = body
            .collect()
            .await
            .map(http_body_util::Collected::to_bytes)
            .unwrap_or_default();
        let path = head
            .uri
            .path_and_query()
            .map(ToString::to_string)
            .unwrap_or_default();
        let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
        let seen = Seen {
            verb: head.method,
            path,
            headers: head.headers,
            body,
        };
        self.seen.lock().unwrap().push(seen.clone());
        let reply = (self.script)(&seen);
        let method = seen.method().to_owned();
        self.arrived.send(seen).ok();
        match reply {
            Reply::Whole(status, headers, kind, body) => {
                let mut response = Response::builder().status(status).header("content-type", kind);
                for (name, value) in headers {
                    response = response.header(name, value);
                }
                response.body(Full::new(Bytes::from(body)).boxed()).unwrap()
            }
            Reply::Stream(pieces) => {
                let leave = Leave(method, self.leaving.clone());
                let frames = pieces.map(move |piece| {
                    let _held: &Leave = &leave;
                    Ok(Frame::data(Bytes::from(piece)))
                });
                let body = BodyExt::boxed(StreamBody::new(SyncStream(Mutex::new(frames.boxed()))));
                Response::builder()
                    .header("content-type", "text/event-stream")
                    .body(body)
                    .unwrap()
            }
        }
    }
}

struct Leave(String, mpsc::UnboundedSender<String>);

impl Drop for Leave {
    fn drop(&mut self) {
        self.1.send(self.0.clone()).ok();
    }
}

/// A boxed body must be `Sync`; a stream behind a lock nobody contends for is.
struct SyncStream<T>(Mutex<BoxStream<'static, T>>);

impl<T> futures::Stream for SyncStream<T> {
    type Item = T;

    fn poll_next(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<T>> {
        self.0.lock().unwrap().poll_next_unpin(context)
    }
}
