//! The record, for auditors: facts in order, chained by hashes.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

/// One fact and its link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AuditEntry {
    /// Its place in the record.
    pub seq: i64,
    /// The call it belongs to.
    pub call_id: Uuid,
    /// When it happened.
    pub at: DateTime<Utc>,
    /// `decided`, `ended`, `answered` or `changed`.
    pub kind: String,
    /// Who: `member`, `admin_key`, `agent_key`, `mcp_client` or `system`.
    pub actor_kind: String,
    /// The member's or key's id.
    pub actor_id: Option<String>,
    /// The agent acting or acted for.
    pub agent_id: Option<Uuid>,
    /// The fact itself as it is written, which is what the chain covers: codes, names and digests, never a secret, an argument or a
    /// result.
    pub fact: Value,
    /// The link's hash; null while it is not chained yet (at most about a second).
    pub hash: Option<String>,
}

/// Checks the chain.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VerifyAudit {
    /// A head noted earlier: its place in the record. Given with `expected_hash`, a record that was cut shorter is found out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_seq: Option<i64>,
    /// The hash of that head.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_hash: Option<String>,
}

/// What checking the chain found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AuditVerification {
    /// Whether every link holds.
    pub intact: bool,
    /// Facts in the record.
    pub entries: u64,
    /// Facts that are chained.
    pub linked: u64,
    /// Facts at the end that are not chained yet.
    pub unchained_tail: u64,
    /// The place of the first link that does not hold.
    pub broken_at: Option<i64>,
    /// What does not hold there.
    pub broken_because: Option<String>,
    /// The place of the last link.
    pub head_seq: Option<i64>,
    /// Its hash. Note both somewhere else to be able to tell later that nothing was cut off.
    pub head_hash: Option<String>,
}
