//! API keys.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::words::KeyKind;

/// A key, without its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Key {
    /// Its id.
    pub id: Uuid,
    /// What it may be.
    pub kind: KeyKind,
    /// The agent it acts as, for an agent key.
    pub agent_id: Option<Uuid>,
    /// What people call it.
    pub name: String,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When it was last used; null when it never was. Exact to about a minute.
    pub last_used_at: Option<DateTime<Utc>>,
    /// When it was revoked; null while it is valid.
    pub revoked_at: Option<DateTime<Utc>>,
}

/// Makes a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateKey {
    /// What people call it.
    #[schemars(length(min = 1, max = 100))]
    pub name: String,
    /// What it may be.
    pub kind: KeyKind,
    /// For an agent key: the agent's handle or id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

/// A new key with its secret, which is shown this once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CreatedKey {
    /// The key.
    #[serde(flatten)]
    pub key: Key,
    /// The secret. It is not stored and cannot be shown again.
    pub secret: String,
}

/// Names a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KeyQuery {
    /// The key's id.
    pub key: Uuid,
}

/// Who asks, as the server sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Caller {
    /// `member`, `admin_key`, `agent_key`, `mcp_client` or `system`.
    pub kind: String,
    /// The member's or key's id.
    pub id: Option<Uuid>,
    /// The organization.
    pub organization_id: Uuid,
    /// The workspace.
    pub workspace_id: Uuid,
    /// The key, for a key.
    pub key: Option<Key>,
    /// The agent that an agent's key acts as.
    pub agent: Option<crate::agents::Agent>,
}

/// Asks for nothing in particular.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CallerQuery {}
