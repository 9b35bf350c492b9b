//! What the bridge reads of a message of the client: never more than it needs to pass it on.

use std::borrow::Cow;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use mcp::param_headers::encode;
use serde::Deserialize;
use serde_json::value::RawValue;

/// A message of the client, as it came and as far as it is understood.
#[derive(Debug, Clone)]
pub(super) struct Message {
    pub(super) text: Bytes,
    pub(super) kind: Kind,
    /// The revision that a modern message names in itself.
    pub(super) version: Option<String>,
}

/// Kinds of messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// Wants an answer.
    Request {
        /// Its id, as JSON text.
        id: String,
        /// What is asked.
        method: String,
        /// The name or URI it is about.
        about: Option<String>,
    },
    /// Calls off a request.
    Cancellation {
        /// The id of that request, as JSON text.
        id: String,
    },
    /// Any other notification, an answer to a request of the server, or something the server will refuse.
    Other,
}

#[derive(Deserialize)]
struct Shape<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
struct Params<'a> {
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow)]
    uri: Option<&'a RawValue>,
    #[serde(borrow, rename = "requestId")]
    request_id: Option<&'a RawValue>,
    #[serde(borrow, rename = "_meta")]
    meta: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Meta {
    #[serde(rename = "io.modelcontextprotocol/protocolVersion")]
    version: Option<String>,
}

impl Message {
    /// Reads a line.
    pub(super) fn read(text: Bytes) -> Self {
        let shape = serde_json::from_slice::<Shape<'_>>(&text).ok();
        let params: Params<'_> = shape
            .as_ref()
            .and_then(|shape| serde_json::from_str(shape.params?.get()).ok())
            .unwrap_or_default();
        let version = params
            .meta
            .and_then(|meta| serde_json::from_str::<Meta>(meta.get()).ok()?.version);
        let raw = |value: &RawValue| value.get().to_owned();
        let kind = match shape.as_ref().map(|shape| (shape.method.as_deref(), shape.id)) {
            Some((Some(method), Some(id))) => Kind::Request {
                id: raw(id),
                method: method.to_owned(),
                about: params
                    .name
                    .or(params.uri)
                    .and_then(|value| serde_json::from_str(value.get()).ok()),
            },
            Some((Some("notifications/cancelled"), None)) if params.request_id.is_some() => {
                Kind::Cancellation {
                    id: params.request_id.map(raw).unwrap_or_default(),
                }
            }
            _ => Kind::Other,
        };
        drop(shape);
        Self { text, kind, version }
    }

    /// The id, where it is a request.
    pub(super) fn id(&self) -> Option<&str> {
        match &self.kind {
            Kind::Request { id, .. } => Some(id),
            Kind::Cancellation { .. } | Kind::Other => None,
        }
    }

    /// Whether it is a request with this method.
    pub(super) fn asks(&self, wanted: &str) -> bool {
        matches!(&self.kind, Kind::Request { method, .. } if method == wanted)
    }

    /// What a modern message says again in headers (2026-07-28, Streamable HTTP, "Protocol Headers").
    pub(super) fn repeat(&self, headers: &mut HeaderMap) {
        let Some(version) = &self.version else { return };
        headers.insert("mcp-protocol-version", encode(version));
        let Kind::Request { method, about, .. } = &self.kind else {
            return;
        };
        headers.insert("mcp-method", encode(method));
        if let (Some(about), "tools/call" | "prompts/get" | "resources/read") = (about, method.as_str()) {
            headers.insert("mcp-name", encode(about));
        }
    }

    /// A member of the params, as JSON text.
    pub(super) fn param(&self, name: &str) -> Option<Box<RawValue>> {
        let shape = serde_json::from_slice::<Shape<'_>>(&self.text).ok()?;
        let params: std::collections::HashMap<Cow<'_, str>, &RawValue> =
            serde_json::from_str(shape.params?.get()).ok()?;
        params.get(name).map(|value| (*value).to_owned())
    }
}

/// What the bridge reads of a message of the server.
#[derive(Deserialize)]
pub(super) struct Heard<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) result: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
}

impl<'a> Heard<'a> {
    /// Reads a message; none where it is no JSON object.
    pub(super) fn read(text: &'a [u8]) -> Option<Self> {
        serde_json::from_slice(text).ok()
    }

    /// Whether it is the answer to the request with this id.
    pub(super) fn answers(&self, id: &str) -> bool {
        self.method.is_none()
            && (self.result.is_some() || self.error.is_some())
            && self.id.is_some_and(|own| own.get() == id)
    }

    /// Whether it is a JSON-RPC message at all.
    pub(super) const fn is_message(&self) -> bool {
        self.method.is_some() || self.result.is_some() || self.error.is_some()
    }
}

/// The version an `initialize` result agreed on.
pub(super) fn agreed(result: &RawValue) -> Option<HeaderValue> {
    #[derive(Deserialize)]
    struct Agreed {
        #[serde(rename = "protocolVersion")]
        version: String,
    }
    let agreed: Agreed = serde_json::from_str(result.get()).ok()?;
    HeaderValue::from_str(&agreed.version).ok()
}

/// One line: JSON has no line ends within strings, so those between values can be spaces.
pub(super) fn on_one_line(text: Bytes) -> Bytes {
    if !text.iter().any(|byte| matches!(byte, b'\n' | b'\r')) {
        return text;
    }
    let flat: Vec<u8> = text
        .iter()
        .map(|byte| {
            if matches!(byte, b'\n' | b'\r') {
                b' '
            } else {
                *byte
            }
        })
        .collect();
    Bytes::from(flat)
}
