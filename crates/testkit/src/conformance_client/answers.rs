//! What this client answers when a server asks: it accepts every form, filled in with the schema's defaults.

use mcp::wire::{RpcError, codes, raw};
use mcp::{Events, Listener, ServerRequest};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

/// Answers a legacy server's requests, on whichever stream they come.
pub(super) struct Accepting;

impl Events for Accepting {
    fn notification(&self, _method: &str, _params: Option<&RawValue>) {}

    fn request(&self, request: ServerRequest) {
        respond(request);
    }
}

impl Listener for Accepting {
    fn notification(&self, _method: &str, _params: Option<&RawValue>) {}

    fn request(&self, request: ServerRequest) {
        respond(request);
    }
}

/// The answers to a modern server's `inputRequests`, by their keys; requests of other kinds have none.
pub(super) fn fulfil(requests: &Value) -> Value {
    let requests = requests.as_object().into_iter().flatten();
    requests
        .filter_map(|(key, request)| {
            let answer = answer(request["method"].as_str()?, &request["params"])?;
            Some((key.clone(), answer))
        })
        .collect::<Map<_, _>>()
        .into()
}

/// An object that fits an object schema of flat properties: defaults where there are any, else the first that will do.
pub(super) fn fill(schema: &Value) -> Value {
    let properties = schema["properties"].as_object().into_iter().flatten();
    properties
        .map(|(name, schema)| (name.clone(), sample(schema)))
        .collect::<Map<_, _>>()
        .into()
}

fn respond(request: ServerRequest) {
    let params = request
        .params
        .as_deref()
        .and_then(|params| serde_json::from_str(params.get()).ok())
        .unwrap_or_default();
    let answer = answer(&request.method, &params).and_then(|answer| raw(&answer).ok());
    request.responder.answer(answer.ok_or_else(|| {
        RpcError::new(
            codes::METHOD_NOT_FOUND,
            format!("{} is not answered here", request.method),
        )
    }));
}

fn answer(method: &str, params: &Value) -> Option<Value> {
    match method {
        "elicitation/create" => {
            Some(json!({ "action": "accept", "content": fill(&params["requestedSchema"]) }))
        }
        "roots/list" => Some(json!({ "roots": [] })),
        _ => None,
    }
}

fn sample(schema: &Value) -> Value {
    if let Some(given) = schema.get("default").or_else(|| schema["enum"].get(0)) {
        return given.clone();
    }
    match schema["type"].as_str() {
        Some("boolean") => true.into(),
        Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or_else(|| 1.into()),
        Some("array") => json!([]),
        Some("object") => fill(schema),
        Some("null") => Value::Null,
        _ => "text".into(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{fill, fulfil};

    #[test]
    fn forms_are_filled_in() {
        let schema = json!({ "properties": {
            "name": { "type": "string", "default": "John Doe" },
            "status": { "type": "string", "enum": ["active", "inactive"] },
            "age": { "type": "integer", "minimum": 18 },
            "confirmed": { "type": "boolean" },
        } });
        let filled = json!({ "name": "John Doe", "status": "active", "age": 18, "confirmed": true });
        assert_eq!(fill(&schema), filled);
        let asked = json!({
            "form": { "method": "elicitation/create", "params": { "requestedSchema": schema } },
            "roots": { "method": "roots/list" },
            "other": { "method": "sampling/createMessage" },
        });
        let answers = json!({ "form": { "action": "accept", "content": filled }, "roots": { "roots": [] } });
        assert_eq!(fulfil(&asked), answers);
    }
}
