//! The operator's rules: Cedar policies that take away.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use cedar_policy::Validator;
use domain::Digest;

mod arguments;
mod calendar;
mod check;
mod condition;
mod residual;
mod scene;
mod shape;
mod subject;
mod vocabulary;

use condition::{Failed, Situation, Test, all};
use residual::Residual;
use vocabulary::Vocabulary;

pub(crate) use residual::{CallView, ResidualSet, Word};
pub(crate) use subject::{ToolSubject, Who};

/// One rule, as it is configured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleSource {
    /// Its id, unique among the rules.
    pub id: Arc<str>,
    /// One Cedar policy.
    pub text: Arc<str>,
    /// What it is for, for people.
    pub description: String,
    /// A disabled rule is checked but decides nothing.
    pub enabled: bool,
}

/// One mistake in one rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct RuleProblem {
    /// Which rule.
    pub rule: Arc<str>,
    /// The line in its text, from 1.
    pub line: u32,
    /// The column in that line in characters, from 1.
    pub column: u32,
    /// What is wrong and what to do.
    pub message: String,
}

impl fmt::Display for RuleProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "rule `{}`, line {}, column {}: {}",
            self.rule, self.line, self.column, self.message
        )
    }
}

/// Checked rules, ready to use. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct RuleSet(Option<Arc<Compiled>>);

impl RuleSet {
    /// No rules.
    #[must_use]
    pub fn empty() -> Self {
        Self::default()
    }

    /// Parses and checks rules against the schema.
    ///
    /// # Errors
    /// All mistakes of all rules at once, in the order of the rules.
    pub fn parse(sources: &[RuleSource]) -> Result<Self, Vec<RuleProblem>> {
        if sources.is_empty() {
            return Ok(Self::empty());
        }
        let Some((vocabulary, schema)) = Vocabulary::load() else {
            return Err(vec![RuleProblem {
                rule: "".into(),
                line: 1,
                column: 1,
                message: "the rule schema is broken".into(),
            }]);
        };
        let validator = Validator::new(schema);
        let mut problems = check::ids(sources);
        let mut rules = Vec::with_capacity(sources.len());
        for source in sources {
            match check::check(source, &validator) {
                Ok(rule) if source.enabled => rules.push(rule),
                Ok(_) => {}
                Err(found) => problems.extend(found),
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        rules.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(Self(Some(Arc::new(Compiled {
            digest: digest(sources),
            vocabulary: Arc::new(vocabulary),
            rules,
        }))))
    }

    /// The digest of the enabled rules' ids and texts.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.0
            .as_ref()
            .map_or_else(|| digest(&[]), |compiled| compiled.digest)
    }

    /// The ids of the enabled rules, sorted.
    #[must_use]
    pub fn ids(&self) -> Vec<Arc<str>> {
        self.0
            .iter()
            .flat_map(|compiled| &compiled.rules)
            .map(|rule| rule.id.clone())
            .collect()
    }

    /// The rules that can matter to one who acts.
    pub(crate) fn bench<'a>(&'a self, who: &'a Who) -> Bench<'a> {
        Bench::new(self.0.as_deref(), who)
    }
}

#[derive(Debug)]
struct Compiled {
    digest: Digest,
    vocabulary: Arc<Vocabulary>,
    rules: Vec<Rule>,
}

/// What a rule does when it speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RuleEffect {
    Deny,
    Ask,
}

/// One rule, taken apart. It speaks when all its tests and what is left hold.
#[derive(Debug)]
struct Rule {
    id: Arc<str>,
    effect: RuleEffect,
    who: Vec<Test>,
    tool: Vec<Test>,
    residual: Option<Residual>,
}

/// What rules say of a tool before any argument is known.
#[derive(Debug, Default)]
pub(crate) struct Settled {
    /// The rule that forbids it.
    pub(crate) forbids: Option<Arc<str>>,
    /// The rule that could not be evaluated.
    pub(crate) fails: Option<Arc<str>>,
    /// The rule that asks.
    pub(crate) asks: Option<Arc<str>>,
    /// What is left for the call.
    pub(crate) residual: Option<Arc<ResidualSet>>,
}

