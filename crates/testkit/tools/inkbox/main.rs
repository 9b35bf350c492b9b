//! Drives the published client: each line of standard input says what to do, each line of standard output what came of it.
//!
//! Arguments: the server's address and a key. A line is `{"do": "…", …}`; an answer is `{"ok": …}` or
//! `{"status": …, "detail": …}` for an error of the API, `{"failed": "…"}` for one of the client's own.

use std::collections::HashMap;
use std::io::{BufRead, Write};
use std::sync::Arc;

use inkbox::phone::{
    CallOrigin, HostedAgentAuthorityMode, HostedMcpConnection, HostedMcpCreate, HostedMcpUpdate, McpAuth,
    McpContextMode, McpContextSelections, McpOAuthAuth, McpPromptSelection, McpSkillSelection, McpTransport,
};
use inkbox::{Inkbox, InkboxError};
use serde_json::{json, Value};
use uuid::Uuid;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let base = arguments.next().expect("the server's address");
    let key = arguments.next().expect("a key");
    let client = Inkbox::builder(key).base_url(base).build().expect("a client");
    for line in std::io::stdin().lock().lines() {
        let wanted: Value = serde_json::from_str(&line.expect("a line")).expect("JSON");
        let said = match act(&client, &wanted) {
            Ok(answer) => json!({ "ok": answer }),
            Err(InkboxError::Api { status_code, detail, .. }) => {
                json!({ "status": status_code, "detail": detail.to_string() })
            }
            Err(other) => json!({ "failed": format!("{other:?}") }),
        };
        let mut out = std::io::stdout().lock();
        writeln!(out, "{said}").expect("an answer");
        out.flush().expect("an answer");
    }
}

fn text<'a>(wanted: &'a Value, name: &str) -> &'a str {
    wanted[name].as_str().unwrap_or_default()
}

fn id(wanted: &Value, name: &str) -> Uuid {
    text(wanted, name).parse().unwrap_or_default()
}

fn number(wanted: &Value, name: &str) -> u32 {
    u32::try_from(wanted[name].as_u64().unwrap_or_default()).unwrap_or_default()
}

