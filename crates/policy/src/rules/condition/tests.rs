//! What is compared directly means what Cedar says it means.

use std::sync::{Arc, OnceLock};

use cedar_policy::Policy;
use cedar_policy::pst::{Clause, Expr};
use domain::{Channel, Effect, Risk, Timestamp};
use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop_oneof, proptest};
use proptest::sample::select;

use super::{Situation, cedar, forbid_when, plain};
use crate::rules::RuleEffect;
use crate::rules::residual::{CallView, Left, Residual, ResidualSet};
use crate::rules::shape::{Reads, shape};
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

/// Not guarded by `hasTag`, as no rule may be: an argument that is not there fails on both sides.
const CALL_ATOMS: &[&str] = &[
    r#"context.arguments.text.hasTag("/s")"#,
    r#"context.arguments.text.getTag("/s") == "x""#,
    r#"context.arguments.text.getTag("/s") like "*x*y""#,
    r#"context.arguments.kind.getTag("/s") != "array""#,
    r#"context.arguments.texts.getTag("/s").contains("x")"#,
    r#"context.arguments.texts.hasTag("/l/0")"#,
    r#"["x", "y"].contains(context.arguments.text.getTag("/l/0"))"#,
    r#"context.arguments.flag.getTag("/s")"#,
    r#"context.arguments.integer.hasTag("/n")"#,
    r#"context.arguments.integer.getTag("/n") > 5"#,
    r#"5 > context.arguments.integer.getTag("/n")"#,
    r#"context.arguments.integer.getTag("/n") <= -5"#,
    r#"context.arguments.integer.getTag("/n") == 7"#,
    r#"context.arguments.number.hasTag("/n")"#,
    r#"context.arguments.number.getTag("/n").greaterThan(decimal("5.25"))"#,
    r#"decimal("5.25").greaterThanOrEqual(context.arguments.number.getTag("/n"))"#,
    r#"context.arguments.number.getTag("/n").lessThan(decimal("-0.5"))"#,
    r#"context.arguments.number.getTag("/n") == decimal("5.250")"#,
    r#"context.hour >= 12"#,
    r#"context.hour == 0"#,
    r#"context.weekday != "thursday""#,
    r#"["friday", "monday"].contains(context.weekday)"#,
];

const ARGUMENTS: &[&str] = &[
    "{}",
    "null",
    r#"{"s": "x", "n": 5}"#,
    r#"{"s": "axby", "n": 5.25}"#,
    r#"{"s": ["x"], "n": 7.0}"#,
    r#"{"s": ["y", 1]}"#,
    r#"{"s": true, "n": -0.50001}"#,
    r#"{"s": null, "n": "7"}"#,
    r#"{"l": ["x"], "n": 1e300}"#,
    r#"{"l": [["a"]], "n": -6}"#,
];

fn vocabulary() -> &'static Arc<Vocabulary> {
    static ONCE: OnceLock<Arc<Vocabulary>> = OnceLock::new();
    ONCE.get_or_init(|| Arc::new(Vocabulary::load().unwrap().0))
}

fn condition(text: &str) -> Arc<Expr> {
    let policy = Policy::parse(
        None,
        format!("forbid(principal, action, resource) when {{ {text} }};"),
    )
    .unwrap();
    let tree = policy.to_pst().unwrap();
    match tree.body().clauses().first().unwrap() {
        Clause::When(expr) | Clause::Unless(expr) => expr.clone(),
    }
}

fn conditions(atoms: Vec<&'static str>) -> impl Strategy<Value = String> {
    select(atoms)
        .prop_map(str::to_owned)
        .prop_recursive(3, 12, 2, |inner| {
            prop_oneof![
                inner.clone().prop_map(|a| format!("!({a})")),
                (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a}) && ({b})")),
                (inner.clone(), inner).prop_map(|(a, b)| format!("({a}) || ({b})")),
            ]
        })
}

