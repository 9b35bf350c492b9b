//! A hostile server on one transport.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use bytes::Bytes;

use super::Script;
use super::feeds::{Feeds, speak};
use super::script::{Counts, Played};
use crate::scripted::{Received, Reply, Scripted, Step};

/// How a hostile server is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Way {
    /// A child process, of the revisions with `initialize`.
    Stdio,
    /// HTTP with SSE.
    Sse,
    /// Streamable HTTP with sessions, answers as event streams, and a standing stream.
    Events,
    /// Streamable HTTP without sessions, answers as JSON.
    Json,
    /// Streamable HTTP of the newest revision, answers as event streams.
    Modern,
}

/// What a hostile server answers an HTTP request with in place of its script; none = by the script.
pub type HttpReply = Arc<dyn Fn(&Received) -> Option<Reply> + Send + Sync>;

/// What makes a server hostile.
#[derive(Clone, Default)]
pub struct Plan {
    /// What it says.
    pub script: Script,
    /// What it does besides, over HTTP.
    pub http: Option<HttpReply>,
}

/// A server that behaves until told otherwise. Dropping it closes its port; a child ends with whoever started it.
pub struct Hostile {
    /// How it is reached.
    pub way: Way,
    /// The server, over HTTP.
    pub server: Option<Scripted>,
    script: Script,
    file: PathBuf,
    hostile: Arc<AtomicBool>,
}

impl Hostile {
    /// Starts one that behaves. `file` is where a child finds its script; nothing may be there yet.
    ///
    /// # Errors
    ///
    /// If no port can be had.
    pub async fn start(way: Way, plan: Plan, file: PathBuf) -> std::io::Result<Self> {
        let hostile = Arc::new(AtomicBool::new(false));
        let script = plan.script.clone();
        let server = match way {
            Way::Stdio => None,
            Way::Sse | Way::Events | Way::Json | Way::Modern => {
                let playing = Playing {
                    way,
                    plan,
                    hostile: hostile.clone(),
                    counts: Counts::default(),
                    feeds: Feeds::default(),
                    sessions: AtomicU64::new(0),
                };
                Some(Scripted::start(move |request| playing.reply(request)).await?)
            }
        };
        Ok(Self {
            way,
            server,
            script,
            file,
            hostile,
        })
    }

    /// Tells it to misbehave, or to behave again.
    ///
    /// # Errors
    ///
    /// If the script of a child cannot be written or removed.
    pub fn misbehave(&self, so: bool) -> std::io::Result<()> {
        self.hostile.store(so, Ordering::SeqCst);
        match (self.way, so) {
            (Way::Stdio, true) => {
                let beside = self.file.with_extension("new");
                std::fs::write(&beside, serde_json::to_vec(&self.script)?)?;
                std::fs::rename(beside, &self.file)
            }
            (Way::Stdio, false) if self.file.exists() => std::fs::remove_file(&self.file),
            _ => Ok(()),
        }
    }

    /// The arguments of the program `scripted-child` that make it this server.
    #[must_use]
    pub fn arguments(&self) -> Vec<String> {
        vec!["--script".to_owned(), self.file.to_string_lossy().into_owned()]
    }

    /// Its URL, over HTTP.
    #[must_use]
    pub fn url(&self) -> Option<&str> {
        self.server.as_ref().map(Scripted::url)
    }
}

impl fmt::Debug for Hostile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hostile")
            .field("way", &self.way)
            .finish_non_exhaustive()
    }
}

struct Playing {
    way: Way,
    plan: Plan,
    hostile: Arc<AtomicBool>,
    counts: Counts,
    feeds: Feeds,
    sessions: AtomicU64,
}

impl Playing {
    fn reply(&self, request: &Received) -> Reply {
        let hostile = self.hostile.load(Ordering::SeqCst);
        if hostile && let Some(reply) = self.plan.http.as_ref().and_then(|http| http(request)) {
            return reply;
        }
        if request.method == http::Method::GET {
            return match self.way {
                Way::Sse => self
                    .feeds
                    .open(|number| format!("event: endpoint\ndata: /message?session={number}\n\n")),
                Way::Events => self.feeds.open(|_| ": open\n\n".to_owned()),
                Way::Json | Way::Modern | Way::Stdio => Reply::status(405),
            };
        }
        if request.method != http::Method::POST {
            return Reply::status(200);
        }
        let message = request.json();
        let method = message["method"].as_str().unwrap_or_default();
        let n = self.counts.another(method);
        let plain = Script::default();
        let script = if hostile { &self.plan.script } else { &plain };
        let played = script.play(&message, n, self.way == Way::Modern);
        let asked = !message["id"].is_null() && !method.is_empty();
        match self.way {
            Way::Sse => {
                let session = request
                    .uri
                    .query()
                    .and_then(|query| query.strip_prefix("session="));
                let stream = session
                    .and_then(|s| s.parse().ok())
                    .and_then(|n| self.feeds.get(n));
                let Some(stream) = stream else {
                    return Reply::status(404);
                };
                speak(stream, played);
                Reply::status(202)
            }
            Way::Events if method == "initialize" => {
                let session = self.sessions.fetch_add(1, Ordering::SeqCst);
                as_events(played).header("mcp-session-id", &format!("s{session}"))
            }
            Way::Events | Way::Modern if asked => as_events(played),
            Way::Json | Way::Stdio if asked => as_json(played),
            Way::Events | Way::Modern | Way::Json | Way::Stdio => {
                if let Some(stream) = self.feeds.last() {
                    speak(stream, played);
                }
                Reply::status(202)
            }
        }
    }
}

/// A message as an event, whatever bytes it is made of.
pub(super) fn event(bytes: &[u8]) -> Bytes {
    let mut event = Vec::with_capacity(bytes.len() + 32);
    event.extend_from_slice(b"event: message\n");
    for line in bytes.split(|byte| *byte == b'\n') {
        event.extend_from_slice(b"data: ");
        event.extend_from_slice(line);
        event.push(b'\n');
    }
    event.push(b'\n');
    Bytes::from(event)
}

pub(super) const fn comment() -> Bytes {
    Bytes::from_static(b": still here\n\n")
}

fn as_events(played: Vec<Played>) -> Reply {
    let stream = Reply::status(200).header("content-type", "text/event-stream");
    played.into_iter().fold(stream, |stream, one| {
        stream.then(match one {
            Played::Message(bytes) => Step::Bytes(event(&bytes)),
            Played::Part(bytes) => Step::Bytes(Bytes::from(bytes)),
            Played::Comment => Step::Bytes(comment()),
            Played::Pause(pause) => Step::Pause(pause),
            Played::Hang => Step::Hang,
            Played::End => Step::Break,
        })
    })
}

fn as_json(played: Vec<Played>) -> Reply {
    match played.first() {
        Some(Played::Hang) => return Reply::hang(),
        Some(Played::End) => return Reply::close(),
        Some(_) | None => {}
    }
    let body = Reply::status(200).header("content-type", "application/json");
    played.into_iter().fold(body, |body, one| {
        body.then(match one {
            Played::Message(bytes) | Played::Part(bytes) => Step::Bytes(Bytes::from(bytes)),
            Played::Comment => Step::Bytes(Bytes::from_static(b"\n")),
            Played::Pause(pause) => Step::Pause(pause),
            Played::Hang => Step::Hang,
            Played::End => Step::Break,
        })
    })
}
