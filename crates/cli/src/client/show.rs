//! Answers as people read them.

use std::process::ExitCode;

use gateway::Capability;
use serde_json::Value;

use crate::output;

/// Columns that say the least; left out where a table grows too wide.
const LEAST: &[&str] = &[
    "agent_id", "connection_id", "call_id", "definition_digest", "arguments_digest", "hints", "description", "headers",
    "catalog_fetched_at", "checked_at", "created_at", "actor_id", "title", "seq", "effect", "next_cursor", "health_detail", "problem",
    "reason_text", "annotations", "auth", "answered_by", "note", "answered_at", "reason", "kind", "hash", "fact",
];
/// Columns of a list.
const COLUMNS: usize = 8;

/// Prints an answer.
pub(super) fn answer(capability: &Capability, answer: &Value, json: bool) -> ExitCode {
    if json {
        if !answer.is_null() {
            output::json(answer);
        }
        return outcome(answer);
    }
    match (capability.declaration.paged, answer) {
        (_, Value::Null) => output::say("done"),
        (true, page) => {
            list(page["items"].as_array().map_or(&[], Vec::as_slice));
            if let Some(cursor) = page["next_cursor"].as_str() {
                output::note(&format!("more: --cursor {cursor} (or --all)"));
            }
        }
        (false, one) => single(one),
    }
    outcome(answer)
}

/// A tool call that did not succeed ends the command with a failure, so that scripts notice.
fn outcome(answer: &Value) -> ExitCode {
    let failed = answer.get("call_id").is_some() && answer["status"] != "succeeded" && answer.get("steps").is_none();
    let broken = answer.get("intact") == Some(&Value::Bool(false));
    if (failed && answer.get("result").is_some()) || broken { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Prints a problem document.
pub(super) fn problem(problem: &Value, json: bool) -> ExitCode {
    if json {
        output::json(problem);
    } else {
        let text = |name: &str| problem[name].as_str().unwrap_or_default().to_owned();
        let field = problem["field"].as_str().map(|field| format!(" ({field})")).unwrap_or_default();
        output::note(&format!("switchboard: {}{field} [{}]", text("detail"), text("code")));
    }
    ExitCode::FAILURE
}

fn list(items: &[Value]) {
    let Some(Value::Object(first)) = items.first() else { return output::say("nothing") };
    let mut columns: Vec<&String> = first.keys().collect();
    while columns.len() > COLUMNS {
        let Some(place) = LEAST.iter().find_map(|least| columns.iter().position(|c| c == least)) else { break };
        columns.remove(place);
    }
    columns.truncate(COLUMNS + 2);
    let rows = items.iter().map(|item| columns.iter().map(|c| cell(&item[c.as_str()])).collect()).collect();
    output::table(&columns.iter().map(|c| c.replace('_', " ")).collect::<Vec<_>>(), rows);
}

fn single(one: &Value) {
    let Value::Object(fields) = one else { return output::say(&cell(one)) };
    let flat = fields.iter().filter(|(_, value)| !nested(value) && !value.is_null());
    let rows = flat.map(|(name, value)| vec![name.replace('_', " "), cell(value)]).collect();
    output::table(&["".to_owned(), "".to_owned()], rows);
    for (name, value) in fields.iter().filter(|(_, value)| nested(value)) {
        output::say(&format!("\n{}:", name.replace('_', " ")));
        match value {
            Value::Array(items) => list(items),
            other => output::json(other),
        }
    }
}

fn nested(value: &Value) -> bool {
    match value {
        Value::Object(fields) => !fields.is_empty(),
        Value::Array(items) => items.iter().any(Value::is_object),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => visible(text),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::Array(items) => items.iter().map(cell).collect::<Vec<_>>().join(", "),
        Value::Object(fields) => match fields.get("decision").or_else(|| fields.get("type")) {
            Some(word) => cell(word),
            None => visible(&value.to_string()),
        },
    }
}

/// Text of strangers must not move the cursor or hide itself.
fn visible(text: &str) -> String {
    let hidden = |c: char| c.is_control() && c != '\n' || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars().map(|c| if hidden(c) { '\u{fffd}' } else { c }).take(400).collect()
}
