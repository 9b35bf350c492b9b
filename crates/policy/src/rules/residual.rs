//! What is left of the rules for one call: conditions on arguments and time.

use std::collections::BTreeMap;
use std::sync::Arc;

use cedar_policy::{
    Authorizer, Context, Entities, Entity, EntityUid, Policy, PolicySet, RestrictedExpression,
};
use domain::Timestamp;
use serde_json::Value;

use super::arguments::{Kind, Read};
use super::condition::{Failed, Situation, Test, all};
use super::shape::Reads;
use super::subject::{ToolSubject, Who};
use super::vocabulary::{Vocabulary, text};
use super::{RuleEffect, calendar, scene};

/// The part of one rule that must wait for the call.
#[derive(Debug, Clone)]
pub(super) struct Residual {
    pub(super) left: Left,
    pub(super) reads: Reads,
}

/// The conditions that are left.
#[derive(Debug, Clone)]
pub(super) enum Left {
    /// All of them plain: compared directly.
    Plain(Vec<Test>),
    /// Some of them not: left to Cedar together.
    Cedar(Box<Policy>),
}

/// The remaining rules of one tool. Tools with the same ones share it.
#[derive(Debug)]
pub(crate) struct ResidualSet {
    rules: Vec<Waiting>,
    /// Those of the rules that are Cedar's, and what they read.
    policies: PolicySet,
    reads: Reads,
    vocabulary: Arc<Vocabulary>,
}

#[derive(Debug)]
struct Waiting {
    id: Arc<str>,
    effect: RuleEffect,
    reads: Reads,
    plain: Option<Vec<Test>>,
}

/// What the remaining rules say of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Word {
    /// Nothing.
    Silent,
    /// This rule asks.
    Asks(Arc<str>),
    /// This rule forbids.
    Forbids(Arc<str>),
    /// This rule could not be evaluated.
    Fails(Arc<str>),
}

/// A call, as far as rules look at it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallView<'a> {
    pub(crate) who: &'a Who,
    pub(crate) tool: ToolSubject<'a>,
    pub(crate) arguments: &'a Value,
    pub(crate) now: Timestamp,
}

