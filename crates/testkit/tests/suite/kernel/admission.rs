//! What an agent has, and why it has nothing else.

use std::time::Duration;

use domain::{CallStatus, Effect, Handle, KeyKind, Reason, ReasonCode, Risk, Status, ToolRef, Verdict};
use gateway::{AgentRef, Scope, ViewKey};
use serde_json::{Value, json};

use super::both;
use super::house::{Bench, Decided, House, asked, code, denied, key, names, request, result};
use super::upstream::{Upstream, hinted, tool};

both!(
    nothing_is_there_that_was_not_granted,
    a_grant_says_exactly_what_may_be_done,
    a_tool_nobody_classified_is_high_whatever_its_server_says,
    what_is_missing_says_why,
    only_what_was_discovered_can_be_granted,
    an_agent_sees_its_own_tools_and_no_other_agent,
    rules_take_away_and_say_which,
    rules_go_by_the_clock,
);

/// Why a name is not in the agent's view.
fn absent(house: &House, name: &str) -> &'static str {
    let view = house.view();
    assert!(view.snapshot().by_name(name).is_none(), "{name} is there");
    view.snapshot()
        .why_absent(name)
        .map_or("", |absent| absent.reason.code.as_str())
}

// O001, O004, O007, V063
async fn nothing_is_there_that_was_not_granted(bench: Bench) {
    let upstream = Upstream::echoing(vec![tool("read"), tool("write")]).await;
    let house = House::with(bench, &[&upstream]).await;
    house.connect("files", &upstream).await;
    assert_eq!(house.names(), Vec::<String>::new());
    for (name, reason) in [
        ("files__read", "no_grant"),
        ("files__write", "no_grant"),
        ("current_time", "no_grant"),
        ("files__other", "unknown_tool"),
        ("read", "unknown_tool"),
        ("grants_set", "unknown_tool"),
        ("", "unknown_tool"),
    ] {
        let reply = house.call(name, json!({})).await;
        assert_eq!(denied(&reply), reason, "{name}");
        let item = house.item(reply.call).await;
        let Decided {
            decision,
            reason: recorded,
            ..
        } = Decided::of(&item);
        assert_eq!(
            (&*decision, recorded.code.as_str(), item.status),
            ("deny", reason, CallStatus::Denied)
        );
    }
    assert_eq!(upstream.calls(), Vec::<Value>::new());
    house.verify().await;
}

// O052, O053, O055, V064
async fn a_grant_says_exactly_what_may_be_done(bench: Bench) {
    let upstream = Upstream::echoing(vec![tool("low"), tool("high"), tool("other")]).await;
    let house = House::with(bench, &[&upstream]).await;
    house.connect("files", &upstream).await;
    house.classify("files/low", "low", "mutating").await;
    house.classify("files/high", "high", "mutating").await;
    let cases = [
        ("low", "deny", "deny", "grant_denies"),
        ("low", "ask", "ask", "grant_asks"),
        ("low", "allow", "allow", "grant_allows"),
        ("low", "unattended", "allow", "grant_unattended"),
        ("high", "deny", "deny", "grant_denies"),
        ("high", "ask", "ask", "grant_asks"),
        ("high", "allow", "ask", "high_risk"),
        ("high", "unattended", "allow", "grant_unattended"),
    ];
    for (name, permission, decision, reason) in cases {
        house.grant(&format!("files/{name}"), permission).await;
        let before = upstream.calls().len();
        let reply = house
            .call(&format!("files__{name}"), json!({ "case": permission }))
            .await;
        let recorded = Decided::of(&house.item(reply.call).await);
        assert_eq!(
            (&*recorded.decision, recorded.reason.code.as_str()),
            (decision, reason),
            "{name} {permission}"
        );
        assert_eq!(recorded.risk.as_str(), name);
        let sent = usize::from(decision == "allow");
        assert_eq!(upstream.calls().len() - before, sent, "{name} {permission}");
        match decision {
            "allow" => assert_eq!(
                result(&reply)["structuredContent"]["echo"],
                json!({ "case": permission })
            ),
            "ask" => drop(asked(&reply)),
            _ => assert_eq!(denied(&reply), reason),
        }
        // A grant of one tool is a grant of that tool.
        assert_eq!(absent(&house, "files__other"), "no_grant");
    }
    house.verify().await;
}

