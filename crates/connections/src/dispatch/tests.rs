use std::time::Duration;

use domain::{Effect, Outcome, OutcomeCode, Status};
use mcp::{Phase, RequestError};
use serde_json::value::RawValue;

use super::{DispatchBody, outcome};

#[test]
fn answers_are_read_and_kept() {
    let check = |text: &str, want: (Status, Option<OutcomeCode>), kind: &str| {
        let answered = outcome::answered(RawValue::from_string(text.to_owned()).unwrap());
        assert_eq!((answered.outcome.status, answered.outcome.code), want, "{text}");
        let (found, body) = match &answered.body {
            DispatchBody::Result(raw) => ("result", raw.get()),
            DispatchBody::InputRequired(raw) => ("input", raw.get()),
            DispatchBody::Rpc { .. } | DispatchBody::None => ("none", text),
        };
        assert_eq!((found, body), (kind, text));
    };
    let good = (Status::Succeeded, None);
    check(r#"{"content":[]}"#, good, "result");
    check(r#"{"content":[],"isError":false}"#, good, "result");
    check(
        r#"{"content":[],"isError":null,"resultType":"complete"}"#,
        good,
        "result",
    );
    check(
        r#"{"isError":true,"content":[]}"#,
        (Status::Failed, Some(OutcomeCode::ToolError)),
        "result",
    );
    check(
        r#"{"resultType":"input_required","inputRequests":{}}"#,
        good,
        "input",
    );
    check(
        r#"[true]"#,
        (Status::Failed, Some(OutcomeCode::UpstreamInvalid)),
        "none",
    );
    check(
        r#""text""#,
        (Status::Failed, Some(OutcomeCode::UpstreamInvalid)),
        "none",
    );
    check(
        "null",
        (Status::Failed, Some(OutcomeCode::UpstreamInvalid)),
        "none",
    );
}

#[test]
fn what_was_sent_and_not_answered_is_unknown_only_where_it_may_change_something() {
    let failed = Outcome::failed;
    let unknown = Outcome::new(Status::Unknown, OutcomeCode::Unknown);
    let closed = |sent| RequestError::Closed {
        reason: "gone".to_owned(),
        sent,
    };
    let late = |sent| RequestError::Timeout {
        phase: Phase::Answer,
        sent,
    };
    let rpc = |code| RequestError::Rpc {
        code,
        message: "no".to_owned(),
        data: None,
        http_status: None,
    };
    let cases = [
        (closed(true), failed(OutcomeCode::UpstreamError), unknown),
        (
            closed(false),
            failed(OutcomeCode::Unreachable),
            failed(OutcomeCode::Unreachable),
        ),
        (late(true), failed(OutcomeCode::Timeout), unknown),
        (
            late(false),
            failed(OutcomeCode::Unreachable),
            failed(OutcomeCode::Unreachable),
        ),
        (
            RequestError::TooLarge { limit: 1 },
            failed(OutcomeCode::TooLarge),
            failed(OutcomeCode::TooLarge),
        ),
        (
            RequestError::Malformed("x".to_owned()),
            failed(OutcomeCode::UpstreamInvalid),
            failed(OutcomeCode::UpstreamInvalid),
        ),
        (
            RequestError::SessionExpired,
            failed(OutcomeCode::UpstreamError),
            failed(OutcomeCode::UpstreamError),
        ),
        (
            RequestError::Unsendable("x".to_owned()),
            failed(OutcomeCode::InvalidArguments),
            failed(OutcomeCode::InvalidArguments),
        ),
        (
            rpc(-32602),
            failed(OutcomeCode::ArgumentsRejected),
            failed(OutcomeCode::ArgumentsRejected),
        ),
        (
            rpc(-32601),
            failed(OutcomeCode::UpstreamError),
            failed(OutcomeCode::UpstreamError),
        ),
        (
            rpc(-32020),
            failed(OutcomeCode::UpstreamError),
            failed(OutcomeCode::UpstreamError),
        ),
    ];
    for (error, reading, acting) in cases {
        let text = error.to_string();
        let sent = error.sent();
        let again = clone(&error);
        let read = outcome::request_failed(error, Effect::ReadOnly);
        assert_eq!((read.outcome, read.sent), (reading, sent), "{text}");
        assert_eq!(
            outcome::request_failed(again, Effect::Mutating).outcome,
            acting,
            "{text}"
        );
    }
}

#[test]
fn a_server_says_when_to_come_back() {
    let limited = RequestError::Http {
        status: 429,
        retry_after: Some(Duration::from_secs(3)),
        challenge: None,
        body: String::new(),
    };
    let answer = outcome::request_failed(limited, Effect::Mutating);
    assert_eq!(answer.outcome, Outcome::failed(OutcomeCode::RateLimited));
    assert_eq!(
        (answer.http_status, answer.retry_after),
        (Some(429), Some(Duration::from_secs(3)))
    );
}

fn clone(error: &RequestError) -> RequestError {
    match error {
        RequestError::Closed { reason, sent } => RequestError::Closed {
            reason: reason.clone(),
            sent: *sent,
        },
        RequestError::Timeout { phase, sent } => RequestError::Timeout {
            phase: *phase,
            sent: *sent,
        },
        RequestError::TooLarge { limit } => RequestError::TooLarge { limit: *limit },
        RequestError::Malformed(why) => RequestError::Malformed(why.clone()),
        RequestError::Unsendable(why) => RequestError::Unsendable(why.clone()),
        RequestError::SessionExpired => RequestError::SessionExpired,
        RequestError::Rpc { code, message, .. } => RequestError::Rpc {
            code: *code,
            message: message.clone(),
            data: None,
            http_status: None,
        },
        other => panic!("not in the table: {other:?}"),
    }
}
