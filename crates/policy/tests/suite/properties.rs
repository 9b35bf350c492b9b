//! What holds for any facts, rules and calls.

use std::collections::BTreeMap;

use domain::{Answer, Target, Timestamp, ToolRef};
use policy::{Asked, CallFacts, Effective, decide, explain};
use proptest::option;
use proptest::prelude::{
    Just, ProptestConfig, Strategy, any, prop, prop_assert, prop_assert_eq, prop_oneof, proptest,
};
use proptest::sample::select;

use crate::world::{Built, ConnectionLine, GrantLine, RuleLine, ToolLine, TurnLine, World, approval, tool};

pub(crate) const TOOLS: &[&str] = &[
    "github/read",
    "github/write",
    "github/a.b",
    "github/a_b",
    "mine/anything",
    "mine/new",
    "theirs/anything",
    "nowhere/lost",
    "list_runs",
    "resolve_approval",
];

const RULES: &[&str] = &[
    r#"forbid(principal, action, resource == Tool::"github/write");"#,
    r#"forbid(principal, action, resource) when { resource.risk == "high" };"#,
    r#"@effect("ask") forbid(principal, action, resource in Connection::"mine");"#,
    r#"@effect("ask") forbid(principal, action, resource) when { resource.name like "a*" };"#,
    r#"forbid(principal, action, resource) when { if resource.kind == "capability" then context.channel == "phone" else false };"#,
    r#"forbid(principal, action, resource) when { context.arguments.integer.hasTag("/n") && context.arguments.integer.getTag("/n") > 5 };"#,
    r#"@effect("ask") forbid(principal, action, resource) when { context.arguments.text.hasTag("/s") };"#,
    r#"@effect("ask") forbid(principal, action, resource) when { context.arguments.integer.hasTag("/n") && context.arguments.integer.getTag("/n") * 9 > 0 };"#,
    r#"forbid(principal, action, resource) when { context.now.toTime() > duration("20h") && resource.risk != "low" };"#,
    r#"forbid(principal, action, resource is Tool in Connection::"github") when { context.hour > 12 };"#,
];

const ARGUMENTS: &[&str] = &[
    "{}",
    r#"{"n": 3}"#,
    r#"{"n": 9}"#,
    r#"{"n": 9223372036854775807}"#,
    r#"{"n": "3", "s": "x"}"#,
    r#"{"s": null}"#,
    "[]",
];

fn word(words: &'static [&'static str]) -> impl Strategy<Value = String> {
    select(words).prop_map(str::to_owned)
}

fn connection(name: &'static str, owner: &'static str) -> impl Strategy<Value = ConnectionLine> {
    let flags = (
        prop::bool::weighted(0.9),
        prop::bool::weighted(0.9),
        prop::bool::weighted(0.9),
    );
    (
        flags,
        option::weighted(0.2, tools()),
        word(&["admit", "low_risk", "quarantine"]),
    )
        .prop_map(
            move |((enabled, trusted, ready), allowed, accept)| ConnectionLine {
                name: name.into(),
                owner: owner.into(),
                enabled,
                trusted,
                ready,
                allowed: allowed.map(|tools| {
                    tools
                        .iter()
                        .filter_map(|t| Some(t.split_once('/')?.1.to_owned()))
                        .collect()
                }),
                accept,
                default_tools: vec![],
            },
        )
}

fn tool_line(id: &'static str) -> impl Strategy<Value = ToolLine> {
    let state =
        prop_oneof![6 => Just("pinned"), 1 => Just("quarantined"), 1 => Just("gone"), 1 => Just("unusable")];
    (
        word(&["low", "medium", "high"]),
        word(&["read_only", "mutating"]),
        state,
        option::of(any::<bool>()),
        any::<bool>(),
    )
        .prop_map(move |(risk, effect, state, read_only_hint, seen)| ToolLine {
            id: id.into(),
            risk,
            effect,
            state: state.into(),
            read_only_hint,
            surfaces: if id == "resolve_approval" {
                vec!["api".into()]
            } else {
                vec!["agent".into()]
            },
            seen,
        })
}

fn tools() -> impl Strategy<Value = Vec<String>> {
    prop::sample::subsequence(TOOLS, 0..=TOOLS.len())
        .prop_map(|tools| tools.into_iter().map(str::to_owned).collect())
}

