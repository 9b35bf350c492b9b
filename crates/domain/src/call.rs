//! One tool invocation: what is asked for, and what came of it.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::parse_unique;
use crate::risk::words;
use crate::{AgentId, CallId, Digest, Principal, RunId, Target};

/// Where a run comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Channel {
    /// The text chat.
    Chat,
    /// The in-app voice session.
    Voice,
    /// A phone call.
    Phone,
    /// A text message.
    Sms,
    /// A WhatsApp message.
    Whatsapp,
    /// A schedule.
    Schedule,
    /// A webhook.
    Webhook,
    /// A delegated task.
    Subagent,
    /// An MCP client.
    Mcp,
    /// The REST API.
    Api,
}

words!(
    Channel,
    "channel",
    Chat = "chat",
    Voice = "voice",
    Phone = "phone",
    Sms = "sms",
    Whatsapp = "whatsapp",
    Schedule = "schedule",
    Webhook = "webhook",
    Subagent = "subagent",
    Mcp = "mcp",
    Api = "api"
);

/// Where a capability can be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Surface {
    /// REST.
    Api,
    /// The operator's MCP endpoint.
    Mcp,
    /// The command line.
    Cli,
    /// An agent's tools.
    Agent,
    /// A page of this server, with a person in front of it.
    Page,
    /// The routes whose shape another product's clients fix. An agent's own key may do there what is declared as its own.
    Compatible,
}

words!(
    Surface,
    "surface",
    Api = "api",
    Mcp = "mcp",
    Cli = "cli",
    Agent = "agent",
    Page = "page",
    Compatible = "compatible"
);

/// The arguments of a call: as they came, as a value for checking, and their digest.
#[derive(Debug, Clone)]
pub struct Arguments {
    raw: Arc<RawValue>,
    value: Arc<Value>,
    digest: Digest,
}

impl Arguments {
    /// Takes arguments in. The text is kept byte for byte for the upstream.
    ///
    /// # Errors
    /// When the text is not JSON the parser accepts (a number out of range, nesting past 128 levels), or an object in it repeats a
    /// key: what was judged would then not be what an upstream that keeps the other value reads.
    pub fn new(raw: Box<RawValue>) -> Result<Self, serde_json::Error> {
        let value = parse_unique(raw.get())?;
        let digest = Digest::of_json(&value);
        Ok(Self {
            raw: Arc::from(raw),
            value: Arc::new(value),
            digest,
        })
    }

    /// `{}`.
    #[must_use]
    pub fn empty() -> Self {
        let value = Value::Object(serde_json::Map::new());
        let raw: Box<RawValue> = serde_json::value::to_raw_value(&value).unwrap_or_default();
        Self {
            raw: Arc::from(raw),
            digest: Digest::of_json(&value),
            value: Arc::new(value),
        }
    }

    /// The text as it came.
    #[must_use]
    pub fn raw(&self) -> &RawValue {
        &self.raw
    }

    /// The parsed value.
    #[must_use]
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// The digest of the canonical form.
    #[must_use]
    pub const fn digest(&self) -> Digest {
        self.digest
    }
}

/// One invocation, before anything was decided about it.
#[derive(Debug, Clone)]
pub struct Call {
    /// Its id.
    pub id: CallId,
    /// Who asks.
    pub principal: Principal,
    /// The agent acting; with an admin key, the agent that is acted for. None for an operator's own capability call.
    pub agent: Option<AgentId>,
    /// Where it comes from.
    pub channel: Channel,
    /// The operator's surface it came through; none for what an agent calls itself.
    pub surface: Option<Surface>,
    /// The run that waits for it, if one does.
    pub run: Option<RunId>,
    /// What it goes to.
    pub target: Target,
    /// The name the caller used.
    pub exposed: Arc<str>,
    /// The pinned definition it was checked against.
    pub definition: Digest,
    /// With what.
    pub arguments: Arguments,
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// The tool answered.
    Succeeded,
    /// The tool, its server or the way there failed; the code says which.
    Failed,
    /// Policy or a person said no.
    Denied,
    /// Nobody answered in time.
    Expired,
    /// It was sent and nobody knows what came of it. Never retried by itself.
    Unknown,
    /// A person is asked; nothing was sent.
    Waiting,
}

