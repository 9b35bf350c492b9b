//! Agents: identities that use tools.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// An agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Agent {
    /// Its id.
    pub id: Uuid,
    /// Its handle, unique in the workspace.
    pub handle: String,
    /// What it is for.
    pub description: String,
    /// A disabled agent may call nothing.
    pub enabled: bool,
    /// Whether a person has taken it as theirs. Until then it may call nothing.
    pub claimed: bool,
    /// Pass it as `expected_version` when updating.
    pub version: u32,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When it was last changed.
    pub updated_at: DateTime<Utc>,
}

/// Makes an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateAgent {
    /// Its handle: a-z, 0-9 and inner hyphens.
    #[schemars(length(min = 1, max = 64), regex(pattern = r"^[a-z0-9][a-z0-9-]*$"))]
    pub handle: String,
    /// What it is for.
    #[serde(default)]
    #[schemars(length(max = 500))]
    pub description: String,
    /// Whether a person has taken it as theirs; true when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed: Option<bool>,
}

/// Names an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgentQuery {
    /// The agent's handle or id.
    pub agent: String,
}

/// Changes an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdateAgent {
    /// The agent's handle or id.
    pub agent: String,
    /// The version last read.
    pub expected_version: u32,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 500))]
    pub description: Option<String>,
    /// A disabled agent may call nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// True: a person takes it as theirs. A claim is not taken back; disable the agent instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed: Option<bool>,
}
