//! What we say about ourselves: the results of `initialize` and `server/discover`.

use gateway::View;
use serde_json::{Value, json};

use super::version::{Legacy, MODERN};

/// Who is welcomed where: an agent's view, or the operators' endpoint.
pub(super) type Shown<'a> = Option<&'a View>;

/// The result of `initialize`.
pub(super) fn initialize(version: Legacy, shown: Shown<'_>) -> Value {
    let mut result = json!({
        "protocolVersion": version.as_str(),
        "capabilities": capabilities(shown, false),
        "serverInfo": server_info(),
    });
    add_instructions(&mut result, shown);
    result
}

/// The result of `server/discover`.
pub(super) fn discover(shown: Shown<'_>) -> Value {
    let mut result = json!({
        "supportedVersions": [MODERN],
        "capabilities": capabilities(shown, true),
        "_meta": { "io.modelcontextprotocol/serverInfo": server_info() },
    });
    add_instructions(&mut result, shown);
    result
}

fn server_info() -> Value {
    json!({ "name": "switchboard", "title": "Switchboard", "version": env!("CARGO_PKG_VERSION") })
}

/// Everything an agent may be granted is declared from the start: grants change while clients are connected, capabilities cannot.
fn capabilities(shown: Shown<'_>, modern: bool) -> Value {
    match shown {
        None => json!({ "tools": {} }),
        Some(_) => {
            let mut all = json!({
                "tools": { "listChanged": true },
                "prompts": { "listChanged": true },
                "resources": { "listChanged": true, "subscribe": true },
                "completions": {},
                "extensions": { "io.modelcontextprotocol/skills": {} },
                "logging": {},
            });
            if let (Value::Object(all), true) = (&mut all, modern) {
                // Deprecated there; levels come with each request.
                all.remove("logging");
            }
            all
        }
    }
}

fn add_instructions(result: &mut Value, shown: Shown<'_>) {
    let text = match shown {
        Some(view) => view.instructions(),
        None => Some(
            "Administers this Switchboard: agents, keys, connections, tools, grants, approvals and the record.".to_owned(),
        ),
    };
    if let (Value::Object(result), Some(text)) = (result, text) {
        result.insert("instructions".to_owned(), text.into());
    }
}
