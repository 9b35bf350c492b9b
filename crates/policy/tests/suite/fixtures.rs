//! Each fixture file is a world and cases that change a part of it; each case says what comes of one call.

use domain::{Answer, Target, Timestamp};
use policy::{Asked, CallFacts, Decision, decide, explain};
use serde::Deserialize;

use crate::world::{World, approval, id, tool};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    world: toml::Table,
    case: Vec<Case>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    #[serde(default)]
    with: toml::Table,
    /// A tool, `prompt:<namespace>/<name>` or `resource:<namespace>/<uri>`.
    call: String,
    #[serde(default = "empty")]
    arguments: String,
    /// Microseconds since 1970; a Monday morning unless said.
    #[serde(default = "monday_morning")]
    at: i64,
    /// `approved`, `denied`, `expired` (approved, too late) or `other` (approved, for other arguments).
    #[serde(default)]
    approval: String,
    #[serde(default)]
    stale: bool,
    /// The call was checked against another definition.
    #[serde(default)]
    other_definition: bool,
    expect: String,
    reason: String,
    #[serde(default)]
    rule: Option<String>,
    /// Whether the permit runs beside others and without an intent: `parallel`, `no_intent`.
    #[serde(default)]
    permit: Option<Vec<String>>,
}

fn empty() -> String {
    "{}".into()
}

const fn monday_morning() -> i64 {
    1_796_031_600_000_000
}

fn check(text: &str) {
    let file: File = toml::from_str(text).unwrap();
    let mut failures = Vec::new();
    for case in &file.case {
        let mut world = file.world.clone();
        world.extend(case.with.clone());
        let world: World = world.try_into().unwrap_or_else(|e| panic!("{}: {e}", case.name));
        let got = run(case, &world);
        let want = format!(
            "{} {} {}",
            case.expect,
            case.reason,
            case.rule.as_deref().unwrap_or("-")
        );
        if got != want {
            failures.push(format!("{}: expected {want}, got {got}", case.name));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn run(case: &Case, world: &World) -> String {
    let built = world.build();
    let effective = built.compose();
    let mut call = built.call(target(&case.call), &case.arguments);
    if case.other_definition {
        call.definition = domain::Digest::of(b"another");
    }
    let now = Timestamp::from_micros(case.at);
    let later = Timestamp::from_micros(case.at + 1);
    let answer = match case.approval.as_str() {
        "" => None,
        "approved" => Some(approval(&call, Answer::Approved, later)),
        "denied" => Some(approval(&call, Answer::Denied, later)),
        "expired" => Some(approval(&call, Answer::Approved, now)),
        "other" => {
            let mut fact = approval(&call, Answer::Approved, later);
            fact.arguments = domain::Digest::of(b"other");
            Some(fact)
        }
        other => panic!("no approval `{other}`"),
    };
    let facts = CallFacts {
        approval: answer.as_ref(),
        stale: case.stale,
        ..CallFacts::at(now)
    };
    let explained = match &call.target {
        Target::Tool(tool) => Some(explain(&effective, Asked::Tool(tool), Some((&call, &facts)))),
        Target::Prompt { .. } | Target::Resource { .. } | Target::Skill { .. } => None,
    };
    let decision = decide(&effective, call, &facts);
    if let Some(explained) = explained {
        assert_eq!(
            (explained.decision, &explained.reason),
            (decision.as_str(), decision.reason()),
            "{}",
            case.name
        );
    }
    if let (Some(want), Decision::Allow(permit)) = (&case.permit, &decision) {
        let mut got = Vec::new();
        got.extend(permit.parallel().then(|| "parallel".to_owned()));
        got.extend((!permit.needs_intent()).then(|| "no_intent".to_owned()));
        assert_eq!(got, *want, "{}", case.name);
    }
    let reason = decision.reason();
    format!(
        "{} {} {}",
        decision.as_str(),
        reason.code,
        reason.rule.as_deref().unwrap_or("-")
    )
}

fn target(text: &str) -> Target {
    let split = |rest: &str| rest.split_once('/').map(|(c, n)| (id(c), n.into())).unwrap();
    if let Some(rest) = text.strip_prefix("prompt:") {
        let (connection, name) = split(rest);
        return Target::Prompt { connection, name };
    }
    if let Some(rest) = text.strip_prefix("resource:") {
        let (connection, uri) = split(rest);
        return Target::Resource { connection, uri };
    }
    if let Some(rest) = text.strip_prefix("skill:") {
        let (connection, uri) = split(rest);
        return Target::Skill { connection, uri };
    }
    Target::Tool(tool(text))
}

// O001–O004: surface, tool policy, grants, then the channel, in that order. O052–O056: what each risk does.
// O003: a turn's own policy narrows, in its place among the rest.
#[test]
fn precedence() {
    check(include_str!("fixtures/precedence.toml"));
}

// V064, O042: exact grants, and none for what was imported. V061, O007: nothing outside the view can be called.
#[test]
fn grants() {
    check(include_str!("fixtures/grants.toml"));
}

#[test]
fn rules() {
    check(include_str!("fixtures/rules.toml"));
}

#[test]
fn approvals() {
    check(include_str!("fixtures/approvals.toml"));
}

// V054, V055, V056: what the platform gives every agent, as far as nothing speaks against it.
#[test]
fn defaults() {
    check(include_str!("fixtures/defaults.toml"));
}
