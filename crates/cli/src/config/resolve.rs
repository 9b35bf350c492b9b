//! Checks what types cannot: names, lengths, rules.

use std::collections::HashSet;
use std::fmt;

use connections::import::holds_secret;
use domain::Namespace;
use policy::{RuleSet, RuleSource};
use url::Url;

use super::{CommandEntry, Config, EnvValue, RuleEntry};

/// One mistake: where, and what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    at: String,
    what: String,
}

impl Problem {
    pub(crate) fn new(at: impl fmt::Display, what: impl fmt::Display) -> Self {
        Self {
            at: at.to_string(),
            what: what.to_string(),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.at.is_empty() {
            f.write_str(&self.what)
        } else {
            write!(f, "{}: {}", self.at, self.what)
        }
    }
}

/// The longest time a setting may be, in seconds; longer ones do not fit every clock they are added to.
const LONGEST: u64 = 365 * 24 * 3_600;

/// What is wrong with commands.
pub(crate) fn check_entries(entries: &[CommandEntry]) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut names = HashSet::new();
    for entry in entries {
        let at = format!("connections.{}", entry.name);
        if let Err(error) = Namespace::new(&entry.name) {
            problems.push(Problem::new(&at, error));
        }
        if !names.insert(&entry.name) {
            problems.push(Problem::new(&at, "another connection has this name"));
        }
        if entry
            .command
            .first()
            .is_none_or(|program| *program == EnvValue::Plain(String::new()))
        {
            problems.push(Problem::new(
                &at,
                "command is empty: give the program and its arguments as a list",
            ));
        }
        for (name, value) in &entry.env {
            if matches!(value, EnvValue::Plain(text) if holds_secret(name, text)) {
                let what =
                    "looks like a secret and is written out: use { env = … }, { file = … } or { vault = … }";
                problems.push(Problem::new(format!("{at}.env.{name}"), what));
            }
        }
    }
    problems
}

pub(super) fn check(config: &Config) -> Vec<Problem> {
    let mut problems = check_entries(&config.connections);
    let public = Url::parse(&config.server.public_url);
    if !public.is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host()) {
        let what = "must be a URL as https://tools.example.com, or empty";
        problems.push(Problem::new("server.public_url", what));
    }
    if !(16..=64).contains(&config.names.max_length) {
        problems.push(Problem::new("names.max_length", "must be 16 to 64"));
    }
    for (name, seconds) in config.times() {
        if seconds > LONGEST {
            problems.push(Problem::new(name, format!("must be at most {LONGEST} (a year)")));
        }
    }
    if config.store.backend == super::StoreBackend::Postgres {
        if config.store.url.is_none() {
            problems.push(Problem::new(
                "store.url",
                "is needed with PostgreSQL, as { env = … } or { file = … }",
            ));
        }
        if config.vault.key.is_none() {
            problems.push(Problem::new(
                "vault.key",
                "is needed with PostgreSQL, and the same for all replicas",
            ));
        }
    }
    if let Err(wrong) = rules(&config.rules) {
        problems.extend(wrong);
    }
    problems
}

/// The rules, checked.
pub(crate) fn rules(entries: &[RuleEntry]) -> Result<RuleSet, Vec<Problem>> {
    let sources: Vec<RuleSource> = entries
        .iter()
        .map(|rule| RuleSource {
            id: rule.id.as_str().into(),
            text: rule.policy.as_str().into(),
            description: rule.description.clone(),
            enabled: rule.enabled,
        })
        .collect();
    RuleSet::parse(&sources).map_err(|wrong| {
        wrong
            .into_iter()
            .map(|problem| Problem::new("rules", problem))
            .collect()
    })
}
