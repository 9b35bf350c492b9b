//! Conditions that look at nothing but who acts and the tool. The plain ones are compared directly, because a snapshot asks all rules
//! about all tools; Cedar evaluates the rest.

use std::cell::OnceCell;
use std::sync::Arc;

use cedar_policy::pst::{
    ActionConstraint, BinaryOp, Clause, Effect, EntityOrSlot, EntityUID, EntityType, Expr, Literal, PatternElem, Policy as PstPolicy,
    PrincipalConstraint, ResourceConstraint, StaticPolicy, Template, UnaryOp, Var,
};
use cedar_policy::{Authorizer, Context, Entities, Policy, PolicySet, Request};

use super::scene;
use super::shape::{Reads, field, literal};
use super::subject::{Field, ToolSubject, Who};
use super::vocabulary::Vocabulary;

/// One condition.
#[derive(Debug, Clone)]
pub(crate) enum Test {
    Always(bool),
    Not(Box<Self>),
    All(Vec<Self>),
    Any(Vec<Self>),
    Equals(Field, Box<str>),
    Like(Field, Pattern),
    ToolIs(Box<str>),
    /// Anything else, as a policy with this one condition.
    Cedar(Box<PolicySet>),
}

/// A condition could not be evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Failed;

/// A `like` pattern: the pieces between its wildcards. One piece alone is compared whole.
#[derive(Debug, Clone)]
pub(crate) struct Pattern(Vec<Box<str>>);

/// Who acts and a tool, with what Cedar needs of them made at most once.
pub(crate) struct Situation<'a> {
    pub(crate) who: &'a Who,
    pub(crate) tool: ToolSubject<'a>,
    pub(crate) vocabulary: &'a Vocabulary,
    cedar: OnceCell<Option<(Request, Entities)>>,
}

impl<'a> Situation<'a> {
    pub(crate) const fn new(who: &'a Who, tool: ToolSubject<'a>, vocabulary: &'a Vocabulary) -> Self {
        Self { who, tool, vocabulary, cedar: OnceCell::new() }
    }

    fn cedar(&self) -> Option<&(Request, Entities)> {
        let everything = Reads { principal: true, resource: true, caller: true, channel: true, ..Reads::default() };
        self.cedar
            .get_or_init(|| {
                let context = Context::from_pairs(scene::context(self.who, &everything)).ok()?;
                let request = scene::request(self.vocabulary, self.who, &self.tool, context)?;
                let entities = scene::entities(self.vocabulary, self.who, &self.tool, &everything)?;
                Some((request, Entities::from_entities(entities, None).ok()?))
            })
            .as_ref()
    }
}

impl Test {
    /// The test of a condition; none if Cedar refuses the condition alone, which no validated one is.
    pub(super) fn of(condition: &Arc<Expr>) -> Option<Self> {
        plain(condition).or_else(|| cedar(condition))
    }

    /// The tests of a rule's scope.
    pub(super) fn of_scope(policy: &Template) -> Option<Vec<Self>> {
        let action = match &policy.action {
            ActionConstraint::Any => Self::Always(true),
            ActionConstraint::Eq(action) => Self::Always(&*action.eid == "call"),
            ActionConstraint::In(actions) => Self::Always(actions.iter().any(|action| &*action.eid == "call")),
        };
        let entity = |subject: EntityOrSlot| match subject {
            EntityOrSlot::Entity(uid) => Some(uid),
            EntityOrSlot::Slot(_) => None,
        };
        let principal = match policy.principal.clone() {
            PrincipalConstraint::Any | PrincipalConstraint::Is(_) => Self::Always(true),
            PrincipalConstraint::Eq(e) | PrincipalConstraint::In(e) | PrincipalConstraint::IsIn(_, e) => agent(&entity(e)?)?,
        };
        let resource = match policy.resource.clone() {
            ResourceConstraint::Any | ResourceConstraint::Is(_) => Self::Always(true),
            ResourceConstraint::Eq(e) | ResourceConstraint::In(e) | ResourceConstraint::IsIn(_, e) => tool(&entity(e)?)?,
        };
        Some(vec![action, principal, resource])
    }