fn grant() -> impl Strategy<Value = GrantLine> {
    (word(TOOLS), word(&["unattended", "allow", "ask", "deny"])).prop_map(|(on, says)| GrantLine {
        on,
        says,
        agent: None,
    })
}

fn turn() -> impl Strategy<Value = TurnLine> {
    let risk = || option::weighted(0.3, word(&["low", "medium", "high"]));
    (
        option::weighted(0.3, tools()),
        prop::sample::subsequence(TOOLS, 0..=2),
        risk(),
        risk(),
    )
        .prop_map(|(only, without, max_risk, ask_from)| TurnLine {
            only,
            without: without.into_iter().map(str::to_owned).collect(),
            max_risk,
            ask_from,
        })
}

fn rules(at_most: usize) -> impl Strategy<Value = Vec<RuleLine>> {
    prop::sample::subsequence((0..RULES.len()).collect::<Vec<_>>(), 0..=at_most).prop_map(|picked| {
        picked
            .into_iter()
            .map(|at| RuleLine {
                id: format!("r{at}"),
                text: RULES[at].into(),
                disabled: false,
            })
            .collect()
    })
}

pub(crate) fn worlds() -> impl Strategy<Value = World> {
    let connections = (
        connection("github", ""),
        connection("mine", "helper"),
        connection("theirs", "other"),
    );
    let lines: Vec<_> = TOOLS.iter().map(|id| tool_line(id).boxed()).collect();
    let rest = (
        option::weighted(0.3, turn()),
        option::weighted(0.2, tools()),
        word(&["", "", "github"]),
        word(&["mcp", "phone"]),
    );
    (
        connections,
        lines,
        prop::collection::vec(grant(), 0..12),
        rules(4),
        rest,
        prop::bool::weighted(0.95),
    )
        .prop_map(
            |((a, b, c), tools, grants, rules, (turn, carried, endpoint, channel), agent_enabled)| World {
                agent_enabled,
                channel,
                endpoint,
                connections: vec![a, b, c],
                tools,
                grants,
                rules,
                turn,
                carried,
                ..World::default()
            },
        )
}

pub(crate) fn strictness(decision: &str) -> usize {
    ["allow", "ask", "deny"]
        .iter()
        .position(|word| *word == decision)
        .unwrap()
}

/// What is decided about every tool with every argument.
pub(crate) fn decisions(
    built: &Built,
    effective: &Effective,
    facts: &CallFacts<'_>,
) -> BTreeMap<(String, String), &'static str> {
    let mut all = BTreeMap::new();
    for name in TOOLS {
        for arguments in ARGUMENTS {
            let call = built.call(Target::Tool(tool(name)), arguments);
            all.insert(
                ((*name).to_owned(), (*arguments).to_owned()),
                decide(effective, call, facts).as_str(),
            );
        }
    }
    all
}

