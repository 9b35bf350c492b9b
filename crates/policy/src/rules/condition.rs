//! The conditions of rules. The plain ones are compared directly, because a snapshot asks all rules about all tools and a call must
//! not wait; Cedar evaluates the rest. A test holds the two to the same answers.

use std::cell::OnceCell;
use std::sync::Arc;

use cedar_policy::pst::{
    ActionConstraint, Clause, Effect, Expr, PatternElem, Policy as PstPolicy, PrincipalConstraint,
    ResourceConstraint, StaticPolicy, Template,
};
use cedar_policy::{Authorizer, Context, Entities, Policy, PolicySet, Request};
use domain::Timestamp;
use serde_json::Value;

use super::arguments::{Kind, Read, texts};
use super::shape::Reads;
use super::subject::{Field, ToolSubject, Who};
use super::vocabulary::Vocabulary;
use super::{calendar, scene};

mod compile;

pub(super) use compile::{plain, scope};

/// One condition.
#[derive(Debug, Clone)]
pub(crate) enum Test {
    Always(bool),
    Not(Box<Self>),
    All(Vec<Self>),
    Any(Vec<Self>),
    Equals(Source, Box<str>),
    Like(Source, Pattern),
    ToolIs(Box<str>),
    /// There is an argument of this kind at this pointer.
    Has(Kind, Box<str>),
    /// The texts at this pointer hold this one.
    Contains(Box<str>, Box<str>),
    /// The boolean at this pointer.
    Flag(Box<str>),
    Compare(Quantity, Relation, i64),
    /// Anything else, as a policy with this one condition; only ever about who acts and the tool.
    Cedar(Box<PolicySet>),
}

/// Where a text comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    Field(Field),
    Weekday,
    /// An argument read as text, or its type's name.
    Argument(Kind, Box<str>),
}

/// Where a number comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Quantity {
    Hour,
    /// An argument read as an integer, or as a number in ten-thousandths.
    Argument(Kind, Box<str>),
}

/// How numbers are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Relation {
    Equal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// A condition could not be evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Failed;

/// A `like` pattern: the pieces between its wildcards. One piece alone is compared whole.
#[derive(Debug, Clone)]
pub(crate) struct Pattern(Vec<Box<str>>);

/// What conditions are asked about. What Cedar needs of it is made at most once.
pub(crate) struct Situation<'a> {
    pub(crate) who: &'a Who,
    pub(crate) tool: ToolSubject<'a>,
    vocabulary: &'a Vocabulary,
    call: Option<(&'a Value, Timestamp)>,
    cedar: OnceCell<Option<(Request, Entities)>>,
}

impl<'a> Situation<'a> {
    /// Before any call.
    pub(crate) const fn new(who: &'a Who, tool: ToolSubject<'a>, vocabulary: &'a Vocabulary) -> Self {
        Self {
            who,
            tool,
            vocabulary,
            call: None,
            cedar: OnceCell::new(),
        }
    }

    /// At a call with these arguments, now.
    pub(crate) fn at(self, arguments: &'a Value, now: Timestamp) -> Self {
        Self {
            call: Some((arguments, now)),
            ..self
        }
    }

