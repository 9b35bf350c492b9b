//! How an entry is stored: one JSON document, versioned, which is what the chain hashes, and columns taken from it for searching.
//!
//! Version 1. A later version adds fields that may be missing, or gets a number of its own; readers keep two.

use std::borrow::Cow;
use std::sync::Arc;

use domain::{
    Actor, AgentId, ApprovalId, CallId, ConnectionId, Digest, Entry, Epoch, Fact, Outcome, Reason, RunId,
    Target, Timestamp, ToolRef,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::StoreError;
use crate::sql::{corrupt, parse};

const VERSION: u32 = 1;
/// Characters of a search column.
const COLUMN: usize = 256;

/// An entry, ready to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) call: Uuid,
    pub(crate) kind: &'static str,
    pub(crate) at: i64,
    pub(crate) agent: Option<Uuid>,
    pub(crate) connection: Option<Uuid>,
    pub(crate) exposed: Option<Arc<str>>,
    pub(crate) tool: Option<Arc<str>>,
    pub(crate) actor: Arc<str>,
    /// The decision, status, answer or kind of change.
    pub(crate) word: Arc<str>,
    pub(crate) body: Arc<str>,
    /// The approval that a decision asks for or spends.
    pub(crate) approval: Option<Uuid>,
    /// The run a decision belongs to.
    pub(crate) run: Option<Uuid>,
}

#[derive(Serialize, Deserialize)]
struct Document<'a> {
    v: u32,
    call: Uuid,
    at: i64,
    #[serde(borrow)]
    actor: ActorDoc<'a>,
    #[serde(borrow)]
    fact: FactDoc<'a>,
}

#[derive(Serialize, Deserialize)]
struct ActorDoc<'a> {
    #[serde(borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    id: Cow<'a, str>,
    agent: Option<Uuid>,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum FactDoc<'a> {
    Decided(#[serde(borrow)] Box<DecidedDoc<'a>>),
    Ended {
        status: Cow<'a, str>,
        code: Option<Cow<'a, str>>,
        duration_us: u64,
        result: Option<Hex>,
    },
    Answered {
        approval: Uuid,
        answer: Cow<'a, str>,
    },
    Changed {
        action: Cow<'a, str>,
        change: Cow<'a, str>,
        object: Cow<'a, str>,
    },
}

#[derive(Serialize, Deserialize)]
struct DecidedDoc<'a> {
    target: Cow<'a, str>,
    connection: Option<Uuid>,
    name: Cow<'a, str>,
    exposed: Cow<'a, str>,
    channel: Cow<'a, str>,
    surface: Option<Cow<'a, str>>,
    run: Option<Uuid>,
    arguments: Hex,
    definition: Hex,
    snapshot: Option<Hex>,
    decision: Cow<'a, str>,
    reason: Cow<'a, str>,
    rule: Option<Cow<'a, str>>,
    risk: Cow<'a, str>,
    effect: Cow<'a, str>,
    approval: Option<Uuid>,
    epoch: u64,
}

/// A digest as 64 hexadecimal digits.
struct Hex(Digest);

