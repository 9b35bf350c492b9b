//! One message out, its answer back: JSON or a stream of events, in a session or without.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Limited};
use hyper::body::Incoming;
use mcp::sse::Parser;
use serde_json::json;
use serde_json::value::RawValue;
use tokio::sync::{Mutex, mpsc};
use url::Url;

use super::MAX_MESSAGE;
use super::message::{Heard, Message, agreed, on_one_line};
use super::mirror::{Mirror, is_mismatch};
use super::session::{self, Session};
use crate::client::{Http, Payload};
use crate::output;

/// How often a stream that broke off is taken up again.
const RESUME: usize = 5;
/// Pause before a stream is taken up again, and the longest the server may ask for.
const PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// Pages of tools read to learn which arguments go into headers.
const PAGES: usize = 100;

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");
const EITHER: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");

/// The way to the server, shared by everything under way. Cheap to clone.
#[derive(Clone)]
pub(super) struct Bridge {
    shared: Arc<Shared>,
    out: mpsc::Sender<Bytes>,
}

struct Shared {
    http: Http,
    endpoint: Url,
    session: Mutex<Session>,
    /// Held while a lost session is opened again.
    opening: Mutex<()>,
    mirror: Mirror,
}

/// What a stream came to.
#[derive(Debug, Default)]
struct Followed {
    answered: bool,
    last_id: Option<String>,
    pause: Option<Duration>,
}

impl Bridge {
    pub(super) fn new(http: Http, endpoint: Url, out: mpsc::Sender<Bytes>) -> Self {
        let (session, opening, mirror) = (Mutex::default(), Mutex::default(), Mirror::default());
        Self {
            shared: Arc::new(Shared {
                http,
                endpoint,
                session,
                opening,
                mirror,
            }),
            out,
        }
    }

    /// Passes a message on and its answer back. A request is always answered, if need be with what went wrong.
    pub(super) async fn pass(&self, message: Message) {
        if let Err(error) = self.exchange(&message).await {
            output::note(&format!("switchboard mcp: {error:#}"));
            if let Some(id) = message.id() {
                self.refuse(id, -32000, &format!("{error:#}")).await;
            }
        }
    }

    /// Answers in place of the server. `id` is JSON text.
    pub(super) async fn refuse(&self, id: &str, code: i64, message: &str) {
        let id = serde_json::from_str::<&RawValue>(id).ok();
        let error = json!({ "code": code, "message": message });
        self.say(Bytes::from(
            json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string(),
        ))
        .await;
    }

    async fn exchange(&self, message: &Message) -> anyhow::Result<()> {
        let (used, mut response) = self.post(message).await?;
        if response.status() == StatusCode::NOT_FOUND
            && let Some(lost) = used
        {
            self.reopen(&lost)
                .await
                .context("the server no longer knows the session, and a new one could not be opened")?;
            response = self.post(message).await?.1;
        }
        if message.asks("initialize") {
            let id = response.headers().get(session::ID).cloned();
            *self.shared.session.lock().await = Session {
                id,
                version: None,
                opening: Some(message.text.clone()),
            };
        }
        if is_stream(&response) {
            return self.stream(message, response.into_body()).await;
        }
        let status = response.status();
        let mut body = whole(response.into_body()).await?;
        if message.asks("tools/call")
            && Heard::read(&body)
                .and_then(|heard| heard.error)
                .is_some_and(is_mismatch)
            && self.learn_tools(message).await
        {
            let second = self.post(message).await?.1;
            if is_stream(&second) {
                return self.stream(message, second.into_body()).await;
            }
            body = whole(second.into_body()).await?;
        }
        if Heard::read(&body).is_some_and(|heard| heard.is_message()) {
            self.deliver(message, body).await;
            return Ok(());
        }
        if status.is_success() {
            anyhow::ensure!(
                message.id().is_none(),
                "the server answered {status} without a message"
            );
            return Ok(());
        }
        let problem: serde_json::Value = serde_json::from_slice(&body).unwrap_or_default();
        match problem.get("detail").and_then(serde_json::Value::as_str) {
            Some(detail) => anyhow::bail!("{detail}"),
            None => anyhow::bail!("the server answered {status}"),
        }
    }