    fn read(&self, kind: Kind, pointer: &str) -> Result<Read<'a>, Failed> {
        self.call
            .map(|(arguments, _)| kind.read(arguments, pointer))
            .ok_or(Failed)
    }

    fn now(&self) -> Result<Timestamp, Failed> {
        self.call.map(|(_, now)| now).ok_or(Failed)
    }

    fn cedar(&self) -> Option<&(Request, Entities)> {
        let everything = Reads {
            principal: true,
            resource: true,
            caller: true,
            channel: true,
            ..Reads::default()
        };
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
    /// The test of a condition that does not look at the call; none if Cedar refuses the condition alone, which no validated one is.
    pub(super) fn settled(condition: &Arc<Expr>) -> Option<Self> {
        plain(condition).or_else(|| cedar(condition))
    }

    /// Whether it holds.
    pub(crate) fn holds(&self, situation: &Situation<'_>) -> Result<bool, Failed> {
        match self {
            Self::Always(answer) => Ok(*answer),
            Self::Not(test) => Ok(!test.holds(situation)?),
            Self::All(tests) => all(tests, situation),
            Self::Any(tests) => {
                for test in tests {
                    if test.holds(situation)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Self::Equals(source, value) => Ok(source.text(situation)? == &**value),
            Self::Like(source, pattern) => Ok(pattern.matches(source.text(situation)?)),
            Self::ToolIs(uid) => Ok(situation.tool.is(uid)),
            Self::Has(kind, pointer) => Ok(situation.read(*kind, pointer)?.is_there()),
            Self::Contains(pointer, wanted) => match situation.read(Kind::Texts, pointer)? {
                Read::Texts(value) => Ok(texts(value).any(|text| text == &**wanted)),
                _ => Err(Failed),
            },
            Self::Flag(pointer) => match situation.read(Kind::Flag, pointer)? {
                Read::Flag(flag) => Ok(flag),
                _ => Err(Failed),
            },
            Self::Compare(quantity, relation, with) => {
                Ok(relation.between(quantity.number(situation)?, *with))
            }
            Self::Cedar(set) => {
                let (request, entities) = situation.cedar().ok_or(Failed)?;
                let response = Authorizer::new().is_authorized(request, set, entities);
                if response.diagnostics().errors().next().is_some() {
                    return Err(Failed);
                }
                Ok(response.diagnostics().reason().next().is_some())
            }
        }
    }

    /// Whether the tool has a say in it.
    pub(crate) fn of_tool(&self) -> bool {
        match self {
            Self::Not(test) => test.of_tool(),
            Self::All(tests) | Self::Any(tests) => tests.iter().any(Self::of_tool),
            Self::Equals(Source::Field(field), _) | Self::Like(Source::Field(field), _) => field.of_tool(),
            Self::ToolIs(_) | Self::Cedar(_) => true,
            Self::Always(_)
            | Self::Equals(..)
            | Self::Like(..)
            | Self::Has(..)
            | Self::Contains(..)
            | Self::Flag(_)
            | Self::Compare(..) => false,
        }
    }

    /// The only tool name for which it can hold, where it says one.
    pub(crate) fn only_name(&self) -> Option<&str> {
        match self {
            Self::Equals(Source::Field(Field::ToolName), name) => Some(name),
            Self::ToolIs(uid) => Some(uid.split_once('/').map_or(&**uid, |(_, name)| name)),
            Self::All(tests) => tests.iter().find_map(Self::only_name),
            Self::Always(_)
            | Self::Not(_)
            | Self::Any(_)
            | Self::Equals(..)
            | Self::Like(..)
            | Self::Has(..)
            | Self::Contains(..)
            | Self::Flag(_)
            | Self::Compare(..)
            | Self::Cedar(_) => None,
        }
    }
}

/// Whether all hold; the first that does not, or fails, ends it.
pub(super) fn all(tests: &[Test], situation: &Situation<'_>) -> Result<bool, Failed> {
    for test in tests {
        if !test.holds(situation)? {
            return Ok(false);
        }
    }
    Ok(true)
}

impl Source {
    fn text<'a>(&self, situation: &Situation<'a>) -> Result<&'a str, Failed> {
        match self {
            Self::Field(field) => Ok(field.of(situation.who, &situation.tool)),
            Self::Weekday => Ok(calendar::weekday(situation.now()?)),
            Self::Argument(kind, pointer) => match situation.read(*kind, pointer)? {
                Read::Text(text) => Ok(text),
                _ => Err(Failed),
            },
        }
    }
}

impl Quantity {
    fn number(&self, situation: &Situation<'_>) -> Result<i64, Failed> {
        match self {
            Self::Hour => Ok(calendar::hour(situation.now()?)),
            Self::Argument(kind, pointer) => match situation.read(*kind, pointer)? {
                Read::Integer(number) | Read::Number(number) => Ok(number),
                _ => Err(Failed),
            },
        }
    }
}

impl Relation {
    const fn between(self, left: i64, right: i64) -> bool {
        match self {
            Self::Equal => left == right,
            Self::Less => left < right,
            Self::LessOrEqual => left <= right,
            Self::Greater => left > right,
            Self::GreaterOrEqual => left >= right,
        }
    }

    /// The same relation with the sides changed.
    const fn turned(self) -> Self {
        match self {
            Self::Equal => Self::Equal,
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
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
        let Some((first, rest)) = self.0.split_first() else {
            return false;
        };
        let Some((last, middle)) = rest.split_last() else {
            return text == &**first;
        };
        let Some(mut text) = text.strip_prefix(&**first) else {
            return false;
        };
        for piece in middle {
            let Some((_, after)) = text.split_once(&**piece) else {
                return false;
            };
            text = after;
        }
        text.ends_with(&**last)
    }
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