pub(crate) fn at(hour: i64) -> CallFacts<'static> {
    CallFacts::at(Timestamp::from_micros(hour * 3_600_000_000))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    // V061: the view is total, and what is not in it cannot be called.
    #[test]
    fn every_tool_is_there_once_or_absent_once(world in worlds()) {
        let built = world.build();
        let effective = built.compose();
        let snapshot = effective.snapshot();
        let mut listed: Vec<&ToolRef> = snapshot.tools.iter().map(|t| &t.tool).chain(snapshot.absent.iter().map(|a| &a.tool)).collect();
        listed.sort();
        let mut known: Vec<&ToolRef> = built.tools.iter().map(|t| &t.tool).collect();
        known.sort();
        prop_assert_eq!(&listed, &known);
        let names: std::collections::HashSet<_> =
            snapshot.tools.iter().map(|t| &t.exposed).chain(snapshot.absent.iter().map(|a| &a.exposed)).collect();
        if world.endpoint.is_empty() {
            prop_assert_eq!(names.len(), known.len());
        }
        for absent in &snapshot.absent {
            let call = built.call(Target::Tool(absent.tool.clone()), "{}");
            let decision = decide(&effective, call, &at(1));
            prop_assert_eq!((decision.as_str(), decision.reason()), ("deny", &absent.reason));
        }
    }

    #[test]
    fn the_order_of_facts_does_not_matter(world in worlds(), by in any::<usize>()) {
        let mut turned = world.clone();
        turned.connections.rotate_left(by % 3);
        turned.tools.rotate_left(by % TOOLS.len());
        turned.grants.reverse();
        turned.rules.reverse();
        let (a, b) = (world.compose(), turned.compose());
        prop_assert_eq!(a.snapshot().digest, b.snapshot().digest);
        prop_assert_eq!(&a.snapshot().absent, &b.snapshot().absent);
    }

    #[test]
    fn facts_with_the_same_fingerprint_are_the_same(world in worlds(), other in worlds()) {
        let (a, b) = (world.build(), other.build());
        prop_assert_eq!(a.facts().fingerprint(), world.build().facts().fingerprint());
        if a.compose().snapshot().digest != b.compose().snapshot().digest {
            prop_assert!(a.facts().fingerprint() != b.facts().fingerprint());
        }
    }

    #[test]
    fn a_denying_grant_only_takes_away(world in worlds(), on in word(TOOLS), hour in 0..24_i64) {
        let mut stricter = world.clone();
        stricter.grants.push(GrantLine { on: on.clone(), says: "deny".into(), agent: None });
        let (before, after) = (world.build(), stricter.build());
        let (old, new) = (decisions(&before, &before.compose(), &at(hour)), decisions(&after, &after.compose(), &at(hour)));
        for (key, decision) in &new {
            prop_assert!(strictness(decision) >= strictness(old[key]), "{:?}", key);
            prop_assert!(key.0 != on || *decision == "deny");
        }
    }

    #[test]
    fn a_rule_only_takes_away(world in worlds(), more in rules(RULES.len()), hour in 0..24_i64) {
        let mut stricter = world.clone();
        stricter.rules.retain(|rule| more.iter().all(|new| new.id != rule.id));
        stricter.rules.extend(more);
        let (before, after) = (world.build(), stricter.build());
        let (old, new) = (decisions(&before, &before.compose(), &at(hour)), decisions(&after, &after.compose(), &at(hour)));
        for (key, decision) in &new {
            prop_assert!(strictness(decision) >= strictness(old[key]), "{:?}", key);
        }
    }

    // C03, V062.
    #[test]
    fn nothing_is_gained_from_the_current_view(begun in worlds(), current in worlds(), hour in 0..24_i64) {
        let mut current = current;
        current.channel.clone_from(&begun.channel);
        let (built, now) = (begun.build(), current.build());
        let (old, new) = (built.compose(), now.compose());
        let both = decisions(&built, &old, &CallFacts { current: Some(&new), ..at(hour) });
        let (alone, today) = (decisions(&built, &old, &at(hour)), decisions(&now, &new, &at(hour)));
        for (key, decision) in &both {
            prop_assert_eq!(strictness(decision), strictness(alone[key]).max(strictness(today[key])), "{:?}", key);
        }
    }

    #[test]
    fn explaining_agrees_with_deciding(
        world in worlds(),
        current in option::of(worlds()),
        arguments in word(ARGUMENTS),
        answer in option::of(select(&[Answer::Approved, Answer::Denied][..])),
        hour in 0..24_i64,
    ) {
        let built = world.build();
        let effective = built.compose();
        let current = current.map(|current| current.compose());
        for name in TOOLS {
            let tool = tool(name);
            let call = built.call(Target::Tool(tool.clone()), &arguments);
            let answer = answer.map(|answer| approval(&call, answer, Timestamp::from_micros(i64::MAX)));
            let facts = CallFacts { approval: answer.as_ref(), current: current.as_ref(), ..at(hour) };
            let explained = explain(&effective, Asked::Tool(&tool), Some((&call, &facts)));
            let decision = decide(&effective, call, &facts);
            prop_assert_eq!((explained.decision, &explained.reason), (decision.as_str(), decision.reason()));
            let stops = explained.steps.iter().filter(|step| step.outcome == policy::StepOutcome::Stops).count();
            prop_assert_eq!(stops, usize::from(explained.decision == "deny"), "{:?}", explained);
            let by_name = explain(&effective, Asked::Name(&explained.exposed), None);
            prop_assert_eq!(by_name.tool, Some(tool));
        }
    }
}
