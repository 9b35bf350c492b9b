//! One configured MCP server.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::risk::words;
use crate::{
    Account, AccountKind, AccountState, AccountStatus, AgentId, ConnectionId, ContextSelection, Label,
    Namespace, Timestamp,
};

/// How a server is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Transport {
    /// A child process; operator configuration only.
    Stdio,
    /// Streamable HTTP.
    StreamableHttp,
    /// The legacy HTTP+SSE transport of 2024-11-05.
    Sse,
    /// Streamable HTTP, then HTTP+SSE.
    Auto,
}

words!(
    Transport,
    "transport",
    Stdio = "stdio",
    StreamableHttp = "streamable_http",
    Sse = "sse",
    Auto = "auto"
);

/// How live upstream sessions are shared between callers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sharing {
    /// One session for all.
    Shared,
    /// One per client session, else per principal and agent.
    PerSession,
    /// A fresh one for every call.
    PerCall,
}

words!(
    Sharing,
    "sharing mode",
    Shared = "shared",
    PerSession = "per_session",
    PerCall = "per_call"
);

/// Whose connection it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ConnectionOwner {
    /// The workspace's: grants nobody anything.
    Workspace,
    /// One agent's: what it offers is granted to that agent.
    Agent(AgentId),
}

/// Where the server is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Endpoint {
    /// A command of the operator's configuration, by the name it has there. The command itself is never stored.
    Command {
        /// The `name` of the `[[connections]]` entry.
        configured: Arc<str>,
    },
    /// A URL.
    Url {
        /// As it was registered.
        url: Arc<str>,
        /// How it is reached.
        transport: Transport,
    },
}

impl Endpoint {
    /// How it is reached.
    #[must_use]
    pub const fn transport(&self) -> Transport {
        match self {
            Self::Command { .. } => Transport::Stdio,
            Self::Url { transport, .. } => *transport,
        }
    }
}

/// Where discovery stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ConnectionState {
    /// Not discovered yet.
    Pending,
    /// Discovered.
    Ready,
    /// Discovery failed; the health says why.
    Error,
}

words!(
    ConnectionState,
    "preparation status",
    Pending = "pending",
    Ready = "ready",
    Error = "error"
);

/// The closed list of health codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Health {
    /// Answered the last check.
    Ok,
    /// Never checked.
    Unchecked,
    /// Answers, but something is off: malformed tools, a truncated catalogue, noise.
    Degraded,
    /// Cannot be reached.
    Unreachable,
    /// Refused our credential.
    AuthRejected,
    /// Limits our rate.
    RateLimited,
    /// No answer in time.
    Timeout,
    /// Does not speak MCP as any version we know.
    Protocol,
    /// The address is not allowed.
    EgressRefused,
    /// The command ends or cannot be started.
    ProcessFailed,
    /// The command is not in the operator's configuration any more.
    NotConfigured,
    /// A person has to sign in.
    SignInRequired,
}

words!(
    Health,
    "health code",
    Ok = "ok",
    Unchecked = "unchecked",
    Degraded = "degraded",
    Unreachable = "unreachable",
    AuthRejected = "auth_rejected",
    RateLimited = "rate_limited",
    Timeout = "timeout",
    Protocol = "protocol",
    EgressRefused = "egress_refused",
    ProcessFailed = "process_failed",
    NotConfigured = "not_configured",
    SignInRequired = "sign_in_required"
);

/// What people see at a glance, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Light {
    /// Answered the last check and holds a live credential.
    Green,
    /// Degraded or unchecked.
    Yellow,
    /// Cannot be used.
    Red,
}

words!(Light, "light", Green = "green", Yellow = "yellow", Red = "red");

/// What a harmless call, started by a person, showed of a connection's credential.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Proof {
    /// The server did what was asked of it.
    Proven,
    /// The call says nothing about the credential: it was not made, or failed for another reason.
    Unproven,
    /// The server refused the credential.
    Rejected,
}

words!(
    Proof,
    "proof",
    Proven = "proven",
    Unproven = "unproven",
    Rejected = "rejected"
);

