//! A plain HTTP client for tests that look at status, headers and bytes themselves.

use bytes::Bytes;
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::Value;

/// A whole response.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The status
    pub status: StatusCode,
    /// The headers
    pub headers: HeaderMap,
    /// The body, undecoded
    pub body: Bytes,
}

impl Answer {
    /// The JSON-RPC messages of the body: the events of an event stream in order, else the one JSON document; empty if
    /// it is neither.
    #[must_use]
    pub fn messages(&self) -> Vec<Value> {
        let text = String::from_utf8_lossy(&self.body);
        let streamed = self.headers.get(http::header::CONTENT_TYPE).is_some_and(|value| {
            value
                .to_str()
                .is_ok_and(|media_type| media_type.starts_with("text/event-stream"))
        });
        if streamed {
            text.lines()
                .filter_map(|line| line.strip_prefix("data:"))
                .filter_map(|data| serde_json::from_str(data).ok())
                .collect()
        } else {
            serde_json::from_str(&text).into_iter().collect()
        }
    }

    /// The last of [`Self::messages`], which is the response; null if there is none.
    #[must_use]
    pub fn json(&self) -> Value {
        self.messages().pop().unwrap_or_default()
    }
}

/// Why a request got no whole answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// URL, method or headers are not valid HTTP.
    #[error("the request is not valid HTTP")]
    Request(#[from] http::Error),
    /// The connection could not be made or broke before the response's head.
    #[error("the server gave no response")]
    Exchange(#[from] hyper_util::client::legacy::Error),
    /// The connection broke inside the response's body.
    #[error("the response's body ended early")]
    Body(#[from] hyper::Error),
}

/// Sends one request on a connection of its own and reads the whole response.
///
/// # Errors
///
/// If the request is malformed or the server closes the connection early.
pub async fn send(
    method: Method,
    url: &str,
    headers: &[(&str, &str)],
    body: impl Into<Bytes>,
) -> Result<Answer, HttpError> {
    let response = open(method, url, headers, body).await?;
    let (head, body) = response.into_parts();
    let body = body.collect().await?.to_bytes();
    Ok(Answer {
        status: head.status,
        headers: head.headers,
        body,
    })
}

/// Like [`send`], but leaves the response's body to be read frame by frame.
///
/// # Errors
///
/// If the request is malformed or the server closes the connection before answering.
pub async fn open(
    method: Method,
    url: &str,
    headers: &[(&str, &str)],
    body: impl Into<Bytes>,
) -> Result<http::Response<Incoming>, HttpError> {
    let mut request = Request::builder().method(method).uri(url);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    let client = Client::builder(TokioExecutor::new())
        .pool_max_idle_per_host(0)
        .build(connector);
    Ok(client.request(request.body(Full::new(body.into()))?).await?)
}

/// Posts one JSON-RPC request of the 2026-07-28 revision, with the `_meta` and headers it demands.
///
/// # Errors
///
/// As [`send`].
pub async fn post_modern(url: &str, method: &str, mut params: Value) -> Result<Answer, HttpError> {
    if !params.is_object() {
        params = serde_json::json!({});
    }
    let meta = &mut params["_meta"];
    meta["io.modelcontextprotocol/protocolVersion"] = "2026-07-28".into();
    meta["io.modelcontextprotocol/clientInfo"] = serde_json::json!({ "name": "testkit", "version": "1" });
    if meta["io.modelcontextprotocol/clientCapabilities"].is_null() {
        meta["io.modelcontextprotocol/clientCapabilities"] =
            serde_json::json!({ "elicitation": {}, "sampling": {}, "roots": {} });
    }
    let name = params["name"]
        .as_str()
        .or(params["uri"].as_str())
        .unwrap_or_default()
        .to_owned();
    let mut headers = vec![
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", method),
    ];
    if !name.is_empty() {
        headers.push(("mcp-name", &name));
    }
    let body = serde_json::json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    send(Method::POST, url, &headers, body.to_string()).await
}
