//! Tools: what an agent sees, what it does not and why, and calling one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::words::{Decision, DefinitionState, Effect, Permission, Risk, Status};

/// A tool of the workspace, as administrators see it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tool {
    /// The name agents see.
    pub name: String,
    /// The connection it belongs to; null for a built-in tool.
    pub connection_id: Option<Uuid>,
    /// Its namespace; null for a built-in tool.
    pub connection: Option<String>,
    /// The tool's own name.
    pub tool: String,
    /// A short title.
    pub title: Option<String>,
    /// What it says it does.
    pub description: Option<String>,
    /// Its risk; high until a person classifies it.
    pub risk: Risk,
    /// Whether it changes anything; mutating until a person classifies it.
    pub effect: Effect,
    /// Whether a person (or a preset) said so.
    pub classified: bool,
    /// What its server says about it. A hint, nothing more.
    pub hints: Hints,
    /// Where its definition stands.
    pub definition: DefinitionState,
    /// The digest of the pinned definition.
    pub definition_digest: String,
    /// Why the definition is not usable, where it is not.
    pub problem: Option<String>,
    /// With an agent in the query: what that agent's view says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub view: Option<ToolView>,
}

/// What a server says about its tool.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Hints {
    /// It only reads.
    pub read_only: Option<bool>,
    /// It may destroy something.
    pub destructive: Option<bool>,
    /// Repeating it changes nothing further.
    pub idempotent: Option<bool>,
    /// It reaches beyond its own system.
    pub open_world: Option<bool>,
}

/// How one agent sees a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolView {
    /// Whether it is there, asks, or is missing.
    pub decision: Decision,
    /// Why: a stable code.
    pub reason: String,
    /// Why, in a sentence, and what would change it.
    pub reason_text: String,
    /// The rule that decided, where one did.
    pub rule: Option<String>,
    /// What the agent's grant says, where there is one.
    pub grant: Option<Permission>,
}

/// Which tools to list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListTools {
    /// Show how this agent (handle or id) sees each tool, the missing ones with their reasons.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Only tools of this connection, by namespace or id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection: Option<String>,
    /// Only tools nobody classified yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unclassified: Option<bool>,
    /// Where the last page ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// At most this many items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100), extend("default" = 50))]
    pub limit: Option<u16>,
}

/// Says how risky a tool is and whether it changes anything.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassifyTool {
    /// The connection's namespace or id.
    pub connection: String,
    /// The tool's own name.
    pub tool: String,
    /// Its risk.
    pub risk: Risk,
    /// Whether it changes anything.
    pub effect: Effect,
}

/// Calls a tool as an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CallTool {
    /// The agent, by handle or id; left out with an agent's own key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The tool, by the name the agent sees.
    pub name: String,
    /// Its arguments.
    #[serde(default)]
    pub arguments: Option<serde_json::Map<String, Value>>,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CallResult {
    /// The call, as it stands in the record.
    pub call_id: Uuid,
    /// How it ended.
    pub status: Status,
    /// Why not plainly well: a stable code.
    pub code: Option<String>,
    /// The tool's own result, untouched.
    pub result: Option<Value>,
    /// What Switchboard itself has to say.
    pub message: Option<String>,
    /// The same for programs.
    pub details: Option<Value>,
    /// The question to a person, when one is asked.
    pub approval_id: Option<Uuid>,
}

/// Asks why a tool is there, asks, or is missing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExplainTool {
    /// The agent, by handle or id; left out with an agent's own key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The tool, by the name the agent sees or would see.
    pub name: String,
    /// With arguments, the decision about exactly this call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<serde_json::Map<String, Value>>,
    /// On this channel; `mcp` when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
}

/// Why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Explanation {
    /// The tool asked about.
    pub name: String,
    /// What it comes to.
    pub decision: Decision,
    /// The deciding reason: a stable code.
    pub reason: String,
    /// The deciding reason in a sentence, and what would change it.
    pub reason_text: String,
    /// The rule that decided, where one did.
    pub rule: Option<String>,
    /// Everything that was looked at, in order.
    pub steps: Vec<ExplanationStep>,
    /// The digest of the snapshot it was answered from.
    pub snapshot: String,
    /// The policy epoch of that snapshot.
    pub epoch: u64,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExplanationStep {
    /// What was looked at.
    pub check: String,
    /// What it said.
    pub outcome: String,
    /// In a sentence.
    pub detail: String,
}
