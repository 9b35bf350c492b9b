//! The record: append-only facts, of which activity and audit are views.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::risk::words;
use crate::{
    AgentId, ApprovalId, CallId, Channel, Digest, Epoch, Outcome, Principal, Reason, RunId, Surface, Target,
    Timestamp,
};

/// Who is behind a fact, as it is recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    /// `member`, `admin_key`, `agent_key`, `mcp_client` or `system`.
    pub kind: Arc<str>,
    /// The member's or key's id; empty for the system.
    pub id: Arc<str>,
    /// The agent acting or acted for.
    pub agent: Option<AgentId>,
}

impl Actor {
    /// The actor of a principal, acting as or for an agent.
    #[must_use]
    pub fn of(principal: &Principal, agent: Option<AgentId>) -> Self {
        Self {
            kind: principal.kind().into(),
            id: principal.id_text().into(),
            agent,
        }
    }
}

/// What a fact of the record is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChangeKind {
    /// Something was made.
    Created,
    /// Something was changed.
    Updated,
    /// Something was taken away.
    Removed,
}

words!(
    ChangeKind,
    "change",
    Created = "created",
    Updated = "updated",
    Removed = "removed"
);

/// One fact. No secret, argument or result is ever in it: digests only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fact {
    /// A call was decided. For one that may change something this is its intent, durable before anything is sent.
    Decided {
        /// What it goes to.
        target: Target,
        /// The name the caller used.
        exposed: Arc<str>,
        /// On which channel.
        channel: Channel,
        /// The operator's surface it came through; none for what an agent called itself.
        surface: Option<Surface>,
        /// The run it belongs to.
        run: Option<RunId>,
        /// The digest of the arguments.
        arguments: Digest,
        /// The digest of the definition.
        definition: Digest,
        /// The digest of the snapshot it was decided in.
        snapshot: Option<Digest>,
        /// `allow`, `ask` or `deny`.
        decision: Arc<str>,
        /// Why.
        reason: Reason,
        /// Its risk.
        risk: crate::Risk,
        /// Whether it may change something.
        effect: crate::Effect,
        /// The approval it asks for or spends.
        approval: Option<ApprovalId>,
        /// Under which policy.
        epoch: Epoch,
    },
    /// A call ended.
    Ended {
        /// How.
        outcome: Outcome,
        /// From decision to end, in microseconds.
        duration_us: u64,
        /// The digest of the result, where there was one.
        result: Option<Digest>,
    },
    /// A question was answered.
    Answered {
        /// Which.
        approval: ApprovalId,
        /// `approved`, `denied` or `expired`.
        answer: Arc<str>,
    },
    /// An administrator, or Switchboard itself, changed something.
    Changed {
        /// The capability or part that did it, as `connections.update`.
        action: Arc<str>,
        /// What it did.
        kind: ChangeKind,
        /// What it did it to, as `connection:<id>`.
        object: Arc<str>,
    },
}

impl Fact {
    /// The word for this kind of fact.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Decided { .. } => "decided",
            Self::Ended { .. } => "ended",
            Self::Answered { .. } => "answered",
            Self::Changed { .. } => "changed",
        }
    }
}

/// A fact with who, when and which call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The call it belongs to; for changes, the capability call that made them.
    pub call: CallId,
    /// Who.
    pub actor: Actor,
    /// When.
    pub at: Timestamp,
    /// What.
    pub fact: Fact,
}
