//! What comes back from a call: always something the caller can go on with.

use std::sync::Arc;

use domain::{ApprovalId, CallId, Outcome, PeerError, Timestamp};
use serde_json::Value;
use serde_json::value::RawValue;

/// The answer to a call.
#[derive(Debug, Clone)]
pub struct ToolReply {
    /// The call, as it stands in the record.
    pub call: CallId,
    /// How it ended.
    pub outcome: Outcome,
    /// What there is to say.
    pub body: ReplyBody,
}

/// The content of an answer.
#[derive(Debug, Clone)]
pub enum ReplyBody {
    /// The tool's own result (`CallToolResult` and the like), untouched. It may itself say `isError`.
    Result(Box<RawValue>),
    /// The upstream needs input first (`resultType: input_required`), untouched.
    InputRequired(Box<RawValue>),
    /// The upstream answered with a JSON-RPC error, untouched.
    Error(PeerError),
    /// Switchboard itself has something to say: a denial, invalid arguments, a failure on the way.
    Notice(Notice),
    /// A person must say yes first. Nothing was sent; repeating the same call after the approval goes through.
    Approval(ApprovalNotice),
}

/// What Switchboard says in place of a result.
#[derive(Debug, Clone)]
pub struct Notice {
    /// The stable code: an outcome code or reason code.
    pub code: &'static str,
    /// What was wrong, where, and what to do. Safe to show to a model.
    pub text: String,
    /// The same for programs: violations, reason, rule.
    pub details: Value,
}

/// A parked call.
#[derive(Debug, Clone)]
pub struct ApprovalNotice {
    /// The question.
    pub approval: ApprovalId,
    /// Where a person can answer it.
    pub url: Arc<str>,
    /// When it lapses.
    pub expires_at: Timestamp,
    /// What to tell the caller.
    pub text: String,
}
