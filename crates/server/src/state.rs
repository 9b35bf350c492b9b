//! What every route works with.

use std::sync::Arc;

use gateway::Gateway;
use identity::Keys;

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
    /// Where people reach this server.
    pub public_url: String,
    /// Further host names requests may name.
    pub allowed_hosts: Vec<String>,
    /// Origins of web pages that may call.
    pub allowed_origins: Vec<String>,
    /// Largest request body, in bytes.
    pub max_body_bytes: usize,
    /// Requests per second and key.
    pub rate_per_second: u32,
    /// How many may come at once.
    pub rate_burst: u32,
}

/// The same, in the form routes use it. Cheap to clone.
#[derive(Clone)]
pub(crate) struct AppState {
    pub(crate) gateway: Gateway,
    pub(crate) keys: Keys,
    pub(crate) guard: Arc<Guard>,
    pub(crate) limits: Arc<Limits>,
    pub(crate) sessions: Sessions,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) openapi: Arc<bytes::Bytes>,
}
