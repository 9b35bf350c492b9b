//! What a connection offers besides its tools: prompts, resources, skills.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How it is said what a connection offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ContextMode {
    /// One by one.
    Selected,
    /// Everything its server lists, now and later, without individual approval.
    All,
}

/// Which prompts, resources and skills a connection offers. An agent gets them by its grants.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConnectionContext {
    /// `selected` when left out. `all` cannot be combined with selections.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<ContextMode>,
    /// Prompts, each with the arguments it is always given.
    #[serde(default)]
    #[schemars(length(max = 50))]
    pub prompts: Vec<SelectedPrompt>,
    /// Resources, by URI.
    #[serde(default)]
    #[schemars(length(max = 50), inner(length(min = 1, max = 2048)))]
    pub resources: Vec<String>,
    /// Skills, each as it was looked at.
    #[serde(default)]
    #[schemars(length(max = 50))]
    pub skills: Vec<SelectedSkill>,
}

/// A chosen prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SelectedPrompt {
    /// The name its server gives it.
    #[schemars(length(min = 1, max = 256))]
    pub name: String,
    /// Its arguments, by name.
    #[serde(default)]
    pub arguments: BTreeMap<String, String>,
}

/// An approved skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SelectedSkill {
    /// The URI of its `SKILL.md`.
    #[schemars(length(min = 1, max = 2048))]
    pub uri: String,
    /// The `manifest_digest` that was looked at. When the server changes the skill it is not loaded until the new one is given here.
    #[schemars(length(min = 64, max = 64))]
    pub manifest_digest: String,
}

/// What a server was last seen to have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerCapabilities {
    /// Tools.
    pub tools: bool,
    /// Prompts.
    pub prompts: bool,
    /// Resources.
    pub resources: bool,
    /// Skills.
    pub skills: bool,
}

/// How a skill of a server stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SkillStatus {
    /// Offered: everything is, or it was approved with this manifest.
    Offered,
    /// Approved with another manifest: not loaded until it is approved again.
    Changed,
    /// Not chosen.
    NotSelected,
    /// Not loaded at all: it is generated, brings code along, or is too large.
    Unsupported,
}
