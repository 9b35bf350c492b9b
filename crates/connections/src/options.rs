//! What the connections of a process are made of, and what bounds them.

use std::sync::Arc;
use std::time::Duration;

use domain::Clock;
use mcp::Reaper;
use mcp::egress::Egress;
use mcp::http::{CertificateDer, HttpLimits};
use store::Store;

use crate::registry::RegistryOptions;
use crate::schema::Schemas;
use crate::{CommandTable, SignInOptions};

/// What the connections of a process are made of.
#[derive(Clone)]
pub struct Options {
    /// Where settings, catalogues, pins and secrets lie.
    pub store: Store,
    /// Wall-clock time, for what is stored.
    pub clock: Clock,
    /// The operator's commands.
    pub commands: CommandTable,
    /// What ends the commands' processes if ours is killed.
    pub reaper: Option<Reaper>,
    /// Which URLs may be reached: public `https`, and the exact URLs the operator registered for MCP servers.
    pub egress: Arc<Egress>,
    /// What signing in needs to know of this server.
    pub sign_in: SignInOptions,
    /// Certificate authorities trusted besides the public ones, DER.
    pub extra_roots: Vec<CertificateDer<'static>>,
    /// Compiled schemas, shared with whoever checks arguments.
    pub schemas: Schemas,
    /// Bounds of time, size and number.
    pub limits: Limits,
    /// Whether each workspace is given the platform's own connections: Exa without a key.
    pub provides: bool,
    /// Where the registry of servers is.
    pub registry: RegistryOptions,
}

/// Bounds of time, size and number. Durations count from the start of what they bound; keep-alives extend nothing.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Starting or reaching a server and agreeing on a version. 10 s.
    pub connect: Duration,
    /// Listing everything a server offers. 15 s.
    pub discovery: Duration,
    /// A call, where neither its caller nor its connection says otherwise. 30 s.
    pub call: Duration,
    /// How long all in all a call may wait for answers of its client to what its server asks meanwhile. That time does not count as
    /// the call's. 10 min.
    pub answer: Duration,
    /// How long a silent stdio server may leave the modern opening unanswered. 2 s.
    pub probe: Duration,
    /// How long a child may take to exit by itself, and again after SIGTERM. 2 s.
    pub grace: Duration,
    /// Calls in flight at one connection; further ones wait. 64.
    pub calls: usize,
    /// Processes of one connection. 8.
    pub processes: usize,
    /// How long a session of one client is kept without a call. 10 min.
    pub idle: Duration,
    /// Tools, prompts, resources, templates and skills of a catalogue, each. 5,000.
    pub items: usize,
    /// Bytes of a catalogue. 32 MiB.
    pub bytes: usize,
    /// The largest message of a server, in bytes. 16 MiB.
    pub message: usize,
    /// How much of what a server writes to stderr is kept, in bytes. 64 KiB.
    pub stderr: usize,
    /// A process that ends sooner than this after its start ended quickly. 10 s.
    pub quick: Duration,
    /// The first wait after repeated quick ends, and after a failed preparation; doubles each time. 500 ms.
    pub backoff: Duration,
    /// The longest such wait. 5 min.
    pub backoff_max: Duration,
    /// How long changes a server tells of are gathered before its lists are read again. 300 ms.
    pub settle: Duration,
    /// How soon lists are read again at the earliest because their server said that they stay true only so long. 60 s.
    pub relist: Duration,
    /// How often a server at a URL is looked at although nobody calls it, give or take a quarter. 5 min.
    pub check: Duration,
    /// HTTP: pools, heads, bodies.
    pub http: HttpLimits,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            discovery: Duration::from_secs(15),
            call: Duration::from_secs(30),
            answer: Duration::from_secs(600),
            probe: Duration::from_secs(2),
            grace: Duration::from_secs(2),
            calls: 64,
            processes: 8,
            idle: Duration::from_secs(600),
            items: 5_000,
            bytes: 32 * 1024 * 1024,
            message: 16 * 1024 * 1024,
            stderr: 64 * 1024,
            quick: Duration::from_secs(10),
            backoff: Duration::from_millis(500),
            backoff_max: Duration::from_secs(300),
            settle: Duration::from_millis(300),
            relist: Duration::from_secs(60),
            check: Duration::from_secs(300),
            http: HttpLimits::default(),
        }
    }
}

impl Limits {
    /// What of this the protocol holds to.
    pub(crate) fn session(&self) -> mcp::Limits {
        mcp::Limits {
            connect: self.connect,
            discovery: self.discovery,
            call: self.call,
            probe: self.probe,
            grace: self.grace,
            max_message: self.message,
            stderr_ring: self.stderr,
            ..mcp::Limits::default()
        }
    }

    /// The wait after so many failures in a row.
    pub(crate) fn wait_after(&self, failures: u32) -> Duration {
        let doubled = 1_u32
            .checked_shl(failures.saturating_sub(1).min(20))
            .unwrap_or(u32::MAX);
        self.backoff.saturating_mul(doubled).min(self.backoff_max)
    }
}

impl Options {
    /// The usual rest around a store: system clock, no commands, public URLs only.
    #[must_use]
    pub fn new(store: Store) -> Self {
        Self {
            store,
            clock: Clock::System,
            commands: CommandTable::default(),
            reaper: None,
            egress: Arc::new(Egress::public()),
            sign_in: SignInOptions::default(),
            extra_roots: Vec::new(),
            schemas: Schemas::default(),
            limits: Limits::default(),
            provides: false,
            registry: RegistryOptions::default(),
        }
    }
}
