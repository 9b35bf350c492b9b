//! Agents as identities, keys, and who asks.

use api::Page;
use api::agents::Agent;
use api::keys::{Caller, CreatedKey, Key};
use api::words::KeyKind;
use axum::Json;
use axum::body::Bytes;
use axum::extract::Path;
use chrono::{DateTime, Utc};
use http::StatusCode;
use serde_json::{Map, Value, json};

use super::client::{Client, input};
use super::error::Refusal;

/// Letters of a key that may be shown: `sb_agent_`, and the first of its id.
const PREFIX: usize = 13;

pub(crate) async fn list(client: Client) -> Result<Json<Value>, Refusal> {
    let mut shown = Vec::new();
    let mut wanted = input([("limit", json!(100))]);
    loop {
        let page = client
            .ask::<Page<Agent>>("agents.list", wanted.clone())
            .await?
            .body;
        shown.extend(page.items.iter().map(|agent| identity(&client, agent)));
        match page.next_cursor {
            Some(cursor) => wanted.insert("cursor".to_owned(), json!(cursor)),
            None => return Ok(Json(Value::Array(shown))),
        };
    }
}

pub(crate) async fn show(client: Client, Path(handle): Path<String>) -> Result<Json<Value>, Refusal> {
    let agent = client
        .ask::<Agent>("agents.show", input([("agent", json!(handle))]))
        .await?;
    Ok(Json(identity(&client, &agent.body)))
}

pub(crate) async fn create(client: Client, body: Bytes) -> Result<(StatusCode, Json<Value>), Refusal> {
    let given = client.body(&body)?;
    let mut wanted = Map::new();
    for (field, value) in given {
        match (field.as_str(), value) {
            (_, Value::Null) => {}
            ("agent_handle", value) => {
                wanted.insert("handle".to_owned(), value);
            }
            ("description", value) => {
                wanted.insert(field, value);
            }
            // What an identity is called is its handle here; these add nothing to it and take nothing away.
            ("display_name" | "imessage_enabled" | "contact_sharing_enabled", _) => {}
            (other, _) => {
                let detail = "cannot be given to an identity here; there are agent_handle and description";
                return Err(Refusal::invalid(
                    &other.chars().take(64).collect::<String>(),
                    detail,
                ));
            }
        }
    }
    let made = client.ask::<Agent>("agents.create", wanted).await?;
    Ok((StatusCode::CREATED, Json(identity(&client, &made.body))))
}

/// Makes a key for one agent. An administrator's is made in other places only.
pub(crate) async fn key(client: Client, body: Bytes) -> Result<(StatusCode, Json<Value>), Refusal> {
    let mut given = client.body(&body)?;
    let description = given.remove("description");
    let agent = given
        .remove("scoped_identity_id")
        .filter(|agent| !agent.is_null());
    let Some(agent) = agent else {
        let detail = "a key that is made here acts as one identity; say which in scoped_identity_id";
        let kind = gateway::FailureKind::Forbidden;
        return Err(gateway::Failure::new(kind, "access.forbidden", detail).into());
    };
    let label = given.remove("label").unwrap_or_default();
    if let Some(unknown) = given.keys().next() {
        let detail = "is not a field of a key; there are label, description and scoped_identity_id";
        return Err(Refusal::invalid(
            &unknown.chars().take(64).collect::<String>(),
            detail,
        ));
    }
    let wanted = input([("name", label), ("kind", json!("agent")), ("agent", agent)]);
    let made = client.ask::<CreatedKey>("keys.create", wanted).await?.body;
    let record = record(&client, &made, description.unwrap_or_default());
    let said = json!({ "api_key": made.secret, "record": record });
    Ok((StatusCode::CREATED, Json(said)))
}

pub(crate) async fn whoami(client: Client) -> Result<Json<Value>, Refusal> {
    let caller = client.ask::<Caller>("whoami", Map::new()).await?.body;
    let time = |at: fn(&Key) -> Option<DateTime<Utc>>| caller.key.as_ref().and_then(at);
    let subtype = match &caller.agent {
        None => "api_key.admin_scoped",
        Some(agent) if agent.claimed => "api_key.agent_scoped.claimed",
        Some(_) => "api_key.agent_scoped.unclaimed",
    };
    Ok(Json(match caller.kind.as_str() {
        "member" => json!({
            "auth_type": "jwt",
            "auth_subtype": null,
            "user_id": caller.id,
            "organization_id": caller.organization_id,
        }),
        _ => json!({
            "auth_type": "api_key",
            "auth_subtype": subtype,
            "organization_id": caller.organization_id,
            "creator_type": "human",
            "key_id": caller.id,
            "label": caller.key.as_ref().map(|key| &key.name),
            "description": null,
            "created_at": time(|key| Some(key.created_at)),
            "last_used_at": time(|key| key.last_used_at),
            "expires_at": null,
        }),
    }))
}

fn identity(client: &Client, agent: &Agent) -> Value {
    json!({
        "id": agent.id,
        "organization_id": client.principal.tenant.organization.uuid(),
        "agent_handle": agent.handle,
        "display_name": agent.handle,
        "description": agent.description,
        "email_address": null,
        "created_at": agent.created_at,
        "updated_at": agent.updated_at,
        "imessage_enabled": false,
        "whatsapp_configured": false,
        "contact_sharing_enabled": false,
        "imessage_filter_mode": "blacklist",
        "mail_filter_mode": "blacklist",
        "phone_filter_mode": "blacklist",
        "signing_key_configured": false,
        "mailbox": null,
        "phone_number": null,
        "imessage_number": null,
        "tunnel": null,
    })
}

fn record(client: &Client, made: &CreatedKey, description: Value) -> Value {
    let CreatedKey { key, secret } = made;
    let last: String = secret
        .chars()
        .skip(secret.chars().count().saturating_sub(4))
        .collect();
    let prefix: String = secret.chars().take(PREFIX).collect();
    json!({
        "id": key.id,
        "organization_id": client.principal.tenant.organization.uuid(),
        "created_by": client.principal.id_text(),
        "creator_type": match key.kind { KeyKind::Admin | KeyKind::Agent => "human" },
        "scoped_identity_id": key.agent_id,
        "label": key.name,
        "description": description,
        "status": if key.revoked_at.is_some() { "revoked" } else { "active" },
        "last4": last,
        "display_prefix": prefix,
        "last_used_at": key.last_used_at,
        "expires_at": null,
        "revoked_at": key.revoked_at,
        "created_at": key.created_at,
        "updated_at": key.revoked_at.unwrap_or(key.created_at),
    })
}