// O042, V168, O054
async fn a_tool_nobody_classified_is_high_whatever_its_server_says(bench: Bench) {
    let upstream = Upstream::echoing(vec![hinted("look")]).await;
    let house = House::with(bench, &[&upstream]).await;
    house.connect("files", &upstream).await;
    house.grant("files/look", "allow").await;
    let view = house.view();
    let there = view.snapshot().by_name("files__look").unwrap();
    assert_eq!(
        (there.risk, there.effect, there.verdict),
        (Risk::High, Effect::Mutating, Verdict::Ask)
    );
    assert_eq!(there.reason, Reason::new(ReasonCode::HighRisk));
    // The annotation makes it eligible for waves, and nothing more.
    assert!(there.parallel);
    asked(&house.call("files__look", json!({})).await);
    assert!(upstream.calls().is_empty());
    let listed = house
        .admin(
            "tools.list",
            json!({ "connection": "files", "unclassified": true }),
        )
        .await;
    assert_eq!(listed["items"][0]["hints"]["read_only"], true);
    assert_eq!(listed["items"][0]["classified"], false);

    house.classify("files/look", "low", "read_only").await;
    let reply = house.call("files__look", json!({ "now": 1 })).await;
    assert_eq!(reply.outcome.status, Status::Succeeded);
    let recorded = Decided::of(&house.item(reply.call).await);
    assert_eq!((recorded.risk, recorded.effect), (Risk::Low, Effect::ReadOnly));
    house.verify().await;
}

// V134
async fn what_is_missing_says_why(bench: Bench) {
    let broken = json!({ "name": "broken", "inputSchema": { "type": "object", "properties": { "a": { "pattern": "(" } } } });
    let upstream = Upstream::echoing(vec![tool("here"), tool("left-out"), broken, tool("leaving")]).await;
    let house = House::with(bench, &[&upstream]).await;
    // Not discovered yet: nothing of it exists.
    let url = upstream.server.url();
    house
        .connect_to(
            "files",
            url,
            json!({ "trusted": false, "allowed_tools": ["here", "broken", "leaving"] }),
        )
        .await;
    for name in ["here", "left-out", "broken", "leaving"] {
        house.classify(&format!("files/{name}"), "low", "read_only").await;
        house.grant(&format!("files/{name}"), "allow").await;
    }
    let all = |reason: &'static str| {
        [
            ("here", reason),
            ("left-out", reason),
            ("broken", reason),
            ("leaving", reason),
        ]
    };
    let check = async |expected: [(&str, &str); 4]| {
        let names = house.names();
        for (name, reason) in expected {
            let exposed = format!("files__{name}");
            assert_eq!(names.contains(&exposed), reason.is_empty(), "{name}: {names:?}");
            if !reason.is_empty() {
                assert_eq!(absent(&house, &exposed), reason, "{name}");
                let sent = upstream.calls().len();
                assert_eq!(denied(&house.call(&exposed, json!({})).await), reason, "{name}");
                assert_eq!(upstream.calls().len(), sent);
            }
        }
    };
    check(all("connection_untrusted")).await;
    house.change("files", json!({ "trusted": true })).await;
    let usable = [
        ("here", ""),
        ("left-out", "not_offered"),
        ("broken", "schema_unusable"),
        ("leaving", ""),
    ];
    check(usable).await;
    house.change("files", json!({ "enabled": false })).await;
    check(all("connection_disabled")).await;
    house.change("files", json!({ "enabled": true })).await;
    // Whatever that set going is over before the list changes.
    house
        .admin("connections.test", json!({ "connection": "files" }))
        .await;
    upstream.now_lists(vec![tool("here"), tool("left-out")]);
    house
        .admin("connections.refresh", json!({ "connection": "files" }))
        .await;
    check([
        ("here", ""),
        ("left-out", "not_offered"),
        ("broken", "gone"),
        ("leaving", "gone"),
    ])
    .await;
    let agent = house.admin("agents.show", json!({ "agent": "default" })).await;
    let off = json!({ "agent": "default", "expected_version": agent["version"], "enabled": false });
    house.admin("agents.update", off).await;
    check(all("agent_disabled")).await;
    house.verify().await;
}

