//! Answers as people read them.

use std::process::ExitCode;

use gateway::Capability;
use serde_json::Value;

use super::columns::columns;
use crate::output::{self, Table};

/// Longest text of a cell, in characters; `--json` has all of it.
const CELL: usize = 160;
/// Longest text beside a name, in characters.
const TEXT: usize = 4_000;

/// Longest text without a space that stands beside its name, in bytes; a longer one might be broken there.
const WHOLE: usize = 64;

/// Fields whose content is not ours.
const FOREIGN: &[&str] = &["arguments", "definition", "details", "result"];
/// What a fact of the record says, in this order.
const FACT: &[&str] = &[
    "exposed", "decision", "reason", "rule", "status", "code", "action", "change", "object", "answer",
];

/// Prints an answer.
pub(super) fn answer(capability: &Capability, answer: &Value, json: bool) -> ExitCode {
    let id = capability.declaration.id;
    if json {
        if !answer.is_null() {
            output::json(answer);
        }
        return outcome(id, answer);
    }
    match (capability.declaration.paged, answer) {
        (_, Value::Null) => output::say("done"),
        (true, page) => {
            output::say(&list(id, page["items"].as_array().map_or(&[], Vec::as_slice)));
            if let Some(cursor) = page["next_cursor"].as_str() {
                output::note(&format!("there is more: --cursor {cursor}, or --all"));
            }
        }
        (false, call) if id == "tools.call" => output::say(&called(call)),
        (false, one) => output::say(&single(id, one)),
    }
    outcome(id, answer)
}

