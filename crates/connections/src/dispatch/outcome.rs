//! What a server's answer, or the lack of one, means for the call.

use std::borrow::Cow;
use std::time::Duration;

use domain::{Effect, Outcome, OutcomeCode, Status};
use mcp::RequestError;
use mcp::wire::codes;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{DispatchBody, Dispatched};
use crate::ConnectionError;
use crate::depth::too_deep;

#[derive(Deserialize)]
struct Peek<'a> {
    #[serde(borrow, default, rename = "isError")]
    is_error: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "resultType")]
    result_type: Option<Cow<'a, str>>,
}

/// The server answered.
pub(super) fn answered(result: Box<RawValue>) -> Dispatched {
    let peek = match serde_json::from_str::<Peek<'_>>(result.get()) {
        Ok(peek) if result.get().starts_with('{') => peek,
        Ok(_) | Err(_) => {
            let detail = "the server's result is not an object of the protocol".to_owned();
            return failed(Outcome::failed(OutcomeCode::UpstreamInvalid), true, detail);
        }
    };
    if too_deep(result.get()) {
        let detail = "the server's result is nested too deeply".to_owned();
        return failed(Outcome::failed(OutcomeCode::UpstreamInvalid), true, detail);
    }
    if peek.result_type.as_deref() == Some("input_required") {
        return with_body(Outcome::SUCCEEDED, DispatchBody::InputRequired(result));
    }
    let outcome = match peek.is_error.map(RawValue::get) {
        Some("true") => Outcome::failed(OutcomeCode::ToolError),
        Some(_) | None => Outcome::SUCCEEDED,
    };
    with_body(outcome, DispatchBody::Result(result))
}

/// The request failed. `may_have_run` over-rules hope: a call that may change something, was sent and was not answered is unknown.
pub(super) fn request_failed(error: RequestError, effect: Effect) -> Dispatched {
    let sent = error.sent();
    let http_status = error.http_status();
    let retry_after = retry_after(&error);
    let lost = sent && error.may_have_run() && effect == Effect::Mutating;
    let code = code_of(&error, http_status);
    let unanswered = match &error {
        RequestError::Timeout { .. } | RequestError::Closed { .. } => true,
        // Said by somebody in between, who lost the server's own answer.
        RequestError::Http { status, .. } => matches!(*status, 502 | 504),
        _ => false,
    };
    let outcome = if unanswered && lost {
        Outcome::new(Status::Unknown, OutcomeCode::Unknown)
    } else {
        Outcome::failed(code)
    };
    let detail = error.to_string();
    let body = match error {
        RequestError::Rpc {
            code, message, data, ..
        } => DispatchBody::Rpc {
            code,
            message,
            data: data.filter(|data| !too_deep(data.get())),
        },
        _ => DispatchBody::None,
    };
    Dispatched {
        outcome,
        body,
        sent,
        detail,
        http_status,
        retry_after,
    }
}

/// Whether a call that only reads ended with its session, and so with whoever ended that.
pub(super) fn broken_off(error: &RequestError, effect: Effect) -> bool {
    matches!(error, RequestError::Closed { .. }) && effect == Effect::ReadOnly
}

/// The request could not even be made: there is no session to send it on.
pub(super) fn unreachable(error: &ConnectionError) -> Dispatched {
    let mut dispatched = failed(Outcome::failed(error.outcome()), false, error.to_string());
    if let ConnectionError::Connect(error) = error {
        dispatched.http_status = error.http_status();
    }
    if let ConnectionError::Resting { wait, .. } = error {
        dispatched.retry_after = Some(*wait);
    }
    dispatched
}

/// A failure of our own making.
pub(super) fn failed(outcome: Outcome, sent: bool, detail: String) -> Dispatched {
    Dispatched {
        outcome,
        body: DispatchBody::None,
        sent,
        detail,
        http_status: None,
        retry_after: None,
    }
}

fn with_body(outcome: Outcome, body: DispatchBody) -> Dispatched {
    Dispatched {
        outcome,
        body,
        sent: true,
        detail: String::new(),
        http_status: None,
        retry_after: None,
    }
}

fn code_of(error: &RequestError, http_status: Option<u16>) -> OutcomeCode {
    match (error, http_status) {
        (_, Some(401 | 403)) | (RequestError::NoToken(_), _) => OutcomeCode::AuthRejected,
        (_, Some(429)) => OutcomeCode::RateLimited,
        (
            RequestError::Rpc {
                code: codes::INVALID_PARAMS,
                ..
            },
            _,
        ) => OutcomeCode::ArgumentsRejected,
        // The server looked at our headers or version, not at the arguments.
        (RequestError::Rpc { code, .. }, _) if codes::is_modern(*code) => OutcomeCode::UpstreamError,
        (RequestError::Rpc { .. } | RequestError::Http { .. }, Some(400 | 422)) => {
            OutcomeCode::ArgumentsRejected
        }
        (
            RequestError::Rpc { .. }
            | RequestError::Http { .. }
            | RequestError::Redirect { .. }
            | RequestError::SessionExpired,
            _,
        ) => OutcomeCode::UpstreamError,
        (RequestError::Timeout { sent: true, .. }, _) => OutcomeCode::Timeout,
        (RequestError::Closed { sent: true, .. }, _) => OutcomeCode::UpstreamError,
        (RequestError::TooLarge { .. }, _) => OutcomeCode::TooLarge,
        (RequestError::Malformed(_), _) => OutcomeCode::UpstreamInvalid,
        (RequestError::Unsendable(_), _) => OutcomeCode::InvalidArguments,
        (
            RequestError::Timeout { .. }
            | RequestError::Closed { .. }
            | RequestError::Unreachable(_)
            | RequestError::Egress(_),
            _,
        ) => OutcomeCode::Unreachable,
    }
}

fn retry_after(error: &RequestError) -> Option<Duration> {
    match error {
        RequestError::Http { retry_after, .. } => *retry_after,
        _ => None,
    }
}
