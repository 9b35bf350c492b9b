//! What happened, for users.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::words::{Decision, Effect, Risk, Status};

/// One call: what was decided and how it ended. Never its arguments or its result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Activity {
    /// Its place in the record.
    pub seq: i64,
    /// The call.
    pub call_id: Uuid,
    /// When it was decided.
    pub at: DateTime<Utc>,
    /// Who: `member`, `admin_key`, `agent_key`, `mcp_client` or `system`.
    pub actor_kind: String,
    /// The member's or key's id.
    pub actor_id: Option<String>,
    /// The agent acting or acted for.
    pub agent_id: Option<Uuid>,
    /// Where it came from.
    pub channel: String,
    /// The operator's surface it came through: `api`, `mcp` or `cli`; null for what an agent called itself.
    pub surface: Option<String>,
    /// `tool`, `prompt` or `resource`.
    pub kind: String,
    /// The connection it went to; null for a built-in tool.
    pub connection_id: Option<Uuid>,
    /// The name at its owner.
    pub name: String,
    /// The name the caller used.
    pub exposed_name: String,
    /// What was decided.
    pub decision: Decision,
    /// Why: a stable code.
    pub reason: String,
    /// The rule that decided, where one did.
    pub rule: Option<String>,
    /// How risky it is.
    pub risk: Risk,
    /// Whether it may change something.
    pub effect: Effect,
    /// The approval it asked for or spent.
    pub approval_id: Option<Uuid>,
    /// How it stands. A call that asked a person stands as the question does.
    pub status: Status,
    /// Why not plainly well: a stable code.
    pub code: Option<String>,
    /// From decision to end, in microseconds.
    pub duration_us: Option<u64>,
}

/// Which calls to list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListActivity {
    /// Only this agent's, by handle or id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Only calls to this connection, by namespace or id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection: Option<String>,
    /// Only calls that stand so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// Only this call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<Uuid>,
    /// Where the last page ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// At most this many items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100), extend("default" = 50))]
    pub limit: Option<u16>,
}