/// What verifying a connection found, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verified {
    /// What was found.
    pub proof: Proof,
    /// When.
    pub at: Timestamp,
}

/// Which entry of the catalogue of presets a connection was made from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PresetRef {
    /// The preset.
    pub id: Arc<str>,
    /// Its variant.
    pub variant: Arc<str>,
    /// Whether the platform itself gave it to the workspace and nobody switched it off since.
    pub provided: bool,
}

impl Health {
    /// The light of this health.
    #[must_use]
    pub const fn light(self) -> Light {
        match self {
            Self::Ok => Light::Green,
            Self::Unchecked | Self::Degraded | Self::RateLimited => Light::Yellow,
            Self::Unreachable
            | Self::AuthRejected
            | Self::Timeout
            | Self::Protocol
            | Self::EgressRefused
            | Self::ProcessFailed
            | Self::NotConfigured
            | Self::SignInRequired => Light::Red,
        }
    }
}

impl Connection {
    /// What people see at a glance: whether the last check answered, and whether a live credential is held (`account`, where its
    /// credential is a token).
    #[must_use]
    pub fn light(&self, account: Option<&AccountState>, now: Timestamp) -> Light {
        if !self.account.kind.has_tokens() {
            return self.health.light();
        }
        let credential = match account.map(|account| (account.status, account)) {
            Some((AccountStatus::Connected, account)) => {
                let lapsed = account.expires_at.is_some_and(|at| at <= now);
                match (
                    lapsed,
                    account.refreshable || self.account.kind != AccountKind::Oauth,
                ) {
                    (false, _) => Light::Green,
                    // Renewed with the next call.
                    (true, true) => Light::Yellow,
                    (true, false) => Light::Red,
                }
            }
            // A client's own account is asked for with the first use.
            None | Some((AccountStatus::NotConnected, _)) if self.account.kind != AccountKind::Oauth => {
                Light::Yellow
            }
            Some((AccountStatus::SetupPending, _)) => Light::Yellow,
            _ => Light::Red,
        };
        credential.max(self.health.light())
    }
}

/// One configured MCP server, as it is stored; no secret is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connection {
    /// Its id.
    pub id: ConnectionId,
    /// Whose it is.
    pub owner: ConnectionOwner,
    /// What people call it; unique in the workspace.
    pub label: Label,
    /// The prefix of its tools' names; unique in the workspace, fixed at creation.
    pub namespace: Namespace,
    /// Where it is.
    pub endpoint: Endpoint,
    /// How we prove ourselves.
    pub account: Account,
    /// Names of further headers sent with every request; their values are in the vault.
    pub header_names: Vec<Arc<str>>,
    /// How live sessions are shared.
    pub sharing: Sharing,
    /// Which tools it offers; none = all.
    pub allowed_tools: Option<Vec<Arc<str>>>,
    /// Which prompts, resources and skills it offers.
    pub context: ContextSelection,
    /// Off: nothing of it can be used.
    pub enabled: bool,
    /// A person's explicit statement. Cleared when url, transport or account kind change.
    pub trusted: bool,
    /// Longest wait for the answer of a call, in milliseconds; none = the server's default.
    pub call_timeout_ms: Option<u32>,
    /// Which preset it was made from; what the preset says holds for its tools.
    pub preset: Option<PresetRef>,
    /// What verifying it found. Forgotten when URL, transport, account or headers change.
    pub verified: Option<Verified>,
    /// Where discovery stands.
    pub state: ConnectionState,
    /// What the last check said.
    pub health: Health,
    /// A sentence for people on the health, without secrets.
    pub health_detail: Option<String>,
    /// When it was last checked.
    pub checked_at: Option<Timestamp>,
    /// What was negotiated last (protocol version and transport), so that it is not probed again.
    pub negotiated: Option<Arc<str>>,
    /// The number of the stored catalogue; 0 = none.
    pub catalogue_version: u32,
    /// When that catalogue was fetched.
    pub catalogue_at: Option<Timestamp>,
    /// Grows by one with each change of the settings; updates name the version they saw.
    pub version: u32,
    /// When it was made.
    pub created_at: Timestamp,
}
