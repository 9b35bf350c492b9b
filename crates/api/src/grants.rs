//! Grants: what an agent was given.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::words::Permission;

/// What a grant is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GrantKind {
    /// One exact tool.
    Tool,
    /// The prompts of a connection.
    Prompts,
    /// The resources of a connection.
    Resources,
    /// The skills of a connection.
    Skills,
}

/// One agent, one subject, one permission.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Grant {
    /// Who was given it.
    pub agent_id: Uuid,
    /// Its handle.
    pub agent: String,
    /// What it is about.
    pub kind: GrantKind,
    /// The connection; null for a built-in tool.
    pub connection_id: Option<Uuid>,
    /// The connection's namespace; null for a built-in tool.
    pub connection: Option<String>,
    /// The tool's own name; null for prompts, resources and skills.
    pub tool: Option<String>,
    /// What it says.
    pub permission: Permission,
    /// When it was last set.
    pub at: DateTime<Utc>,
}

/// Sets a grant, replacing the one on the same subject.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetGrant {
    /// The agent's handle or id.
    pub agent: String,
    /// The connection's namespace or id; left out for a built-in tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection: Option<String>,
    /// The exact tool, by its own name; left out for prompts and resources.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// What it is about; `tool` when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<GrantKind>,
    /// What it says. Prompts, resources and skills know allow and deny only.
    pub permission: Permission,
}

/// Takes a grant away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RemoveGrant {
    /// The agent's handle or id.
    pub agent: String,
    /// The connection's namespace or id; left out for a built-in tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection: Option<String>,
    /// The exact tool, by its own name; left out for prompts and resources.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// What it is about; `tool` when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<GrantKind>,
}

/// Which grants to list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListGrants {
    /// Only this agent's, by handle or id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Where the last page ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// At most this many items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100), extend("default" = 50))]
    pub limit: Option<u16>,
}
