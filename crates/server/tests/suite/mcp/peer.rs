//! MCP clients that show every byte: one with a session, one without, one of the stateless revision.

use std::collections::VecDeque;

use bytes::Bytes;
use http::{Method, StatusCode};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use serde_json::{Value, json};
use testkit::house::House;
use testkit::http::{Answer, open, send};

/// A client of the revisions with `initialize`.
pub(crate) struct Peer {
    pub(crate) url: String,
    pub(crate) key: String,
    pub(crate) version: String,
    pub(crate) session: Option<String>,
}

impl Peer {
    /// One that has not said anything yet.
    pub(crate) fn new(url: &str, key: &str) -> Self {
        Self {
            url: url.to_owned(),
            key: key.to_owned(),
            version: "2025-11-25".to_owned(),
            session: None,
        }
    }

    /// One with a session.
    pub(crate) async fn begin(url: &str, key: &str, capabilities: Value) -> Self {
        let mut peer = Self::new(url, key);
        let answer = peer.initialize("2025-11-25", capabilities).await;
        assert_eq!(answer.status, StatusCode::OK, "{answer:?}");
        let accepted = peer
            .post(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
            .await;
        assert_eq!(accepted.status, StatusCode::ACCEPTED);
        peer
    }

    pub(crate) async fn initialize(&mut self, version: &str, capabilities: Value) -> Answer {
        let params = json!({
            "protocolVersion": version, "capabilities": capabilities, "clientInfo": { "name": "peer", "version": "1" },
        });
        let answer = self.call("initialize", params).await;
        let named = |value: &http::HeaderValue| value.to_str().unwrap().to_owned();
        self.session = answer.headers.get("mcp-session-id").map(named);
        if let Some(version) = answer.json()["result"]["protocolVersion"].as_str() {
            self.version = version.to_owned();
        }
        answer
    }

    pub(crate) async fn call(&self, method: &str, params: Value) -> Answer {
        self.post(&json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params }))
            .await
    }

    pub(crate) async fn tool(&self, name: &str, arguments: Value) -> Answer {
        self.call("tools/call", json!({ "name": name, "arguments": arguments }))
            .await
    }

    pub(crate) async fn post(&self, body: &Value) -> Answer {
        self.send(Method::POST, body.to_string(), &[]).await
    }

    pub(crate) async fn send(&self, method: Method, body: String, more: &[(&str, &str)]) -> Answer {
        let bearer = format!("Bearer {}", self.key);
        send(method, &self.url, &self.headers(&bearer, more), body)
            .await
            .unwrap()
    }

    /// Opens a response to be read event by event.
    pub(crate) async fn stream(&self, method: Method, body: String, more: &[(&str, &str)]) -> Events {
        let bearer = format!("Bearer {}", self.key);
        Events::new(
            open(method, &self.url, &self.headers(&bearer, more), body)
                .await
                .unwrap(),
        )
    }

    /// A request whose answer is a stream.
    pub(crate) async fn streamed(&self, method: &str, params: Value) -> Events {
        let body = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
        self.stream(Method::POST, body.to_string(), &[]).await
    }

    fn headers<'a>(&'a self, bearer: &'a str, more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
        let mut headers = vec![
            ("authorization", bearer),
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
            ("mcp-protocol-version", &*self.version),
        ];
        headers.extend(self.session.as_deref().map(|session| ("mcp-session-id", session)));
        headers.retain(|(name, _)| !more.iter().any(|(other, _)| other == name));
        headers.extend(more.iter().filter(|(_, value)| !value.is_empty()));
        headers
    }
}

/// A client of revision 2026-07-28.
pub(crate) struct Modern {
    pub(crate) url: String,
    pub(crate) key: String,
    pub(crate) capabilities: Value,
}

impl Modern {
    pub(crate) fn new(url: &str, key: &str) -> Self {
        Self {
            url: url.to_owned(),
            key: key.to_owned(),
            capabilities: json!({}),
        }
    }

    pub(crate) fn with(url: &str, key: &str, capabilities: Value) -> Self {
        Self {
            capabilities,
            ..Self::new(url, key)
        }
    }

    /// Params with the metadata every request carries.
    pub(crate) fn introduced(&self, mut params: Value) -> Value {
        let meta = &mut params["_meta"];
        meta["io.modelcontextprotocol/protocolVersion"] = "2026-07-28".into();
        meta["io.modelcontextprotocol/clientInfo"] = json!({ "name": "peer", "version": "1" });
        meta["io.modelcontextprotocol/clientCapabilities"] = self.capabilities.clone();
        params
    }

