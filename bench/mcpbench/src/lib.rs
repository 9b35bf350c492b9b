//! Shared JSON-RPC handling of the echo MCP server (Streamable HTTP and stdio front ends).
use serde_json::{Value, json};

/// Number of filler tools advertised beside `echo` (ECHO_TOOLS), to test large catalogues.
fn filler() -> usize {
    std::env::var("ECHO_TOOLS")
        .ok()
        .and_then(|v| v.parse().ok())
        .unwrap_or(0)
}

/// Answers one JSON-RPC message. None = notification/response, nothing to send.
pub fn answer(msg: &Value) -> Option<Value> {
    let id = msg.get("id")?.clone();
    let method = msg.get("method").and_then(Value::as_str)?;
    let ok = |r: Value| Some(json!({"jsonrpc":"2.0","id":id,"result":r}));
    match method {
        "initialize" => {
            let v = msg["params"]["protocolVersion"].as_str().unwrap_or("2025-06-18");
            ok(json!({"protocolVersion": v, "capabilities": {"tools": {}},
                      "serverInfo": {"name": "echo", "version": "0.1.0"}}))
        }
        "ping" => ok(json!({})),
        "tools/list" => {
            let schema = json!({"type":"object","properties":{"text":{"type":"string"}},"required":["text"]});
            let mut tools = vec![
                json!({"name":"echo","description":"Echo the text back","inputSchema":schema,
                "annotations":{"readOnlyHint":true}}),
            ];
            let blob = json!({"type":"object","properties":{"bytes":{"type":"integer","minimum":0,"maximum":10_000_000}},"required":["bytes"]});
            tools.push(json!({"name":"blob","description":"Answer with so many bytes of text","inputSchema":blob,
                "annotations":{"readOnlyHint":true}}));
            for i in 0..filler() {
                tools.push(json!({"name":format!("filler_{i}"),"description":format!("Filler tool number {i}: does nothing but return its input text"),"inputSchema":schema}));
            }
            ok(json!({ "tools": tools }))
        }
        "tools/call" if msg["params"]["name"] == "blob" => {
            let bytes = msg["params"]["arguments"]["bytes"].as_u64().unwrap_or(0).min(10_000_000);
            let text = "x".repeat(usize::try_from(bytes).unwrap_or(0));
            ok(json!({"content":[{"type":"text","text":text}],"isError":false}))
        }
        "tools/call" => {
            let t = msg["params"]["arguments"]["text"].as_str().unwrap_or("");
            ok(json!({"content":[{"type":"text","text":t}],"isError":false}))
        }
        "resources/list" => ok(json!({"resources":[]})),
        "resources/templates/list" => ok(json!({"resourceTemplates":[]})),
        "prompts/list" => ok(json!({"prompts":[]})),
        _ => Some(json!({"jsonrpc":"2.0","id":id,"error":{"code":-32601,"message":"method not found"}})),
    }
}
