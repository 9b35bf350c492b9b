//! What every route works with.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use domain::{Identity, Principal};
use gateway::Gateway;
use identity::oauth::AuthorizationServer;
use identity::{Keys, People};

use crate::guard::Guard;
use crate::limits::Limits;
use crate::mcp::Sessions;
use crate::metrics::Metrics;

/// How the server is set up.
#[derive(Clone)]
pub struct Options {
    /// The kernel.
    pub gateway: Gateway,
    /// The valid keys.
    pub keys: Keys,
    /// The people, and the browsers they are signed in with.
    pub people: People,
    /// The authorization server for MCP clients.
    pub sign_in: AuthorizationServer,
    /// Where people reach this server.
    pub public_url: String,
    /// Further host names requests may name.
    pub allowed_hosts: Vec<String>,
    /// Origins of web pages that may call.
    pub allowed_origins: Vec<String>,
    /// Largest request body, in bytes.
    pub max_body_bytes: usize,
    /// How long a client may take to send a request's head, and to begin with one.
    pub head_within: Duration,
    /// How long it may take to send the body.
    pub body_within: Duration,
    /// Bounds on sessions of MCP clients.
    pub sessions: SessionLimits,
    /// Requests per second and key.
    pub rate_per_second: u32,
    /// How many may come at once.
    pub rate_burst: u32,
}

/// How many sessions MCP clients may have, and how long.
#[derive(Debug, Clone, Copy)]
pub struct SessionLimits {
    /// All together.
    pub total: usize,
    /// Of one key; also how many streams of changes (`subscriptions/listen`) it may have open.
    pub per_key: usize,
    /// How long one without a sign of life is kept.
    pub idle: Duration,
}

impl Default for SessionLimits {
    /// What `config/default.toml` says.
    fn default() -> Self {
        Self {
            total: 10_000,
            per_key: 1_000,
            idle: Duration::from_secs(30 * 60),
        }
    }
}

/// The same, in the form routes use it. Cheap to clone: every request does, more than once.
#[derive(Clone)]
pub(crate) struct AppState(pub(crate) Arc<Parts>);

impl Deref for AppState {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

/// What routes work with.
pub(crate) struct Parts {
    pub(crate) gateway: Gateway,
    pub(crate) keys: Keys,
    pub(crate) people: People,
    pub(crate) sign_in: AuthorizationServer,
    pub(crate) guard: Guard,
    pub(crate) limits: Limits,
    pub(crate) sessions: Sessions,
    pub(crate) metrics: Metrics,
    /// Whether people reach this server over TLS.
    pub(crate) secure: bool,
    pub(crate) openapi: bytes::Bytes,
    /// Largest request body, in bytes.
    pub(crate) max_body_bytes: usize,
}

impl Parts {
    /// Whether a principal that was proven once still is: its key was not revoked meanwhile, its consent has not ended.
    pub(crate) fn holds(&self, principal: &Principal) -> bool {
        match principal.identity {
            Identity::Client { .. } => self.sign_in.tokens().holds(principal),
            Identity::Key { .. } | Identity::Member { .. } | Identity::System => self.keys.holds(principal),
        }
    }
}