words!(
    Status,
    "status",
    Succeeded = "succeeded",
    Failed = "failed",
    Denied = "denied",
    Expired = "expired",
    Unknown = "unknown",
    Waiting = "waiting"
);

/// How a call stands, as people see it: how it ended, or why it has not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CallStatus {
    /// It has not ended yet.
    Started,
    /// A person is asked and has not answered; nothing was sent.
    Waiting,
    /// It asked a person, who said yes. Nothing was sent by it: the repeat that used the answer is a call of its own.
    Approved,
    /// The tool answered.
    Succeeded,
    /// The tool, its server or the way there failed; the code says which.
    Failed,
    /// Policy or a person said no.
    Denied,
    /// It asked a person, and nobody answered, or nobody used the answer, in time.
    Expired,
    /// It was sent and nobody knows what came of it.
    Unknown,
}

words!(
    CallStatus,
    "call status",
    Started = "started",
    Waiting = "waiting",
    Approved = "approved",
    Succeeded = "succeeded",
    Failed = "failed",
    Denied = "denied",
    Expired = "expired",
    Unknown = "unknown"
);

impl From<Status> for CallStatus {
    fn from(status: Status) -> Self {
        match status {
            Status::Succeeded => Self::Succeeded,
            Status::Failed => Self::Failed,
            Status::Denied => Self::Denied,
            Status::Expired => Self::Expired,
            Status::Unknown => Self::Unknown,
            Status::Waiting => Self::Waiting,
        }
    }
}

/// The safe code of an outcome that is not plain success. Codes are never renamed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OutcomeCode {
    /// The tool itself reported an error (`isError`).
    ToolError,
    /// The arguments do not fit the schema; nothing was sent.
    InvalidArguments,
    /// The server rejected the arguments (HTTP 400 or 422, JSON-RPC -32602).
    ArgumentsRejected,
    /// Exactly this request was rejected before; nothing was sent.
    RepeatedRejection,
    /// An earlier call of the same response failed validation or was rejected; nothing was sent.
    SkippedAfterFailure,
    /// The server refused our credential.
    AuthRejected,
    /// The server limits our rate.
    RateLimited,
    /// The server could not be reached; nothing was sent.
    Unreachable,
    /// The server answered with an error.
    UpstreamError,
    /// The server's answer is not valid.
    UpstreamInvalid,
    /// The answer is larger than allowed.
    TooLarge,
    /// No answer in time.
    Timeout,
    /// The caller went away.
    Cancelled,
    /// Policy said no.
    Denied,
    /// A person is asked.
    ApprovalRequired,
    /// The question expired.
    ApprovalExpired,
    /// Nobody knows what came of it.
    Unknown,
    /// The record could not be written, so the call was refused.
    RecordUnavailable,
    /// Something of ours failed.
    Internal,
}

words!(
    OutcomeCode,
    "outcome code",
    ToolError = "tool_error",
    InvalidArguments = "invalid_arguments",
    ArgumentsRejected = "arguments_rejected",
    RepeatedRejection = "repeated_rejection",
    SkippedAfterFailure = "skipped_after_failure",
    AuthRejected = "auth_rejected",
    RateLimited = "rate_limited",
    Unreachable = "unreachable",
    UpstreamError = "upstream_error",
    UpstreamInvalid = "upstream_invalid",
    TooLarge = "too_large",
    Timeout = "timeout",
    Cancelled = "cancelled",
    Denied = "denied",
    ApprovalRequired = "approval_required",
    ApprovalExpired = "approval_expired",
    Unknown = "unknown",
    RecordUnavailable = "record_unavailable",
    Internal = "internal"
);

/// How a call ended, without its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// How.
    pub status: Status,
    /// Why not plainly well.
    pub code: Option<OutcomeCode>,
}

impl Outcome {
    /// Plain success.
    pub const SUCCEEDED: Self = Self {
        status: Status::Succeeded,
        code: None,
    };

    /// A failure with its code.
    #[must_use]
    pub const fn failed(code: OutcomeCode) -> Self {
        Self {
            status: Status::Failed,
            code: Some(code),
        }
    }

    /// Any other ending with its code.
    #[must_use]
    pub const fn new(status: Status, code: OutcomeCode) -> Self {
        Self {
            status,
            code: Some(code),
        }
    }
}
