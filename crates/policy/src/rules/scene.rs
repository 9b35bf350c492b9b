//! What Cedar is shown: the request and its entities, no more of them than the conditions read.

use std::collections::{HashMap, HashSet};

use cedar_policy::{Context, Entity, Request, RestrictedExpression};

use super::shape::Reads;
use super::subject::{Field, ToolSubject, Who};
use super::vocabulary::{Vocabulary, text};

/// The fields of the context that do not depend on the call.
pub(super) fn context(who: &Who, reads: &Reads) -> Vec<(String, RestrictedExpression)> {
    let mut fields = Vec::new();
    if reads.caller {
        // Two distinct names cannot collide, so this record is always made.
        let caller =
            RestrictedExpression::new_record([text("kind", who.caller_kind), text("id", &who.caller_id)]);
        fields.extend(caller.ok().map(|caller| ("caller".to_owned(), caller)));
    }
    if reads.channel {
        fields.push(text("channel", who.channel.as_str()));
    }
    fields
}

/// The request.
pub(super) fn request(
    vocabulary: &Vocabulary,
    who: &Who,
    tool: &ToolSubject<'_>,
    context: Context,
) -> Option<Request> {
    Request::new(
        vocabulary.agent(who),
        vocabulary.action.clone(),
        vocabulary.tool(tool),
        context,
        None,
    )
    .ok()
}

/// The agent and the tool, as far as they are read.
pub(super) fn entities(
    vocabulary: &Vocabulary,
    who: &Who,
    tool: &ToolSubject<'_>,
    reads: &Reads,
) -> Option<Vec<Entity>> {
    let mut entities = Vec::new();
    if reads.principal {
        let attributes = HashMap::from([text("handle", &who.handle), text("id", &who.id)]);
        entities.push(Entity::new(vocabulary.agent(who), attributes, HashSet::new()).ok()?);
    }
    if reads.resource {
        let fields = [
            ("name", Field::ToolName),
            ("connection", Field::ToolConnection),
            ("risk", Field::ToolRisk),
            ("effect", Field::ToolEffect),
            ("kind", Field::ToolKind),
        ];
        let attributes = fields
            .map(|(name, field)| text(name, field.of(who, tool)))
            .into_iter()
            .collect();
        let mut parents = HashSet::new();
        if let Some(namespace) = tool.namespace {
            let connection = vocabulary.connection(namespace);
            parents.insert(connection.clone());
            entities.push(
                Entity::new(
                    connection,
                    HashMap::from([text("namespace", namespace)]),
                    HashSet::new(),
                )
                .ok()?,
            );
        }
        entities.push(Entity::new(vocabulary.tool(tool), attributes, parents).ok()?);
    }
    Some(entities)
}
