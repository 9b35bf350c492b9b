//! What to connect to, as whom, and within which bounds.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use domain::Secret;
use futures::future::BoxFuture;
use http::HeaderName;
use serde_json::value::RawValue;
use url::Url;

use crate::http::HttpClient;
use crate::stdio::Reaper;
use crate::version::ProtocolVersion;
use crate::wire::{Object, WireError, raw};

/// One server to connect to.
#[derive(Clone)]
pub struct Target {
    /// How the server is reached.
    pub transport: Transport,
    /// Who we say we are.
    pub client: ClientProfile,
    /// Time and size limits of the session.
    pub limits: Limits,
}

/// How a server is reached.
#[derive(Clone)]
pub enum Transport {
    /// A child process speaking on its standard streams; for operators' configuration only.
    Stdio(StdioCommand),
    /// Streamable HTTP (2025-03-26 and later).
    StreamableHttp(HttpTarget),
    /// HTTP with SSE (2024-11-05), deprecated but alive.
    Sse(HttpTarget),
    /// Streamable HTTP, then HTTP with SSE where the server refuses it.
    Auto(HttpTarget),
}

/// A command run without a shell, in its own process group, with a clean environment.
#[derive(Clone)]
pub struct StdioCommand {
    /// The program and its arguments. A program without a slash is looked up in the `PATH` given in `env` or `inherit`.
    pub argv: Vec<OsString>,
    /// Configured variables; they win over inherited ones.
    pub env: Vec<(String, Secret)>,
    /// Variables taken over from our own environment, already resolved by the caller.
    pub inherit: Vec<(String, Secret)>,
    /// The working directory; ours if absent.
    pub cwd: Option<PathBuf>,
    /// What ends the child and all it started if we are killed. Without it, they are only told by the end of their input.
    pub reaper: Option<Reaper>,
}

/// An HTTP endpoint and what to send with every request.
#[derive(Clone)]
pub struct HttpTarget {
    /// The MCP endpoint (or, for [`Transport::Sse`], the stream's address).
    pub url: Url,
    /// Headers of every request, usually credentials.
    pub headers: Vec<(HeaderName, Secret)>,
    /// The client, whose egress guard decides what may be reached.
    pub http: HttpClient,
    /// Where a bearer token comes from, if it can change during the session.
    pub auth: Option<Arc<dyn TokenSource>>,
}

/// A port for access tokens that are refreshed elsewhere.
pub trait TokenSource: Send + Sync {
    /// The token to send now; asked before every request, so it should usually be at hand.
    fn token(&self) -> BoxFuture<'_, Result<Secret, TokenError>>;
}

/// There is no token to send.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// A person has to sign in, or to change something.
    #[error("no access token: {0}")]
    SignIn(String),
    /// There may be one later.
    #[error("no access token at the moment: {0}")]
    Later(String),
}

/// Who we say we are: sent in `initialize`, or with every modern request.
#[derive(Clone, Debug)]
pub struct ClientProfile {
    /// Our `Implementation` object.
    pub info: Box<RawValue>,
    /// The client capabilities we advertise where a request brings none of its own.
    pub capabilities: Box<RawValue>,
}

/// Time and size limits of one session. Durations count from the start of what they bound; keep-alives extend nothing.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Spawning or reaching the server and agreeing on a version, all in all. 10 s.
    pub connect: Duration,
    /// One listing with all its pages. 15 s.
    pub discovery: Duration,
    /// A call whose caller gave no deadline of its own. 30 s.
    pub call: Duration,
    /// How long a silent stdio server may leave `server/discover` unanswered before `initialize` is tried. 2 s.
    pub probe: Duration,
    /// The same over HTTP, where silence costs a request. 5 s.
    pub http_probe: Duration,
    /// How long a child may leave its standard input unread before it counts as stuck. 30 s.
    pub write: Duration,
    /// How long a child may take to exit after its input is closed, and again after SIGTERM. 2 s.
    pub grace: Duration,
    /// The largest message read, in bytes. 16 MiB.
    pub max_message: usize,
    /// How many bytes of stderr and stray output are kept. 64 KiB.
    pub stderr_ring: usize,
    /// Whether to open the optional GET stream of a legacy HTTP session (list changes arrive there). Yes.
    pub standing_stream: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            discovery: Duration::from_secs(15),
            call: Duration::from_secs(30),
            probe: Duration::from_secs(2),
            http_probe: Duration::from_secs(5),
            write: Duration::from_secs(30),
            grace: Duration::from_secs(2),
            max_message: 16 * 1024 * 1024,
            stderr_ring: 64 * 1024,
            standing_stream: true,
        }
    }
}

/// The transport a session ended up on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TransportKind {
    /// A child process.
    Stdio,
    /// Streamable HTTP.
    StreamableHttp,
    /// HTTP with SSE.
    Sse,
}

/// What a connection agreed on. Remember it: the next connection then asks nothing twice, and probes again only if
/// what was remembered fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Negotiated {
    /// The revision spoken.
    pub version: ProtocolVersion,
    /// The transport used.
    pub transport: TransportKind,
}

impl ClientProfile {
    /// A profile from a name, a version and a capabilities object.
    pub fn new(name: &str, version: &str, capabilities: Box<RawValue>) -> Result<Self, WireError> {
        let info = Object::new()
            .with("name", name)?
            .with("version", version)?
            .to_raw()?;
        Ok(Self { info, capabilities })
    }

    /// The same with a title for people.
    pub fn titled(mut self, title: &str) -> Result<Self, WireError> {
        let mut info = Object::parse(&self.info)?;
        info.insert("title", raw(title)?);
        self.info = info.to_raw()?;
        Ok(self)
    }
}

impl HttpTarget {
    /// An endpoint without credentials.
    pub const fn new(url: Url, http: HttpClient) -> Self {
        Self {
            url,
            headers: Vec::new(),
            http,
            auth: None,
        }
    }
}
