//! Reads one rule and finds every mistake in it.

use std::sync::Arc;

use cedar_policy::ffi::DetailedError;
use cedar_policy::{
    Effect, Policy, PolicyId, PolicySet, Template, ValidationMode, ValidationWarning, Validator,
};
use std::str::FromStr;

use super::condition::{Test, forbid_when, plain, scope};
use super::residual::{Left, Residual};
use super::shape::{Finding, shape};
use super::{Rule, RuleEffect, RuleProblem, RuleSource};

/// The compiled rule.
///
/// # Errors
/// All mistakes found in it.
pub(super) fn check(source: &RuleSource, validator: &Validator) -> Result<Rule, Vec<RuleProblem>> {
    let report = Report { source };
    let policy = parse(&report)?;
    let effect = effect(&policy);
    let mut problems = annotations(&report, &policy);
    problems.extend(validate(&report, &policy, validator));
    if matches!(policy.effect(), Effect::Permit) {
        problems.push(report.near(
            "permit",
            "`permit` gives nothing here: only a grant gives, rules take away; write `forbid` for what \
                                   must not be, or remove the rule and grant the tool",
        ));
    }
    let Ok(tree) = policy.to_pst() else {
        problems.push(report.near("", "the rule is not understood; write it differently"));
        return Err(problems);
    };
    let shape = shape(tree.body());
    problems.extend(shape.findings.iter().map(|finding| report.finding(finding)));
    if !problems.is_empty() {
        problems.sort_by_key(|problem| (problem.line, problem.column));
        problems.dedup();
        return Err(problems);
    }
    let compiled = || -> Option<Rule> {
        let mut tests = scope(tree.body())?;
        for condition in &shape.settled {
            tests.push(Test::settled(condition)?);
        }
        let residual = if shape.residual.is_empty() {
            None
        } else {
            let left = match shape
                .residual
                .iter()
                .map(|condition| plain(condition))
                .collect::<Option<Vec<Test>>>()
            {
                Some(tests) => Left::Plain(tests),
                None => Left::Cedar(Box::new(forbid_when(&source.id, &shape.residual)?)),
            };
            Some(Residual {
                left,
                reads: shape.reads.clone(),
            })
        };
        let (tool, who) = tests.into_iter().partition(Test::of_tool);
        Some(Rule {
            id: source.id.clone(),
            effect,
            who,
            tool,
            residual,
        })
    };
    compiled().ok_or_else(|| {
        vec![report.near(
            "",
            "the rule cannot be prepared; write its conditions in a simpler way",
        )]
    })
}

/// Makes problems of one rule.
struct Report<'a> {
    source: &'a RuleSource,
}

impl Report<'_> {
    /// A problem at a byte of the text.
    fn at(&self, offset: usize, message: impl Into<String>) -> RuleProblem {
        let before = self.source.text.get(..offset).unwrap_or(&self.source.text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        RuleProblem {
            rule: self.source.id.clone(),
            line: u32::try_from(line).unwrap_or(u32::MAX),
            column: u32::try_from(column).unwrap_or(u32::MAX),
            message: message.into(),
        }
    }

    /// A problem at the first place where this stands.
    fn near(&self, needle: &str, message: impl Into<String>) -> RuleProblem {
        self.at(self.source.text.find(needle).unwrap_or(0), message)
    }

    fn finding(&self, finding: &Finding) -> RuleProblem {
        self.near(&finding.near, finding.message.as_str())
    }

    /// What Cedar says, on one line.
    fn cedar(&self, error: &DetailedError) -> RuleProblem {
        let offset = error.source_locations.first().map_or(0, |label| label.loc.start);
        let mut message = error
            .message
            .split('\n')
            .map(str::trim)
            .collect::<Vec<_>>()
            .join(" ");
        let label = error
            .source_locations
            .first()
            .and_then(|label| label.label.as_deref());
        for more in [label, error.help.as_deref()].into_iter().flatten() {
            message.push_str("; ");
            message.push_str(more);
        }
        // Cedar starts with where it was; that is said already.
        let message = message.replace(&format!("for policy `{}`, ", self.source.id), "");
        self.at(offset, message)
    }
}

fn parse(report: &Report<'_>) -> Result<Policy, Vec<RuleProblem>> {
    let source = report.source;
    match Policy::parse(Some(PolicyId::new(&*source.id)), &*source.text) {
        Ok(policy) => Ok(policy),
        Err(errors) => {
            if Template::parse(None, &*source.text).is_ok_and(|template| template.slots().next().is_some()) {
                return Err(vec![report.near(
                    "?",
                    "a template with slots is not a rule; name the agent or tool it is for",
                )]);
            }
            if PolicySet::from_str(&source.text).is_ok_and(|set| set.num_of_policies() != 1) {
                return Err(vec![report.near(
                    "",
                    "a rule is exactly one policy; give each its own entry and id",
                )]);
            }
            Err(errors
                .iter()
                .map(|error| report.cedar(&DetailedError::from(error)))
                .collect())
        }
    }
}

fn effect(policy: &Policy) -> RuleEffect {
    match policy.annotation("effect") {
        Some("ask") => RuleEffect::Ask,
        Some(_) | None => RuleEffect::Deny,
    }
}

fn annotations(report: &Report<'_>, policy: &Policy) -> Vec<RuleProblem> {
    let mut problems = Vec::new();
    for (key, value) in policy.annotations() {
        match key {
            "id" if value != &*report.source.id => problems.push(report.near(
                "@id",
                format!(
                    "`@id(\"{value}\")` is not the rule's id; leave it out or write `@id(\"{}\")`",
                    report.source.id
                ),
            )),
            "effect" if value != "ask" => {
                problems.push(report.near(
                    "@effect",
                    "the only effect to write is `@effect(\"ask\")`; without it the rule denies",
                ));
            }
            "id" | "effect" | "description" => {}
            other => problems.push(report.near(
                &format!("@{other}"),
                format!("`@{other}` means nothing here; the annotations are @id, @effect and @description"),
            )),
        }
    }
    problems
}

fn validate(report: &Report<'_>, policy: &Policy, validator: &Validator) -> Vec<RuleProblem> {
    let Ok(set) = PolicySet::from_policies([policy.clone()]) else {
        return Vec::new();
    };
    let result = validator.validate(&set, ValidationMode::Strict);
    let mut problems: Vec<RuleProblem> = result
        .validation_errors()
        .map(|error| report.cedar(&DetailedError::from(error)))
        .collect();
    if problems.is_empty() {
        let impossible = result
            .validation_warnings()
            .filter(|w| matches!(w, ValidationWarning::ImpossiblePolicy(_)));
        problems.extend(impossible.map(|_| {
            report.near(
                "",
                "the rule can never apply; correct its conditions or remove it",
            )
        }));
    }
    problems
}

/// Ids that are empty or used twice.
pub(super) fn ids(sources: &[RuleSource]) -> Vec<RuleProblem> {
    let mut problems = Vec::new();
    for (at, source) in sources.iter().enumerate() {
        let first = sources.iter().position(|other| other.id == source.id);
        let message = if source.id.is_empty() {
            "a rule needs an id"
        } else if first != Some(at) {
            "another rule has this id; ids are unique"
        } else {
            continue;
        };
        problems.push(RuleProblem {
            rule: Arc::clone(&source.id),
            line: 1,
            column: 1,
            message: message.into(),
        });
    }
    problems
}
