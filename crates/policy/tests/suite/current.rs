//! A call inside a run that began earlier: what was taken away since is gone, what was added since is not there.

use domain::{Target, Timestamp};
use policy::{CallFacts, Decision, Effective, decide};

use crate::world::{Built, World, tool};

fn world(text: &str) -> World {
    toml::from_str(&format!(
        "connections = [{{ name = \"github\" }}]\ntools = [{{ id = \"github/read\" }}]\n{text}"
    ))
    .unwrap()
}

fn call(built: &Built, begun: &Effective, current: &Effective) -> Decision {
    let call = built.call(Target::Tool(tool("github/read")), "{}");
    decide(
        begun,
        call,
        &CallFacts {
            current: Some(current),
            ..CallFacts::at(Timestamp::from_micros(0))
        },
    )
}

// C03: what is revoked is gone at the next call. V062: nothing is gained in a run.
#[test]
fn the_stricter_view_wins() {
    let allowed = r#"grants = [{ on = "github/read", says = "allow" }]"#;
    for (name, before, after, want) in [
        ("unchanged", allowed, allowed, "allow grant_allows"),
        ("the grant was revoked", allowed, "", "deny revoked"),
        (
            "the grant now denies",
            allowed,
            r#"grants = [{ on = "github/read", says = "deny" }]"#,
            "deny grant_denies",
        ),
        (
            "the grant now asks",
            allowed,
            r#"grants = [{ on = "github/read", says = "ask" }]"#,
            "ask grant_asks",
        ),
        (
            "a rule was added",
            allowed,
            "grants = [{ on = \"github/read\", says = \"allow\" }]\nrules = [{ id = \"stop\", text = \"forbid(principal, action, resource);\" }]",
            "deny rule_forbids",
        ),
        (
            "the agent was disabled",
            allowed,
            "agent_enabled = false",
            "deny agent_disabled",
        ),
        ("a grant was added", "", allowed, "deny no_grant"),
        (
            "a grant stopped asking",
            r#"grants = [{ on = "github/read", says = "ask" }]"#,
            r#"grants = [{ on = "github/read", says = "unattended" }]"#,
            "ask grant_asks",
        ),
    ] {
        let built = world(before).build();
        let (begun, current) = (built.compose(), world(after).compose());
        let decision = call(&built, &begun, &current);
        assert_eq!(
            format!("{} {}", decision.as_str(), decision.reason().code),
            want,
            "{name}"
        );
    }
}

#[test]
fn what_was_removed_is_revoked() {
    let built = world(r#"grants = [{ on = "github/read", says = "allow" }]"#).build();
    let empty = World::default().compose();
    assert_eq!(
        call(&built, &built.compose(), &empty).reason().code.as_str(),
        "revoked"
    );
}

#[test]
fn a_permit_is_of_the_current_epoch_and_the_runs_snapshot() {
    let mut changed = world(r#"grants = [{ on = "github/read", says = "unattended" }]"#);
    let built = changed.build();
    let begun = built.compose();
    changed.epoch = 7;
    let Decision::Allow(permit) = call(&built, &begun, &changed.compose()) else {
        panic!("it is granted in both")
    };
    assert_eq!(
        (permit.epoch().0, permit.snapshot()),
        (7, Some(begun.snapshot().digest))
    );
}

#[test]
fn a_view_answers_nobody_else() {
    let built = world(r#"grants = [{ on = "github/read", says = "allow" }]"#).build();
    let view = built.compose();
    for (name, text) in [
        ("another agent", "agent = \"other\""),
        ("another principal", "principal = \"admin_key\""),
        ("another channel", "channel = \"phone\""),
    ] {
        let other = world(text).build();
        let call = other.call(Target::Tool(tool("github/read")), "{}");
        let decision = decide(&view, call, &CallFacts::at(Timestamp::from_micros(0)));
        assert_eq!(
            (decision.as_str(), decision.reason().code.as_str()),
            ("deny", "unknown_tool"),
            "{name}"
        );
    }
}
