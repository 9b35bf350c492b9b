//! Skills of the workspace: instructions for doing something with tools of certain servers. Text, and nothing that runs.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::words::{Readiness, SkillOutcome, SkillReason};

/// What a skill needs of one server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SkillNeed {
    /// The preset of the server, as `connections.presets` lists it.
    #[schemars(length(min = 1, max = 64))]
    pub preset: String,
    /// Which variant of it; any when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64))]
    pub variant: Option<String>,
    /// The tools, by the names their server has for them.
    #[schemars(length(min = 1, max = 32))]
    pub tools: Vec<String>,
}

/// Why a server is not ready for a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotReady {
    /// What is wrong.
    pub reason: SkillReason,
    /// Which tool it is about; null where it is about the server.
    pub tool: Option<String>,
    /// What to do.
    pub detail: String,
}

/// How one server that a skill needs stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Dependency {
    /// The preset of the server.
    pub preset: String,
    /// Which variant of it; null where any will do.
    pub variant: Option<String>,
    /// The tools that are needed.
    pub tools: Vec<String>,
    /// The connection that was found for it; null where there is none.
    pub connection_id: Option<Uuid>,
    /// Whether the skill can be used with it.
    pub readiness: Readiness,
    /// Why not, or what to look at first; empty where it is ready.
    pub reasons: Vec<NotReady>,
}

/// A skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Skill {
    /// Its id.
    pub id: Uuid,
    /// What it is called; unique in the workspace, archived ones included, and fixed.
    pub slug: String,
    /// Its title, for people.
    pub title: String,
    /// When to use it.
    pub description: String,
    /// The instructions, Markdown; null in lists.
    pub instructions: Option<String>,
    /// The member it was installed for; null where it is the workspace's.
    pub owner_id: Option<Uuid>,
    /// Whether it is put away: kept, and offered to nobody.
    pub archived: bool,
    /// The worst of its dependencies.
    pub readiness: Readiness,
    /// How the servers it needs stand now.
    pub dependencies: Vec<Dependency>,
    /// Counts changes; give it back as `expected_version`.
    pub version: u32,
    /// When it was installed.
    pub created_at: DateTime<Utc>,
    /// When it was last changed.
    pub updated_at: DateTime<Utc>,
}

/// Names a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SkillQuery {
    /// Its slug or id.
    pub skill: String,
}

/// Writes a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddSkill {
    /// What it is called: a-z, 0-9 and single inner hyphens. Never used a second time.
    #[schemars(length(min = 1, max = 64), regex(pattern = r"^[a-z0-9]+(-[a-z0-9]+)*$"))]
    pub slug: String,
    /// Its title, for people; the slug when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 120))]
    pub title: Option<String>,
    /// When to use it.
    #[schemars(length(min = 1, max = 1024))]
    pub description: String,
    /// The instructions, Markdown; at most 256 KiB.
    #[schemars(length(min = 1))]
    pub instructions: String,
    /// The servers it needs, and which of their tools.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 8))]
    pub requires: Vec<SkillNeed>,
    /// The member it is for, by id; the workspace's when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<Uuid>,
}

/// Changes a skill. What is left out stays.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdateSkill {
    /// Its slug or id.
    pub skill: String,
    /// The version you saw.
    pub expected_version: u32,
    /// Its title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 120))]
    pub title: Option<String>,
    /// When to use it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1024))]
    pub description: Option<String>,
    /// The instructions, Markdown; at most 256 KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub instructions: Option<String>,
}

/// Puts a skill away, or takes it out again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArchiveSkill {
    /// Its slug or id.
    pub skill: String,
    /// The version you saw.
    pub expected_version: u32,
    /// False takes it out again; true when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archived: Option<bool>,
}

/// Installs skills that were written elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InstallSkills {
    /// The skills, each with a slug of its own.
    #[schemars(length(min = 1, max = 50))]
    pub skills: Vec<AddSkill>,
    /// True only says what would be done.
    #[serde(default)]
    pub dry_run: bool,
}

/// What became of one skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InstalledSkill {
    /// Its slug.
    pub slug: String,
    /// What was done, or would be.
    pub outcome: SkillOutcome,
    /// The worst of its dependencies.
    pub readiness: Readiness,
    /// How the servers it needs stand now.
    pub dependencies: Vec<Dependency>,
}

/// What became of each skill, in the order they were given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InstalledSkills {
    /// One by one.
    pub skills: Vec<InstalledSkill>,
}
