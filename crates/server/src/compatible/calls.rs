//! Telephone calls.

use api::Page;
use api::phone::{PhoneCall, PhoneTurn};
use axum::Json;
use axum::body::Bytes;
use axum::extract::Path;
use gateway::{Failure, FailureKind};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::client::{Client, id, input};
use super::error::Refusal;

#[derive(Deserialize)]
struct Wanted {
    agent_identity_id: Option<Uuid>,
    limit: Option<u16>,
    offset: Option<u32>,
    is_blocked: Option<String>,
    start_datetime: Option<String>,
    end_datetime: Option<String>,
    tz: Option<String>,
}

pub(crate) async fn list(client: Client) -> Result<Json<Value>, Refusal> {
    let wanted: Wanted = client.query()?;
    let mut asked = Map::new();
    let mut set = |field: &str, value: Option<Value>| {
        if let Some(value) = value {
            asked.insert(field.to_owned(), value);
        }
    };
    let blocked = match wanted.is_blocked.as_deref() {
        None => None,
        Some("true") => Some(json!(true)),
        Some("false") => Some(json!(false)),
        Some(_) => return Err(Refusal::invalid("is_blocked", "must be true or false")),
    };
    set("agent", wanted.agent_identity_id.map(|id| json!(id)));
    set("limit", wanted.limit.map(Value::from));
    set("skip", wanted.offset.map(Value::from));
    set("blocked", blocked);
    set("from", wanted.start_datetime.map(Value::from));
    set("until", wanted.end_datetime.map(Value::from));
    set("time_zone", wanted.tz.map(Value::from));
    let page = client.ask::<Page<PhoneCall>>("phone.calls", asked).await?.body;
    Ok(Json(page.items.iter().map(told).collect()))
}

pub(crate) async fn show(client: Client, Path(call): Path<String>) -> Result<Json<Value>, Refusal> {
    Ok(Json(told(&one(&client, &call).await?)))
}

pub(crate) async fn transcripts(client: Client, Path(call): Path<String>) -> Result<Json<Value>, Refusal> {
    let id = id("call", &call)?;
    let mut wanted = input([("phone_call", json!(id)), ("limit", json!(100))]);
    let mut said = Vec::new();
    loop {
        let page = client
            .ask::<Page<PhoneTurn>>("phone.transcript", wanted.clone())
            .await?
            .body;
        said.extend(page.items.iter().map(|turn| turn_of(id, turn)));
        match page.next_cursor {
            Some(cursor) => wanted.insert("cursor".to_owned(), json!(cursor)),
            None => return Ok(Json(Value::Array(said))),
        };
    }
}

/// There is no carrier to hang up with in this release; a call that is over stays as it is.
pub(crate) async fn hangup(client: Client, Path(call): Path<String>) -> Result<Json<Value>, Refusal> {
    let found = one(&client, &call).await?;
    if matches!(found.status.as_str(), "completed" | "no_answer" | "failed") {
        return Ok(Json(told(&found)));
    }
    Err(no_carrier())
}

/// Nor is there one to call with. Whoever may not know of the agent is told nothing else.
pub(crate) async fn place(client: Client, body: Bytes) -> Result<Json<Value>, Refusal> {
    let given = client.body(&body)?;
    let agent = given.get("agent_identity_id").filter(|agent| !agent.is_null());
    let agent = agent.map(|agent| ("agent".to_owned(), agent.clone()));
    client
        .ask::<Value>("voice.show", agent.into_iter().collect())
        .await?;
    Err(no_carrier())
}

fn no_carrier() -> Refusal {
    let detail = "no telephone carrier is set up on this server";
    Failure::new(FailureKind::Unavailable, "phone.no_carrier", detail).into()
}

async fn one(client: &Client, call: &str) -> Result<PhoneCall, Refusal> {
    let wanted = input([("phone_call", json!(id("call", call)?))]);
    Ok(client.ask("phone.call", wanted).await?.body)
}

fn told(call: &PhoneCall) -> Value {
    json!({
        "id": call.id,
        "agent_identity_id": call.agent_id,
        "local_phone_number": call.local_number,
        "remote_phone_number": call.remote_number,
        "direction": call.direction,
        "status": call.status,
        "client_websocket_url": null,
        "hangup_reason": call.hangup_reason,
        "started_at": call.started_at,
        "ended_at": call.ended_at,
        "created_at": call.created_at,
        "updated_at": call.updated_at,
        "is_blocked": call.blocked,
        "origin": "dedicated_number",
        "mode": "hosted_agent",
        "reason": call.reason,
        "hosted_agent_authority_mode": call.authority_mode,
        "post_call_action_items": [],
        "forwardings": [],
    })
}

fn turn_of(call: Uuid, turn: &PhoneTurn) -> Value {
    json!({
        // A turn has no id of its own: this one is the same each time it is read.
        "id": Uuid::from_u128(call.as_u128() ^ (u128::from(turn.seq) + 1)),
        "call_id": call,
        "seq": turn.seq,
        "ts_ms": turn.at_ms,
        "party": turn.party,
        "text": turn.text,
        "created_at": turn.created_at,
    })
}