/// Encodes an entry.
pub(crate) fn encode(entry: &Entry) -> Result<Row, StoreError> {
    let document = Document {
        v: VERSION,
        call: entry.call.uuid(),
        at: entry.at.micros(),
        actor: ActorDoc {
            kind: Cow::Borrowed(&entry.actor.kind),
            id: Cow::Borrowed(&entry.actor.id),
            agent: entry.actor.agent.map(AgentId::uuid),
        },
        fact: fact_document(&entry.fact),
    };
    let body = serde_json::to_string(&document).map_err(|e| corrupt("entry", e))?;
    let target = match &entry.fact {
        Fact::Decided { target, exposed, .. } => Some((target, exposed)),
        Fact::Ended { .. } | Fact::Answered { .. } | Fact::Changed { .. } => None,
    };
    Ok(Row {
        call: entry.call.uuid(),
        kind: entry.fact.kind(),
        at: entry.at.micros(),
        // PostgreSQL's insert cannot tell the nil UUID from none.
        agent: entry.actor.agent.map(AgentId::uuid).filter(|id| !id.is_nil()),
        connection: target
            .and_then(|(target, _)| target.connection())
            .map(ConnectionId::uuid)
            .filter(|id| !id.is_nil()),
        exposed: target
            .map(|(_, exposed)| column(exposed))
            .filter(|text| !text.is_empty()),
        tool: target
            .map(|(target, _)| column(target.name()))
            .filter(|text| !text.is_empty()),
        actor: column(&entry.actor.id),
        word: column(word_of(&entry.fact)),
        body: body.into(),
        approval: match &entry.fact {
            Fact::Decided { approval, .. } => approval.map(ApprovalId::uuid).filter(|id| !id.is_nil()),
            Fact::Ended { .. } | Fact::Answered { .. } | Fact::Changed { .. } => None,
        },
        run: match &entry.fact {
            Fact::Decided { run, .. } => run.map(RunId::uuid).filter(|id| !id.is_nil()),
            Fact::Ended { .. } | Fact::Answered { .. } | Fact::Changed { .. } => None,
        },
    })
}

/// Decodes what `encode` made.
pub(crate) fn decode(body: &str) -> Result<Entry, StoreError> {
    let document: Document<'_> = serde_json::from_str(body).map_err(|e| corrupt("entry", e))?;
    if document.v != VERSION {
        return Err(corrupt(
            "entry",
            format!("it has version {}, this release reads {VERSION}", document.v),
        ));
    }
    Ok(Entry {
        call: CallId::from_uuid(document.call),
        actor: Actor {
            kind: Arc::from(&*document.actor.kind),
            id: Arc::from(&*document.actor.id),
            agent: document.actor.agent.map(AgentId::from_uuid),
        },
        at: Timestamp::from_micros(document.at),
        fact: fact(document.fact)?,
    })
}

/// The fact of an entry as it is written, which is what the chain covers: codes, names and digests.
pub(crate) fn written_fact(body: &str) -> Result<Value, StoreError> {
    #[derive(Deserialize)]
    struct Written {
        fact: Value,
    }
    let written: Written = serde_json::from_str(body).map_err(|e| corrupt("entry", e))?;
    Ok(written.fact)
}

/// A target from its stored parts. A tool without a connection is a capability.
pub(crate) fn target(kind: &str, connection: Option<Uuid>, name: &str) -> Result<Target, StoreError> {
    let name: Arc<str> = name.into();
    match (kind, connection.map(ConnectionId::from_uuid)) {
        ("tool", None) => Ok(Target::Tool(ToolRef::Capability(name))),
        ("tool", Some(connection)) => Ok(Target::Tool(ToolRef::Upstream { connection, name })),
        ("prompt", Some(connection)) => Ok(Target::Prompt { connection, name }),
        ("resource", Some(connection)) => Ok(Target::Resource {
            connection,
            uri: name,
        }),
        ("skill", Some(connection)) => Ok(Target::Skill {
            connection,
            uri: name,
        }),
        _ => Err(corrupt("target", "its kind is not known")),
    }
}

/// What a search column holds of a text: callers choose some of these, and PostgreSQL takes no NUL.
fn column(text: &str) -> Arc<str> {
    // Nearly all are plain and short, and there are several to an entry.
    if text.len() <= COLUMN && !text.as_bytes().contains(&0) {
        return text.into();
    }
    text.chars()
        .take(COLUMN)
        .map(|c| if c == '\0' { '\u{fffd}' } else { c })
        .collect::<String>()
        .into()
}

fn word_of(fact: &Fact) -> &str {
    match fact {
        Fact::Decided { decision, .. } => decision,
        Fact::Ended { outcome, .. } => outcome.status.as_str(),
        Fact::Answered { answer, .. } => answer,
        Fact::Changed { kind, .. } => kind.as_str(),
    }
}

