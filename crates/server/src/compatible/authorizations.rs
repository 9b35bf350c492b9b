//! Signing in to servers: the link is asked for here, a person goes through it on a page.

use api::connections::{Authorization, Connection};
use axum::Json;
use axum::body::Bytes;
use axum::extract::Path;
use http::StatusCode;
use serde_json::{Map, Value, json};

use super::client::{Client, id, input};
use super::connections::one;
use super::error::Refusal;

pub(crate) async fn start(
    client: Client,
    Path(named): Path<String>,
    body: Bytes,
) -> Result<(StatusCode, Json<Value>), Refusal> {
    let key = client.idempotency_key()?;
    let wanted = versioned(&client, &named, &body)?;
    let begun = client
        .ask_once::<Authorization>("start_mcp_authorization", wanted, Some(key))
        .await?
        .body;
    let connection = one(&client, &named).await?;
    Ok((StatusCode::CREATED, Json(told(begun, &connection))))
}

pub(crate) async fn show(
    client: Client,
    Path((named, transaction)): Path<(String, String)>,
) -> Result<Json<Value>, Refusal> {
    let found = client
        .ask::<Authorization>("connections.authorization", wanted(&named, &transaction)?)
        .await?
        .body;
    let connection = one(&client, &named).await?;
    Ok(Json(told(found, &connection)))
}

pub(crate) async fn cancel(
    client: Client,
    Path((named, transaction)): Path<(String, String)>,
) -> Result<StatusCode, Refusal> {
    let wanted = wanted(&named, &transaction)?;
    client
        .ask::<()>("connections.cancel_authorization", wanted)
        .await?;
    Ok(StatusCode::NO_CONTENT)
}

pub(crate) async fn disconnect(
    client: Client,
    Path(named): Path<String>,
    body: Bytes,
) -> Result<Json<Value>, Refusal> {
    let key = client.idempotency_key()?;
    let wanted = versioned(&client, &named, &body)?;
    let connection = client
        .ask_once::<Connection>("connections.disconnect", wanted, Some(key))
        .await?
        .body;
    Ok(Json(
        json!({ "success": true, "code": "disconnected", "config_version": connection.version }),
    ))
}

fn versioned(client: &Client, named: &str, body: &[u8]) -> Result<Map<String, Value>, Refusal> {
    let mut wanted = client.body(body)?;
    if let Some(unknown) = wanted.keys().find(|field| *field != "expected_version") {
        return Err(Refusal::invalid(
            &unknown.chars().take(64).collect::<String>(),
            "is not a field of this request; there is expected_version",
        ));
    }
    wanted.insert("connection".to_owned(), json!(id("connection", named)?));
    Ok(wanted)
}

fn wanted(named: &str, transaction: &str) -> Result<Map<String, Value>, Refusal> {
    Ok(input([
        ("connection", json!(id("connection", named)?)),
        ("authorization", json!(id("authorization", transaction)?)),
    ]))
}

fn told(authorization: Authorization, connection: &Connection) -> Value {
    json!({
        "id": authorization.id,
        "connection_id": authorization.connection_id,
        "agent_identity_id": connection.agent_id,
        "status": authorization.status,
        "expires_at": authorization.expires_at,
        "connect_url": authorization.connect_url,
        "config_version": authorization.version,
        "requested_scopes": authorization.requested_scopes,
        "error_code": authorization.error_code,
    })
}