fn act(client: &Arc<Inkbox>, wanted: &Value) -> inkbox::Result<Value> {
    let hosted = client.hosted_agent();
    let connection = id(wanted, "connection");
    let key = text(wanted, "key");
    Ok(match text(wanted, "do") {
        "whoami" => json!(client.whoami()?),
        "identity" => {
            let found = client.get_identity(text(wanted, "handle"))?;
            json!({ "id": found.id(), "handle": found.agent_handle() })
        }
        "identities" => json!(client
            .list_identities()?
            .into_iter()
            .map(|found| found.agent_handle)
            .collect::<Vec<_>>()),
        "create" => {
            let found = client.get_identity(text(wanted, "handle"))?;
            connection_of(found.create_mcp_server(&new(wanted), key)?)
        }
        "create_plain" => connection_of(hosted.create_mcp_server(&new(wanted), key)?),
        "list" => json!(hosted
            .list_mcp_servers(wanted["agent"].as_str().and_then(|id| id.parse().ok()))?
            .into_iter()
            .map(connection_of)
            .collect::<Vec<_>>()),
        "list_own" => json!(client
            .get_identity(text(wanted, "handle"))?
            .list_mcp_servers()?
            .into_iter()
            .map(connection_of)
            .collect::<Vec<_>>()),
        "get" => connection_of(hosted.get_mcp_server(connection)?),
        "update" => connection_of(hosted.update_mcp_server(connection, &change(wanted))?),
        "delete" => {
            hosted.delete_mcp_server(connection)?;
            Value::Null
        }
        "test" => result(hosted.test_mcp_server(connection)?),
        "refresh" => result(hosted.refresh_mcp_server(connection, key)?),
        "catalog" => {
            let limit = wanted["limit"].as_u64().unwrap_or(50) as u32;
            let cursor = wanted["cursor"].as_str();
            let found = hosted.get_mcp_catalog(connection, cursor, limit, wanted["skill"].as_str())?;
            json!({ "tools": found.tools, "prompts": found.prompts, "resources": found.resources, "skills": found.skills,
                    "next_cursor": found.next_cursor, "config_version": found.config_version,
                    "catalog_version": found.catalog_version })
        }
        "authorize" => {
            authorization(hosted.start_mcp_authorization(connection, number(wanted, "version"), key)?)
        }
        "authorization" => {
            authorization(hosted.get_mcp_authorization(connection, id(wanted, "transaction"))?)
        }
        "cancel" => {
            hosted.cancel_mcp_authorization(connection, id(wanted, "transaction"))?;
            Value::Null
        }
        "disconnect" => result(hosted.disconnect_mcp_server(connection, number(wanted, "version"), key)?),
        "activity" => {
            let page = hosted.get_mcp_activity(id(wanted, "call"), number(wanted, "limit"), number(wanted, "offset"))?;
            let items: Vec<_> = page
                .items
                .iter()
                .map(|item| json!([item.connection_label, item.tool_name, item.status, item.error_code]))
                .collect();
            json!({ "items": items, "limit": page.limit, "offset": page.offset, "has_more": page.has_more, "incomplete": page.incomplete })
        }
        "invocations" => json!(client.calls().tool_invocations(
            text(wanted, "call"),
            i64::from(number(wanted, "limit")),
            i64::from(number(wanted, "offset"))
        )?),
        "voices" => json!(hosted.list_voices()?),
        "config" => json!(hosted.get_config(wanted["agent"].as_str())?),
        "set_config" => json!(hosted.set_config(
            wanted["agent"].as_str(),
            wanted["voice"].as_str(),
            Some("any-model"),
            wanted["instructions"].as_str()
        )?),
        "set_authority" => json!(hosted.set_authority_mode(text(wanted, "agent"), HostedAgentAuthorityMode::Yolo)?),
        "calls" => json!(client.calls().list(wanted["agent"].as_str(), 50, 0, wanted["blocked"].as_bool())?),
        "call" => json!(client.calls().get(text(wanted, "call"))?),
        "transcripts" => json!(client.calls().transcripts(text(wanted, "call"))?),
        "hangup" => json!(client.calls().hangup(text(wanted, "call"))?),
        "place" => json!(client.calls().place_hosted(
            "+15550002222",
            CallOrigin::DedicatedNumber,
            None,
            wanted["agent"].as_str(),
            "to say hello"
        )?),
        "key" => {
            let made = client.api_keys().create(text(wanted, "label"), Some("for tests"), wanted["agent"].as_str().and_then(|id| id.parse().ok()))?;
            json!({ "key": made.api_key, "label": made.record.label, "last4": made.record.last4, "agent": made.record.scoped_identity_id })
        }
        other => panic!("{other} is not known"),
    })
}

fn auth(value: &Value) -> Option<McpAuth> {
    let own = |name: &str| value[name].as_str().map(str::to_owned);
    Some(match value["type"].as_str()? {
        "none" => McpAuth::None,
        "bearer" => McpAuth::Bearer { token: own("token")? },
        "header" => McpAuth::Header {
            token: own("token")?,
            header_name: own("header_name")?,
            value_prefix: own("value_prefix").unwrap_or_default(),
        },
        _ => McpAuth::OAuth(McpOAuthAuth {
            issuer: own("issuer"),
            scopes: strings(&value["scopes"]).unwrap_or_default(),
            client_id: own("client_id"),
            client_secret: own("client_secret"),
            ..McpOAuthAuth::default()
        }),
    })
}

fn strings(value: &Value) -> Option<Vec<String>> {
    let items = value.as_array()?;
    Some(items.iter().filter_map(Value::as_str).map(str::to_owned).collect())
}