fn fact_document(fact: &Fact) -> FactDoc<'_> {
    match fact {
        Fact::Decided {
            target,
            exposed,
            channel,
            surface,
            run,
            arguments,
            definition,
            snapshot,
            decision,
            reason,
            risk,
            effect,
            approval,
            epoch,
        } => FactDoc::Decided(Box::new(DecidedDoc {
            target: target.kind().into(),
            connection: target.connection().map(ConnectionId::uuid),
            name: Cow::Borrowed(target.name()),
            exposed: Cow::Borrowed(exposed),
            channel: channel.as_str().into(),
            surface: surface.map(|surface| surface.as_str().into()),
            run: run.map(RunId::uuid),
            arguments: Hex(*arguments),
            definition: Hex(*definition),
            snapshot: snapshot.map(Hex),
            decision: Cow::Borrowed(decision),
            reason: reason.code.as_str().into(),
            rule: reason.rule.as_deref().map(Cow::Borrowed),
            risk: risk.as_str().into(),
            effect: effect.as_str().into(),
            approval: approval.map(ApprovalId::uuid),
            epoch: epoch.0,
        })),
        Fact::Ended {
            outcome,
            duration_us,
            result,
        } => FactDoc::Ended {
            status: outcome.status.as_str().into(),
            code: outcome.code.map(|code| code.as_str().into()),
            duration_us: *duration_us,
            result: result.map(Hex),
        },
        Fact::Answered { approval, answer } => FactDoc::Answered {
            approval: approval.uuid(),
            answer: Cow::Borrowed(answer),
        },
        Fact::Changed { action, kind, object } => FactDoc::Changed {
            action: Cow::Borrowed(action),
            change: kind.as_str().into(),
            object: Cow::Borrowed(object),
        },
    }
}

fn fact(document: FactDoc<'_>) -> Result<Fact, StoreError> {
    Ok(match document {
        FactDoc::Decided(d) => Fact::Decided {
            target: target(&d.target, d.connection, &d.name)?,
            exposed: Arc::from(&*d.exposed),
            channel: parse("channel", &d.channel)?,
            surface: d.surface.map(|surface| parse("surface", &surface)).transpose()?,
            run: d.run.map(RunId::from_uuid),
            arguments: d.arguments.0,
            definition: d.definition.0,
            snapshot: d.snapshot.map(|hex| hex.0),
            decision: Arc::from(&*d.decision),
            reason: Reason {
                code: parse("reason code", &d.reason)?,
                rule: d.rule.map(|rule| Arc::from(&*rule)),
            },
            risk: parse("risk", &d.risk)?,
            effect: parse("effect", &d.effect)?,
            approval: d.approval.map(ApprovalId::from_uuid),
            epoch: Epoch(d.epoch),
        },
        FactDoc::Ended {
            status,
            code,
            duration_us,
            result,
        } => Fact::Ended {
            outcome: Outcome {
                status: parse("status", &status)?,
                code: code.map(|code| parse("outcome code", &code)).transpose()?,
            },
            duration_us,
            result: result.map(|hex| hex.0),
        },
        FactDoc::Answered { approval, answer } => Fact::Answered {
            approval: ApprovalId::from_uuid(approval),
            answer: Arc::from(&*answer),
        },
        FactDoc::Changed {
            action,
            change,
            object,
        } => Fact::Changed {
            action: Arc::from(&*action),
            kind: parse("change", &change)?,
            object: Arc::from(&*object),
        },
    })
}

impl Serialize for Hex {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut text = [0; 64];
        hex::encode_to_slice(self.0.bytes(), &mut text).map_err(serde::ser::Error::custom)?;
        serializer.serialize_str(std::str::from_utf8(&text).map_err(serde::ser::Error::custom)?)
    }
}

impl<'de> Deserialize<'de> for Hex {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <Cow<'de, str>>::deserialize(deserializer)?;
        text.parse().map(Self).map_err(serde::de::Error::custom)
    }
}
