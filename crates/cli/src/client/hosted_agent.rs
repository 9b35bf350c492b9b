//! `phone hosted-agent mcp`: the verbs of another product's command line over the routes of its API that we serve.
//!
//! A settings file has the names of that product's SDK (`allowedTools`) or those of the wire (`allowed_tools`). No secret is an
//! argument: they are in the file, or come over standard input.

#![expect(
    clippy::indexing_slicing,
    reason = "members of JSON values: reading an absent one gives null"
)]

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use bytes::Bytes;
use clap::{Args, Subcommand};
use http::{HeaderMap, HeaderValue, Method, header};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::Server;
use super::body::secret;
use super::http::Payload;
use crate::args::ServerArgs;
use crate::output::{self, Usage};

const SERVERS: &str = "api/v1/phone/hosted-agent-config/mcp-servers";
/// How often the state of a sign-in is asked for.
const EVERY: Duration = Duration::from_secs(1);
/// The names of the SDK that the wire has others for.
const NAMES: [(&str, &str); 9] = [
    ("allowedTools", "allowed_tools"),
    ("expectedVersion", "expected_version"),
    ("agentIdentityId", "agent_identity_id"),
    ("headerName", "header_name"),
    ("valuePrefix", "value_prefix"),
    ("clientId", "client_id"),
    ("clientSecret", "client_secret"),
    ("tokenEndpointAuthMethod", "token_endpoint_auth_method"),
    ("manifestDigest", "manifest_digest"),
];

/// What an agent that speaks on the telephone uses.
#[derive(Debug, Args)]
pub(super) struct HostedAgentArgs {
    #[command(subcommand)]
    command: HostedAgent,
}

#[derive(Debug, Subcommand)]
enum HostedAgent {
    /// An agent's own connections
    #[command(subcommand)]
    Mcp(Mcp),
}

#[derive(Debug, Subcommand)]
enum Mcp {
    /// Make a connection
    Create {
        /// The agent's handle.
        #[arg(short = 'i', long = "identity", value_name = "AGENT")]
        agent: String,
        #[command(flatten)]
        file: SettingsFile,
        #[command(flatten)]
        once: Once,
        #[command(flatten)]
        server: ServerArgs,
    },
    /// List an agent's connections
    List {
        /// The agent's handle.
        #[arg(short = 'i', long = "identity", value_name = "AGENT")]
        agent: String,
        #[command(flatten)]
        server: ServerArgs,
    },
    /// Show a connection
    Get(Named),
    /// Change a connection; the file has expectedVersion
    Update {
        #[command(flatten)]
        file: SettingsFile,
        #[command(flatten)]
        named: Named,
    },
    /// Remove a connection
    Delete(Named),
    /// Test a connection without running a tool
    Test(Named),
    /// Browse what a server lists
    Catalog {
        /// At most this many items, 1 to 100.
        #[arg(long)]
        limit: Option<u16>,
        /// Where the last page ended.
        #[arg(long)]
        cursor: Option<String>,
        /// Show this skill with the digest of its manifest.
        #[arg(long, value_name = "URI")]
        skill_uri: Option<String>,
        #[command(flatten)]
        named: Named,
    },
    /// List again what a server offers, in the background
    Refresh {
        #[command(flatten)]
        once: Once,
        #[command(flatten)]
        named: Named,
    },
    /// List what went to connections on a telephone call
    Activity {
        /// The call's id.
        #[arg(value_name = "CALL_ID")]
        call: Uuid,
        /// At most this many items, 1 to 200.
        #[arg(long)]
        limit: Option<u16>,
        /// Leaves so many out at the beginning.
        #[arg(long)]
        offset: Option<u32>,
        #[command(flatten)]
        server: ServerArgs,
    },
    /// Sign in to a server's account
    #[command(subcommand)]
    Oauth(Oauth),
}