impl ResidualSet {
    /// The set of these rules, in order of their ids; none if two have the same id, which parsing excludes.
    pub(super) fn new<'r>(
        rules: impl Iterator<Item = (&'r Arc<str>, RuleEffect, &'r Residual)>,
        vocabulary: &Arc<Vocabulary>,
    ) -> Option<Self> {
        let mut set = Self {
            rules: Vec::new(),
            policies: PolicySet::new(),
            reads: Reads::default(),
            vocabulary: vocabulary.clone(),
        };
        for (id, effect, residual) in rules {
            let plain = match &residual.left {
                Left::Plain(tests) => Some(tests.clone()),
                Left::Cedar(policy) => {
                    set.policies.add((**policy).clone()).ok()?;
                    set.reads.merge(&residual.reads);
                    None
                }
            };
            set.rules.push(Waiting {
                id: id.clone(),
                effect,
                reads: residual.reads.clone(),
                plain,
            });
        }
        Some(set)
    }

    /// The ids of the rules.
    pub(crate) fn ids(&self) -> Vec<Arc<str>> {
        self.rules.iter().map(|rule| rule.id.clone()).collect()
    }

    /// Asks all of them. What forbids comes before what fails, which comes before what asks; among equals the first id.
    pub(crate) fn judge(&self, call: &CallView<'_>) -> Word {
        let cedar = if self.policies.is_empty() {
            Ok(Heard::default())
        } else {
            self.evaluate(call)
        };
        let situation = Situation::new(call.who, call.tool, &self.vocabulary).at(call.arguments, call.now);
        let (mut fails, mut asks) = (None, None);
        for rule in &self.rules {
            let said = match (&rule.plain, &cedar) {
                (Some(tests), _) => all(tests, &situation),
                (None, Ok(heard)) => heard.of(&rule.id),
                (None, Err(Failed)) => Err(Failed),
            };
            match (said, rule.effect) {
                (Ok(true), RuleEffect::Deny) => return Word::Forbids(rule.id.clone()),
                (Err(Failed), _) => fails = fails.or(Some(rule)),
                (Ok(_), _) if rule.misreads(call.arguments) => fails = fails.or(Some(rule)),
                (Ok(true), RuleEffect::Ask) => asks = asks.or(Some(rule)),
                (Ok(false), _) => {}
            }
        }
        match (fails, asks) {
            (Some(rule), _) => Word::Fails(rule.id.clone()),
            (None, Some(rule)) => Word::Asks(rule.id.clone()),
            (None, None) => Word::Silent,
        }
    }

    fn evaluate(&self, call: &CallView<'_>) -> Result<Heard, Failed> {
        let mut entities =
            scene::entities(&self.vocabulary, call.who, &call.tool, &self.reads).ok_or(Failed)?;
        entities.extend(self.arguments(call.arguments)?);
        let entities = Entities::from_entities(entities, None).map_err(|_| Failed)?;
        let context = Context::from_pairs(self.context(call)?).map_err(|_| Failed)?;
        let request = scene::request(&self.vocabulary, call.who, &call.tool, context).ok_or(Failed)?;
        let response = Authorizer::new().is_authorized(&request, &self.policies, &entities);
        let known = |id: &str| {
            self.rules
                .iter()
                .find(|rule| &*rule.id == id)
                .map(|rule| rule.id.clone())
        };
        let spoke = response
            .diagnostics()
            .reason()
            .filter_map(|id| known(id.as_ref()))
            .collect();
        let failed = response
            .diagnostics()
            .errors()
            .filter_map(|error| match error {
                cedar_policy::AuthorizationError::PolicyEvaluationError(error) => {
                    known(error.policy_id().as_ref())
                }
            })
            .collect();
        Ok(Heard { spoke, failed })
    }

    /// The bags of arguments: one entity for each kind that is read, empty or not.
    fn arguments(&self, arguments: &Value) -> Result<Vec<Entity>, Failed> {
        let mut bags: BTreeMap<Kind, Vec<(String, RestrictedExpression)>> = BTreeMap::new();
        for (pointer, kinds) in &self.reads.arguments {
            for kind in kinds {
                let bag = bags.entry(*kind).or_default();
                bag.extend(
                    kind.read(arguments, pointer)
                        .expression()
                        .map(|value| (pointer.to_string(), value)),
                );
            }
        }
        let mut entities = Vec::with_capacity(bags.len());
        for (kind, bag) in bags {
            let uid = self.vocabulary.arguments(kind).ok_or(Failed)?.clone();
            entities.push(Entity::new_with_tags(uid, [], [], bag).map_err(|_| Failed)?);
        }
        Ok(entities)
    }

    fn context(&self, call: &CallView<'_>) -> Result<Vec<(String, RestrictedExpression)>, Failed> {
        let mut fields = scene::context(call.who, &self.reads);
        if !self.reads.arguments.is_empty() {
            let bag = |kind: Kind| {
                self.vocabulary
                    .arguments(kind)
                    .map(|uid| (kind.field().to_owned(), reference(uid)))
            };
            let bags = RestrictedExpression::new_record(Kind::ALL.into_iter().filter_map(bag))
                .map_err(|_| Failed)?;
            fields.push(("arguments".to_owned(), bags));
        }
        if self.reads.now {
            fields.push((
                "now".to_owned(),
                RestrictedExpression::new_datetime(calendar::instant(call.now)),
            ));
        }
        if self.reads.hour {
            fields.push((
                "hour".to_owned(),
                RestrictedExpression::new_long(calendar::hour(call.now)),
            ));
        }
        if self.reads.weekday {
            fields.push(text("weekday", calendar::weekday(call.now)));
        }
        Ok(fields)
    }
}

impl Waiting {
    /// Whether it reads an argument as one type where there is another. It cannot judge that, and what cannot be judged is denied; a
    /// rule that reads the argument in several ways, or asks for its kind, is prepared for it.
    fn misreads(&self, arguments: &Value) -> bool {
        let mut all = self.reads.arguments.iter();
        all.any(|(pointer, kinds)| {
            kinds
                .iter()
                .all(|kind| kind.read(arguments, pointer) == Read::OtherType)
        })
    }
}

/// What Cedar said.
#[derive(Debug, Default)]
struct Heard {
    spoke: Vec<Arc<str>>,
    failed: Vec<Arc<str>>,
}

impl Heard {
    fn of(&self, id: &Arc<str>) -> Result<bool, Failed> {
        if self.failed.contains(id) {
            Err(Failed)
        } else {
            Ok(self.spoke.contains(id))
        }
    }
}

fn reference(uid: &EntityUid) -> RestrictedExpression {
    RestrictedExpression::new_entity_uid(uid.clone())
}
