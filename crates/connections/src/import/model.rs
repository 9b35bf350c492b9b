//! What comes out of an import: entries with everything the file said, in our words.

use std::collections::BTreeMap;

use domain::Namespace;

use super::dialect::Dialect;
use super::launch::Launch;
use super::notice::Notice;
use super::template::{Fallback, ReferenceKind};

/// Everything read from one file.
#[derive(Debug)]
pub struct Import {
    /// The dialect the file was read as.
    pub dialect: Dialect,
    /// The servers, in the order of the file (TOML: by name); also those that cannot be launched.
    pub entries: Vec<Entry>,
    /// Values to ask a person for, referenced from templates as [`ReferenceKind::Input`].
    pub inputs: Vec<Input>,
    /// Claude Code's switches for servers of project files, by project.
    pub project_servers: Vec<ProjectServers>,
    /// What concerns the file and no single entry.
    pub report: Vec<Notice>,
}

/// One server of the file.
#[derive(Debug)]
pub struct Entry {
    /// The name in the file, control characters replaced, at most [`MAX_NAME_CHARS`](super::MAX_NAME_CHARS).
    pub name: String,
    /// A legal label and namespace made from the name: `[a-z0-9-]`, 1 to 20 characters, unique in the import.
    pub slug: Namespace,
    /// `user` or `local:PATH` for Claude Code's own file, else none.
    pub scope: Option<String>,
    /// How to reach the server.
    pub launch: Launch,
    /// Switched on or off in the file; none where it does not say.
    pub enabled: Option<bool>,
    /// Which tools the file lets through.
    pub tools: ToolFilter,
    /// What the client approves by itself. Never a right here: shown to the person.
    pub auto_approve: AutoApproval,
    /// Time limits, in milliseconds.
    pub timeouts: Timeouts,
    /// What the templates need from outside, without repetitions.
    pub variables: Vec<Variable>,
    /// What the person must know about this entry.
    pub notices: Vec<Notice>,
}

/// Which tools pass. An empty filter lets all through.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ToolFilter {
    /// Only these; none means all.
    pub allow: Option<Vec<String>>,
    /// Never these (also if allowed). `*` stands for any characters.
    pub deny: Vec<String>,
    /// Switches by profile and tool (Zed); not applied, shown.
    pub profiles: BTreeMap<String, BTreeMap<String, bool>>,
}

/// What the client approves without asking.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct AutoApproval {
    /// Everything (`trust: true`).
    pub everything: bool,
    /// Tools approved by name.
    pub tools: Vec<String>,
    /// The mode for tools that are not named (Codex), as written.
    pub default_mode: Option<String>,
    /// Modes by tool (Codex), as written.
    pub modes: BTreeMap<String, String>,
}

/// Time limits in milliseconds; none where the file says nothing usable.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// For one call.
    pub call_ms: Option<u64>,
    /// For starting or connecting.
    pub connect_ms: Option<u64>,
}

/// Something a template needs from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// Where it would come from.
    pub kind: ReferenceKind,
    /// Its name there.
    pub name: String,
    /// Its default; none also where the default is a secret (the template holds it).
    pub default: Option<String>,
}

/// A value to ask a person for once.
#[derive(Debug)]
pub struct Input {
    /// Name used in references.
    pub id: String,
    /// What to ask for.
    pub kind: InputKind,
    /// Words for the person.
    pub description: Option<String>,
    /// What to offer.
    pub default: Option<Fallback>,
}

/// What to ask for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InputKind {
    /// Any text.
    Text,
    /// Text to be kept secret.
    Secret,
    /// One of these.
    Choice(Vec<String>),
    /// The client would run a command of its own. Never run: ask instead.
    Command,
}

/// Claude Code's switches for servers of a project's `.mcp.json`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectServers {
    /// Folder of the project.
    pub project: String,
    /// Names approved by the person.
    pub approved: Vec<String>,
    /// Names switched off.
    pub switched_off: Vec<String>,
}

impl ToolFilter {
    /// The allowed tools without the denied ones; none where all are allowed.
    #[must_use]
    pub fn effective(&self) -> Option<Vec<&str>> {
        let allow = self.allow.as_ref()?;
        Some(
            allow
                .iter()
                .map(String::as_str)
                .filter(|tool| !self.denies(tool))
                .collect(),
        )
    }

    /// Whether the deny list names this tool.
    #[must_use]
    pub fn denies(&self, tool: &str) -> bool {
        self.deny.iter().any(|pattern| matches_pattern(pattern, tool))
    }
}

impl AutoApproval {
    /// Nothing is approved by itself.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// `*` stands for any characters, everything else for itself.
fn matches_pattern(pattern: &str, text: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else {
        return pattern == text;
    };
    let Some(text) = text.strip_prefix(head) else {
        return false;
    };
    let mut tail = text;
    let mut pieces = rest.split('*').peekable();
    while let Some(piece) = pieces.next() {
        if pieces.peek().is_none() {
            return tail.ends_with(piece);
        }
        let Some((_, after)) = tail.split_once(piece) else {
            return false;
        };
        tail = after;
    }
    true
}