#[derive(Debug, Subcommand)]
enum Oauth {
    /// Ask for the link a person signs in with
    Connect {
        #[command(flatten)]
        versioned: Versioned,
        /// Wait so many seconds, at most 600, for a person to go through it.
        #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(..=600))]
        wait: Option<u64>,
        #[command(flatten)]
        named: Named,
    },
    /// Show how a sign-in stands
    Status(Begun),
    /// Call a sign-in off
    Cancel(Begun),
    /// Forget the account; the settings stay
    Disconnect {
        #[command(flatten)]
        versioned: Versioned,
        #[command(flatten)]
        named: Named,
    },
}

#[derive(Debug, Args)]
struct Named {
    /// The connection's id.
    #[arg(value_name = "CONNECTION_ID")]
    connection: Uuid,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Debug, Args)]
struct Begun {
    /// The connection's id.
    #[arg(value_name = "CONNECTION_ID")]
    connection: Uuid,
    /// The sign-in's id.
    #[arg(value_name = "TRANSACTION_ID")]
    transaction: Uuid,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Debug, Args)]
struct SettingsFile {
    /// A file with the settings as JSON; "-" is standard input.
    #[arg(long, value_name = "FILE")]
    file: String,
}

#[derive(Debug, Args)]
struct Once {
    /// The same key again does not do it again; a new one is made when left out.
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<String>,
}

#[derive(Debug, Args)]
struct Versioned {
    /// The version last read.
    #[arg(long, value_name = "VERSION")]
    expected_version: u32,
    #[command(flatten)]
    once: Once,
}

/// One request.
struct Ask<'a> {
    server: &'a ServerArgs,
    method: Method,
    path: String,
    query: Vec<(&'static str, String)>,
    body: Option<Value>,
    once: Option<&'a Once>,
}

impl<'a> Ask<'a> {
    fn new(server: &'a ServerArgs, method: Method, path: String) -> Self {
        Self {
            server,
            method,
            path,
            query: Vec::new(),
            body: None,
            once: None,
        }
    }
}

/// Runs a verb; prints what the server answers as JSON.
pub(super) async fn run(args: &HostedAgentArgs) -> anyhow::Result<ExitCode> {
    let HostedAgent::Mcp(verb) = &args.command;
    match verb {
        Mcp::Oauth(verb) => oauth(verb).await,
        Mcp::Create {
            agent,
            file,
            once,
            server,
        } => {
            let mut settings = settings(file)?;
            settings.insert("agent_identity_id".to_owned(), identity(server, agent).await?);
            let mut ask = Ask::new(server, Method::POST, SERVERS.to_owned());
            ask.body = Some(Value::Object(settings));
            ask.once = Some(once);
            shown(ask).await
        }
        Mcp::List { agent, server } => {
            let id = identity(server, agent).await?;
            let mut ask = Ask::new(server, Method::GET, SERVERS.to_owned());
            ask.query = vec![("agent_identity_id", id.as_str().unwrap_or_default().to_owned())];
            shown(ask).await
        }
        Mcp::Get(named) => shown(of(named, Method::GET, "")).await,
        Mcp::Update { file, named } => {
            let mut ask = of(named, Method::PATCH, "");
            ask.body = Some(Value::Object(settings(file)?));
            shown(ask).await
        }
        Mcp::Delete(named) => shown(of(named, Method::DELETE, "")).await,
        Mcp::Test(named) => shown(of(named, Method::POST, "/test")).await,
        Mcp::Refresh { once, named } => {
            let mut ask = of(named, Method::POST, "/refresh");
            ask.once = Some(once);
            shown(ask).await
        }
        Mcp::Catalog {
            limit,
            cursor,
            skill_uri,
            named,
        } => {
            let mut ask = of(named, Method::GET, "/catalog");
            ask.query = given([
                ("limit", limit.map(|limit| limit.to_string())),
                ("cursor", cursor.clone()),
                ("skill_uri", skill_uri.clone()),
            ]);
            shown(ask).await
        }
        Mcp::Activity {
            call,
            limit,
            offset,
            server,
        } => {
            let path = format!("api/v1/phone/calls/{call}/mcp-activity");
            let mut ask = Ask::new(server, Method::GET, path);
            ask.query = given([
                ("limit", limit.map(|limit| limit.to_string())),
                ("offset", offset.map(|offset| offset.to_string())),
            ]);
            shown(ask).await
        }
    }
}