    pub(crate) async fn call(&self, method: &str, params: Value) -> Answer {
        self.raw(method, self.introduced(params), &[]).await
    }

    pub(crate) async fn tool(&self, name: &str, arguments: Value) -> Answer {
        self.call("tools/call", json!({ "name": name, "arguments": arguments }))
            .await
    }

    /// Params as they are; a header with an empty value is left out.
    pub(crate) async fn raw(&self, method: &str, params: Value, more: &[(&str, &str)]) -> Answer {
        let (body, headers) = self.request(method, &params);
        let headers = merged(&headers, more);
        send(Method::POST, &self.url, &headers, body).await.unwrap()
    }

    pub(crate) async fn stream(&self, method: &str, params: Value) -> Events {
        let (body, headers) = self.request(method, &self.introduced(params));
        Events::new(
            open(Method::POST, &self.url, &merged(&headers, &[]), body)
                .await
                .unwrap(),
        )
    }

    fn request(&self, method: &str, params: &Value) -> (String, Vec<(&'static str, String)>) {
        let mut headers = vec![
            ("authorization", format!("Bearer {}", self.key)),
            ("content-type", "application/json".to_owned()),
            ("accept", "application/json, text/event-stream".to_owned()),
            ("mcp-protocol-version", "2026-07-28".to_owned()),
            ("mcp-method", method.to_owned()),
        ];
        if let Some(name) = params["name"].as_str().or(params["uri"].as_str()) {
            headers.push(("mcp-name", name.to_owned()));
        }
        let body = json!({ "jsonrpc": "2.0", "id": "q", "method": method, "params": params });
        (body.to_string(), headers)
    }
}

fn merged<'a>(headers: &'a [(&'static str, String)], more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let mut all: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, &**value)).collect();
    all.retain(|(name, _)| !more.iter().any(|(other, _)| other == name));
    all.extend(more.iter().filter(|(_, value)| !value.is_empty()));
    all
}

/// A response read event by event.
pub(crate) struct Events {
    pub(crate) status: StatusCode,
    pub(crate) headers: http::HeaderMap,
    body: Incoming,
    text: String,
    ready: VecDeque<Value>,
    /// The id of the last event that had one.
    pub(crate) last_id: Option<String>,
}

impl Events {
    fn new(response: http::Response<Incoming>) -> Self {
        let (head, body) = response.into_parts();
        let (text, ready) = (String::new(), VecDeque::new());
        Self {
            status: head.status,
            headers: head.headers,
            body,
            text,
            ready,
            last_id: None,
        }
    }

    /// The next message; none at the end.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some(message) = self.ready.pop_front() {
                return Some(message);
            }
            let data: Bytes = match self.body.frame().await? {
                Ok(frame) => frame.into_data().unwrap_or_default(),
                Err(_) => return None,
            };
            self.text.push_str(std::str::from_utf8(&data).unwrap());
            while let Some((event, rest)) = self.text.split_once("\n\n") {
                for line in event.lines() {
                    if let Some(data) = line.strip_prefix("data: ")
                        && let Ok(message) = serde_json::from_str(data)
                    {
                        self.ready.push_back(message);
                    }
                    if let Some(id) = line.strip_prefix("id: ") {
                        self.last_id = Some(id.to_owned());
                    }
                }
                self.text = rest.to_owned();
            }
        }
    }

    /// Everything up to the end.
    pub(crate) async fn rest(mut self) -> Vec<Value> {
        let mut all = Vec::new();
        while let Some(message) = self.next().await {
            all.push(message);
        }
        all
    }
}

/// What an administrator does.
pub(crate) async fn administer(house: &House, method: Method, path: &str, body: Value) {
    let bearer = format!("Bearer {}", house.admin);
    let headers = [
        ("authorization", &*bearer),
        ("content-type", "application/json"),
        ("accept", "application/json"),
    ];
    let url = format!("{}/api/v1{path}", house.url);
    let body = if body.is_null() {
        String::new()
    } else {
        body.to_string()
    };
    let answer = send(method, &url, &headers, body).await.unwrap();
    assert!(answer.status.is_success(), "{path}: {answer:?}");
}
