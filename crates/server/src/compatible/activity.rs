//! What an agent used on a telephone call: all of it, and what of it went to connections.

use api::phone::{PhoneActivity, PhoneToolCall};
use api::words::Status;
use axum::Json;
use axum::extract::Path;
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::client::{Client, id, input};
use super::error::Refusal;

/// Calls of a page, where nothing else is asked for.
const PAGE: u16 = 50;
/// The first release of the Python client that knows of calls to connections.
const PYTHON_KNOWS: [u32; 3] = [0, 7, 24];

#[derive(Deserialize)]
struct Wanted {
    limit: Option<u16>,
    offset: Option<u32>,
}

pub(crate) async fn all(client: Client, Path(call): Path<String>) -> Result<Json<Value>, Refusal> {
    let id = id("call", &call)?;
    let (mut page, wanted) = found(&client, id, false).await?;
    let before = page.items.len();
    if client.agent().is_some_and(is_elder) {
        // It would not read the whole page for one row of these.
        page.items
            .retain(|item| item.connection_id.is_none() || word(item.status) != "unknown");
    }
    page.incomplete |= page.items.len() < before;
    let items: Vec<_> = page.items.iter().map(|item| invocation(id, item)).collect();
    Ok(Json(shown(items, &page, &wanted)))
}

pub(crate) async fn external(client: Client, Path(call): Path<String>) -> Result<Json<Value>, Refusal> {
    let id = id("call", &call)?;
    let (page, wanted) = found(&client, id, true).await?;
    let items: Vec<_> = page.items.iter().map(remote).collect();
    Ok(Json(shown(items, &page, &wanted)))
}

async fn found(client: &Client, id: Uuid, external: bool) -> Result<(PhoneActivity, Wanted), Refusal> {
    let wanted: Wanted = client.query()?;
    let asked = input([
        ("phone_call", json!(id)),
        ("external", json!(external)),
        ("offset", json!(wanted.offset.unwrap_or(0))),
        ("limit", json!(wanted.limit.unwrap_or(PAGE))),
    ]);
    Ok((client.ask("phone.activity", asked).await?.body, wanted))
}

fn shown(items: Vec<Value>, page: &PhoneActivity, wanted: &Wanted) -> Value {
    json!({
        "items": items,
        "limit": wanted.limit.unwrap_or(PAGE),
        "offset": wanted.offset.unwrap_or(0),
        "has_more": page.next_offset.is_some(),
        "incomplete": page.incomplete,
    })
}

fn invocation(call: Uuid, item: &PhoneToolCall) -> Value {
    let external = item.connection_id.is_some();
    json!({
        "id": item.id,
        "call_id": call,
        "tool_name": item.tool,
        "status": word(item.status),
        "result": null,
        "started_at": item.at,
        "completed_at": item.ended_at,
        "source": if external { "external_mcp" } else { "builtin" },
        "connection_id": item.connection_id,
        "config_version": item.connection_version,
        "connection_label": item.connection_label,
        "server_url": item.server_url,
        "error_code": item.code,
        "observation_coverage": "complete",
        "arguments_available": false,
        "result_available": false,
        "observed_at": item.ended_at.unwrap_or(item.at),
    })
}

fn remote(item: &PhoneToolCall) -> Value {
    json!({
        "id": item.id,
        "connection_label": item.connection_label.as_deref().unwrap_or("(removed)"),
        "tool_name": item.tool,
        "status": word(item.status),
        "error_code": item.code,
        "started_at": item.at,
        "completed_at": item.ended_at,
    })
}

/// How a call stands, in these clients' closed list.
const fn word(status: Status) -> &'static str {
    match status {
        Status::Started | Status::Waiting | Status::Approved => "started",
        Status::Succeeded => "succeeded",
        Status::Failed | Status::Denied | Status::Expired => "failed",
        Status::Unknown => "unknown",
    }
}

/// Whether this is a Python client that knows no call whose end is unknown.
fn is_elder(agent: &str) -> bool {
    let Some(version) = agent
        .split_whitespace()
        .find_map(|product| product.strip_prefix("inkbox-python/"))
    else {
        return false;
    };
    let mut parts = version.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    let version = [(); 3].map(|()| parts.next().unwrap_or(0));
    version < PYTHON_KNOWS
}

#[cfg(test)]
mod tests {
    use super::is_elder;

    #[test]
    fn clients_by_what_they_call_themselves() {
        let cases = [
            ("inkbox-python/0.7.20", true),
            ("inkbox-cli/1.0 inkbox-python/0.7.23", true),
            ("inkbox-python/0.7.24", false),
            ("inkbox-python/0.10.0", false),
            ("inkbox-rust/0.7.26", false),
            ("", false),
        ];
        for (agent, elder) in cases {
            assert_eq!(is_elder(agent), elder, "{agent:?}");
        }
    }
}
