//! A question to a person about exactly one call, and the answer.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::risk::words;
use crate::{AgentId, ApprovalId, CallId, Digest, Principal, Reason, RunId, Target, Timestamp};

/// What a person said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Answer {
    /// Yes, to exactly this call.
    Approved,
    /// No.
    Denied,
}

words!(Answer, "answer", Approved = "approved", Denied = "denied");

/// Where a question stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ApprovalState {
    /// Nobody answered yet.
    Pending,
    /// Approved and not yet used.
    Approved,
    /// Refused.
    Denied,
    /// Approved and used by the one call it was for.
    Spent,
    /// Nobody answered, or nobody used it, in time.
    Expired,
}

words!(
    ApprovalState,
    "approval state",
    Pending = "pending",
    Approved = "approved",
    Denied = "denied",
    Spent = "spent",
    Expired = "expired"
);

/// The question. It is bound to who asks, for which agent, which tool by which definition, and with which arguments.
#[derive(Debug, Clone)]
pub struct Approval {
    /// Its id.
    pub id: ApprovalId,
    /// The call that was parked.
    pub call: CallId,
    /// Who asks.
    pub principal: Principal,
    /// For which agent.
    pub agent: AgentId,
    /// The run that waits, if one does.
    pub run: Option<RunId>,
    /// What would be called.
    pub target: Target,
    /// The name the caller used.
    pub exposed: Arc<str>,
    /// By which definition.
    pub definition: Digest,
    /// With which arguments.
    pub arguments: Digest,
    /// The arguments themselves, for the person who decides; the store keeps them sealed and drops them with the question.
    pub shown: Arc<str>,
    /// Why a person is asked.
    pub reason: Reason,
    /// Where it stands.
    pub state: ApprovalState,
    /// Who answered, once someone did.
    pub answered_by: Option<Principal>,
    /// What they noted.
    pub note: Option<String>,
    /// When it was asked.
    pub created_at: Timestamp,
    /// When it lapses: the answer, and after an approval the use of it.
    pub expires_at: Timestamp,
    /// When it was answered.
    pub answered_at: Option<Timestamp>,
}
