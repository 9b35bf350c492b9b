//! The shape of the configuration file. `config/default.toml` explains every setting.

use serde::Deserialize;

use super::{CommandEntry, SecretRef};

/// Everything.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    pub(crate) server: Server,
    pub(crate) store: StoreSection,
    pub(crate) vault: Vault,
    pub(crate) approvals: Approvals,
    pub(crate) oauth: Oauth,
    pub(crate) names: Names,
    pub(crate) mcp: Mcp,
    pub(crate) upstream: Upstream,
    pub(crate) presets: Presets,
    pub(crate) registry: Registry,
    pub(crate) log: Log,
    #[serde(default)]
    pub(crate) connections: Vec<CommandEntry>,
    #[serde(default)]
    pub(crate) internal_urls: Vec<InternalUrl>,
    #[serde(default)]
    pub(crate) rules: Vec<RuleEntry>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Server {
    pub(crate) listen: std::net::SocketAddr,
    pub(crate) public_url: String,
    pub(crate) allowed_hosts: Vec<String>,
    pub(crate) allowed_origins: Vec<String>,
    pub(crate) max_body_bytes: usize,
    pub(crate) head_seconds: u64,
    pub(crate) body_seconds: u64,
    pub(crate) rate_per_second: u32,
    pub(crate) rate_burst: u32,
    pub(crate) drain_seconds: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StoreBackend {
    Sqlite,
    Postgres,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Durability {
    PowerCut,
    ProcessCrash,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StoreSection {
    pub(crate) backend: StoreBackend,
    pub(crate) max_connections: u32,
    pub(crate) durability: Durability,
    pub(crate) url: Option<SecretRef>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Vault {
    pub(crate) key: Option<SecretRef>,
    pub(crate) previous_keys: Vec<SecretRef>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Approvals {
    pub(crate) expire_after_seconds: u64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Oauth {
    pub(crate) state_signing_secret: Option<SecretRef>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Names {
    pub(crate) max_length: usize,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Mcp {
    pub(crate) max_sessions: usize,
    pub(crate) max_sessions_per_key: usize,
    pub(crate) session_idle_seconds: u64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Upstream {
    pub(crate) connections_per_agent: u32,
    pub(crate) connect_seconds: u64,
    pub(crate) discovery_seconds: u64,
    pub(crate) call_seconds: u64,
    pub(crate) answer_seconds: u64,
    pub(crate) max_in_flight: usize,
    pub(crate) max_processes: usize,
    pub(crate) idle_seconds: u64,
    pub(crate) relist_seconds: u64,
    pub(crate) check_seconds: u64,
    pub(crate) max_message_bytes: usize,
    pub(crate) max_tools: usize,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Presets {
    pub(crate) provide_exa: bool,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Registry {
    pub(crate) url: String,
    pub(crate) keep_seconds: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LogFormat {
    Text,
    Json,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Log {
    pub(crate) filter: String,
    pub(crate) format: LogFormat,
}

/// An internal address that may be reached for one purpose.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct InternalUrl {
    pub(crate) purpose: Purpose,
    pub(crate) url: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Purpose {
    /// An MCP server.
    Mcp,
    /// An authorization server's documents and endpoints.
    Oauth,
    /// The registry of servers.
    Registry,
}

/// One rule.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RuleEntry {
    pub(crate) id: String,
    #[serde(default)]
    pub(crate) description: String,
    pub(crate) policy: String,
    #[serde(default = "yes")]
    pub(crate) enabled: bool,
}

impl Config {
    /// The internal addresses that may be reached for this purpose.
    pub(crate) fn internal(&self, purpose: Purpose) -> impl Iterator<Item = &str> {
        let of_purpose = move |entry: &&InternalUrl| entry.purpose == purpose;
        self.internal_urls
            .iter()
            .filter(of_purpose)
            .map(|entry| entry.url.as_str())
    }

    /// Every setting that is a time, by its name, in seconds.
    pub(crate) fn times(&self) -> Vec<(&'static str, u64)> {
        let up = &self.upstream;
        vec![
            ("server.head_seconds", self.server.head_seconds),
            ("server.body_seconds", self.server.body_seconds),
            ("registry.keep_seconds", self.registry.keep_seconds),
            ("mcp.session_idle_seconds", self.mcp.session_idle_seconds),
            ("server.drain_seconds", self.server.drain_seconds),
            (
                "approvals.expire_after_seconds",
                self.approvals.expire_after_seconds,
            ),
            ("upstream.connect_seconds", up.connect_seconds),
            ("upstream.discovery_seconds", up.discovery_seconds),
            ("upstream.call_seconds", up.call_seconds),
            ("upstream.answer_seconds", up.answer_seconds),
            ("upstream.idle_seconds", up.idle_seconds),
            ("upstream.relist_seconds", up.relist_seconds),
            ("upstream.check_seconds", up.check_seconds),
        ]
    }
}

pub(super) const fn yes() -> bool {
    true
}
