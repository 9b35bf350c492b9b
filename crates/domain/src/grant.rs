//! What an agent was given.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::risk::words;
use crate::{AgentId, ConnectionId, Timestamp, ToolRef};

/// What a grant says. Only a grant gives; the absence of one denies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Permission {
    /// A person's explicit choice not to be asked.
    Unattended,
    /// May be used; a high-risk tool asks.
    Allow,
    /// Every call asks.
    Ask,
    /// May not be used, whatever a default says.
    Deny,
}

words!(
    Permission,
    "permission",
    Unattended = "unattended",
    Allow = "allow",
    Ask = "ask",
    Deny = "deny"
);

/// What a grant is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GrantSubject {
    /// One exact tool.
    Tool(ToolRef),
    /// The prompts of a connection: reading them, completing their arguments.
    Prompts(ConnectionId),
    /// The resources of a connection: listing, reading and subscribing.
    Resources(ConnectionId),
    /// The skills of a connection: loading them and reading their files.
    Skills(ConnectionId),
}

impl GrantSubject {
    /// `tool`, `prompts`, `resources` or `skills`.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Tool(_) => "tool",
            Self::Prompts(_) => "prompts",
            Self::Resources(_) => "resources",
            Self::Skills(_) => "skills",
        }
    }

    /// The connection it concerns; none for a capability.
    #[must_use]
    pub fn connection(&self) -> Option<ConnectionId> {
        match self {
            Self::Tool(tool) => tool.connection(),
            Self::Prompts(connection) | Self::Resources(connection) | Self::Skills(connection) => {
                Some(*connection)
            }
        }
    }

    /// The exact tool's name; none for prompts, resources and skills.
    #[must_use]
    pub fn tool_name(&self) -> Option<&Arc<str>> {
        match self {
            Self::Tool(tool) => Some(tool.name()),
            Self::Prompts(_) | Self::Resources(_) | Self::Skills(_) => None,
        }
    }
}

/// One agent, one subject, one permission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// Who was given it.
    pub agent: AgentId,
    /// What it is about.
    pub subject: GrantSubject,
    /// What it says.
    pub permission: Permission,
    /// When it was last set.
    pub at: Timestamp,
}
