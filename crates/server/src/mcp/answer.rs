//! What goes back: results around untouched raw JSON, and JSON-RPC errors.

use std::borrow::Cow;
use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use domain::PeerError;
use http::{HeaderValue, StatusCode, header};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use super::version::{Era, MODERN};
use super::wire::{Members, push_text};

/// JSON-RPC and MCP error codes.
pub(super) mod codes {
    pub(in crate::mcp) const PARSE: i64 = -32700;
    pub(in crate::mcp) const INVALID_REQUEST: i64 = -32600;
    pub(in crate::mcp) const METHOD_NOT_FOUND: i64 = -32601;
    pub(in crate::mcp) const INVALID_PARAMS: i64 = -32602;
    pub(in crate::mcp) const INTERNAL: i64 = -32603;
    /// Until 2025-11-25; `-32602` since.
    pub(in crate::mcp) const RESOURCE_NOT_FOUND: i64 = -32002;
    /// 2025-11-25 only.
    pub(in crate::mcp) const URL_ELICITATION: i64 = -32042;
    /// Since 2026-07-28, as the next two.
    pub(in crate::mcp) const HEADER_MISMATCH: i64 = -32020;
    pub(in crate::mcp) const MISSING_CAPABILITY: i64 = -32021;
    pub(in crate::mcp) const UNSUPPORTED_VERSION: i64 = -32022;
}

/// A JSON-RPC error.
#[derive(Debug, Clone)]
pub(super) struct RpcError {
    pub(super) code: i64,
    pub(super) message: Cow<'static, str>,
    pub(super) data: Option<Arc<RawValue>>,
}

