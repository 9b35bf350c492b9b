//! What is refused when rules are loaded, and how it is said.

use std::fmt::Write as _;

use policy::{RuleSet, RuleSource};

fn source(id: &str, text: &str) -> RuleSource {
    RuleSource {
        id: id.into(),
        text: text.into(),
        description: String::new(),
        enabled: true,
    }
}

fn problems(sources: &[RuleSource]) -> String {
    let mut out = String::new();
    for problem in RuleSet::parse(sources).expect_err("these rules are wrong") {
        writeln!(out, "{problem}").unwrap();
    }
    out
}

const MISTAKES: &[(&str, &str)] = &[
    ("permit", "permit(principal, action, resource);"),
    ("template", "forbid(principal == ?principal, action, resource);"),
    (
        "two",
        "forbid(principal, action, resource);\nforbid(principal, action, resource);",
    ),
    ("none", ""),
    (
        "syntax",
        "forbid(principal, action, resource)\nwhen { resource.risk = \"high\" };",
    ),
    (
        "attribute",
        "forbid(principal, action, resource)\nwhen { resource.names == \"me\" };",
    ),
    ("entity", "forbid(principal == Agents::\"me\", action, resource);"),
    (
        "action",
        "forbid(principal, action == Action::\"read\", resource);",
    ),
    (
        "type",
        "forbid(principal, action, resource) when { resource.name > 3 };",
    ),
    (
        "effect",
        "@effect(\"warn\")\nforbid(principal, action, resource);",
    ),
    (
        "annotation",
        "@owner(\"me\") forbid(principal, action, resource);",
    ),
    ("id", "@id(\"other\") forbid(principal, action, resource);"),
    (
        "word",
        "forbid(principal, action, resource) when { resource.risk == \"hihg\" };",
    ),
    (
        "words",
        "forbid(principal, action, resource) when { [\"saturday\", \"someday\"].contains(context.weekday) };",
    ),
    (
        "unguarded",
        "forbid(principal, action, resource) when { context.arguments.text.getTag(\"/to\") == \"x\" };",
    ),
    (
        "pointer",
        "forbid(principal, action, resource)\n  when { context.arguments.text.hasTag(\"to\") };",
    ),
    (
        "computed",
        "forbid(principal, action, resource) when { context.arguments.text.hasTag(resource.name) };",
    ),
    (
        "whole",
        "forbid(principal, action, resource) when { context == context };",
    ),
    (
        "bag",
        "forbid(principal, action, resource) when { context.arguments.text == Text::\"arguments\" };",
    ),
    (
        "impossible",
        "forbid(principal, action, resource) when { false };",
    ),
    (
        "several",
        "@effect(\"warn\")\npermit(principal, action, resource)\nwhen { resource.names == \"me\" };",
    ),
];

#[test]
fn every_mistake_says_what_where_and_what_to_do() {
    let sources: Vec<RuleSource> = MISTAKES.iter().map(|(id, text)| source(id, text)).collect();
    insta::assert_snapshot!(problems(&sources));
}

#[test]
fn ids_are_unique_and_not_empty() {
    let rule = "forbid(principal, action, resource);";
    insta::assert_snapshot!(problems(&[
        source("a", rule),
        source("a", rule),
        source("", rule)
    ]));
}

#[test]
fn a_disabled_rule_is_checked_and_decides_nothing() {
    let mut rule = source("off", "forbid(principal, action, resource);");
    rule.enabled = false;
    assert!(
        RuleSet::parse(std::slice::from_ref(&rule))
            .unwrap()
            .ids()
            .is_empty()
    );
    rule.text = "permit(principal, action, resource);".into();
    assert!(RuleSet::parse(&[rule]).is_err());
}

#[test]
fn the_order_of_rules_does_not_matter() {
    let (a, b) = (
        source("a", "forbid(principal, action, resource);"),
        source("b", "@effect(\"ask\") forbid(principal, action, resource);"),
    );
    let one = RuleSet::parse(&[a.clone(), b.clone()]).unwrap();
    let other = RuleSet::parse(&[b.clone(), a]).unwrap();
    assert_eq!((one.digest(), one.ids()), (other.digest(), other.ids()));
    assert_ne!(one.digest(), RuleSet::parse(&[b]).unwrap().digest());
}