    /// Whether it holds.
    pub(crate) fn holds(&self, situation: &Situation<'_>) -> Result<bool, Failed> {
        Ok(match self {
            Self::Always(answer) => *answer,
            Self::Not(test) => !test.holds(situation)?,
            Self::All(tests) => {
                for test in tests {
                    if !test.holds(situation)? {
                        return Ok(false);
                    }
                }
                true
            }
            Self::Any(tests) => {
                for test in tests {
                    if test.holds(situation)? {
                        return Ok(true);
                    }
                }
                false
            }
            Self::Equals(field, value) => field.of(situation.who, &situation.tool) == &**value,
            Self::Like(field, pattern) => pattern.matches(field.of(situation.who, &situation.tool)),
            Self::ToolIs(uid) => situation.tool.is(uid),
            Self::Cedar(set) => {
                let (request, entities) = situation.cedar().ok_or(Failed)?;
                let response = Authorizer::new().is_authorized(request, set, entities);
                if response.diagnostics().errors().next().is_some() {
                    return Err(Failed);
                }
                response.diagnostics().reason().next().is_some()
            }
        })
    }

    /// Whether the tool has a say in it.
    pub(crate) fn of_tool(&self) -> bool {
        match self {
            Self::Always(_) => false,
            Self::Not(test) => test.of_tool(),
            Self::All(tests) | Self::Any(tests) => tests.iter().any(Self::of_tool),
            Self::Equals(field, _) | Self::Like(field, _) => field.of_tool(),
            Self::ToolIs(_) | Self::Cedar(_) => true,
        }
    }

    /// The only tool name for which it can hold, where it says one.
    pub(crate) fn only_name(&self) -> Option<&str> {
        match self {
            Self::Equals(Field::ToolName, name) => Some(name),
            Self::ToolIs(uid) => Some(uid.split_once('/').map_or(&**uid, |(_, name)| name)),
            Self::All(tests) => tests.iter().find_map(Self::only_name),
            Self::Always(_) | Self::Not(_) | Self::Any(_) | Self::Equals(..) | Self::Like(..) | Self::Cedar(_) => None,
        }
    }
}

impl Pattern {
    fn new(elements: &[PatternElem]) -> Self {
        let mut pieces = vec![String::new()];
        for element in elements {
            match (element, pieces.last_mut()) {
                (PatternElem::Char(c), Some(piece)) => piece.push(*c),
                (PatternElem::Wildcard, _) | (PatternElem::Char(_), None) => pieces.push(String::new()),
            }
        }
        Self(pieces.into_iter().map(String::into_boxed_str).collect())
    }

    fn matches(&self, text: &str) -> bool {
        let Some((first, rest)) = self.0.split_first() else { return false };
        let Some((last, middle)) = rest.split_last() else { return text == &**first };
        let Some(mut text) = text.strip_prefix(&**first) else { return false };
        for piece in middle {
            let Some((_, after)) = text.split_once(&**piece) else { return false };
            text = after;
        }
        text.ends_with(&**last)
    }
}

fn plain(expr: &Expr) -> Option<Test> {
    match expr {
        Expr::Literal(Literal::Bool(answer)) => Some(Test::Always(*answer)),
        Expr::UnaryOp { op: UnaryOp::Not, expr } => Some(Test::Not(Box::new(plain(expr)?))),
        Expr::BinaryOp { op, left, right } => binary(*op, left, right),
        Expr::Like { expr, pattern } => Some(Test::Like(field(expr)?, Pattern::new(pattern))),
        Expr::Is { expr, entity_type, in_expr } => {
            let is = variable_of(expr, entity_type)?;
            let Some(container) = in_expr else { return Some(is) };
            Some(Test::All(vec![is, within(expr, container)?]))
        }
        _ => None,
    }
}

