//! Outgoing messages, written in one pass; raw JSON is copied, never parsed again.

use serde_json::value::RawValue;

use super::{Object, RpcError};

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";
const PROGRESS: &str = "progressToken";

/// What a request carries in `params._meta` beyond what its caller put there
/// (2026-07-28, basic "Per-request protocol fields").
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stamp<'a> {
    /// Ask for progress under this token, which is the request's own id.
    pub(crate) progress: Option<u64>,
    /// The revision every modern request names; `None` in a legacy session.
    pub(crate) version: Option<&'a str>,
    /// The client's identity, modern only.
    pub(crate) info: Option<&'a RawValue>,
    /// The client's capabilities, modern only.
    pub(crate) capabilities: Option<&'a RawValue>,
    /// The lowest log level wanted, modern only.
    pub(crate) log_level: Option<&'a str>,
}

/// A request. The caller's `_meta` is kept, except for keys that describe this exchange rather than the caller's.
pub(crate) fn request(id: u64, method: &str, params: &Object, stamp: Stamp<'_>) -> Vec<u8> {
    let mut out = begin(params);
    out.extend_from_slice(b"\"id\":");
    out.extend_from_slice(id.to_string().as_bytes());
    out.extend_from_slice(b",\"method\":");
    string(&mut out, method);
    write_params(&mut out, params, stamp);
    out.push(b'}');
    out
}

/// A notification.
pub(crate) fn notification(method: &str, params: &Object, stamp: Stamp<'_>) -> Vec<u8> {
    let mut out = begin(params);
    out.extend_from_slice(b"\"method\":");
    string(&mut out, method);
    write_params(&mut out, params, stamp);
    out.push(b'}');
    out
}

/// A result for a server's request, under the id it came with.
pub(crate) fn answer(id: &str, result: &RawValue) -> Vec<u8> {
    let mut out = opening(id.len() + result.get().len());
    out.extend_from_slice(b"\"id\":");
    out.extend_from_slice(id.as_bytes());
    out.extend_from_slice(b",\"result\":");
    out.extend_from_slice(result.get().as_bytes());
    out.push(b'}');
    out
}

/// An error for a server's request, under the id it came with.
pub(crate) fn failure(id: &str, error: &RpcError) -> Vec<u8> {
    let mut out = opening(id.len() + error.message.len() + 64);
    out.extend_from_slice(b"\"id\":");
    out.extend_from_slice(id.as_bytes());
    out.extend_from_slice(b",\"error\":{\"code\":");
    out.extend_from_slice(error.code.to_string().as_bytes());
    out.extend_from_slice(b",\"message\":");
    string(&mut out, &error.message);
    if let Some(data) = &error.data {
        out.extend_from_slice(b",\"data\":");
        out.extend_from_slice(data.get().as_bytes());
    }
    out.extend_from_slice(b"}}");
    out
}

fn begin(params: &Object) -> Vec<u8> {
    opening(
        params
            .iter()
            .map(|(key, value)| key.len() + value.get().len() + 4)
            .sum(),
    )
}

fn opening(content: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(content + 384);
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",");
    out
}

fn write_params(out: &mut Vec<u8>, params: &Object, stamp: Stamp<'_>) {
    let start = out.len();
    out.extend_from_slice(b",\"params\":{");
    let mut fields = Fields::new(out);
    for (key, value) in params.iter().filter(|(key, _)| *key != "_meta") {
        fields.raw(key, value.get());
    }
    write_meta(&mut fields, params.get("_meta"), stamp);
    let empty = fields.empty;
    if empty {
        out.truncate(start);
    } else {
        out.push(b'}');
    }
}

fn write_meta(fields: &mut Fields<'_>, given: Option<&RawValue>, stamp: Stamp<'_>) {
    let given = given.and_then(|raw| Object::parse(raw).ok());
    let before = (fields.out.len(), fields.empty);
    fields.key("_meta");
    fields.out.push(b'{');
    let mut meta = Fields::new(fields.out);
    for (key, value) in given.iter().flat_map(Object::iter) {
        let ours = matches!(
            key,
            VERSION | CLIENT_INFO | CAPABILITIES | SUBSCRIPTION | PROGRESS
        );
        let level_replaced = key == LOG_LEVEL && (stamp.version.is_none() || stamp.log_level.is_some());
        if !ours && !level_replaced {
            meta.raw(key, value.get());
        }
    }
    if let Some(token) = stamp.progress {
        meta.raw(PROGRESS, &token.to_string());
    }
    if let Some(version) = stamp.version {
        meta.text(VERSION, version);
        if let Some(info) = stamp.info {
            meta.raw(CLIENT_INFO, info.get());
        }
        meta.raw(CAPABILITIES, stamp.capabilities.map_or("{}", RawValue::get));
        if let Some(level) = stamp.log_level {
            meta.text(LOG_LEVEL, level);
        }
    }
    if meta.empty {
        fields.out.truncate(before.0);
        fields.empty = before.1;
    } else {
        fields.out.push(b'}');
    }
}

