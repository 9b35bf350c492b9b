//! What can be called, and what is known about it.

use std::fmt;
use std::sync::Arc;

use crate::risk::words;
use crate::{ConnectionId, Effect, Risk, Timestamp};

/// One exact tool.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ToolRef {
    /// A built-in capability, by its id.
    Capability(Arc<str>),
    /// A tool of a connection, by the name its server gives it.
    Upstream {
        /// Whose tool it is.
        connection: ConnectionId,
        /// The upstream's own name.
        name: Arc<str>,
    },
}

/// What a call goes to: a tool, or one of the other things an MCP server offers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    /// A tool.
    Tool(ToolRef),
    /// A prompt of a connection.
    Prompt {
        /// Whose prompt it is.
        connection: ConnectionId,
        /// The upstream's own name.
        name: Arc<str>,
    },
    /// A resource of a connection.
    Resource {
        /// Whose resource it is.
        connection: ConnectionId,
        /// Its URI, as the upstream gives it.
        uri: Arc<str>,
    },
    /// A skill of a connection: its `SKILL.md` or, by the call's arguments, another of its files.
    Skill {
        /// Whose skill it is.
        connection: ConnectionId,
        /// The URI of its `SKILL.md`.
        uri: Arc<str>,
    },
}

impl ToolRef {
    /// The connection it belongs to; none for a capability.
    #[must_use]
    pub fn connection(&self) -> Option<ConnectionId> {
        match self {
            Self::Capability(_) => None,
            Self::Upstream { connection, .. } => Some(*connection),
        }
    }

    /// The capability's id or the upstream's own name.
    #[must_use]
    pub fn name(&self) -> &Arc<str> {
        match self {
            Self::Capability(name) | Self::Upstream { name, .. } => name,
        }
    }
}

impl Target {
    /// The connection it belongs to; none for a capability.
    #[must_use]
    pub fn connection(&self) -> Option<ConnectionId> {
        match self {
            Self::Tool(tool) => tool.connection(),
            Self::Prompt { connection, .. }
            | Self::Resource { connection, .. }
            | Self::Skill { connection, .. } => Some(*connection),
        }
    }

    /// The name or URI at its owner.
    #[must_use]
    pub fn name(&self) -> &Arc<str> {
        match self {
            Self::Tool(tool) => tool.name(),
            Self::Prompt { name, .. } => name,
            Self::Resource { uri, .. } | Self::Skill { uri, .. } => uri,
        }
    }

    /// `tool`, `prompt`, `resource` or `skill`.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Tool(_) => "tool",
            Self::Prompt { .. } => "prompt",
            Self::Resource { .. } => "resource",
            Self::Skill { .. } => "skill",
        }
    }
}

impl fmt::Display for ToolRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Capability(id) => f.write_str(id),
            Self::Upstream { connection, name } => write!(f, "{connection}/{name}"),
        }
    }
}

/// What a person (or a preset) said about a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Classification {
    /// Its risk.
    pub risk: Risk,
    /// Whether it changes anything.
    pub effect: Effect,
    /// When this was said.
    pub at: Timestamp,
}

/// What an upstream says about its own tool. Shown to people; the read-only hint makes a tool eligible for waves and nothing more.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Hints {
    /// `readOnlyHint`.
    pub read_only: Option<bool>,
    /// `destructiveHint`.
    pub destructive: Option<bool>,
    /// `idempotentHint`.
    pub idempotent: Option<bool>,
    /// `openWorldHint`.
    pub open_world: Option<bool>,
}

/// Where a tool's definition stands between what its server says and what a person accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DefinitionState {
    /// What the server says is what is pinned.
    Pinned,
    /// The server changed it; nobody accepted the change yet. Not callable.
    Quarantined,
    /// The server no longer lists it.
    Gone,
    /// Its schema cannot be compiled. Not callable.
    Unusable,
}

words!(
    DefinitionState,
    "definition state",
    Pinned = "pinned",
    Quarantined = "quarantined",
    Gone = "gone",
    Unusable = "unusable"
);

impl DefinitionState {
    /// Whether a call may use this definition.
    #[must_use]
    pub const fn callable(self) -> bool {
        matches!(self, Self::Pinned)
    }
}

use std::str::FromStr;