/// An answer that says "no" ends the command with a failure, so that scripts notice.
fn outcome(id: &str, answer: &Value) -> ExitCode {
    let good = match id {
        "tools.call" => answer["status"] == "succeeded",
        "audit.verify" => answer["intact"] == true,
        "connections.test" | "connections.refresh" => answer["ok"] == true,
        "config.reload" => answer["problems"].as_array().is_none_or(Vec::is_empty),
        _ => true,
    };
    if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Prints a problem document.
pub(super) fn problem(problem: &Value, json: bool) -> ExitCode {
    if json {
        output::json(problem);
    } else {
        output::note(&refusal(problem));
    }
    ExitCode::FAILURE
}

pub(super) fn refusal(problem: &Value) -> String {
    let text = |name: &str| visible(problem[name].as_str().unwrap_or_default(), TEXT);
    let field = problem["field"]
        .as_str()
        .map(|field| format!(" ({})", visible(field, CELL)))
        .unwrap_or_default();
    let hint = match problem["status"].as_u64() {
        Some(401) => "\ngive a key in SWITCHBOARD_API_KEY or with --key-file",
        _ => "",
    };
    format!("switchboard: {}{field} [{}]{hint}", text("detail"), text("code"))
}

pub(super) fn list(id: &str, items: &[Value]) -> String {
    if items.is_empty() {
        return "nothing".to_owned();
    }
    let columns = columns(id, items);
    let mut table = Table::new(columns.iter().map(|column| column.heading.as_str()));
    for item in items {
        table.row(columns.iter().map(|column| {
            let name = column.pointer.rsplit('/').next().unwrap_or_default();
            let value = item.pointer(&column.pointer).unwrap_or(&Value::Null);
            let short = value.as_str().and_then(moment).and_then(|moment| short(&moment));
            short.unwrap_or_else(|| cell(name, value, CELL))
        }));
    }
    table.fitted()
}

/// What came of a call: what the tool said, else what Switchboard says.
pub(super) fn called(call: &Value) -> String {
    let mut parts = Vec::new();
    if let Some(content) = call.pointer("/result/content").and_then(Value::as_array) {
        parts.extend(content.iter().map(|block| match block["text"].as_str() {
            Some(text) => visible(text, usize::MAX),
            None => format!("[{}]", cell("type", &block["type"], CELL)),
        }));
    } else if !call["result"].is_null() {
        parts.push(visible(&format!("{:#}", call["result"]), usize::MAX));
    }
    parts.extend(call["message"].as_str().map(|text| visible(text, TEXT)));
    let code = call["code"].as_str().filter(|code| call["status"] != *code);
    let code = code
        .map(|code| format!(" ({})", visible(code, CELL)))
        .unwrap_or_default();
    parts.push(format!(
        "{}{code}, call {}",
        cell("status", &call["status"], CELL),
        cell("call_id", &call["call_id"], CELL)
    ));
    parts.join("\n")
}

pub(super) fn single(id: &str, one: &Value) -> String {
    let Value::Object(fields) = one else {
        return cell("", one, TEXT);
    };
    let mut table = Table::new(["", ""]);
    let mut below = Vec::new();
    for (name, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
        let heading = name.trim_end_matches("_us").replace('_', " ");
        match value {
            Value::Array(items) if items.iter().any(Value::is_object) => {
                below.push(format!("{heading}:\n{}", list(id, items)))
            }
            Value::Array(items) if items.is_empty() => {}
            Value::Object(inner) if inner.values().any(|v| v.is_object() || v.is_array()) => {
                // What passes through is shown as it is, what is ours as everything else.
                let whole = FOREIGN.contains(&name.as_str());
                let text = if whole {
                    visible(&format!("{value:#}"), TEXT)
                } else {
                    single(id, value)
                };
                below.push(format!("{heading}:\n{text}"));
            }
            // To be copied whole: a key, an address.
            Value::String(text) if text.len() > WHOLE && !text.contains(char::is_whitespace) => {
                below.push(format!("{heading}:\n{}", visible(text, TEXT)));
            }
            _ => table.row([heading, cell(name, value, TEXT)]),
        }
    }
    let mut parts = vec![table.fitted()];
    parts.extend(below);
    parts.join("\n\n")
}

fn cell(name: &str, value: &Value, most: usize) -> String {
    match value {
        Value::Null => String::new(),
        Value::Bool(yes) => if *yes { "yes" } else { "no" }.to_owned(),
        Value::Number(number) if name.ends_with("_us") => duration(number.as_u64().unwrap_or_default()),
        Value::Number(number) => number.to_string(),
        Value::String(text) => moment(text).unwrap_or_else(|| visible(text, most)),
        Value::Array(items) if items.iter().any(Value::is_object) => format!("{} of them", items.len()),
        Value::Array(items) => items
            .iter()
            .map(|item| cell("", item, most))
            .collect::<Vec<_>>()
            .join(", "),
        Value::Object(fields) if name == "fact" => {
            let said = FACT.iter().filter_map(|part| fields.get(*part)?.as_str());
            visible(&said.collect::<Vec<_>>().join(" "), most)
        }
        Value::Object(_) if FOREIGN.contains(&name) => visible(&value.to_string(), most),
        Value::Object(fields) => {
            let said = fields.iter().filter(|(_, value)| !value.is_null());
            let pairs =
                said.map(|(name, value)| format!("{}: {}", name.replace('_', " "), cell(name, value, most)));
            visible(&pairs.collect::<Vec<_>>().join(", "), most)
        }
    }
}

/// `2026-11-30T16:20:05.123456Z` to the second.
fn moment(text: &str) -> Option<String> {
    let (day, time) = text.split_once('T')?;
    let whole = time.strip_suffix('Z')?.split('.').next()?;
    let digits = |text: &str, by: char, count: usize| {
        text.split(by).count() == count && text.chars().all(|c| c.is_ascii_digit() || c == by)
    };
    (digits(day, '-', 3) && digits(whole, ':', 3)).then(|| format!("{day} {whole}Z"))
}

/// A list is about lately: the year, and that it is UTC, can be left out.
fn short(moment: &str) -> Option<String> {
    Some(moment.split_once('-')?.1.trim_end_matches('Z').to_owned())
}

fn duration(us: u64) -> String {
    match us {
        0..1_000 => format!("{us} µs"),
        1_000..1_000_000 => format!("{}.{} ms", us / 1_000, us % 1_000 / 100),
        _ => format!("{}.{} s", us / 1_000_000, us % 1_000_000 / 100_000),
    }
}

/// Text of strangers must not move the cursor or hide itself.
fn visible(text: &str, most: usize) -> String {
    let hidden = |c: char| {
        c.is_control() && c != '\n'
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{ad}')
    };
    let mut shown: String = text
        .chars()
        .map(|c| if hidden(c) { '\u{fffd}' } else { c })
        .take(most)
        .collect();
    if text.chars().nth(most).is_some() {
        shown.push('…');
    }
    shown
}
