//! Connections of one agent.

use api::connections::{Connection, ConnectionReport};
use axum::Json;
use axum::body::Bytes;
use axum::extract::Path;
use http::StatusCode;
use serde_json::{Map, Value, json};

use super::client::{Client, OfAgent, id, input};
use super::error::Refusal;

/// What people may set, in these clients' words, which are ours too.
const FIELDS: [&str; 7] = [
    "label",
    "url",
    "transport",
    "auth",
    "enabled",
    "allowed_tools",
    "context",
];
/// How these clients may reach a server.
const TRANSPORTS: [&str; 2] = ["streamable_http", "sse"];
/// The accounts these clients may set.
const ACCOUNTS: [&str; 4] = ["none", "bearer", "header", "oauth"];
/// What of an account with tokens they may set.
const OAUTH: [&str; 7] = [
    "type",
    "issuer",
    "scopes",
    "client_id",
    "client_secret",
    "token_endpoint_auth_method",
    "profile",
];

pub(crate) async fn list(client: Client) -> Result<Json<Value>, Refusal> {
    let OfAgent { agent_identity_id } = client.query()?;
    let mut wanted = Map::new();
    if let Some(agent) = agent_identity_id {
        wanted.insert("agent".to_owned(), json!(agent));
    }
    wanted.insert("limit".to_owned(), json!(100));
    let mut shown = Vec::new();
    loop {
        let page = client
            .ask::<api::Page<Connection>>("connections.list", wanted.clone())
            .await?
            .body;
        shown.extend(page.items.into_iter().map(told));
        match page.next_cursor {
            Some(cursor) => wanted.insert("cursor".to_owned(), json!(cursor)),
            None => return Ok(Json(json!({ "connections": shown }))),
        };
    }
}

pub(crate) async fn create(client: Client, body: Bytes) -> Result<(StatusCode, Json<Value>), Refusal> {
    let key = client.idempotency_key()?;
    let mut given = client.body(&body)?;
    let agent = given.remove("agent_identity_id").filter(|agent| !agent.is_null());
    let mut wanted = settings(given)?;
    wanted.retain(|_, value| !value.is_null());
    if let Some(agent) = agent {
        wanted.insert("agent".to_owned(), agent);
    }
    wanted
        .entry("transport")
        .or_insert_with(|| json!("streamable_http"));
    // What is not chosen here is not offered; our own API offers everything where nothing is said.
    wanted.entry("context").or_insert_with(|| json!({}));
    // Whoever makes a connection here says with it that the agent may use it.
    wanted.insert("trusted".to_owned(), json!(true));
    let made = client
        .ask_once::<Connection>("connections.add", wanted, Some(key))
        .await?;
    Ok((StatusCode::CREATED, Json(told(made.body))))
}

pub(crate) async fn show(client: Client, Path(named): Path<String>) -> Result<Json<Value>, Refusal> {
    Ok(Json(told(one(&client, &named).await?)))
}

/// The connection of this id.
pub(super) async fn one(client: &Client, named: &str) -> Result<Connection, Refusal> {
    let wanted = input([("connection", json!(id("connection", named)?))]);
    Ok(client.ask("connections.show", wanted).await?.body)
}

pub(crate) async fn update(
    client: Client,
    Path(named): Path<String>,
    body: Bytes,
) -> Result<Json<Value>, Refusal> {
    let id = id("connection", &named)?;
    let mut given = client.body(&body)?;
    let version = given.remove("expected_version");
    let mut wanted = settings(given)?;
    if let Some((field, _)) = wanted
        .iter()
        .find(|(field, value)| value.is_null() && *field != "allowed_tools")
    {
        let detail = "null is not a value here; leave it out to keep what there is";
        return Err(Refusal::invalid(field, detail));
    }
    wanted.extend(input([
        ("connection", json!(id)),
        ("expected_version", version.unwrap_or_default()),
        ("trusted", json!(true)),
    ]));
    let changed = client.ask::<Connection>("connections.update", wanted).await?;
    Ok(Json(told(changed.body)))
}