impl RpcError {
    pub(super) fn new(code: i64, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
        }
    }

    pub(super) fn with(mut self, data: &Value) -> Self {
        self.data = to_raw_value(data).ok().map(Arc::from);
        self
    }

    pub(super) fn invalid(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(codes::INVALID_PARAMS, message)
    }

    pub(super) fn no_method(method: &str) -> Self {
        let shown: String = method.chars().take(64).collect();
        Self::new(codes::METHOD_NOT_FOUND, format!("method not found: {shown}"))
    }

    pub(super) fn unsupported(requested: &str) -> Self {
        let shown: String = requested.chars().take(64).collect();
        Self::new(codes::UNSUPPORTED_VERSION, "unsupported protocol version")
            .with(&json!({ "supported": [MODERN], "requested": shown }))
    }

    /// The status before anything was streamed. Legacy clients expect errors of requests under 200, whoever's they are: to them
    /// another status is a failure of the transport.
    pub(super) const fn status(&self, era: Era) -> StatusCode {
        match (era, self.code) {
            (Era::Legacy(_), _) => StatusCode::OK,
            (
                Era::Modern,
                codes::PARSE
                | codes::INVALID_REQUEST
                | codes::HEADER_MISMATCH
                | codes::MISSING_CAPABILITY
                | codes::UNSUPPORTED_VERSION,
            ) => StatusCode::BAD_REQUEST,
            (Era::Modern, codes::METHOD_NOT_FOUND) => StatusCode::NOT_FOUND,
            (Era::Modern, _) => StatusCode::OK,
        }
    }

    /// The whole message.
    pub(super) fn write(&self, id: Option<&RawValue>) -> String {
        let mut out = String::with_capacity(128 + self.message.len());
        out.push_str(r#"{"jsonrpc":"2.0","id":"#);
        out.push_str(id.map_or("null", RawValue::get));
        out.push_str(&format!(r#","error":{{"code":{},"message":"#, self.code));
        push_text(&mut out, &self.message);
        if let Some(data) = &self.data {
            out.push_str(r#","data":"#);
            out.push_str(data.get());
        }
        out.push_str("}}");
        out
    }
}

impl From<PeerError> for RpcError {
    fn from(error: PeerError) -> Self {
        Self {
            code: error.code,
            message: error.message.into(),
            data: error.data,
        }
    }
}

/// What a modern result must carry besides its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hints {
    /// Only its type.
    Kind,
    /// Also how long it may be kept: milliseconds.
    Cache(u32),
}

/// How a request ends.
#[derive(Debug)]
pub(super) enum Answer {
    /// A result object, ours or an upstream's.
    Result(Box<RawValue>),
    /// An error.
    Error(RpcError),
}

impl Answer {
    /// A result of our own making.
    pub(super) fn of(value: &Value) -> Self {
        Self::Result(to_raw_value(value).unwrap_or_default())
    }

    /// The whole message. The result is copied as it is; for a modern client what the revision asks for is put in front.
    pub(super) fn write(&self, id: &RawValue, era: Era, hints: Hints) -> String {
        match self {
            Self::Error(error) => error.write(Some(id)),
            Self::Result(raw) => {
                let mut out = head(id, raw.get().len());
                match era {
                    Era::Legacy(_) => out.push_str(raw.get()),
                    Era::Modern => push_stamped(&mut out, raw, hints),
                }
                out.push('}');
                out
            }
        }
    }

    pub(super) const fn status(&self, era: Era) -> StatusCode {
        match self {
            Self::Result(_) => StatusCode::OK,
            Self::Error(error) => error.status(era),
        }
    }
}

/// The beginning of a result message, up to the result.
pub(super) fn head(id: &RawValue, capacity: usize) -> String {
    let mut out = String::with_capacity(capacity + id.get().len() + 96);
    out.push_str(r#"{"jsonrpc":"2.0","id":"#);
    out.push_str(id.get());
    out.push_str(r#","result":"#);
    out
}

/// Copies a result with `resultType` and, where it is wanted, caching hints. What an upstream said stands, but for the scope: what an
/// agent sees is nobody else's.
fn push_stamped(out: &mut String, raw: &RawValue, hints: Hints) {
    let text = raw.get();
    let Some(rest) = text.strip_prefix('{') else {
        return out.push_str(text);
    };
    let may_have = ["\"resultType\"", "\"ttlMs\"", "\"cacheScope\"", "\\u"]
        .iter()
        .any(|key| text.contains(key));
    let members = if may_have {
        Members::read(raw).unwrap_or_default()
    } else {
        Members::default()
    };
    let kind = members.text("resultType");
    out.push('{');
    let start = out.len();
    if kind.is_none() {
        out.push_str(r#""resultType":"complete""#);
    }
    let complete = kind.as_deref().is_none_or(|kind| kind == "complete");
    let scope = members.get("cacheScope");
    if let (Hints::Cache(ttl), true) = (hints, complete) {
        if members.get("ttlMs").is_none() {
            separate(out, start);
            out.push_str(&format!(r#""ttlMs":{ttl}"#));
        }
        separate(out, start);
        out.push_str(r#""cacheScope":"private""#);
    }
    if scope.is_some() && matches!(hints, Hints::Cache(_)) {
        let others = members.filtered(|name| name != "cacheScope");
        return push_rest(out, start, others.get().strip_prefix('{').unwrap_or("}"));
    }
    push_rest(out, start, rest);
}

fn push_rest(out: &mut String, start: usize, rest: &str) {
    if !rest.trim_start().starts_with('}') {
        separate(out, start);
    }
    out.push_str(rest);
}

fn separate(out: &mut String, start: usize) {
    if out.len() > start {
        out.push(',');
    }
}

/// A JSON response.
pub(super) fn json_response(status: StatusCode, body: String) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// A response without a body.
pub(super) fn empty_response(status: StatusCode) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::{Answer, Hints, RpcError};
    use crate::mcp::version::{Era, Legacy};

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    #[test]
    fn results_are_copied_and_stamped() {
        let id = raw("7");
        let check = |result: &str, hints: Hints, want: &str| {
            let answer = Answer::Result(raw(result));
            let modern = answer.write(&id, Era::Modern, hints);
            assert_eq!(modern, format!(r#"{{"jsonrpc":"2.0","id":7,"result":{want}}}"#));
            let legacy = answer.write(&id, Era::Legacy(Legacy::NEWEST), hints);
            assert_eq!(legacy, format!(r#"{{"jsonrpc":"2.0","id":7,"result":{result}}}"#));
        };
        check("{}", Hints::Kind, r#"{"resultType":"complete"}"#);
        check(
            r#"{ "a":1 }"#,
            Hints::Kind,
            r#"{"resultType":"complete", "a":1 }"#,
        );
        check(
            r#"{"resultType":"complete","a":1}"#,
            Hints::Kind,
            r#"{"resultType":"complete","a":1}"#,
        );
        check(
            "{ }",
            Hints::Cache(5),
            r#"{"resultType":"complete","ttlMs":5,"cacheScope":"private" }"#,
        );
        check(
            r#"{"contents":[{"text":"\"resultType\""}]}"#,
            Hints::Cache(0),
            r#"{"resultType":"complete","ttlMs":0,"cacheScope":"private","contents":[{"text":"\"resultType\""}]}"#,
        );
        check(
            r#"{"resultType":"complete","ttlMs":9,"cacheScope":"public","x":[]}"#,
            Hints::Cache(0),
            r#"{"cacheScope":"private","resultType":"complete","ttlMs":9,"x":[]}"#,
        );
        check(
            r#"{"resultType":"input_required","requestState":"s"}"#,
            Hints::Cache(0),
            r#"{"resultType":"input_required","requestState":"s"}"#,
        );
    }

    #[test]
    fn errors() {
        let error = RpcError::invalid("no \"such\" thing");
        assert_eq!(
            error.write(None),
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":"no \"such\" thing"}}"#
        );
    }
}
