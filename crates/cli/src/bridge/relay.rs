//! Lines in, requests out; answers and events back as lines.

use std::sync::Arc;

use anyhow::Context as _;
use bytes::{Bytes, BytesMut};
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::sync::{Mutex, mpsc};
use tokio::task::JoinSet;
use url::Url;

use crate::client::{Http, Payload};
use crate::output;

const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";
/// Longest line or event, in bytes.
const MAX_MESSAGE: usize = 16 * 1024 * 1024;
/// Lines waiting to be written.
const WAITING: usize = 256;

/// What is read of a message on its way out.
#[derive(Deserialize)]
struct Shape<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<std::borrow::Cow<'a, str>>,
    params: Option<Params<'a>>,
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(borrow)]
    name: Option<std::borrow::Cow<'a, str>>,
    #[serde(borrow)]
    uri: Option<std::borrow::Cow<'a, str>>,
    #[serde(borrow, rename = "_meta")]
    meta: Option<Meta<'a>>,
}

#[derive(Deserialize)]
struct Meta<'a> {
    #[serde(borrow, rename = "io.modelcontextprotocol/protocolVersion")]
    version: Option<std::borrow::Cow<'a, str>>,
}

#[derive(Default)]
struct Session {
    id: Option<HeaderValue>,
    version: Option<HeaderValue>,
}

#[derive(Clone)]
struct Bridge {
    http: Arc<Http>,
    endpoint: Url,
    session: Arc<Mutex<Session>>,
    out: mpsc::Sender<Bytes>,
}

/// Passes messages on until standard input ends; then ends the session.
pub(super) async fn relay(http: Http, endpoint: Url) -> anyhow::Result<()> {
    let (out, lines) = mpsc::channel(WAITING);
    let writer = tokio::spawn(write(lines));
    let bridge = Bridge { http: Arc::new(http), endpoint, session: Arc::default(), out };
    let mut input = BufReader::new(tokio::io::stdin());
    let mut under_way = JoinSet::new();
    let mut line = Vec::new();
    loop {
        line.clear();
        if input.read_until(b'\n', &mut line).await.context("cannot read standard input")? == 0 {
            break;
        }
        while under_way.try_join_next().is_some() {}
        let message = line.trim_ascii();
        if message.is_empty() || message.len() > MAX_MESSAGE {
            continue;
        }
        let message = Bytes::copy_from_slice(message);
        if bridge.opens_session(&message) {
            // Nothing else goes out before the session is known.
            bridge.pass(message).await;
            let standing = bridge.clone();
            under_way.spawn(async move { standing.listen().await });
        } else {
            let bridge = bridge.clone();
            under_way.spawn(async move { bridge.pass(message).await });
        }
    }
    bridge.end().await;
    under_way.shutdown().await;
    drop(bridge);
    writer.await.context("cannot write standard output")?
}

async fn write(mut lines: mpsc::Receiver<Bytes>) -> anyhow::Result<()> {
    let mut output = tokio::io::stdout();
    while let Some(line) = lines.recv().await {
        output.write_all(&line).await?;
        output.write_all(b"\n").await?;
        output.flush().await?;
    }
    Ok(())
}

impl Bridge {
    fn opens_session(&self, message: &[u8]) -> bool {
        serde_json::from_slice::<Shape<'_>>(message).is_ok_and(|shape| shape.method.as_deref() == Some("initialize"))
    }

    async fn pass(&self, message: Bytes) {
        let id = serde_json::from_slice::<Shape<'_>>(&message).ok().and_then(|shape| shape.id.map(ToOwned::to_owned));
        if let Err(error) = self.exchange(message).await {
            output::note(&format!("switchboard mcp: {error:#}"));
            if let Some(id) = id {
                let error = json!({ "code": -32000, "message": format!("{error:#}") });
                self.say(Bytes::from(json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string())).await;
            }
        }
    }

    async fn exchange(&self, message: Bytes) -> anyhow::Result<()> {
        let opening = self.opens_session(&message);
        let headers = self.headers(&message).await;
        let payload = Payload { method: Method::POST, url: self.endpoint.clone(), headers, body: message };
        let response = self.http.send(payload).await?;
        let status = response.status();
        if opening && let Some(id) = response.headers().get(SESSION) {
            self.session.lock().await.id = Some(id.clone());
        }
        let streams = response.headers().get(header::CONTENT_TYPE).is_some_and(|t| t.as_bytes().starts_with(b"text/event-stream"));
        if streams {
            return self.events(response.into_body()).await;
        }
        let body = response.into_body().collect().await.context("the answer broke off")?.to_bytes();
        let known = serde_json::from_slice::<serde_json::Value>(&body);
        match known {
            Ok(value) if value.get("jsonrpc").is_some() => {
                if opening && let Some(version) = value["result"]["protocolVersion"].as_str() {
                    self.session.lock().await.version = HeaderValue::from_str(version).ok();
                }
                self.say(Bytes::from(value.to_string())).await;
                Ok(())
            }
            _ if status.is_success() => Ok(()),
            Ok(problem) => anyhow::bail!("{}", problem["detail"].as_str().unwrap_or(status.as_str())),
            Err(_) => anyhow::bail!("the server answered {status}"),
        }
    }