async fn oauth(verb: &Oauth) -> anyhow::Result<ExitCode> {
    match verb {
        Oauth::Connect {
            versioned,
            wait,
            named,
        } => {
            let mut ask = of(named, Method::POST, "/oauth/authorizations");
            ask.body = Some(json!({ "expected_version": versioned.expected_version }));
            ask.once = Some(&versioned.once);
            let (ok, begun) = answer(ask).await?;
            match (ok, wait) {
                (true, Some(seconds)) => waited(named, begun, Duration::from_secs(*seconds)).await,
                _ => Ok(told(ok, &begun)),
            }
        }
        Oauth::Status(begun) => shown(of_sign_in(begun, Method::GET)).await,
        Oauth::Cancel(begun) => shown(of_sign_in(begun, Method::DELETE)).await,
        Oauth::Disconnect { versioned, named } => {
            let mut ask = of(named, Method::POST, "/oauth/disconnect");
            ask.body = Some(json!({ "expected_version": versioned.expected_version }));
            ask.once = Some(&versioned.once);
            shown(ask).await
        }
    }
}

/// Waits for a person to go through a sign-in. The link is said first; nobody but a person can go through it.
async fn waited(named: &Named, begun: Value, most: Duration) -> anyhow::Result<ExitCode> {
    let link = begun["connect_url"].as_str().unwrap_or_default();
    output::note(&format!("open this link to sign in: {link}"));
    let id = begun["id"].as_str().unwrap_or_default();
    let path = format!("/oauth/authorizations/{id}");
    let spinner = output::spinner("waiting for a person to sign in");
    let until = Instant::now() + most;
    let last = loop {
        let (ok, found) = answer(of(named, Method::GET, &path)).await?;
        if !ok || found["status"] != "pending" || Instant::now() >= until {
            break (ok, found);
        }
        tokio::time::sleep(EVERY.min(until.saturating_duration_since(Instant::now()))).await;
    };
    spinner.finish_and_clear();
    let (ok, found) = last;
    Ok(told(ok && found["status"] == "completed", &found))
}

fn of<'a>(named: &'a Named, method: Method, rest: &str) -> Ask<'a> {
    let path = format!("{SERVERS}/{}{rest}", named.connection);
    Ask::new(&named.server, method, path)
}

fn of_sign_in(begun: &Begun, method: Method) -> Ask<'_> {
    let Begun {
        connection,
        transaction,
        server,
    } = begun;
    let path = format!("{SERVERS}/{connection}/oauth/authorizations/{transaction}");
    Ask::new(server, method, path)
}

