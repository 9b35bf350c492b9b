//! What rules look at before any argument is known: who acts, and the tool.

use std::sync::Arc;

use domain::{Channel, Effect, Risk};

/// Who acts, and where from. The same for every tool of a view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Who {
    /// The agent's handle.
    pub(crate) handle: Arc<str>,
    /// The agent's id.
    pub(crate) id: Arc<str>,
    /// `member`, `admin_key`, `agent_key`, `mcp_client` or `system`.
    pub(crate) caller_kind: &'static str,
    /// The member's or key's id.
    pub(crate) caller_id: Arc<str>,
    /// Where the run comes from.
    pub(crate) channel: Channel,
}

/// A tool, as rules see it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ToolSubject<'a> {
    /// The capability's id or the upstream's own name.
    pub(crate) name: &'a str,
    /// The connection's namespace; none for a capability.
    pub(crate) namespace: Option<&'a str>,
    /// Its risk.
    pub(crate) risk: Risk,
    /// Whether it changes something.
    pub(crate) effect: Effect,
}

/// What a rule can compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Field {
    AgentHandle,
    AgentId,
    CallerKind,
    CallerId,
    Channel,
    ToolName,
    ToolConnection,
    ToolRisk,
    ToolEffect,
    ToolKind,
}

impl<'a> ToolSubject<'a> {
    /// The id of its Cedar entity: a capability's id, or `<namespace>/<upstream name>`.
    pub(crate) fn uid(&self) -> String {
        self.namespace.map_or_else(
            || self.name.to_owned(),
            |namespace| format!("{namespace}/{}", self.name),
        )
    }

    /// Whether its entity has this id.
    pub(crate) fn is(&self, uid: &str) -> bool {
        match self.namespace {
            None => uid == self.name,
            Some(namespace) => uid
                .strip_prefix(namespace)
                .and_then(|rest| rest.strip_prefix('/'))
                .is_some_and(|name| name == self.name),
        }
    }

    /// `capability` or `connection`.
    pub(crate) const fn kind(&self) -> &'static str {
        if self.namespace.is_some() {
            "connection"
        } else {
            "capability"
        }
    }

    /// The namespace, empty for a capability.
    pub(crate) fn connection(&self) -> &'a str {
        self.namespace.unwrap_or_default()
    }
}

impl Field {
    /// Its value.
    pub(crate) fn of<'a>(self, who: &'a Who, tool: &ToolSubject<'a>) -> &'a str {
        match self {
            Self::AgentHandle => &who.handle,
            Self::AgentId => &who.id,
            Self::CallerKind => who.caller_kind,
            Self::CallerId => &who.caller_id,
            Self::Channel => who.channel.as_str(),
            Self::ToolName => tool.name,
            Self::ToolConnection => tool.connection(),
            Self::ToolRisk => tool.risk.as_str(),
            Self::ToolEffect => tool.effect.as_str(),
            Self::ToolKind => tool.kind(),
        }
    }

    /// The only words it can hold, where they are few: a comparison with another is a mistake.
    pub(crate) const fn words(self) -> Option<&'static [&'static str]> {
        match self {
            Self::CallerKind => Some(&["member", "admin_key", "agent_key", "mcp_client", "system"]),
            Self::Channel => Some(&[
                "chat", "voice", "phone", "sms", "whatsapp", "schedule", "webhook", "subagent", "mcp", "api",
            ]),
            Self::ToolRisk => Some(&["low", "medium", "high"]),
            Self::ToolEffect => Some(&["read_only", "mutating"]),
            Self::ToolKind => Some(&["capability", "connection"]),
            Self::AgentHandle | Self::AgentId | Self::CallerId | Self::ToolName | Self::ToolConnection => {
                None
            }
        }
    }

    /// How rules write it.
    pub(crate) const fn written(self) -> &'static str {
        match self {
            Self::AgentHandle => "principal.handle",
            Self::AgentId => "principal.id",
            Self::CallerKind => "context.caller.kind",
            Self::CallerId => "context.caller.id",
            Self::Channel => "context.channel",
            Self::ToolName => "resource.name",
            Self::ToolConnection => "resource.connection",
            Self::ToolRisk => "resource.risk",
            Self::ToolEffect => "resource.effect",
            Self::ToolKind => "resource.kind",
        }
    }

    /// Whether it belongs to the tool rather than to who acts.
    pub(crate) const fn of_tool(self) -> bool {
        match self {
            Self::ToolName | Self::ToolConnection | Self::ToolRisk | Self::ToolEffect | Self::ToolKind => {
                true
            }
            Self::AgentHandle | Self::AgentId | Self::CallerKind | Self::CallerId | Self::Channel => false,
        }
    }
}