fn binary(op: BinaryOp, left: &Expr, right: &Expr) -> Option<Test> {
    match op {
        BinaryOp::And => Some(Test::All(vec![plain(left)?, plain(right)?])),
        BinaryOp::Or => Some(Test::Any(vec![plain(left)?, plain(right)?])),
        BinaryOp::Eq => equals(left, right).or_else(|| equals(right, left)),
        BinaryOp::NotEq => {
            equals(left, right).or_else(|| equals(right, left)).map(|test| Test::Not(Box::new(test)))
        }
        BinaryOp::In => within(left, right),
        BinaryOp::Contains => {
            let (Expr::Set(items), Some(field)) = (left, field(right)) else { return None };
            let tests = items.iter().map(|item| literal(item).map(|text| Test::Equals(field, text.into())));
            Some(Test::Any(tests.collect::<Option<_>>()?))
        }
        _ => None,
    }
}

fn equals(subject: &Expr, value: &Expr) -> Option<Test> {
    match (subject, value) {
        (Expr::Var(Var::Principal), Expr::Literal(Literal::EntityUID(uid))) => agent(uid),
        // Equality is narrower than `in`: a tool is never equal to a connection.
        (Expr::Var(Var::Resource), Expr::Literal(Literal::EntityUID(uid))) if type_is(&uid.ty, "Tool") => tool(uid),
        _ => Some(Test::Equals(field(subject)?, literal(value)?.into())),
    }
}

fn within(subject: &Expr, container: &Expr) -> Option<Test> {
    match (subject, container) {
        (Expr::Var(Var::Principal), Expr::Literal(Literal::EntityUID(uid))) => agent(uid),
        (Expr::Var(Var::Resource), Expr::Literal(Literal::EntityUID(uid))) => tool(uid),
        (Expr::Var(Var::Principal | Var::Resource), Expr::Set(items)) => {
            Some(Test::Any(items.iter().map(|item| within(subject, item)).collect::<Option<_>>()?))
        }
        _ => None,
    }
}

fn agent(uid: &EntityUID) -> Option<Test> {
    type_is(&uid.ty, "Agent").then(|| Test::Equals(Field::AgentHandle, uid.eid.as_str().into()))
}

fn tool(uid: &EntityUID) -> Option<Test> {
    if type_is(&uid.ty, "Connection") {
        // No connection has an empty namespace, but a capability's is shown as empty.
        return Some(if uid.eid.is_empty() {
            Test::Always(false)
        } else {
            Test::Equals(Field::ToolConnection, uid.eid.as_str().into())
        });
    }
    type_is(&uid.ty, "Tool").then(|| Test::ToolIs(uid.eid.as_str().into()))
}

fn variable_of(expr: &Expr, wanted: &EntityType) -> Option<Test> {
    let own = match expr {
        Expr::Var(Var::Principal) => "Agent",
        Expr::Var(Var::Resource) => "Tool",
        _ => return None,
    };
    Some(Test::Always(type_is(wanted, own)))
}

fn type_is(entity: &EntityType, name: &str) -> bool {
    entity.0.namespace.is_empty() && entity.0.id.as_str() == name
}

fn cedar(condition: &Arc<Expr>) -> Option<Test> {
    let policy = forbid_when("condition", std::slice::from_ref(condition))?;
    Some(Test::Cedar(Box::new(PolicySet::from_policies([policy]).ok()?)))
}

/// A policy that forbids when all these conditions hold.
pub(super) fn forbid_when(id: &str, conditions: &[Arc<Expr>]) -> Option<Policy> {
    let body = Template::new(
        id,
        Effect::Forbid,
        PrincipalConstraint::Any,
        ActionConstraint::Any,
        ResourceConstraint::Any,
    )
    .try_with_clauses(conditions.iter().cloned().map(Clause::When))
    .ok()?;
    Policy::from_pst(PstPolicy::Static(StaticPolicy::try_from(body).ok()?)).ok()
}

#[cfg(test)]
mod tests;
