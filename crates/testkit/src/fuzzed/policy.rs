//! Rules of operators: whatever is written there takes away and never gives, and explaining says what deciding says.

#![expect(clippy::unwrap_used, reason = "what must hold and does not fails the target")]

use domain::{Arguments, Timestamp};
use policy::{Asked, CallFacts, RuleSet, RuleSource, StepOutcome, decide, explain};
use serde_json::value::RawValue;

use super::facts::World;

/// Rules, each ended by a line `---`; the last part is the arguments of the calls.
pub(super) fn check(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    let mut parts: Vec<&str> = text.split("\n---\n").take(5).collect();
    let arguments = parts.pop().unwrap_or_default();
    let sources: Vec<RuleSource> = parts
        .iter()
        .enumerate()
        .map(|(n, text)| source(n, text))
        .collect();
    let rules = match RuleSet::parse(&sources) {
        Ok(rules) => rules,
        Err(problems) => {
            assert!(!problems.is_empty());
            for problem in problems {
                assert!(
                    problem.line >= 1 && problem.column >= 1 && !problem.message.is_empty(),
                    "{problem}"
                );
            }
            return;
        }
    };
    let arguments = RawValue::from_string(arguments.to_owned())
        .ok()
        .and_then(|raw| Arguments::new(raw).ok());
    let empty = || Arguments::new(RawValue::from_string("{}".to_owned()).unwrap()).unwrap();
    let arguments = arguments.unwrap_or_else(empty);
    let world = World::new();
    let (bare, ruled) = (world.compose(&RuleSet::empty()), world.compose(&rules));
    let turned = World::new().turned().compose(&rules);
    assert_eq!(ruled.snapshot().digest, turned.snapshot().digest);
    assert!(ruled.snapshot().tools.len() <= bare.snapshot().tools.len());
    for hour in [0, 13] {
        let facts = CallFacts::at(Timestamp::from_micros(hour * 3_600_000_000));
        for tool in &world.tools {
            let call = world.call(tool, &arguments);
            let explained = explain(&ruled, Asked::Tool(&tool.tool), Some((&call, &facts)));
            let decided = decide(&ruled, call, &facts);
            assert_eq!(
                (explained.decision, &explained.reason),
                (decided.as_str(), decided.reason())
            );
            let stops = explained
                .steps
                .iter()
                .filter(|step| step.outcome == StepOutcome::Stops);
            assert_eq!(stops.count(), usize::from(decided.as_str() == "deny"));
            let without = decide(&bare, world.call(tool, &arguments), &facts);
            assert!(
                strictness(decided.as_str()) >= strictness(without.as_str()),
                "{tool:?}"
            );
            let other = decide(&turned, world.call(tool, &arguments), &facts);
            assert_eq!(decided.as_str(), other.as_str());
        }
    }
}

fn source(n: usize, text: &str) -> RuleSource {
    RuleSource {
        id: format!("r{n}").into(),
        text: text.into(),
        description: String::new(),
        enabled: true,
    }
}

fn strictness(decision: &str) -> usize {
    ["allow", "ask", "deny"]
        .iter()
        .position(|word| *word == decision)
        .unwrap()
}
