//! A connection as a row: what is fixed, what people set, what was found out.

use std::sync::Arc;

use domain::{
    Account, AgentId, Connection, ConnectionId, ConnectionOwner, Endpoint, Label, Namespace, PresetRef,
    Timestamp, Transport, Verified,
};
use sea_orm::{QueryResult, Value};
use uuid::Uuid;

use super::oauth;
use crate::StoreError;
use crate::selection;
use crate::sql::{corrupt, count, get, time, time_or_none, word, word_or_none};

/// Columns with their values.
type Columns = Vec<(&'static str, Value)>;

/// What never changes.
pub(super) fn fixed(connection: &Connection, seq: i64) -> Columns {
    let owner = match connection.owner {
        ConnectionOwner::Workspace => None,
        ConnectionOwner::Agent(agent) => Some(agent.uuid()),
    };
    vec![
        ("connection_id", connection.id.uuid().into()),
        ("seq", seq.into()),
        ("owner_agent", owner.into()),
        ("namespace", connection.namespace.as_str().into()),
        ("created_at", connection.created_at.micros().into()),
    ]
}

/// What people set.
pub(super) fn settings(connection: &Connection) -> Result<Columns, StoreError> {
    let endpoint = written(&connection.endpoint)?;
    let account = &connection.account;
    let allowed = connection
        .allowed_tools
        .as_ref()
        .map(|names| list(names))
        .transpose()?;
    let (label, own_label) = match connection.owner {
        ConnectionOwner::Workspace => (connection.label.as_str().to_owned(), None),
        // Unique for its agent only: see the migration.
        ConnectionOwner::Agent(_) => (
            connection.id.to_string(),
            Some(connection.label.as_str().to_owned()),
        ),
    };
    Ok(vec![
        ("label", label.into()),
        ("own_label", own_label.into()),
        ("transport", connection.endpoint.transport().as_str().into()),
        ("endpoint", endpoint.to_string().into()),
        ("account_kind", account.kind.as_str().into()),
        ("header_name", text(account.header_name.as_ref())),
        ("value_prefix", text(account.value_prefix.as_ref())),
        (
            "oauth",
            account.oauth.as_deref().map(oauth::write).transpose()?.into(),
        ),
        ("configured", account.configured.into()),
        ("header_names", list(&connection.header_names)?.into()),
        ("sharing", connection.sharing.as_str().into()),
        ("allowed_tools", allowed.into()),
        ("context", selection::write(&connection.context)?.into()),
        ("enabled", connection.enabled.into()),
        ("trusted", connection.trusted.into()),
        (
            "call_timeout_ms",
            connection.call_timeout_ms.map(i64::from).into(),
        ),
        ("preset", preset(connection, |preset| &preset.id)),
        ("variant", preset(connection, |preset| &preset.variant)),
        (
            "provided",
            connection
                .preset
                .as_ref()
                .is_some_and(|preset| preset.provided)
                .into(),
        ),
        (
            "proof",
            connection.verified.map(|found| found.proof.as_str()).into(),
        ),
        (
            "proven_at",
            connection.verified.map(|found| found.at.micros()).into(),
        ),
        ("version", i64::from(connection.version).into()),
    ])
}

/// What was found out.
pub(super) fn found(connection: &Connection) -> Columns {
    vec![
        ("state", connection.state.as_str().into()),
        ("health", connection.health.as_str().into()),
        ("health_detail", connection.health_detail.clone().into()),
        ("checked_at", connection.checked_at.map(Timestamp::micros).into()),
        ("negotiated", text(connection.negotiated.as_ref())),
        (
            "catalogue_version",
            i64::from(connection.catalogue_version).into(),
        ),
        (
            "catalogue_at",
            connection.catalogue_at.map(Timestamp::micros).into(),
        ),
    ]
}

/// Reads a row.
pub(super) fn read(row: &QueryResult) -> Result<Connection, StoreError> {
    let endpoint = endpoint(get::<String>(row, "endpoint")?.into(), word(row, "transport")?);
    let timeout: Option<i64> = get(row, "call_timeout_ms")?;
    let allowed: Option<String> = get(row, "allowed_tools")?;
    let label = match get::<Option<String>>(row, "own_label")? {
        Some(own) => own,
        None => get(row, "label")?,
    };
    Ok(Connection {
        id: ConnectionId::from_uuid(get(row, "connection_id")?),
        owner: get::<Option<Uuid>>(row, "owner_agent")?.map_or(ConnectionOwner::Workspace, |agent| {
            ConnectionOwner::Agent(AgentId::from_uuid(agent))
        }),
        label: Label::new(&label).map_err(|e| corrupt("connection", e))?,
        namespace: Namespace::new(&get::<String>(row, "namespace")?).map_err(|e| corrupt("connection", e))?,
        endpoint,
        account: Account {
            kind: word(row, "account_kind")?,
            header_name: arc(row, "header_name")?,
            value_prefix: arc(row, "value_prefix")?,
            oauth: oauth::read(get(row, "oauth")?)?,
            configured: get(row, "configured")?,
        },
        header_names: names(&get::<String>(row, "header_names")?)?,
        sharing: word(row, "sharing")?,
        allowed_tools: allowed.map(|text| names(&text)).transpose()?,
        context: selection::read(get::<Option<String>>(row, "context")?.as_deref())?,
        enabled: get(row, "enabled")?,
        trusted: get(row, "trusted")?,
        call_timeout_ms: timeout
            .map(u32::try_from)
            .transpose()
            .map_err(|e| corrupt("connection", e))?,
        preset: match (arc(row, "preset")?, arc(row, "variant")?) {
            (Some(id), Some(variant)) => Some(PresetRef {
                id,
                variant,
                provided: get(row, "provided")?,
            }),
            _ => None,
        },
        verified: match (word_or_none(row, "proof")?, time_or_none(row, "proven_at")?) {
            (Some(proof), Some(at)) => Some(Verified { proof, at }),
            _ => None,
        },
        state: word(row, "state")?,
        health: word(row, "health")?,
        health_detail: get(row, "health_detail")?,
        checked_at: time_or_none(row, "checked_at")?,
        negotiated: arc(row, "negotiated")?,
        catalogue_version: count(row, "catalogue_version")?,
        catalogue_at: time_or_none(row, "catalogue_at")?,
        version: count(row, "version")?,
        created_at: time(row, "created_at")?,
    })
}

/// What stands for an endpoint beside its transport.
fn written(endpoint: &Endpoint) -> Result<&Arc<str>, StoreError> {
    let reason = match endpoint {
        Endpoint::Command { configured } if is_url(configured) => {
            "the name of a command has no colon; give the name it has in the configuration"
        }
        Endpoint::Command { configured } => return Ok(configured),
        Endpoint::Url {
            transport: Transport::Stdio,
            ..
        } => "a URL is not reached over stdio; choose auto, streamable_http or sse",
        Endpoint::Url { url, .. } if !is_url(url) => "a URL has a scheme, as https://",
        Endpoint::Url { url, .. } => return Ok(url),
    };
    Err(StoreError::Unsound {
        what: "connection's endpoint",
        reason,
    })
}

/// Reads an endpoint. Whatever a row says about the transport, what is no name of a command never becomes one: nothing runs by it,
/// and people see that the transport is wrong.
fn endpoint(text: Arc<str>, transport: Transport) -> Endpoint {
    match transport {
        Transport::Stdio if !is_url(&text) => Endpoint::Command { configured: text },
        Transport::Stdio | Transport::StreamableHttp | Transport::Sse | Transport::Auto => {
            Endpoint::Url { url: text, transport }
        }
    }
}

/// Whether a text is a URL and not the name of a command: a URL has a colon after its scheme, and names are slugs.
fn is_url(text: &str) -> bool {
    text.contains(':')
}

fn preset(connection: &Connection, part: impl Fn(&PresetRef) -> &Arc<str>) -> Value {
    text(connection.preset.as_ref().map(part))
}

fn text(value: Option<&Arc<str>>) -> Value {
    value.map(ToString::to_string).into()
}

fn arc(row: &QueryResult, column: &'static str) -> Result<Option<Arc<str>>, StoreError> {
    Ok(get::<Option<String>>(row, column)?.map(Into::into))
}

fn list(names: &[Arc<str>]) -> Result<String, StoreError> {
    serde_json::to_string(names).map_err(|e| corrupt("list of names", e))
}

fn names(text: &str) -> Result<Vec<Arc<str>>, StoreError> {
    serde_json::from_str(text).map_err(|e| corrupt("list of names", e))
}
