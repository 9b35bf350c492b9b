//! How a snapshot is stored: one JSON document, version 1.

use std::ops::Not;
use std::sync::Arc;

use domain::{
    Absent, AgentId, ConnectionId, ContextAccess, Digest, Epoch, Reason, Snapshot, SnapshotParts,
    SnapshotTool, Tenant, ToolRef,
};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::StoreError;
use crate::selection;
use crate::sql::{corrupt, parse};

const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Document {
    v: u32,
    agent: Uuid,
    channel: String,
    epoch: u64,
    tools: Vec<Tool>,
    absent: Vec<Missing>,
    contexts: Vec<Context>,
}

#[derive(Serialize, Deserialize)]
struct Tool {
    exposed: Arc<str>,
    connection: Option<Uuid>,
    name: Arc<str>,
    definition: String,
    risk: String,
    effect: String,
    parallel: bool,
    verdict: String,
    reason: String,
    rule: Option<Arc<str>>,
    residual: Vec<Arc<str>>,
}

#[derive(Serialize, Deserialize)]
struct Missing {
    exposed: Arc<str>,
    connection: Option<Uuid>,
    name: Arc<str>,
    reason: String,
    rule: Option<Arc<str>>,
}

#[derive(Serialize, Deserialize)]
struct Context {
    connection: Uuid,
    prompts: bool,
    resources: bool,
    #[serde(default, skip_serializing_if = "Not::not")]
    skills: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    offered: Option<selection::Document>,
}

/// Encodes a snapshot.
pub(super) fn write(snapshot: &Snapshot) -> Result<String, StoreError> {
    let tool = |tool: &SnapshotTool| Tool {
        exposed: tool.exposed.clone(),
        connection: tool.tool.connection().map(ConnectionId::uuid),
        name: tool.tool.name().clone(),
        definition: tool.definition.to_string(),
        risk: tool.risk.to_string(),
        effect: tool.effect.to_string(),
        parallel: tool.parallel,
        verdict: tool.verdict.to_string(),
        reason: tool.reason.code.to_string(),
        rule: tool.reason.rule.clone(),
        residual: tool.residual.clone(),
    };
    let missing = |absent: &Absent| Missing {
        exposed: absent.exposed.clone(),
        connection: absent.tool.connection().map(ConnectionId::uuid),
        name: absent.tool.name().clone(),
        reason: absent.reason.code.to_string(),
        rule: absent.reason.rule.clone(),
    };
    let context = |context: &ContextAccess| Context {
        connection: context.connection.uuid(),
        prompts: context.prompts,
        resources: context.resources,
        skills: context.skills,
        offered: selection::document(&context.offered),
    };
    let document = Document {
        v: VERSION,
        agent: snapshot.agent.uuid(),
        channel: snapshot.channel.to_string(),
        epoch: snapshot.epoch.0,
        tools: snapshot.tools.iter().map(tool).collect(),
        absent: snapshot.absent.iter().map(missing).collect(),
        contexts: snapshot.contexts.iter().map(context).collect(),
    };
    serde_json::to_string(&document).map_err(|e| corrupt("snapshot", e))
}

/// Decodes a snapshot and seals it again; its digest follows from what is in it.
pub(super) fn read(tenant: Tenant, text: &str) -> Result<Snapshot, StoreError> {
    let document: Document = serde_json::from_str(text).map_err(|e| corrupt("snapshot", e))?;
    if document.v != VERSION {
        return Err(corrupt(
            "snapshot",
            format!("it has version {}, this release reads {VERSION}", document.v),
        ));
    }
    let context = |context: Context| {
        Ok::<_, StoreError>(ContextAccess {
            connection: ConnectionId::from_uuid(context.connection),
            prompts: context.prompts,
            resources: context.resources,
            skills: context.skills,
            offered: selection::of(context.offered)?,
        })
    };
    Ok(Snapshot::seal(SnapshotParts {
        tenant,
        agent: AgentId::from_uuid(document.agent),
        channel: parse("channel", &document.channel)?,
        epoch: Epoch(document.epoch),
        tools: document.tools.into_iter().map(tool).collect::<Result<_, _>>()?,
        absent: document
            .absent
            .into_iter()
            .map(absent)
            .collect::<Result<_, _>>()?,
        contexts: document
            .contexts
            .into_iter()
            .map(context)
            .collect::<Result<_, _>>()?,
    }))
}

fn tool(tool: Tool) -> Result<SnapshotTool, StoreError> {
    Ok(SnapshotTool {
        exposed: tool.exposed,
        tool: reference(tool.connection, tool.name),
        definition: parse::<Digest>("definition", &tool.definition)?,
        risk: parse("risk", &tool.risk)?,
        effect: parse("effect", &tool.effect)?,
        parallel: tool.parallel,
        verdict: parse("verdict", &tool.verdict)?,
        reason: Reason {
            code: parse("reason code", &tool.reason)?,
            rule: tool.rule,
        },
        residual: tool.residual,
    })
}

fn absent(missing: Missing) -> Result<Absent, StoreError> {
    Ok(Absent {
        exposed: missing.exposed,
        tool: reference(missing.connection, missing.name),
        reason: Reason {
            code: parse("reason code", &missing.reason)?,
            rule: missing.rule,
        },
    })
}

fn reference(connection: Option<Uuid>, name: Arc<str>) -> ToolRef {
    match connection {
        Some(connection) => ToolRef::Upstream {
            connection: ConnectionId::from_uuid(connection),
            name,
        },
        None => ToolRef::Capability(name),
    }
}
