//! Questions to a person about exactly one call.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::words::{Answer, ApprovalState, Risk};

/// A question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Approval {
    /// Its id.
    pub id: Uuid,
    /// The call that was parked.
    pub call_id: Uuid,
    /// The agent that asks.
    pub agent_id: Uuid,
    /// Its handle.
    pub agent: String,
    /// The tool, by the name the caller used.
    pub tool: String,
    /// The connection it belongs to; null for a built-in tool.
    pub connection_id: Option<Uuid>,
    /// Its namespace; null for a built-in tool.
    pub connection: Option<String>,
    /// How risky the tool is.
    pub risk: Option<Risk>,
    /// Exactly what will be sent; null once the question is closed, when only the digest is kept.
    pub arguments: Option<Value>,
    /// The digest of the arguments.
    pub arguments_digest: String,
    /// The digest of the tool's definition.
    pub definition_digest: String,
    /// Why a person is asked: a stable code.
    pub reason: String,
    /// Why, in a sentence.
    pub reason_text: String,
    /// The rule that asks, where one does.
    pub rule: Option<String>,
    /// Where it stands.
    pub state: ApprovalState,
    /// Who answered: `member:<id>`, `admin_key:<id>`; null while nobody did.
    pub answered_by: Option<String>,
    /// What they noted.
    pub note: Option<String>,
    /// When it was asked.
    pub created_at: DateTime<Utc>,
    /// When it lapses.
    pub expires_at: DateTime<Utc>,
    /// When it was answered.
    pub answered_at: Option<DateTime<Utc>>,
}

/// Which questions to list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListApprovals {
    /// Only those in this state; the pending ones when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<ApprovalState>,
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

/// Names a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApprovalQuery {
    /// The question's id.
    pub approval: Uuid,
}

/// Answers a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResolveApproval {
    /// The question's id.
    pub approval: Uuid,
    /// The answer.
    pub decision: Answer,
    /// A note for the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 500))]
    pub note: Option<String>,
}
