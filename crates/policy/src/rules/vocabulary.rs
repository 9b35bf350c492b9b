//! The words rules are written in: the Cedar schema, and the entities made from what is known.

use std::collections::HashMap;
use std::str::FromStr;

use cedar_policy::{EntityId, EntityTypeName, EntityUid, RestrictedExpression, Schema};

use super::arguments::Kind;
use super::subject::{ToolSubject, Who};

/// The schema rules are checked against. Everything in it is always there, so that no rule can fail for want of it; arguments are
/// the exception, and Cedar makes a rule ask with `hasTag` before it reads one.
pub(super) const SCHEMA: &str = r#"
entity Agent = { handle: String, id: String };
entity Connection = { namespace: String };
entity Tool in [Connection] = { name: String, connection: String, risk: String, effect: String, kind: String };
entity Text tags String;
entity Texts tags Set<String>;
entity Integer tags Long;
entity Number tags decimal;
entity Flag tags Bool;
entity Kind tags String;
action call appliesTo {
  principal: [Agent],
  resource: [Tool],
  context: {
    arguments: { text: Text, texts: Texts, integer: Integer, number: Number, flag: Flag, kind: Kind },
    caller: { kind: String, id: String },
    channel: String,
    now: datetime,
    hour: Long,
    weekday: String,
  },
};
"#;

/// Names parsed once.
#[derive(Debug, Clone)]
pub(crate) struct Vocabulary {
    agent: EntityTypeName,
    connection: EntityTypeName,
    tool: EntityTypeName,
    /// The one action.
    pub(crate) action: EntityUid,
    arguments: HashMap<Kind, EntityUid>,
}

impl Vocabulary {
    /// The schema and the names in it; none if the text above is broken, which a test excludes.
    pub(super) fn load() -> Option<(Self, Schema)> {
        let (schema, _warnings) = Schema::from_cedarschema_str(SCHEMA).ok()?;
        let name = |text: &str| EntityTypeName::from_str(text).ok();
        let mut arguments = HashMap::new();
        for kind in Kind::ALL {
            arguments.insert(kind, uid(&name(kind.entity())?, "arguments"));
        }
        let vocabulary = Self {
            agent: name("Agent")?,
            connection: name("Connection")?,
            tool: name("Tool")?,
            action: EntityUid::from_str(r#"Action::"call""#).ok()?,
            arguments,
        };
        Some((vocabulary, schema))
    }

    pub(crate) fn agent(&self, who: &Who) -> EntityUid {
        uid(&self.agent, &who.handle)
    }

    pub(crate) fn tool(&self, tool: &ToolSubject<'_>) -> EntityUid {
        uid(&self.tool, &tool.uid())
    }

    pub(crate) fn connection(&self, namespace: &str) -> EntityUid {
        uid(&self.connection, namespace)
    }

    pub(crate) fn arguments(&self, kind: Kind) -> Option<&EntityUid> {
        self.arguments.get(&kind)
    }
}

/// A record attribute that is text.
pub(crate) fn text(name: &str, value: &str) -> (String, RestrictedExpression) {
    (
        name.to_owned(),
        RestrictedExpression::new_string(value.to_owned()),
    )
}

fn uid(kind: &EntityTypeName, id: &str) -> EntityUid {
    EntityUid::from_type_name_and_id(kind.clone(), EntityId::new(id))
}
