//! A request as it came.

use std::net::SocketAddr;

use bytes::Bytes;
use http::{HeaderMap, Method, Uri};
use serde_json::Value;

/// One request, whole.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Received {
    /// The HTTP method
    pub method: Method,
    /// Path and query
    pub uri: Uri,
    /// The headers
    pub headers: HeaderMap,
    /// The body's exact bytes
    pub body: Bytes,
    /// The client's end of the connection; requests on one connection share it
    pub peer: SocketAddr,
}

impl Received {
    /// The body as JSON; null if it is none.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// The body's JSON-RPC method, if it is a request or notification.
    #[must_use]
    pub fn rpc_method(&self) -> Option<String> {
        self.json()["method"].as_str().map(str::to_owned)
    }

    /// A header's value, if it is there and is text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}