fn given<const N: usize>(query: [(&'static str, Option<String>); N]) -> Vec<(&'static str, String)> {
    query
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .collect()
}

/// The id of the agent with this handle.
async fn identity(server: &ServerArgs, handle: &str) -> anyhow::Result<Value> {
    if handle.is_empty() || handle.contains(['/', '?', '#', '%', '.']) {
        return Err(Usage(format!("{handle:?} is not the handle of an agent")).into());
    }
    let (ok, found) = answer(Ask::new(
        server,
        Method::GET,
        format!("api/v1/identities/{handle}"),
    ))
    .await?;
    anyhow::ensure!(ok, "the agent {handle}: {}", reason(&found));
    Ok(found["id"].clone())
}

async fn shown(ask: Ask<'_>) -> anyhow::Result<ExitCode> {
    let (ok, answer) = answer(ask).await?;
    Ok(told(ok, &answer))
}

fn told(ok: bool, answer: &Value) -> ExitCode {
    if answer["detail"].is_null() {
        if !answer.is_null() {
            output::json(answer);
        }
    } else {
        output::note(&format!("switchboard: {}", reason(answer)));
    }
    if ok { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// What an error says.
fn reason(answer: &Value) -> String {
    let detail = &answer["detail"];
    let text = detail.as_str().or_else(|| detail["message"].as_str());
    text.map_or_else(|| detail.to_string(), str::to_owned)
}

async fn answer(ask: Ask<'_>) -> anyhow::Result<(bool, Value)> {
    let server = Server::of(ask.server)?;
    let mut url = server
        .base
        .join(&ask.path)
        .context("the server's address cannot have a path")?;
    for (name, value) in &ask.query {
        url.query_pairs_mut().append_pair(name, value);
    }
    let mut headers = HeaderMap::new();
    let mut body = Bytes::new();
    if let Some(value) = &ask.body {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        body = Bytes::from(serde_json::to_vec(value)?);
    }
    if let Some(once) = ask.once {
        let key = once
            .idempotency_key
            .clone()
            .unwrap_or_else(|| Uuid::now_v7().to_string());
        let wrong = |_| Usage("--idempotency-key must be visible ASCII".to_owned());
        headers.insert("idempotency-key", HeaderValue::try_from(key).map_err(wrong)?);
    }
    let payload = Payload {
        method: ask.method,
        url,
        headers,
        body,
    };
    let spinner = output::spinner("asking the server");
    let answered = server.http.json(payload).await;
    spinner.finish_and_clear();
    let (status, answer) = answered?;
    Ok((status.is_success(), answer))
}

fn settings(file: &SettingsFile) -> anyhow::Result<Map<String, Value>> {
    let text = secret(&file.file)?;
    let read = serde_json::from_str(&text).map_err(|error| {
        Usage(format!(
            "{} is not JSON: line {}, column {}",
            file.file,
            error.line(),
            error.column()
        ))
    })?;
    match read {
        Value::Object(mut settings) => {
            renamed(&mut settings);
            Ok(settings)
        }
        _ => Err(Usage(format!("{} must hold a JSON object", file.file)).into()),
    }
}

/// Puts the names of the wire in the place of the SDK's. What is in `arguments` belongs to the server it is for.
fn renamed(object: &mut Map<String, Value>) {
    for (name, wire) in NAMES {
        if let Some(value) = object.remove(name) {
            object.insert(wire.to_owned(), value);
        }
    }
    for (_, value) in object.iter_mut().filter(|(name, _)| *name != "arguments") {
        match value {
            Value::Object(inner) => renamed(inner),
            Value::Array(items) => items
                .iter_mut()
                .filter_map(Value::as_object_mut)
                .for_each(renamed),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::renamed;

    // I091
    #[test]
    fn names_of_the_sdk_become_those_of_the_wire() {
        let mut given = json!({
            "label": "Calendar", "allowedTools": ["find"], "expectedVersion": 2,
            "auth": { "type": "oauth", "clientId": "c", "clientSecret": "s", "tokenEndpointAuthMethod": "none" },
            "context": {
                "prompts": [{ "name": "p", "arguments": { "clientId": "kept" } }],
                "skills": [{ "uri": "u", "manifestDigest": "d" }],
            },
        });
        let wire = json!({
            "label": "Calendar", "allowed_tools": ["find"], "expected_version": 2,
            "auth": { "type": "oauth", "client_id": "c", "client_secret": "s", "token_endpoint_auth_method": "none" },
            "context": {
                "prompts": [{ "name": "p", "arguments": { "clientId": "kept" } }],
                "skills": [{ "uri": "u", "manifest_digest": "d" }],
            },
        });
        let Value::Object(object) = &mut given else {
            unreachable!()
        };
        renamed(object);
        assert_eq!(given, wire);
    }
}