// V186
async fn only_what_was_discovered_can_be_granted(bench: Bench) {
    let upstream = Upstream::echoing(vec![tool("read")]).await;
    let house = House::with(bench, &[&upstream]).await;
    house.connect("files", &upstream).await;
    let grant = |more: Value| {
        let mut input = json!({ "agent": "default", "permission": "allow" });
        for (name, value) in more.as_object().unwrap() {
            input[name] = value.clone();
        }
        input
    };
    let cases = [
        (
            json!({ "connection": "files", "tool": "undiscovered" }),
            "grant.unknown_tool",
        ),
        (
            json!({ "connection": "files", "tool": "files__read" }),
            "grant.unknown_tool",
        ),
        (
            json!({ "connection": "files", "tool": "*" }),
            "grant.unknown_tool",
        ),
        (
            json!({ "connection": "nowhere", "tool": "read" }),
            "resource.not_found",
        ),
        (json!({ "tool": "grants.set" }), "resource.not_found"),
        (json!({ "tool": "resolve_approval" }), "resource.not_found"),
        (
            json!({ "agent": "nobody", "connection": "files", "tool": "read" }),
            "resource.not_found",
        ),
    ];
    for (input, code) in cases {
        assert_eq!(
            house
                .ask("grants.set", grant(input.clone()))
                .await
                .unwrap_err()
                .code,
            code,
            "{input}"
        );
    }
    assert_eq!(house.names(), Vec::<String>::new());
    house.verify().await;
}

async fn an_agent_sees_its_own_tools_and_no_other_agent(bench: Bench) {
    let upstream = Upstream::echoing(vec![tool("read")]).await;
    let house = House::with(bench, &[&upstream]).await;
    house.connect("files", &upstream).await;
    house.reading("files/read").await;
    house.admin("agents.create", json!({ "handle": "second" })).await;
    let second = house.gateway.workspace(house.tenant).unwrap();
    let second = second
        .agent_by_handle(&Handle::new("second").unwrap())
        .unwrap()
        .id;
    let look = |principal, agent| {
        house.gateway.view(&ViewKey {
            principal,
            agent,
            scope: Scope::All,
            channel: domain::Channel::Mcp,
        })
    };
    let own = key(house.tenant, KeyKind::Agent(second));
    // What was granted to one is not granted to another.
    assert_eq!(names(&look(own, AgentRef::Bound).unwrap()), Vec::<String>::new());
    let reply = house
        .gateway
        .call(
            &look(own, AgentRef::Bound).unwrap(),
            request("files__read", &json!({})),
        )
        .await;
    assert_eq!(denied(&reply), "no_grant");
    assert_eq!(
        names(&look(house.caller, AgentRef::Bound).unwrap()),
        ["files__read"]
    );
    // A bound key reaches no other agent, whichever way it is named, and an administrator's only its own workspace's.
    let default = Handle::new("default").unwrap();
    for agent in [AgentRef::Id(house.agent.id), AgentRef::Handle(default.clone())] {
        assert_eq!(look(own, agent.clone()).err().unwrap().code, "resource.not_found");
        assert_eq!(
            look(house.stranger, agent.clone()).err().unwrap().code,
            "resource.not_found"
        );
        assert!(look(house.admin, agent).is_ok());
    }
    assert_eq!(
        look(house.admin, AgentRef::Bound).err().unwrap().code,
        "resource.not_found"
    );
    // An administrator acting for the agent has what the agent has; both are recorded.
    let view = look(house.admin, AgentRef::Handle(default)).unwrap();
    let reply = house
        .gateway
        .call(&view, request("files__read", &json!({})))
        .await;
    assert_eq!((reply.outcome.status, code(&reply)), (Status::Succeeded, ""));
    let item = house.item(reply.call).await;
    let actor = item.decided.actor;
    assert_eq!(
        (&*actor.kind, &*actor.id, actor.agent),
        ("admin_key", &*house.admin.id_text(), Some(house.agent.id))
    );
    house.verify().await;
}

