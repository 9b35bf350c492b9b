//! Arguments that tools want repeated in headers, learned from the lists that pass by.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use http::HeaderMap;
use mcp::param_headers::ParamHeaders;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::message::{Kind, Message};

/// The JSON-RPC error for headers that do not fit the body.
const HEADER_MISMATCH: i64 = -32020;

/// What is known of each tool.
#[derive(Debug, Default)]
pub(super) struct Mirror(Mutex<HashMap<String, ParamHeaders>>);

#[derive(Deserialize)]
struct Listed<'a> {
    #[serde(borrow, default)]
    tools: Vec<&'a RawValue>,
    #[serde(rename = "nextCursor")]
    next_cursor: Option<String>,
}

#[derive(Deserialize)]
struct Tool<'a> {
    name: String,
    #[serde(borrow, rename = "inputSchema")]
    input_schema: &'a RawValue,
}

impl Mirror {
    /// Learns from a `tools/list` result; says where its next page begins.
    pub(super) fn learn(&self, result: &RawValue) -> Option<String> {
        let listed: Listed<'_> = serde_json::from_str(result.get()).ok()?;
        for raw in listed.tools {
            let Ok(tool) = serde_json::from_str::<Tool<'_>>(raw.get()) else {
                continue;
            };
            // A tool whose annotations are wrong is the server's to refuse.
            let headers = ParamHeaders::from_schema(tool.input_schema).unwrap_or_default();
            if headers.is_empty() {
                self.known().remove(&tool.name);
            } else {
                self.known().insert(tool.name, headers);
            }
        }
        listed.next_cursor
    }

    /// Repeats the arguments of a call.
    pub(super) fn repeat(&self, message: &Message, headers: &mut HeaderMap) {
        let Kind::Request {
            method,
            about: Some(name),
            ..
        } = &message.kind
        else {
            return;
        };
        if method != "tools/call" || message.version.is_none() {
            return;
        }
        let Some(known) = self.known().get(name).cloned() else {
            return;
        };
        // An argument that fits no header is the server's to refuse.
        let arguments = message.param("arguments");
        headers.extend(
            arguments
                .and_then(|arguments| known.values(&arguments).ok())
                .into_iter()
                .flatten(),
        );
    }

    fn known(&self) -> MutexGuard<'_, HashMap<String, ParamHeaders>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether an error says that headers are missing or do not fit.
pub(super) fn is_mismatch(error: &RawValue) -> bool {
    #[derive(Deserialize)]
    struct Code {
        code: i64,
    }
    serde_json::from_str::<Code>(error.get()).is_ok_and(|error| error.code == HEADER_MISMATCH)
}