fn transport(value: &Value) -> Option<McpTransport> {
    Some(match value.as_str()? {
        "sse" => McpTransport::Sse,
        _ => McpTransport::StreamableHttp,
    })
}

fn context(value: &Value) -> Option<McpContextSelections> {
    let given = value.as_object()?;
    let prompts = given.get("prompts").and_then(Value::as_array).cloned().unwrap_or_default();
    let skills = given.get("skills").and_then(Value::as_array).cloned().unwrap_or_default();
    Some(McpContextSelections {
        mode: match value["mode"].as_str() {
            Some("all") => Some(McpContextMode::All),
            Some(_) => Some(McpContextMode::Selected),
            None => None,
        },
        prompts: prompts
            .iter()
            .map(|prompt| McpPromptSelection {
                name: text(prompt, "name").to_owned(),
                arguments: prompt["arguments"]
                    .as_object()
                    .map(|arguments| {
                        let pair = |(name, value): (&String, &Value)| (name.clone(), value.as_str().unwrap_or_default().to_owned());
                        arguments.iter().map(pair).collect::<HashMap<_, _>>()
                    })
                    .unwrap_or_default(),
            })
            .collect(),
        resources: strings(&value["resources"]).unwrap_or_default(),
        skills: skills
            .iter()
            .map(|skill| McpSkillSelection {
                uri: text(skill, "uri").to_owned(),
                manifest_digest: text(skill, "manifest_digest").to_owned(),
            })
            .collect(),
    })
}

fn new(wanted: &Value) -> HostedMcpCreate {
    HostedMcpCreate {
        label: text(wanted, "label").to_owned(),
        url: text(wanted, "url").to_owned(),
        agent_identity_id: wanted["agent"].as_str().and_then(|id| id.parse().ok()),
        transport: transport(&wanted["transport"]),
        auth: auth(&wanted["auth"]),
        enabled: wanted["enabled"].as_bool(),
        allowed_tools: strings(&wanted["allowed_tools"]),
        context: context(&wanted["context"]),
    }
}

fn change(wanted: &Value) -> HostedMcpUpdate {
    HostedMcpUpdate {
        expected_version: number(wanted, "version"),
        label: wanted["label"].as_str().map(str::to_owned),
        url: wanted["url"].as_str().map(str::to_owned),
        transport: transport(&wanted["transport"]),
        auth: auth(&wanted["auth"]),
        enabled: wanted["enabled"].as_bool(),
        allowed_tools: wanted.get("allowed_tools").map(strings),
        context: context(&wanted["context"]),
    }
}

fn connection_of(found: HostedMcpConnection) -> Value {
    json!({
        "id": found.id,
        "agent": found.agent_identity_id,
        "label": found.label,
        "url": found.url,
        "transport": found.transport,
        "auth": {
            "type": found.auth.r#type, "configured": found.auth.configured, "header_name": found.auth.header_name,
            "value_prefix": found.auth.value_prefix, "status": found.auth.status, "callback_uri": found.auth.callback_uri,
            "granted_scopes": found.auth.granted_scopes, "error_code": found.auth.error_code,
        },
        "enabled": found.enabled,
        "allowed_tools": found.allowed_tools,
        "context": found.context,
        "version": found.config_version,
        "status": found.preparation_status,
        "health": found.health_code,
        "capabilities": found.capabilities,
        "catalog_version": found.catalog_version,
        "catalog_fetched_at": found.catalog_fetched_at,
    })
}

fn authorization(found: inkbox::phone::HostedMcpAuthorization) -> Value {
    json!({
        "id": found.id, "connection": found.connection_id, "agent": found.agent_identity_id, "status": found.status,
        "expires_at": found.expires_at, "connect_url": found.connect_url, "version": found.config_version,
        "requested_scopes": found.requested_scopes, "error_code": found.error_code,
    })
}

fn result(found: inkbox::phone::HostedMcpTestResult) -> Value {
    json!({ "success": found.success, "code": found.code, "version": found.config_version })
}