/// The rules that can matter to one who acts, sorted by the tools they can matter to.
pub(crate) struct Bench<'a> {
    compiled: Option<&'a Compiled>,
    who: &'a Who,
    by_name: HashMap<&'a str, Vec<usize>>,
    any_name: Vec<usize>,
    sets: HashMap<Vec<usize>, Arc<ResidualSet>>,
}

impl<'a> Bench<'a> {
    fn new(compiled: Option<&'a Compiled>, who: &'a Who) -> Self {
        let mut bench = Self {
            compiled,
            who,
            by_name: HashMap::new(),
            any_name: Vec::new(),
            sets: HashMap::new(),
        };
        let Some(compiled) = compiled else { return bench };
        let nothing = ToolSubject {
            name: "",
            namespace: None,
            risk: domain::Risk::Low,
            effect: domain::Effect::ReadOnly,
        };
        let situation = Situation::new(who, nothing, &compiled.vocabulary);
        for (at, rule) in compiled.rules.iter().enumerate() {
            // A test of who acts is a plain comparison, which cannot fail; if it did, the rule would be kept and fail per tool.
            if rule.who.iter().any(|test| test.holds(&situation) == Ok(false)) {
                continue;
            }
            match rule.tool.iter().find_map(Test::only_name) {
                Some(name) => bench.by_name.entry(name).or_default().push(at),
                None => bench.any_name.push(at),
            }
        }
        bench
    }

    /// Asks the rules about a tool.
    pub(crate) fn settle(&mut self, tool: ToolSubject<'_>) -> Settled {
        let mut settled = Settled::default();
        let Some(compiled) = self.compiled else {
            return settled;
        };
        let situation = Situation::new(self.who, tool, &compiled.vocabulary);
        let named = self.by_name.get(tool.name).map_or(&[][..], Vec::as_slice);
        let mut left: Vec<usize> = Vec::new();
        for at in self.any_name.iter().chain(named) {
            let Some(rule) = compiled.rules.get(*at) else {
                continue;
            };
            let slot = match (all(&rule.tool, &situation), &rule.residual, rule.effect) {
                (Ok(false), ..) => continue,
                (Err(Failed), ..) => &mut settled.fails,
                (Ok(true), Some(_), _) => {
                    left.push(*at);
                    continue;
                }
                (Ok(true), None, RuleEffect::Deny) => &mut settled.forbids,
                (Ok(true), None, RuleEffect::Ask) => &mut settled.asks,
            };
            if slot.as_ref().is_none_or(|first| rule.id < *first) {
                *slot = Some(rule.id.clone());
            }
        }
        if settled.forbids.is_none() && settled.fails.is_none() && !left.is_empty() {
            left.sort_unstable();
            settled.residual = self.set(compiled, left);
            if settled.residual.is_none() {
                settled.fails = compiled.rules.first().map(|rule| rule.id.clone());
            }
        }
        settled
    }

    fn set(&mut self, compiled: &Compiled, left: Vec<usize>) -> Option<Arc<ResidualSet>> {
        if let Some(set) = self.sets.get(&left) {
            return Some(set.clone());
        }
        let rules = left.iter().filter_map(|at| {
            let rule = compiled.rules.get(*at)?;
            Some((&rule.id, rule.effect, rule.residual.as_ref()?))
        });
        let set = Arc::new(ResidualSet::new(rules, &compiled.vocabulary)?);
        self.sets.insert(left, set.clone());
        Some(set)
    }
}

fn digest(sources: &[RuleSource]) -> Digest {
    let mut enabled: Vec<(&str, &str)> = sources
        .iter()
        .filter(|s| s.enabled)
        .map(|s| (&*s.id, &*s.text))
        .collect();
    enabled.sort_unstable();
    let mut bytes = Vec::new();
    for field in enabled.into_iter().flat_map(|(id, text)| [id, text]) {
        bytes.extend_from_slice(&(field.len() as u64).to_be_bytes());
        bytes.extend_from_slice(field.as_bytes());
    }
    Digest::of(&bytes)
}
