//! Incoming messages: one pass over the envelope, contents borrowed as raw JSON.

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// Text that is not a JSON-RPC message, or not the JSON it should be.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    /// Not JSON, or of the wrong JSON type.
    #[error("not the expected JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// JSON, but neither request, notification nor response.
    #[error("not a JSON-RPC message: {0}")]
    NotRpc(&'static str),
}

/// The `error` member of a JSON-RPC response (JSON-RPC 2.0 §5.1).
#[derive(Clone, Debug, thiserror::Error)]
#[error("error {code}: {message}")]
pub struct RpcError {
    /// The number that says what kind of failure it was.
    pub code: i64,
    /// One sentence from the peer; untrusted text.
    pub message: String,
    /// Anything else the peer attached, untouched.
    pub data: Option<Box<RawValue>>,
}

impl RpcError {
    /// An error of our own making.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
        }
    }
}

/// One message from a server, borrowed from the bytes it came in.
#[derive(Debug)]
pub(crate) enum Incoming<'a> {
    /// A server's request; its id is echoed as it came.
    Request {
        id: &'a RawValue,
        method: String,
        params: Option<&'a RawValue>,
    },
    /// Something said without expecting an answer.
    Notification {
        method: String,
        params: Option<&'a RawValue>,
    },
    /// An answer. `id` is `None` where it is absent, null, or not one we could have given.
    Response {
        id: Option<u64>,
        outcome: Result<&'a RawValue, RpcError>,
    },
}

/// Reads one message, or each message of a batch (2025-03-26), and hands them over in order.
pub(crate) fn each<'a>(
    bytes: &'a [u8],
    mut take: impl FnMut(Result<Incoming<'a>, WireError>),
) -> Result<(), WireError> {
    match bytes.iter().find(|b| !b.is_ascii_whitespace()) {
        Some(b'[') => {
            for one in serde_json::from_slice::<Vec<&'a RawValue>>(bytes)? {
                take(parse(one.get().as_bytes()));
            }
            Ok(())
        }
        _ => {
            take(Ok(parse(bytes)?));
            Ok(())
        }
    }
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(default)]
    method: Option<String>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

/// Keeps `null` apart from an absent member.
fn present<'de: 'a, 'a, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'a RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

fn parse(bytes: &[u8]) -> Result<Incoming<'_>, WireError> {
    let Envelope {
        id,
        method,
        params,
        result,
        error,
    } = serde_json::from_slice(bytes)?;
    // `"error": null` beside a result is common in published servers and means success.
    let error = error.filter(|raw| raw.get() != "null");
    let params = params.filter(|raw| raw.get() != "null");
    match (method, id) {
        (Some(method), Some(id)) if id.get() != "null" => Ok(Incoming::Request { id, method, params }),
        (Some(method), _) => Ok(Incoming::Notification { method, params }),
        (None, id) => {
            let id = id.and_then(our_id);
            match (result, error) {
                (_, Some(error)) => Ok(Incoming::Response {
                    id,
                    outcome: Err(rpc_error(error)),
                }),
                (Some(result), None) => Ok(Incoming::Response {
                    id,
                    outcome: Ok(result),
                }),
                (None, None) => Err(WireError::NotRpc("it has neither method, result nor error")),
            }
        }
    }
}

/// Our ids are numbers; servers that echo them as strings are understood.
fn our_id(raw: &RawValue) -> Option<u64> {
    raw.get().trim_matches('"').parse().ok()
}

/// Reads an error object leniently: published servers send string codes, missing messages and bare strings.
fn rpc_error(raw: &RawValue) -> RpcError {
    #[derive(Deserialize)]
    struct Fields<'a> {
        #[serde(borrow, default)]
        code: Option<&'a RawValue>,
        #[serde(borrow, default)]
        message: Option<&'a RawValue>,
        #[serde(borrow, default)]
        data: Option<&'a RawValue>,
    }
    let text = |raw: &RawValue| serde_json::from_str(raw.get()).unwrap_or_else(|_| raw.get().to_owned());
    match serde_json::from_str::<Fields<'_>>(raw.get()) {
        Ok(fields) => RpcError {
            code: fields
                .code
                .and_then(|c| c.get().trim_matches('"').parse().ok())
                .unwrap_or(0),
            message: fields.message.map(text).unwrap_or_default(),
            data: fields.data.map(ToOwned::to_owned),
        },
        Err(_) => RpcError {
            code: 0,
            message: text(raw),
            data: None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::{Incoming, each};

    fn shape(text: &str) -> Vec<String> {
        let mut seen = Vec::new();
        let whole = each(text.as_bytes(), |message| {
            seen.push(match message {
                Ok(Incoming::Request { id, method, params }) => {
                    format!("request {id} {method} {}", params.map_or("-", |p| p.get()))
                }
                Ok(Incoming::Notification { method, params }) => {
                    format!("notification {method} {}", params.map_or("-", |p| p.get()))
                }
                Ok(Incoming::Response {
                    id,
                    outcome: Ok(result),
                }) => format!("result {id:?} {result}"),
                Ok(Incoming::Response {
                    id,
                    outcome: Err(error),
                }) => {
                    format!(
                        "error {id:?} {} {:?} {}",
                        error.code,
                        error.message,
                        error.data.is_some()
                    )
                }
                Err(_) => "bad".to_owned(),
            });
        });
        if whole.is_err() {
            seen.push("not a message".to_owned());
        }
        seen
    }

    #[test]
    fn envelopes() {
        let check = |text: &str, want: &[&str]| assert_eq!(shape(text), want, "{text}");
        check(
            r#"{"jsonrpc":"2.0","id":7,"result":{"a": 1.0 }}"#,
            &[r#"result Some(7) {"a": 1.0 }"#],
        );
        check(r#"{"result":{},"id":"7"}"#, &["result Some(7) {}"]);
        check(r#"{"id":7,"result":null}"#, &["result Some(7) null"]);
        check(r#"{"id":7,"result":1,"error":null}"#, &["result Some(7) 1"]);
        check(
            r#"{"id":null,"error":{"code":-32700,"message":"no"}}"#,
            &[r#"error None -32700 "no" false"#],
        );
        check(
            r#"{"error":{"code":"-1","message":3,"data":{}}}"#,
            &[r#"error None -1 "3" true"#],
        );
        check(
            r#"{"id":1.5,"error":"bad thing"}"#,
            &[r#"error None 0 "bad thing" false"#],
        );
        check(r#"{"id":"abc","result":{}}"#, &["result None {}"]);
        check(r#"{"id":"x","method":"ping"}"#, &[r#"request "x" ping -"#]);
        check(
            r#"{"method":"n","params":{"k":[]}}"#,
            &[r#"notification n {"k":[]}"#],
        );
        check(r#"{"id":null,"method":"n","params":null}"#, &["notification n -"]);
        check(
            r#" [{"id":1,"result":2},3,{"method":"n"}]"#,
            &["result Some(1) 2", "bad", "notification n -"],
        );
        for junk in [
            "",
            "hello",
            "{}",
            "[1",
            "null",
            "42",
            r#"{"id":1,"id":2,"result":{}}"#,
            "{\"id\":1,",
        ] {
            check(junk, &["not a message"]);
        }
    }
}
