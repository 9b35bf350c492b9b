//! What a scripted child answers.

use serde_json::{Map, Value, json};

use crate::child::{Behaviour, Discovering};

/// The answer to one request, if there is any. `heard` is what the client answered to the child's own requests.
pub(super) fn answer(behaviour: &Behaviour, request: &Value, heard: &[Value]) -> Option<Value> {
    let result = match request["method"].as_str().unwrap_or_default() {
        "initialize" => {
            let version = request["params"]["protocolVersion"]
                .as_str()
                .unwrap_or("2025-06-18");
            Ok(
                json!({ "protocolVersion": version, "capabilities": { "tools": {} }, "serverInfo": server_info() }),
            )
        }
        "server/discover" => match behaviour.discover {
            Discovering::Result => Ok(json!({
                "resultType": "complete",
                "supportedVersions": ["2026-07-28"],
                "capabilities": { "tools": {} },
                "ttlMs": 0,
                "cacheScope": "private",
                "_meta": { "io.modelcontextprotocol/serverInfo": server_info() },
            })),
            Discovering::Unknown => Err((-32601, "Method not found")),
            Discovering::Invalid => Err((-32602, "Invalid request parameters")),
            Discovering::Never => return None,
        },
        "ping" => Ok(json!({})),
        "tools/list" => {
            Ok(json!({ "resultType": "complete", "ttlMs": 0, "cacheScope": "private", "tools": tools() }))
        }
        "tools/call" => call(&request["params"], heard),
        _ => Err((-32601, "Method not found")),
    };
    let id = &request["id"];
    Some(match result {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        Err((code, message)) => {
            json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
        }
    })
}

fn server_info() -> Value {
    json!({ "name": "scripted-child", "version": "1" })
}

fn tools() -> Vec<Value> {
    let names = ["echo", "environment", "pid", "big", "answers", "fail", "crash"];
    names
        .iter()
        .map(|name| json!({ "name": name, "inputSchema": { "type": "object" } }))
        .collect()
}

fn call(params: &Value, heard: &[Value]) -> Result<Value, (i64, &'static str)> {
    let said = match params["name"].as_str().unwrap_or_default() {
        "echo" => params["arguments"].clone(),
        "environment" => environment(),
        "pid" => json!({ "pid": std::process::id() }),
        "answers" => json!({ "answers": heard }),
        "big" => {
            let bytes = params["arguments"]["bytes"]
                .as_u64()
                .and_then(|bytes| usize::try_from(bytes).ok());
            return Ok(text(&"b".repeat(bytes.unwrap_or_default()), false));
        }
        "fail" => return Ok(text("told to fail", true)),
        _ => return Err((-32602, "Unknown tool")),
    };
    let mut result = text(&said.to_string(), false);
    result["structuredContent"] = said;
    Ok(result)
}

fn text(text: &str, is_error: bool) -> Value {
    json!({ "resultType": "complete", "content": [{ "type": "text", "text": text }], "isError": is_error })
}

fn environment() -> Value {
    let variables = std::env::vars_os();
    let text = |value: std::ffi::OsString| value.to_string_lossy().into_owned();
    Value::Object(
        variables
            .map(|(name, value)| (text(name), Value::String(text(value))))
            .collect::<Map<_, _>>(),
    )
}
