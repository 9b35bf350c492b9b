//! Telephone calls, and how agents speak on them.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::words::Status;

/// Which way a call was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Somebody called the agent.
    Inbound,
    /// The agent called somebody.
    Outbound,
}

/// What an agent may look at and say on a call, beyond what its tools allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AuthorityMode {
    /// What concerns the person on the line.
    ContactScoped,
    /// Whatever the agent may know.
    Yolo,
}

/// A telephone call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PhoneCall {
    /// Its id.
    pub id: Uuid,
    /// Whose it is.
    pub agent_id: Uuid,
    /// The number at our end; null where several agents share a line.
    pub local_number: Option<String>,
    /// The number at the other end.
    pub remote_number: String,
    /// Which way it was made.
    pub direction: Direction,
    /// `initiated`, `ringing`, `answered`, `completed`, `no_answer` or `failed`.
    pub status: String,
    /// Whether it was turned away by a rule about who may call.
    pub blocked: bool,
    /// What it was made for, where the agent made it.
    pub reason: Option<String>,
    /// Why it ended, as the carrier says it.
    pub hangup_reason: Option<String>,
    /// What the agent may look at and say.
    pub authority_mode: AuthorityMode,
    /// When it was answered.
    pub started_at: Option<DateTime<Utc>>,
    /// When it ended.
    pub ended_at: Option<DateTime<Utc>>,
    /// When it was asked for.
    pub created_at: DateTime<Utc>,
    /// When it was last changed.
    pub updated_at: DateTime<Utc>,
}

/// Which telephone calls are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListPhoneCalls {
    /// Only those of this agent: its handle or id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Only those that were, or were not, turned away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked: Option<bool>,
    /// Only those asked for at this time or later: a time as in RFC 3339, or a day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub from: Option<String>,
    /// Only those asked for until this time, a day included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub until: Option<String>,
    /// The time zone of days and of times without one: an IANA name; UTC when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub time_zone: Option<String>,
    /// Leaves so many out at the beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 1_000_000))]
    pub skip: Option<u32>,
    /// Where the last page ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// At most this many items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100), extend("default" = 50))]
    pub limit: Option<u16>,
}

/// Names a telephone call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PhoneCallQuery {
    /// The call's id.
    pub phone_call: Uuid,
}

/// Names a telephone call, and which part of what belongs to it is wanted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PhoneCallPageQuery {
    /// The call's id.
    pub phone_call: Uuid,
    /// Where the last page ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// At most this many items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100), extend("default" = 50))]
    pub limit: Option<u16>,
}

/// What somebody said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PhoneTurn {
    /// Its place in the call, from 0.
    pub seq: u32,
    /// When, in milliseconds after the call was answered.
    pub at_ms: u64,
    /// `local`, `remote` or `agent`.
    pub party: String,
    /// What was said.
    pub text: String,
    /// When it was written down.
    pub created_at: DateTime<Utc>,
}

/// Which of a telephone call's tool calls are wanted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PhoneActivityQuery {
    /// The call's id.
    pub phone_call: Uuid,
    /// Only calls to tools of connections; false when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external: Option<bool>,
    /// Leaves so many out at the beginning; the last page's `next_offset` goes on after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 1_000_000))]
    pub offset: Option<u32>,
    /// At most this many items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 200), extend("default" = 50))]
    pub limit: Option<u16>,
}

/// The tool calls of a telephone call, oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PhoneActivity {
    /// The tool calls.
    pub items: Vec<PhoneToolCall>,
    /// Pass it as `offset` for the next page; null at the end.
    pub next_offset: Option<u32>,
    /// Whether there may have been more: the call goes on, or it is not known how one of them ended.
    pub incomplete: bool,
}

/// One tool call of a telephone call. Never arguments or results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PhoneToolCall {
    /// Its id.
    pub id: Uuid,
    /// The tool's own name.
    pub tool: String,
    /// The connection's id; null for a built-in tool.
    pub connection_id: Option<Uuid>,
    /// What people call the connection now; null for a built-in tool, and for a connection that was removed.
    pub connection_label: Option<String>,
    /// The connection's URL now, likewise.
    pub server_url: Option<String>,
    /// The connection's version now, likewise.
    pub connection_version: Option<u32>,
    /// How it stands.
    pub status: Status,
    /// Why not plainly well: a code of a closed list.
    pub code: Option<String>,
    /// When it was decided.
    pub at: DateTime<Utc>,
    /// When it ended.
    pub ended_at: Option<DateTime<Utc>>,
}

/// A voice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Voice {
    /// Its id.
    pub id: String,
    /// What people call it.
    pub name: String,
    /// How it sounds.
    pub description: String,
    /// Whether a speech service that has it is set up here.
    pub available: bool,
    /// Whether tools and context of connections can be used with it.
    pub mcp_supported: bool,
    /// Whether it speaks where nobody chose one.
    pub default: bool,
}

/// How an agent speaks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VoiceSettings {
    /// The agent.
    pub agent_id: Uuid,
    /// The voice it was given; null = the default one.
    pub voice: Option<String>,
    /// The voice it has.
    pub effective_voice: String,
    /// What it is told for calls, beside what it is for.
    pub instructions: Option<String>,
    /// What it may look at and say.
    pub authority_mode: AuthorityMode,
}

/// Replaces how an agent speaks; what is left out goes back to the default.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetVoice {
    /// The agent's handle or id; an agent's own key can leave it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The voice's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub voice: Option<String>,
    /// What it is told for calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 8000))]
    pub instructions: Option<String>,
}

/// Says what an agent may look at and say on calls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetAuthorityMode {
    /// The agent's handle or id.
    pub agent: String,
    /// What it may look at and say.
    pub authority_mode: AuthorityMode,
}

/// Names an agent, unless it is the one whose key asks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OwnAgentQuery {
    /// The agent's handle or id; an agent's own key can leave it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}