// O054, C02
async fn rules_take_away_and_say_which(bench: Bench) {
    let upstream = Upstream::echoing(vec![tool("pay")]).await;
    let house = House::with(bench, &[&upstream]).await;
    house.connect("bank", &upstream).await;
    house.changing("bank/pay").await;
    house
        .rule(
            "limit",
            "forbid(principal, action, resource == Tool::\"bank/pay\") when {
               context.arguments.number.hasTag(\"/amount\") &&
               context.arguments.number.getTag(\"/amount\").greaterThan(decimal(\"1000.0\")) };",
        )
        .await;
    let cases = [
        (json!({ "amount": 1000 }), "allow", "grant_allows", None),
        (
            json!({ "amount": 1000.01 }),
            "deny",
            "rule_forbids",
            Some("limit"),
        ),
        (json!({ "amount": "5" }), "deny", "rule_failed", Some("limit")),
        (json!({}), "allow", "grant_allows", None),
    ];
    for (arguments, decision, reason, rule) in cases {
        let sent = upstream.calls().len();
        let reply = house.call("bank__pay", arguments.clone()).await;
        let recorded = Decided::of(&house.item(reply.call).await);
        let said = (
            &*recorded.decision,
            recorded.reason.code.as_str(),
            recorded.reason.rule.as_deref(),
        );
        assert_eq!(said, (decision, reason, rule), "{arguments}");
        assert_eq!(upstream.calls().len() - sent, usize::from(decision == "allow"));
    }
    // A rule that needs no argument takes the tool out of the view; one that asks overrides "unattended".
    house
        .rule(
            "night",
            "forbid(principal, action, resource in Connection::\"bank\");",
        )
        .await;
    let reply = house.call("bank__pay", json!({})).await;
    assert_eq!((denied(&reply), house.names()), ("rule_forbids", vec![]));
    house.grant("bank/pay", "unattended").await;
    house
        .rule(
            "eyes",
            "@effect(\"ask\") forbid(principal, action, resource in Connection::\"bank\");",
        )
        .await;
    asked(&house.call("bank__pay", json!({})).await);
    let tool = ToolRef::Upstream {
        connection: house
            .gateway
            .workspace(house.tenant)
            .unwrap()
            .find_connection("bank")
            .unwrap()
            .id,
        name: "pay".into(),
    };
    let reason = &house.view().snapshot().by_tool(&tool).unwrap().reason.clone();
    assert_eq!(*reason, Reason::by_rule(ReasonCode::RuleAsks, "eyes"));
    house.verify().await;
}

async fn rules_go_by_the_clock(bench: Bench) {
    let upstream = Upstream::echoing(vec![tool("look"), tool("move")]).await;
    let house = House::with(bench, &[&upstream]).await;
    house.connect("files", &upstream).await;
    house.reading("files/look").await;
    house.changing("files/move").await;
    house
        .rule(
            "night",
            "@effect(\"ask\") forbid(principal, action, resource) when {
               resource.effect == \"mutating\" && (context.hour < 6 || context.hour >= 22) };",
        )
        .await;
    // It is Friday, 08:00; the same view all along.
    let view = house.view();
    assert_eq!(
        view.snapshot().by_name("files__move").unwrap().residual,
        ["night".into()]
    );
    let hour = Duration::from_secs(3600);
    for (hours, asks) in [(0, false), (13, false), (1, true), (7, true), (1, false)] {
        house.clock.advance(hour * hours);
        let reply = house.call_in(&view, "files__move", json!({})).await;
        let expected = if asks { "approval_required" } else { "" };
        assert_eq!(code(&reply), expected, "{:?}", house.clock.now());
        assert_eq!(
            house
                .call_in(&view, "files__look", json!({}))
                .await
                .outcome
                .status,
            Status::Succeeded
        );
    }
    house.verify().await;
}