pub(crate) async fn remove(client: Client, Path(named): Path<String>) -> Result<StatusCode, Refusal> {
    let wanted = input([("connection", json!(id("connection", &named)?))]);
    client.ask::<()>("connections.remove", wanted).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub(crate) async fn test(client: Client, Path(named): Path<String>) -> Result<Json<Value>, Refusal> {
    let wanted = input([("connection", json!(id("connection", &named)?))]);
    let report = client
        .ask::<ConnectionReport>("connections.test", wanted)
        .await?
        .body;
    let connection = report.connection;
    // A server that answers may still be off in something; the code then says so.
    let code = match connection.health_code.as_str() {
        "unchecked" if report.ok => "ok",
        code => code,
    };
    Ok(Json(
        json!({ "success": report.ok, "code": code, "config_version": connection.version }),
    ))
}

pub(crate) async fn refresh(
    client: Client,
    Path(named): Path<String>,
) -> Result<(StatusCode, Json<Value>), Refusal> {
    let key = client.idempotency_key()?;
    let wanted = input([("connection", json!(id("connection", &named)?))]);
    let queued = client
        .ask_once::<Connection>("connections.queue_refresh", wanted, Some(key))
        .await?
        .body;
    let said = json!({ "success": true, "code": "queued", "config_version": queued.version });
    Ok((StatusCode::ACCEPTED, Json(said)))
}

/// What is to be set, without what these clients have no word for.
fn settings(given: Map<String, Value>) -> Result<Map<String, Value>, Refusal> {
    if let Some(unknown) = given.keys().find(|field| !FIELDS.contains(&field.as_str())) {
        let detail = format!("is not a field of a connection; there are {}", FIELDS.join(", "));
        return Err(Refusal::invalid(&short(unknown), detail));
    }
    let words = [
        ("transport", given.get("transport"), &TRANSPORTS[..]),
        (
            "auth.type",
            given.get("auth").and_then(|auth| auth.get("type")),
            &ACCOUNTS,
        ),
    ];
    for (field, value, words) in words {
        let known = |value: &Value| value.as_str().is_some_and(|word| words.contains(&word));
        if value.is_some_and(|value| !value.is_null() && !known(value)) {
            return Err(Refusal::invalid(
                field,
                format!("must be one of {}", words.join(", ")),
            ));
        }
    }
    if let Some(Value::Object(auth)) = given.get("auth")
        && auth.get("type") == Some(&json!("oauth"))
        && let Some(unknown) = auth.keys().find(|field| !OAUTH.contains(&field.as_str()))
    {
        let detail = format!(
            "is not a field of an OAuth account; there are {}",
            OAUTH.join(", ")
        );
        return Err(Refusal::invalid(&format!("auth.{}", short(unknown)), detail));
    }
    Ok(given)
}

/// A name somebody chose, short enough to be said again.
fn short(name: &str) -> String {
    name.chars().take(64).collect()
}

/// A connection in these clients' words.
pub(super) fn told(connection: Connection) -> Value {
    let ready = connection.catalog_version > 0;
    let code = connection.health_code.as_str();
    json!({
        "id": connection.id,
        "agent_identity_id": connection.agent_id,
        "label": connection.label,
        "url": connection.url,
        "transport": connection.transport,
        "auth": account(&connection),
        "enabled": connection.enabled,
        "allowed_tools": connection.allowed_tools,
        "context": connection.context,
        "config_version": connection.version,
        "preparation_status": connection.preparation_status,
        "health_code": (!matches!(code, "ok" | "unchecked")).then_some(code),
        "capabilities": connection.capabilities,
        "catalog_version": ready.then(|| connection.catalog_version.to_string()),
        "catalog_fetched_at": connection.catalog_fetched_at,
    })
}

fn account(connection: &Connection) -> Value {
    let auth = &connection.auth;
    let mut told = json!({
        "type": auth.kind,
        "configured": auth.configured,
        "header_name": auth.header_name,
        "value_prefix": auth.value_prefix,
    });
    if let (Some(account), Some(told)) = (&auth.account, told.as_object_mut()) {
        told.extend(input([
            ("status", json!(account.status)),
            ("expires_at", json!(account.expires_at)),
            ("refresh_supported", json!(account.refresh_supported)),
            ("requested_scopes", json!(account.requested_scopes)),
            ("granted_scopes", json!(account.granted_scopes)),
            ("error_code", json!(account.error_code)),
            ("issuer", json!(account.issuer)),
            ("callback_uri", json!(account.callback_uri)),
        ]));
    }
    told
}