    /// Sends a message; also says which session it was sent in.
    async fn post(&self, message: &Message) -> anyhow::Result<(Option<HeaderValue>, Response<Incoming>)> {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, JSON);
        headers.insert(header::ACCEPT, EITHER);
        let mut used = None;
        if message.version.is_some() {
            message.repeat(&mut headers);
            self.shared.mirror.repeat(message, &mut headers);
        } else if !message.asks("initialize") {
            let session = self.shared.session.lock().await;
            session.name(&mut headers);
            used.clone_from(&session.id);
        }
        let url = self.shared.endpoint.clone();
        let payload = Payload {
            method: Method::POST,
            url,
            headers,
            body: message.text.clone(),
        };
        Ok((used, self.shared.http.send(payload).await?))
    }

    /// Reads the stream that answers a message; takes it up again where it broke off, if the server can.
    async fn stream(&self, message: &Message, body: Incoming) -> anyhow::Result<()> {
        let mut followed = Followed::default();
        let mut ended = self.follow(body, Some(message), &mut followed).await;
        for _ in 0..RESUME {
            let (false, Some(last)) = (followed.answered, followed.last_id.clone()) else {
                break;
            };
            tokio::time::sleep(followed.pause.unwrap_or(PAUSE)).await;
            match self.get(Some(&last)).await {
                Ok(response) if response.status() == StatusCode::OK => {
                    ended = self
                        .follow(response.into_body(), Some(message), &mut followed)
                        .await;
                }
                Ok(response) => anyhow::bail!(
                    "the answer broke off and the server answered {} when asked for the rest",
                    response.status()
                ),
                Err(error) => ended = Err(error),
            }
        }
        if followed.answered || message.id().is_none() {
            return Ok(());
        }
        ended?;
        anyhow::bail!("the server's answer broke off; whether the request was carried out is not known")
    }

    /// Passes the events of a stream back until it ends.
    async fn follow(
        &self,
        mut body: Incoming,
        message: Option<&Message>,
        so_far: &mut Followed,
    ) -> anyhow::Result<()> {
        let mut parser = Parser::new(MAX_MESSAGE);
        while let Some(frame) = body.frame().await {
            let Ok(chunk) = frame.context("the stream broke off")?.into_data() else {
                continue;
            };
            parser.push(chunk);
            while let Some(event) = parser.next_event()? {
                if event.data.is_empty() {
                    continue;
                }
                let id = message.and_then(Message::id);
                so_far.answered |=
                    id.is_some_and(|id| Heard::read(&event.data).is_some_and(|heard| heard.answers(id)));
                match message {
                    Some(message) => self.deliver(message, event.data).await,
                    None => self.say(event.data).await,
                }
            }
            so_far.last_id = parser
                .last_event_id()
                .map(str::to_owned)
                .or(so_far.last_id.take());
            so_far.pause = parser
                .retry()
                .map(|pause| pause.min(LONGEST_PAUSE))
                .or(so_far.pause);
        }
        Ok(())
    }

    /// Passes a message of the server back; learns from answers what must be known to go on.
    async fn deliver(&self, message: &Message, text: Bytes) {
        let result = message
            .id()
            .and_then(|id| Heard::read(&text).filter(|heard| heard.answers(id))?.result);
        if let Some(result) = result {
            if message.asks("initialize") {
                self.shared.session.lock().await.version = agreed(result);
            }
            if message.asks("tools/list") {
                self.shared.mirror.learn(result);
            }
        }
        self.say(text).await;
    }

    async fn say(&self, message: Bytes) {
        // A closed output means the client is gone; the loop over its input ends.
        drop(self.out.send(on_one_line(message)).await);
    }

    /// Opens a lost session again with what the client said when it opened it. The client does not notice.
    async fn reopen(&self, lost: &HeaderValue) -> anyhow::Result<()> {
        let _one_at_a_time = self.shared.opening.lock().await;
        let before = self.shared.session.lock().await.clone();
        if before.id.as_ref() != Some(lost) {
            // Another request did it meanwhile.
            return Ok(());
        }
        let opening = Message::read(before.opening.clone().context("the client has not opened one")?);
        let response = self.post(&opening).await?.1;
        let id = response
            .headers()
            .get(session::ID)
            .cloned()
            .context("the server gave no session")?;
        let body = whole(response.into_body()).await?;
        let mut parser = Parser::new(MAX_MESSAGE);
        parser.push(body.clone());
        let answer =
            std::iter::once(body).chain(std::iter::from_fn(|| Some(parser.next_event().ok()??.data)));
        let agreed = answer
            .filter_map(|text| agreed(Heard::read(&text)?.result?))
            .next();
        let version = agreed.context("the server did not agree on a version")?;
        *self.shared.session.lock().await = Session {
            id: Some(id),
            version: Some(version),
            opening: before.opening,
        };
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string();
        self.post(&Message::read(ready.into())).await?;
        Ok(())
    }

    /// Lists all tools to learn which arguments go into headers; false where that cannot be learned.
    async fn learn_tools(&self, call: &Message) -> bool {
        let Some(meta) = call.param("_meta") else {
            return false;
        };
        let mut cursor: Option<String> = None;
        for _ in 0..PAGES {
            let mut params = serde_json::Map::new();
            params.extend(cursor.take().map(|cursor| ("cursor".to_owned(), cursor.into())));
            params.extend(
                serde_json::from_str(meta.get())
                    .ok()
                    .map(|meta: serde_json::Value| ("_meta".to_owned(), meta)),
            );
            let list = json!({ "jsonrpc": "2.0", "id": "switchboard-mcp", "method": "tools/list", "params": params });
            let Ok((_, response)) = self.post(&Message::read(list.to_string().into())).await else {
                return false;
            };
            let Ok(body) = whole(response.into_body()).await else {
                return false;
            };
            let Some(result) = Heard::read(&body).and_then(|heard| heard.result) else {
                return false;
            };
            cursor = self.shared.mirror.learn(result);
            if cursor.is_none() {
                return true;
            }
        }
        true
    }

    async fn get(&self, last_id: Option<&str>) -> anyhow::Result<Response<Incoming>> {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, EVENTS);
        self.shared.session.lock().await.name(&mut headers);
        headers.extend(last_id.and_then(|id| {
            Some((
                header::HeaderName::from_static("last-event-id"),
                HeaderValue::from_str(id).ok()?,
            ))
        }));
        let payload = Payload {
            method: Method::GET,
            url: self.shared.endpoint.clone(),
            headers,
            body: Bytes::new(),
        };
        self.shared.http.send(payload).await
    }

    /// The standing stream of a session: what the server says by itself. Ends only when the server has none.
    pub(super) async fn listen(&self) {
        let mut followed = Followed::default();
        loop {
            let Some(id) = self.shared.session.lock().await.id.clone() else {
                return;
            };
            match self
                .get(followed.last_id.as_deref())
                .await
                .map(|response| (response.status(), response))
            {
                Ok((StatusCode::OK, response)) => {
                    if let Err(error) = self.follow(response.into_body(), None, &mut followed).await {
                        output::note(&format!("switchboard mcp: {error:#}"));
                    }
                }
                Ok((StatusCode::NOT_FOUND, _)) => {
                    followed = Followed::default();
                    // Where it fails, the next request says so.
                    drop(self.reopen(&id).await);
                }
                Ok((status, _)) if status.is_client_error() => return,
                Ok(_) | Err(_) => {}
            }
            tokio::time::sleep(followed.pause.unwrap_or(PAUSE)).await;
        }
    }

    /// Ends the session, if there is one.
    pub(super) async fn end(&self) {
        let mut headers = HeaderMap::new();
        self.shared.session.lock().await.name(&mut headers);
        if headers.contains_key(session::ID) {
            let url = self.shared.endpoint.clone();
            let payload = Payload {
                method: Method::DELETE,
                url,
                headers,
                body: Bytes::new(),
            };
            // The server forgets an idle session by itself.
            drop(self.shared.http.send(payload).await);
        }
    }
}

fn is_stream(response: &Response<Incoming>) -> bool {
    let kind = response
        .headers()
        .get(header::CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok())
        .unwrap_or_default();
    kind.split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .eq_ignore_ascii_case("text/event-stream")
}

async fn whole(body: Incoming) -> anyhow::Result<Bytes> {
    let read = Limited::new(body, MAX_MESSAGE).collect().await;
    Ok(read
        .map_err(|error| anyhow::anyhow!("the answer could not be read: {error}"))?
        .to_bytes())
}
