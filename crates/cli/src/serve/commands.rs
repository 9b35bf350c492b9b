//! Commands of the configuration become connections of the workspace.

use std::collections::HashMap;

use connections::{CommandTable, SecretSource as Source, StdioSpec};
use domain::{
    Account, Connection, ConnectionId, ConnectionOwner, ConnectionState, Endpoint, Health, Label, Namespace,
    Secret, Tenant,
};
use gateway::Failure;
use store::Change;

use super::wire::Parts;
use crate::config::{CommandEntry, EnvValue, SecretSource};

/// What adopting came to.
#[derive(Default)]
pub(super) struct Adopted {
    pub(super) known: u32,
    pub(super) problems: Vec<String>,
}

/// The table the pool starts commands from. A variable whose secret cannot be read is left out, and so is a command with such an
/// argument; [`adopt`] tells about both.
pub(super) fn table(entries: &[CommandEntry]) -> CommandTable {
    entries
        .iter()
        .filter_map(|entry| Some((entry.name.as_str(), spec(entry)?)))
        .collect()
}

fn spec(entry: &CommandEntry) -> Option<StdioSpec> {
    Some(StdioSpec {
        argv: entry.command.iter().map(source).collect::<Option<_>>()?,
        env: entry
            .env
            .iter()
            .filter_map(|(name, value)| Some((name.clone(), source(value)?)))
            .collect(),
        inherited: inherited(entry),
        cwd: entry.cwd.clone(),
    })
}

fn source(value: &EnvValue) -> Option<Source> {
    Some(match value {
        EnvValue::Plain(text) => Source::Known(Secret::new(text)),
        EnvValue::Secret(SecretSource::Vault(secret)) => Source::Vault(secret.as_str().into()),
        EnvValue::Secret(other) => Source::Known(other.read().ok()?),
    })
}

/// PATH, so that programs are found, and what the entry names. Our own settings and secrets are never passed on.
#[expect(
    clippy::disallowed_methods,
    reason = "this crate is the one that reads the environment"
)]
fn inherited(entry: &CommandEntry) -> Vec<(String, Secret)> {
    let names = std::iter::once("PATH").chain(entry.inherit_env.iter().map(String::as_str));
    names
        .filter(|name| !name.starts_with("SWITCHBOARD"))
        .filter_map(|name| Some((name.to_owned(), Secret::new(std::env::var(name).ok()?))))
        .collect()
}

/// Puts the commands in force: makes connections for new ones, follows changed ones, and prepares what is enabled. Connections whose
/// command is gone stay, with their grants, and say so.
pub(super) async fn adopt(
    parts: &Parts,
    tenant: Tenant,
    entries: &[CommandEntry],
) -> Result<Adopted, Failure> {
    let mut adopted = Adopted {
        known: u32::try_from(entries.len()).unwrap_or(u32::MAX),
        ..Adopted::default()
    };
    parts.connections.reload(table(entries)).await;
    let there: HashMap<String, Connection> = parts
        .store
        .all_connections(tenant)
        .await?
        .into_iter()
        .filter_map(|connection| match &connection.endpoint {
            Endpoint::Command { configured } => Some((configured.to_string(), connection)),
            Endpoint::Url { .. } => None,
        })
        .collect();
    let change = Change::by_system("config.load");
    let mut prepare = Vec::new();
    for entry in entries {
        if entry.enabled {
            adopted.problems.extend(unreadable(entry));
        }
        let wanted = match wanted(parts, entry) {
            Ok(wanted) => wanted,
            Err(problem) => {
                adopted.problems.push(problem);
                continue;
            }
        };
        let done = match there.get(&entry.name) {
            None => parts.store.create_connection(tenant, &change, wanted).await,
            Some(known) if same(known, &wanted) => Ok(known.clone()),
            Some(known) => {
                let merged = Connection {
                    id: known.id,
                    version: known.version,
                    // The configuration says nothing of it.
                    context: known.context.clone(),
                    ..wanted
                };
                parts.store.update_connection(tenant, &change, merged).await
            }
        };
        match done {
            Ok(connection) if connection.enabled => prepare.push(connection.id),
            Ok(_) => {}
            Err(error) => adopted
                .problems
                .push(format!("connections.{}: {error}", entry.name)),
        }
    }
    parts.gateway.refresh(tenant).await?;
    prepare
        .into_iter()
        .for_each(|id| parts.connections.schedule(tenant, id));
    Ok(adopted)
}

fn unreadable(entry: &CommandEntry) -> Vec<String> {
    let arguments = entry
        .command
        .iter()
        .enumerate()
        .map(|(place, value)| (format!("command[{place}]"), value));
    let variables = entry
        .env
        .iter()
        .map(|(name, value)| (format!("env.{name}"), value));
    let problem = |(place, value): (String, &EnvValue)| match value {
        EnvValue::Secret(source @ (SecretSource::Env(_) | SecretSource::File(_))) => {
            let error = source.read().err()?;
            Some(format!("connections.{}.{place}: {error}", entry.name))
        }
        EnvValue::Plain(_) | EnvValue::Secret(SecretSource::Vault(_)) => None,
    };
    arguments.chain(variables).filter_map(problem).collect()
}

fn wanted(parts: &Parts, entry: &CommandEntry) -> Result<Connection, String> {
    let at = |error: &dyn std::fmt::Display| format!("connections.{}: {error}", entry.name);
    Ok(Connection {
        id: ConnectionId::generate(),
        owner: ConnectionOwner::Workspace,
        label: Label::new(entry.label.as_deref().unwrap_or(&entry.name)).map_err(|e| at(&e))?,
        namespace: Namespace::new(&entry.name).map_err(|e| at(&e))?,
        endpoint: Endpoint::Command {
            configured: entry.name.as_str().into(),
        },
        account: Account::NONE,
        header_names: Vec::new(),
        sharing: entry.sharing.domain(),
        allowed_tools: entry
            .allowed_tools
            .as_ref()
            .map(|names| names.iter().map(|n| n.as_str().into()).collect()),
        context: domain::ContextSelection::All,
        enabled: entry.enabled,
        trusted: entry.trusted,
        call_timeout_ms: entry.call_seconds.map(|seconds| seconds.saturating_mul(1000)),
        preset: None,
        verified: None,
        state: ConnectionState::Pending,
        health: Health::Unchecked,
        health_detail: None,
        checked_at: None,
        negotiated: None,
        catalogue_version: 0,
        catalogue_at: None,
        version: 1,
        created_at: parts.gateway.clock().now(),
    })
}

fn same(known: &Connection, wanted: &Connection) -> bool {
    known.label == wanted.label
        && known.sharing == wanted.sharing
        && known.allowed_tools == wanted.allowed_tools
        && known.enabled == wanted.enabled
        && known.trusted == wanted.trusted
        && known.call_timeout_ms == wanted.call_timeout_ms
}
