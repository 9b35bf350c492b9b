//! Telephone calls and how an agent speaks on them.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::risk::words;
use crate::{AgentId, PhoneCallId, RunId, Timestamp};

/// Which way a call was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Somebody called the agent.
    Inbound,
    /// The agent called somebody.
    Outbound,
}

words!(Direction, "direction", Inbound = "inbound", Outbound = "outbound");

/// How a telephone call stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PhoneStatus {
    /// It was asked for; the carrier has not said that it rings.
    Initiated,
    /// It rings.
    Ringing,
    /// It was answered.
    Answered,
    /// It ended as it should.
    Completed,
    /// Nobody answered.
    NoAnswer,
    /// It could not be made, or broke off.
    Failed,
}

words!(
    PhoneStatus,
    "call status",
    Initiated = "initiated",
    Ringing = "ringing",
    Answered = "answered",
    Completed = "completed",
    NoAnswer = "no_answer",
    Failed = "failed"
);

impl PhoneStatus {
    /// Whether nothing more happens on it.
    #[must_use]
    pub const fn is_over(self) -> bool {
        matches!(self, Self::Completed | Self::NoAnswer | Self::Failed)
    }
}

/// What the agent may look at and say on a call, beyond what its tools allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum AuthorityMode {
    /// What concerns the person on the line.
    #[default]
    ContactScoped,
    /// Whatever the agent may know.
    Yolo,
}

words!(
    AuthorityMode,
    "authority mode",
    ContactScoped = "contact_scoped",
    Yolo = "yolo"
);

/// One telephone call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhoneCall {
    /// Its id.
    pub id: PhoneCallId,
    /// Whose it is.
    pub agent: AgentId,
    /// The run it was; its tool calls carry the same.
    pub run: RunId,
    /// The number at our end, in E.164; none where several agents share a line.
    pub local_number: Option<Arc<str>>,
    /// The number at the other end, in E.164.
    pub remote_number: Arc<str>,
    /// Which way it was made.
    pub direction: Direction,
    /// How it stands.
    pub status: PhoneStatus,
    /// Whether it was turned away by a rule about who may call.
    pub blocked: bool,
    /// What it was made for, where the agent made it.
    pub reason: Option<Arc<str>>,
    /// Why it ended, as the carrier says it.
    pub hangup_reason: Option<Arc<str>>,
    /// What the agent may look at and say.
    pub authority: AuthorityMode,
    /// When it was answered.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// Who spoke.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Party {
    /// Whoever is at our end and is not the agent.
    Local,
    /// The person at the other end.
    Remote,
    /// The agent.
    Agent,
}

words!(
    Party,
    "party",
    Local = "local",
    Remote = "remote",
    Agent = "agent"
);

/// What somebody said on a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhoneTurn {
    /// Its place in the call, from 0.
    pub seq: u32,
    /// When it was said, in milliseconds after the call was answered.
    pub at_ms: u64,
    /// Who said it.
    pub party: Party,
    /// What was said.
    pub text: Arc<str>,
    /// When it was written down.
    pub created_at: Timestamp,
}

/// How an agent speaks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VoiceSettings {
    /// The voice it was given; none = the default one.
    pub voice: Option<Arc<str>>,
    /// What it is told for calls, beside what it is for.
    pub instructions: Option<Arc<str>>,
    /// What it may look at and say.
    pub authority: AuthorityMode,
}