/// The members of an object being written.
struct Fields<'a> {
    out: &'a mut Vec<u8>,
    empty: bool,
}

impl<'a> Fields<'a> {
    const fn new(out: &'a mut Vec<u8>) -> Self {
        Self { out, empty: true }
    }

    fn key(&mut self, key: &str) {
        if !self.empty {
            self.out.push(b',');
        }
        self.empty = false;
        string(self.out, key);
        self.out.push(b':');
    }

    fn raw(&mut self, key: &str, json: &str) {
        self.key(key);
        self.out.extend_from_slice(json.as_bytes());
    }

    fn text(&mut self, key: &str, value: &str) {
        self.key(key);
        string(self.out, value);
    }
}

/// A JSON string. Writing a `str` into a `Vec` cannot fail.
fn string(out: &mut Vec<u8>, text: &str) {
    let start = out.len();
    if serde_json::to_writer(&mut *out, text).is_err() {
        out.truncate(start);
        out.extend_from_slice(b"\"\"");
    }
}

#[cfg(test)]
mod tests {
    use super::{Stamp, answer, failure, notification, request};
    use crate::wire::{Object, RpcError, raw};

    fn object(text: &str) -> Object {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn requests_keep_what_the_caller_has() {
        let info = raw(&serde_json::json!({"name": "c", "version": "1"})).unwrap();
        let capabilities = raw(&serde_json::json!({"sampling": {}})).unwrap();
        let modern = Stamp {
            progress: Some(9),
            version: Some("2026-07-28"),
            info: Some(&info),
            capabilities: Some(&capabilities),
            log_level: None,
        };
        let check = |params: &str, stamp: Stamp<'_>, want: &str| {
            let got = String::from_utf8(request(9, "m\"", &object(params), stamp)).unwrap();
            assert_eq!(
                got,
                format!("{{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"m\\\"\"{want}}}")
            );
            serde_json::from_str::<serde_json::Value>(&got).unwrap();
        };
        check("{}", Stamp::default(), "");
        check(r#"{"a":1.50}"#, Stamp::default(), r#","params":{"a":1.50}"#);
        check(r#"{"_meta":{"progressToken":"theirs"}}"#, Stamp::default(), "");
        check(
            r#"{"_meta":{"x":{ "y":1 },"io.modelcontextprotocol/protocolVersion":"1"},"b":2}"#,
            Stamp {
                progress: Some(9),
                ..Stamp::default()
            },
            r#","params":{"b":2,"_meta":{"x":{ "y":1 },"progressToken":9}}"#,
        );
        check(
            r#"{"_meta":{"io.modelcontextprotocol/logLevel":"debug","io.modelcontextprotocol/clientInfo":{"name":"other"},"traceparent":"t"}}"#,
            modern,
            concat!(
                r#","params":{"_meta":{"io.modelcontextprotocol/logLevel":"debug","traceparent":"t","progressToken":9,"#,
                r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
                r#""io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"#,
                r#""io.modelcontextprotocol/clientCapabilities":{"sampling":{}}}}"#
            ),
        );
        check(
            r#"{"_meta":{"io.modelcontextprotocol/logLevel":"debug"}}"#,
            Stamp {
                version: Some("v"),
                log_level: Some("error"),
                ..Stamp::default()
            },
            concat!(
                r#","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"v","#,
                r#""io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/logLevel":"error"}}"#
            ),
        );
    }

    #[test]
    fn answers_and_notifications() {
        let result = raw(&serde_json::json!({"ok": true})).unwrap();
        assert_eq!(
            answer("\"x\"", &result),
            br#"{"jsonrpc":"2.0","id":"x","result":{"ok":true}}"#
        );
        let error = RpcError {
            code: -1,
            message: "a\nb".into(),
            data: Some(result),
        };
        assert_eq!(
            failure("3", &error),
            br#"{"jsonrpc":"2.0","id":3,"error":{"code":-1,"message":"a\nb","data":{"ok":true}}}"#
        );
        let params = object(r#"{"requestId":4}"#);
        assert_eq!(
            notification("notifications/cancelled", &params, Stamp::default()),
            br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}}"#
        );
    }
}