fn check(text: &str, who: &Who, tool: ToolSubject<'_>) {
    let condition = condition(text);
    let direct = plain(&condition).unwrap_or_else(|| panic!("{text} is not compared directly"));
    let situation = Situation::new(who, tool, vocabulary());
    assert_eq!(
        direct.holds(&situation),
        cedar(&condition).unwrap().holds(&situation),
        "{text} of {}",
        tool.uid()
    );
    if let Some(name) = direct.only_name() {
        assert!(
            direct.holds(&situation) != Ok(true) || tool.name == name,
            "{text} of {}",
            tool.uid()
        );
    }
}

/// The same condition as the whole of a waiting rule, once compared directly and once by Cedar.
fn check_at_call(text: &str, effect: RuleEffect, call: &CallView<'_>) {
    let condition = condition(text);
    let policy = Policy::parse(
        None,
        format!("forbid(principal, action, resource) when {{ {text} }};"),
    )
    .unwrap();
    let shape = shape(policy.to_pst().unwrap().body());
    assert_eq!(shape.findings, [], "{text}");
    let reads = Reads {
        principal: true,
        resource: true,
        caller: true,
        channel: true,
        ..shape.reads
    };
    let word = |left: Left| {
        let residual = Residual {
            left,
            reads: reads.clone(),
        };
        let id = Arc::from("rule");
        ResidualSet::new(std::iter::once((&id, effect, &residual)), vocabulary())
            .unwrap()
            .judge(call)
    };
    let plain = plain(&condition).unwrap_or_else(|| panic!("{text} is not compared directly"));
    let cedar = forbid_when("rule", std::slice::from_ref(&condition)).unwrap();
    assert_eq!(
        word(Left::Plain(vec![plain])),
        word(Left::Cedar(Box::new(cedar))),
        "{text} of {}",
        call.arguments
    );
}

fn who() -> impl Strategy<Value = Who> {
    (
        select(&["helper", "other"][..]),
        select(&["member", "system"][..]),
        select(&[Channel::Mcp, Channel::Phone][..]),
    )
        .prop_map(|(handle, caller_kind, channel)| Who {
            handle: handle.into(),
            id: "1".into(),
            caller_kind,
            caller_id: if caller_kind == "system" {
                "".into()
            } else {
                "77".into()
            },
            channel,
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn direct_comparison_agrees_with_cedar(
        text in conditions(ATOMS.to_vec()),
        who in who(),
        name in select(&["send", "list_runs", "a/b", "a*b", "", "sendsend"][..]),
        namespace in prop_oneof![Just(None), Just(Some("mail")), Just(Some("web"))],
        risk in select(&[Risk::Low, Risk::High][..]),
        read_only in any::<bool>(),
    ) {
        let effect = if read_only { Effect::ReadOnly } else { Effect::Mutating };
        check(&text, &who, ToolSubject { name, namespace, risk, effect });
    }

    #[test]
    fn direct_comparison_of_calls_agrees_with_cedar(
        text in conditions([ATOMS, CALL_ATOMS, CALL_ATOMS].concat()),
        who in who(),
        arguments in select(ARGUMENTS),
        asks in any::<bool>(),
        hour in 0..200_i64,
    ) {
        let tool = ToolSubject { name: "send", namespace: Some("mail"), risk: Risk::High, effect: Effect::Mutating };
        let arguments = serde_json::from_str(arguments).unwrap();
        let now = Timestamp::from_micros(hour * 3_600_000_000);
        let effect = if asks { RuleEffect::Ask } else { RuleEffect::Deny };
        check_at_call(&text, effect, &CallView { who: &who, tool, arguments: &arguments, now });
    }
}

#[test]
fn other_conditions_are_left_to_cedar() {
    for text in [
        r#"if resource.kind == "capability" then true else false"#,
        r#"resource.name == resource.connection"#,
    ] {
        assert!(plain(&condition(text)).is_none(), "{text}");
        assert!(cedar(&condition(text)).is_some(), "{text}");
    }
}
