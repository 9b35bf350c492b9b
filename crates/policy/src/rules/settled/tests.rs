//! What is compared directly means what Cedar says it means.

use std::sync::Arc;

use cedar_policy::Policy;
use cedar_policy::pst::{Clause, Expr};
use domain::{Channel, Effect, Risk};
use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop_oneof, proptest};
use proptest::sample::select;

use super::{Situation, cedar, plain};
use crate::rules::subject::{ToolSubject, Who};
use crate::rules::vocabulary::Vocabulary;

const ATOMS: &[&str] = &[
    r#"principal == Agent::"helper""#,
    r#"principal in Agent::"other""#,
    r#"principal is Agent"#,
    r#"principal.handle == "helper""#,
    r#"resource == Tool::"mail/send""#,
    r#"resource == Tool::"list_runs""#,
    r#"resource in Tool::"mail/a/b""#,
    r#"resource in Connection::"mail""#,
    r#"resource in Connection::"""#,
    r#"resource in [Connection::"web", Tool::"list_runs"]"#,
    r#"resource is Tool"#,
    r#"resource is Tool in Connection::"web""#,
    r#"resource.name == "send""#,
    r#""send" != resource.name"#,
    r#"resource.name like "*""#,
    r#"resource.name like "s*d""#,
    r#"resource.name like "send*send""#,
    r#"resource.name like "*a\*b*""#,
    r#"resource.name like "list_*""#,
    r#"resource.name like """#,
    r#"resource.connection == "mail""#,
    r#"resource.risk != "high""#,
    r#"["low", "medium"].contains(resource.risk)"#,
    r#"resource.effect == "read_only""#,
    r#"resource.kind == "connection""#,
    r#"context.channel == "phone""#,
    r#"["chat", "mcp"].contains(context.channel)"#,
    r#"context.caller.kind == "member""#,
    r#"context.caller.id like "7*""#,
    "true",
    "false",
];

fn condition(text: &str) -> Arc<Expr> {
    let policy = Policy::parse(None, format!("forbid(principal, action, resource) when {{ {text} }};")).unwrap();
    let tree = policy.to_pst().unwrap();
    match tree.body().clauses().first().unwrap() {
        Clause::When(expr) | Clause::Unless(expr) => expr.clone(),
    }
}

fn conditions() -> impl Strategy<Value = String> {
    select(ATOMS).prop_map(str::to_owned).prop_recursive(3, 12, 2, |inner| {
        prop_oneof![
            inner.clone().prop_map(|a| format!("!({a})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a}) && ({b})")),
            (inner.clone(), inner).prop_map(|(a, b)| format!("({a}) || ({b})")),
        ]
    })
}

fn check(text: &str, who: &Who, tool: ToolSubject<'_>) {
    let (vocabulary, _) = Vocabulary::load().unwrap();
    let condition = condition(text);
    let direct = plain(&condition).unwrap_or_else(|| panic!("{text} is not compared directly"));
    let situation = Situation::new(who, tool, &vocabulary);
    assert_eq!(direct.holds(&situation), cedar(&condition).unwrap().holds(&situation), "{text} of {}", tool.uid());
    if let Some(name) = direct.only_name() {
        assert!(direct.holds(&situation) != Ok(true) || tool.name == name, "{text} of {}", tool.uid());
    }
}

fn who() -> impl Strategy<Value = Who> {
    (select(&["helper", "other"][..]), select(&["member", "system"][..]), select(&[Channel::Mcp, Channel::Phone][..])).prop_map(
        |(handle, caller_kind, channel)| Who {
            handle: handle.into(),
            id: "1".into(),
            caller_kind,
            caller_id: if caller_kind == "system" { "".into() } else { "77".into() },
            channel,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn direct_comparison_agrees_with_cedar(
        text in conditions(),
        who in who(),
        name in select(&["send", "list_runs", "a/b", "a*b", "", "sendsend"][..]),
        namespace in prop_oneof![Just(None), Just(Some("mail")), Just(Some("web"))],
        risk in select(&[Risk::Low, Risk::High][..]),
        read_only in any::<bool>(),
    ) {
        let effect = if read_only { Effect::ReadOnly } else { Effect::Mutating };
        check(&text, &who, ToolSubject { name, namespace, risk, effect });
    }
}

#[test]
fn other_conditions_are_left_to_cedar() {
    for text in [r#"if resource.kind == "capability" then true else false"#, r#"resource.name == resource.connection"#] {
        assert!(plain(&condition(text)).is_none(), "{text}");
        assert!(cedar(&condition(text)).is_some(), "{text}");
    }
}
