//! The connection that the platform itself gives to every workspace: Exa without a key.
//!
//! Its two tools come from a snapshot of their definitions that is compiled in, so nothing is asked of the server before somebody
//! uses or tests it.

use std::sync::{Arc, LazyLock};

use domain::{
    Account, AccountKind, Connection, ConnectionId, ConnectionOwner, ConnectionState, ContextSelection,
    DefinitionState, Digest, Endpoint, Health, Label, Namespace, PresetRef, Sharing, Timestamp, Transport,
};
use serde::Deserialize;
use serde_json::value::RawValue;
use store::{Catalogue, Definition, Provided, ToolPin};
use url::Url;

use super::find;
use crate::definition::Tool;

/// The preset of the connection.
pub const EXA: &str = "exa";
/// Its variant.
const KEYLESS: &str = "keyless";
/// Which of the platform's connections it is.
const NUMBER: u32 = 1;
/// Its host.
const HOST: &str = "mcp.exa.ai";

/// The snapshot as it is compiled in.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    version: u32,
    #[expect(dead_code, reason = "for people who renew the file")]
    taken: String,
    tools: Vec<Box<RawValue>>,
}

static SNAPSHOT: LazyLock<Option<(u32, Vec<Tool>)>> = LazyLock::new(|| {
    let file: File = serde_json::from_str(include_str!("../../presets/exa.snapshot.json")).ok()?;
    let tools = file.tools.into_iter().map(|raw| Tool::read(Arc::from(raw)).ok());
    Some((file.version, tools.collect::<Option<Vec<_>>>()?))
});

fn tools() -> &'static [Tool] {
    SNAPSHOT.as_ref().map_or(&[], |(_, tools)| tools)
}

/// Whether exactly this definition was shipped for this tool: no server said it yet, so the first that does is taken at its word.
#[must_use]
pub fn shipped(preset: &PresetRef, tool: &str, definition: Digest) -> bool {
    preset.id.as_ref() == EXA
        && tools()
            .iter()
            .any(|shipped| &*shipped.name == tool && shipped.digest == definition)
}

/// Whether a connection is the platform's own, untouched in everything that makes it that: preset, transport, URL, no credential and
/// no headers.
#[must_use]
pub fn qualifies(connection: &Connection) -> bool {
    let canonical = find(EXA).and_then(|preset| preset.variant(KEYLESS)?.url.as_deref());
    let Endpoint::Url { url, transport } = &connection.endpoint else {
        return false;
    };
    connection
        .preset
        .as_ref()
        .is_some_and(|preset| preset.provided && &*preset.id == EXA && &*preset.variant == KEYLESS)
        && *transport == Transport::StreamableHttp
        && canonical == Some(&**url)
        && connection.account.kind == AccountKind::None
        && connection.header_names.is_empty()
        && connection.owner == ConnectionOwner::Workspace
}

/// The tools that every agent may use without a grant; none unless the connection [`qualifies`].
#[must_use]
pub fn default_tools(connection: &Connection) -> Arc<[Arc<str>]> {
    if qualifies(connection) {
        tools().iter().map(|tool| tool.name.clone()).collect()
    } else {
        Arc::from([])
    }
}

/// Whether a connection is one to Exa, however it was made: a workspace that has one keeps it as it is.
#[must_use]
pub fn alike(connection: &Connection) -> bool {
    let preset = connection
        .preset
        .as_ref()
        .is_some_and(|preset| &*preset.id == EXA);
    let Endpoint::Url { url, .. } = &connection.endpoint else {
        return preset;
    };
    preset || Url::parse(url).is_ok_and(|url| url.host_str() == Some(HOST))
}

/// The connection with what is shipped of its tools; none if the shipped files cannot be read, which a test rules out.
#[must_use]
pub fn provided(now: Timestamp) -> Option<Provided> {
    let preset = find(EXA)?;
    let variant = preset.variant(KEYLESS)?;
    let connection = Connection {
        id: ConnectionId::generate(),
        owner: ConnectionOwner::Workspace,
        label: Label::new(&preset.name).ok()?,
        namespace: Namespace::new(&preset.id).ok()?,
        endpoint: Endpoint::Url {
            url: variant.url.as_deref()?.into(),
            transport: variant.transport,
        },
        account: Account::NONE,
        header_names: Vec::new(),
        sharing: Sharing::Shared,
        allowed_tools: Some(tools().iter().map(|tool| tool.name.clone()).collect()),
        // Nothing but its tools is known, so nothing else is offered.
        context: ContextSelection::Selected(Arc::default()),
        enabled: true,
        trusted: true,
        call_timeout_ms: None,
        preset: Some(PresetRef {
            id: EXA.into(),
            variant: KEYLESS.into(),
            provided: true,
        }),
        verified: None,
        state: ConnectionState::Ready,
        health: Health::Unchecked,
        health_detail: Some(
            "its tools are known from what is shipped; nothing was asked of it yet".to_owned(),
        ),
        checked_at: None,
        negotiated: None,
        catalogue_version: 1,
        catalogue_at: Some(now),
        version: 1,
        created_at: now,
    };
    let pins = tools().iter().map(|tool| pin(&connection, tool, now)).collect();
    let catalogue = Catalogue {
        version: 1,
        fetched_at: now,
        server: None,
        capabilities: None,
        instructions: None,
        tools: tools().iter().map(|tool| tool.raw.clone()).collect(),
        prompts: Vec::new(),
        resources: Vec::new(),
        templates: Vec::new(),
        skills: Vec::new(),
        problems: Vec::new(),
    };
    Some(Provided {
        number: NUMBER,
        connection,
        pins,
        catalogue,
    })
}

fn pin(connection: &Connection, tool: &Tool, now: Timestamp) -> ToolPin {
    let definition = Definition {
        digest: tool.digest,
        raw: tool.raw.clone(),
    };
    let preset = connection.preset.as_ref();
    ToolPin {
        connection: connection.id,
        name: tool.name.clone(),
        accepted: Some(definition.clone()),
        seen: Some(definition),
        state: DefinitionState::Pinned,
        unusable: None,
        hints: tool.hints,
        classification: preset.and_then(|preset| super::classification(preset, &tool.name, now)),
        first_seen: now,
        changed_at: now,
    }
}
