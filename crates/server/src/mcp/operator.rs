//! The operators' endpoint: capabilities whose surface is `mcp`, as tools.

use std::sync::{Arc, OnceLock};

use domain::{Effect, Surface, parse_unique};
use gateway::{Capability, Failure, Gateway, Operation};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::answer::{Answer, RpcError};
use super::lists::page;
use super::serve::Request;
use super::wire::Members;
use crate::problem;

/// The tools, written once: capabilities do not change while the process lives.
#[derive(Clone, Default)]
pub(super) struct Catalogue(Arc<OnceLock<Vec<String>>>);

impl Catalogue {
    /// A page of the tools.
    pub(super) fn page(&self, gateway: &Gateway, cursor: Option<&str>) -> Result<Box<RawValue>, RpcError> {
        let all = self.0.get_or_init(|| {
            gateway
                .registry()
                .on(Surface::Mcp)
                .map(|c| tool(c).to_string())
                .collect()
        });
        let items: Vec<&str> = all.iter().map(String::as_str).collect();
        page("tools", &items, cursor)
    }
}

/// Calls a capability.
pub(super) async fn call(request: &Request<'_>) -> Result<Answer, RpcError> {
    let bad = || RpcError::invalid("tools/call takes a name and an object of arguments");
    let params = Members::of_params(request.params).ok_or_else(bad)?;
    let name = params.text("name").ok_or_else(bad)?;
    let gateway = &request.state.gateway;
    let declared = gateway
        .registry()
        .by_tool_name(&name)
        .filter(|c| c.declaration.on(Surface::Mcp));
    let capability = declared.ok_or_else(|| {
        RpcError::invalid(format!(
            "unknown tool: {}",
            name.chars().take(128).collect::<String>()
        ))
    })?;
    let input: Value = match params.get("arguments") {
        Some(raw) => parse_unique(raw.get()).map_err(|_| bad())?,
        None => json!({}),
    };
    let operation = Operation {
        principal: request.principal,
        surface: Surface::Mcp,
        id: capability.declaration.id.to_owned(),
        input,
        idempotency_key: None,
    };
    Ok(match gateway.operate(operation).await {
        Ok(reply) => Answer::of(&told(reply.body)),
        Err(failure) => Answer::of(&failed(&failure)),
    })
}

fn told(output: Option<Value>) -> Value {
    let Some(output) = output else {
        return json!({ "content": [{ "type": "text", "text": "done" }] });
    };
    let text = output.to_string();
    if output.is_object() {
        json!({ "content": [{ "type": "text", "text": text }], "structuredContent": output })
    } else {
        json!({ "content": [{ "type": "text", "text": text }] })
    }
}

/// A failure as a tool's own error, with the problem document a program would get over REST.
fn failed(failure: &Failure) -> Value {
    let document = serde_json::to_value(problem::document(failure)).unwrap_or_default();
    json!({
        "content": [{ "type": "text", "text": document.to_string() }],
        "isError": true,
    })
}

fn tool(capability: &Capability) -> Value {
    let declaration = capability.declaration;
    let read_only = declaration.effect == Effect::ReadOnly;
    let mut tool = json!({
        "name": declaration.tool_name(),
        "title": declaration.title,
        "description": declaration.description,
        "inputSchema": *capability.input,
        "annotations": { "readOnlyHint": read_only, "openWorldHint": false },
    });
    let output = capability
        .output
        .as_ref()
        .filter(|schema| schema.get("type").is_some_and(|kind| kind == "object"));
    if let (Value::Object(tool), Some(output)) = (&mut tool, output) {
        tool.insert("outputSchema".to_owned(), (**output).clone());
    }
    tool
}