    async fn headers(&self, message: &[u8]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(header::ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        let shape = serde_json::from_slice::<Shape<'_>>(message).ok();
        let params = shape.as_ref().and_then(|s| s.params.as_ref());
        if let Some(version) = params.and_then(|p| p.meta.as_ref()?.version.as_deref()) {
            // A modern request says everything by itself; the headers repeat it.
            insert(&mut headers, VERSION, version);
            if let Some(method) = shape.as_ref().and_then(|s| s.method.as_deref()) {
                insert(&mut headers, "mcp-method", method);
                let named = params.and_then(|p| p.name.as_deref().or(p.uri.as_deref()));
                if matches!(method, "tools/call" | "prompts/get" | "resources/read")
                    && let Some(name) = named
                {
                    insert(&mut headers, "mcp-name", name);
                }
            }
            return headers;
        }
        let session = self.session.lock().await;
        headers.extend(session.id.clone().map(|id| (header::HeaderName::from_static(SESSION), id)));
        headers.extend(session.version.clone().map(|v| (header::HeaderName::from_static(VERSION), v)));
        headers
    }

    /// The standing stream: what the server says by itself.
    async fn listen(&self) {
        let mut headers = self.headers(b"{}").await;
        if !headers.contains_key(SESSION) {
            return;
        }
        headers.remove(header::CONTENT_TYPE);
        headers.insert(header::ACCEPT, HeaderValue::from_static("text/event-stream"));
        let payload = Payload { method: Method::GET, url: self.endpoint.clone(), headers, body: Bytes::new() };
        if let Ok(response) = self.http.send(payload).await
            && response.status() == StatusCode::OK
            && let Err(error) = self.events(response.into_body()).await
        {
            output::note(&format!("switchboard mcp: {error:#}"));
        }
    }

    async fn end(&self) {
        let headers = self.headers(b"{}").await;
        if headers.contains_key(SESSION) {
            let payload = Payload { method: Method::DELETE, url: self.endpoint.clone(), headers, body: Bytes::new() };
            // The server forgets an idle session by itself.
            drop(self.http.send(payload).await);
        }
    }

    /// Writes the data of each event as a line.
    async fn events(&self, mut body: Incoming) -> anyhow::Result<()> {
        let mut held = BytesMut::new();
        let mut data = BytesMut::new();
        while let Some(frame) = body.frame().await {
            let Ok(chunk) = frame.context("the stream broke off")?.into_data() else { continue };
            held.extend_from_slice(&chunk);
            anyhow::ensure!(held.len() + data.len() <= MAX_MESSAGE, "an event is larger than {MAX_MESSAGE} bytes");
            while let Some(end) = held.iter().position(|byte| *byte == b'\n') {
                let line = held.split_to(end + 1);
                let line = line.trim_ascii_end();
                if line.is_empty() {
                    let event = data.split().freeze();
                    if !event.is_empty() {
                        self.say(event).await;
                    }
                } else if let Some(text) = line.strip_prefix(b"data:") {
                    data.extend_from_slice(text.trim_ascii_start());
                }
            }
        }
        Ok(())
    }

    async fn say(&self, message: Bytes) {
        // A closed output means the client is gone; the loop ends with its input.
        drop(self.out.send(message).await);
    }
}

fn insert(headers: &mut HeaderMap, name: &'static str, value: &str) {
    let plain = value.bytes().all(|b| (0x20..0x7f).contains(&b)) && value.trim() == value;
    let encoded = if plain { value.to_owned() } else { sentinel(value) };
    if let Ok(value) = HeaderValue::try_from(encoded) {
        headers.insert(name, value);
    }
}

/// MCP 2026-07-28, transports, value encoding: text that a header cannot carry plainly.
fn sentinel(value: &str) -> String {
    use base64::Engine as _;
    format!("=?base64?{}?=", base64::engine::general_purpose::STANDARD.encode(value))
}
