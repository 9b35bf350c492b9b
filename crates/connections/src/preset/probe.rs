//! How the answer to a harmless call is read.

use domain::Proof;
use serde_json::Value;

use super::Probe;

/// What an answer of the server (`CallToolResult`) says about the credential it was called with.
#[must_use]
pub fn judge(probe: &Probe, result: &Value) -> Proof {
    let said = texts(result).to_lowercase();
    let says = |known: &[String]| known.iter().any(|text| said.contains(&text.to_lowercase()));
    let failed = result.get("isError").and_then(Value::as_bool) == Some(true) || says_failure(result);
    if says(&probe.unproven) {
        Proof::Unproven
    } else if !failed {
        Proof::Proven
    } else if says(&probe.rejected) {
        Proof::Rejected
    } else {
        Proof::Unproven
    }
}

/// Everything an answer says, in one text.
fn texts(result: &Value) -> String {
    let mut said = String::new();
    if let Some(Value::Array(blocks)) = result.get("content") {
        for text in blocks.iter().filter_map(|block| block.get("text")) {
            said.push_str(text.as_str().unwrap_or_default());
            said.push('\n');
        }
    }
    if let Some(structured) = result.get("structuredContent") {
        said.push_str(&structured.to_string());
    }
    said
}

/// Some servers answer a refused credential as a success: an object whose `error` or `status` says otherwise.
fn says_failure(result: &Value) -> bool {
    let Some(Value::Array(blocks)) = result.get("content") else {
        return false;
    };
    let fails = |document: &Value| {
        let status = document.get("status").and_then(Value::as_u64);
        document.get("error").is_some_and(|error| !error.is_null()) || status.is_some_and(|code| code >= 400)
    };
    let structured = result.get("structuredContent").is_some_and(fails);
    structured
        || blocks
            .iter()
            .filter_map(|block| block.get("text").and_then(Value::as_str))
            .filter(|text| text.trim_start().starts_with('{'))
            .filter_map(|text| serde_json::from_str::<Value>(text).ok())
            .any(|document| fails(&document))
}
