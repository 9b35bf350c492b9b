//! The effective tool policy of one run: what it may use, what it may not, and why.

use std::collections::HashMap;
use std::sync::Arc;

use crate::risk::words;
use crate::{
    AgentId, Channel, ConnectionId, ContextSelection, Digest, Effect, Reason, Risk, Tenant, ToolRef,
};
use std::fmt;
use std::str::FromStr;

/// Counts the changes of an organization's policy. A mutating call's intent is stored only under the epoch it was decided under.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Epoch(pub u64);

/// What composing said about a tool that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// May run.
    Allow,
    /// A person is asked first.
    Ask,
}

words!(Verdict, "verdict", Allow = "allow", Ask = "ask");

/// A tool the run may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotTool {
    /// The name callers use.
    pub exposed: Arc<str>,
    /// Which tool it is.
    pub tool: ToolRef,
    /// Its pinned definition.
    pub definition: Digest,
    /// Its risk.
    pub risk: Risk,
    /// Whether it changes anything, by a person's or preset's word.
    pub effect: Effect,
    /// May run beside others: by that word, or by the upstream's own read-only annotation.
    pub parallel: bool,
    /// What was decided before any argument is known.
    pub verdict: Verdict,
    /// Why.
    pub reason: Reason,
    /// Rules that must still look at the arguments, the time or amounts, by id.
    pub residual: Vec<Arc<str>>,
}

/// A tool that is not there, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Absent {
    /// The name it would have.
    pub exposed: Arc<str>,
    /// Which tool it is.
    pub tool: ToolRef,
    /// Why it is not there.
    pub reason: Reason,
}

/// What a run may read of a connection besides its tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextAccess {
    /// Which connection.
    pub connection: ConnectionId,
    /// Its prompts.
    pub prompts: bool,
    /// Its resources and templates.
    pub resources: bool,
    /// Its skills.
    pub skills: bool,
    /// What of these the connection offers.
    pub offered: ContextSelection,
}

impl ContextAccess {
    /// Whether a prompt may be read.
    #[must_use]
    pub fn reads_prompt(&self, name: &str) -> bool {
        self.prompts && self.offered.offers_prompt(name)
    }

    /// Whether a resource may be read.
    #[must_use]
    pub fn reads_resource(&self, uri: &str) -> bool {
        self.resources && self.offered.offers_resource(uri)
    }

    /// Whether a skill with this manifest may be loaded and its files read.
    #[must_use]
    pub fn loads_skill(&self, uri: &str, manifest: Digest) -> bool {
        self.skills && self.offered.offers_skill(uri, manifest)
    }
}

/// The effective policy of one run. Immutable.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// Whose.
    pub tenant: Tenant,
    /// Which agent's.
    pub agent: AgentId,
    /// On which channel.
    pub channel: Channel,
    /// Under which policy.
    pub epoch: Epoch,
    /// What is there, in order of the exposed name.
    pub tools: Vec<SnapshotTool>,
    /// What is not, in order of the name it would have.
    pub absent: Vec<Absent>,
    /// Prompts and resources.
    pub contexts: Vec<ContextAccess>,
    /// The digest of all the above except the epoch: equal content is stored once.
    pub digest: Digest,
    index: HashMap<Arc<str>, usize>,
}

/// The parts of a snapshot, before it is sealed.
#[derive(Debug, Clone)]
pub struct SnapshotParts {
    /// Whose.
    pub tenant: Tenant,
    /// Which agent's.
    pub agent: AgentId,
    /// On which channel.
    pub channel: Channel,
    /// Under which policy.
    pub epoch: Epoch,
    /// What is there.
    pub tools: Vec<SnapshotTool>,
    /// What is not.
    pub absent: Vec<Absent>,
    /// Prompts and resources.
    pub contexts: Vec<ContextAccess>,
}

impl Snapshot {
    /// Seals a snapshot: sorts it, indexes it and takes its digest.
    #[must_use]
    pub fn seal(mut parts: SnapshotParts) -> Self {
        parts.tools.sort_by(|a, b| a.exposed.cmp(&b.exposed));
        parts
            .absent
            .sort_by(|a, b| a.exposed.cmp(&b.exposed).then_with(|| a.tool.cmp(&b.tool)));
        parts.contexts.sort_by_key(|c| c.connection);
        let digest = Digest::of(&content(&parts));
        let index = parts
            .tools
            .iter()
            .enumerate()
            .map(|(i, t)| (t.exposed.clone(), i))
            .collect();
        let SnapshotParts {
            tenant,
            agent,
            channel,
            epoch,
            tools,
            absent,
            contexts,
        } = parts;
        Self {
            tenant,
            agent,
            channel,
            epoch,
            tools,
            absent,
            contexts,
            digest,
            index,
        }
    }

    /// The tool callers know by this name.
    #[must_use]
    pub fn by_name(&self, exposed: &str) -> Option<&SnapshotTool> {
        self.index.get(exposed).and_then(|i| self.tools.get(*i))
    }

    /// The entry of exactly this tool.
    #[must_use]
    pub fn by_tool(&self, tool: &ToolRef) -> Option<&SnapshotTool> {
        self.tools.iter().find(|t| t.tool == *tool)
    }

    /// Why a tool of this name is not there; none when it is, or when nothing by that name exists.
    #[must_use]
    pub fn why_absent(&self, exposed: &str) -> Option<&Absent> {
        self.absent.iter().find(|a| &*a.exposed == exposed)
    }

    /// What may be read of a connection besides its tools.
    #[must_use]
    pub fn context(&self, connection: ConnectionId) -> Option<&ContextAccess> {
        self.contexts.iter().find(|c| c.connection == connection)
    }
}

/// A line per fact, each field length-prefixed, so that no two contents share an encoding.
fn content(parts: &SnapshotParts) -> Vec<u8> {
    let mut out = Vec::with_capacity(64 * (parts.tools.len() + parts.absent.len() + 1));
    let mut put = |field: &str| {
        out.extend_from_slice(&(field.len() as u64).to_be_bytes());
        out.extend_from_slice(field.as_bytes());
    };
    put(&parts.agent.to_string());
    put(parts.channel.as_str());
    for t in &parts.tools {
        put("tool");
        put(&t.exposed);
        put(&t.tool.to_string());
        put(&t.definition.to_string());
        put(t.risk.as_str());
        put(t.effect.as_str());
        put(if t.parallel { "parallel" } else { "serial" });
        put(t.verdict.as_str());
        put(t.reason.code.as_str());
        put(t.reason.rule.as_deref().unwrap_or_default());
        t.residual.iter().for_each(|r| put(r));
    }
    for a in &parts.absent {
        put("absent");
        put(&a.exposed);
        put(&a.tool.to_string());
        put(a.reason.code.as_str());
        put(a.reason.rule.as_deref().unwrap_or_default());
    }
    for c in &parts.contexts {
        put("context");
        put(&c.connection.to_string());
        put(if c.prompts { "prompts" } else { "" });
        put(if c.resources { "resources" } else { "" });
        // As before for what older releases knew: their digests stay what they were.
        if c.skills {
            put("skills");
        }
        if let Some(chosen) = c.offered.selection() {
            put("selected");
            for prompt in &chosen.prompts {
                put("prompt");
                put(&prompt.name);
                for (name, value) in &prompt.arguments {
                    put("argument");
                    put(name);
                    put(value);
                }
            }
            for uri in &chosen.resources {
                put("resource");
                put(uri);
            }
            for skill in &chosen.skills {
                put("skill");
                put(&skill.uri);
                put(&skill.manifest.to_string());
            }
        }
    }
    out
}
