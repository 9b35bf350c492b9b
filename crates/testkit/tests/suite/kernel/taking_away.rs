//! What is taken away is gone at the next call, even in a view that is older; what is given comes with the next view.

use std::sync::Arc;

use domain::{Status, ToolRef};
use gateway::View;
use serde_json::json;
use store::Change;

use super::both;
use super::house::{Bench, Decided, House, asked, denied, notice};
use super::upstream::{Upstream, tool};

both!(
    everything_taken_away_bites_at_the_next_call,
    another_replicas_change_stops_an_act,
    nothing_is_gained_in_an_older_view,
    an_agent_or_connection_that_is_gone_is_gone_for_older_views,
);

/// A house with a tool that reads and one that changes something, both allowed.
async fn open_house(bench: Bench) -> (House, Upstream) {
    let upstream = Upstream::echoing(vec![tool("look"), tool("move")]).await;
    let house = House::with(bench, &[&upstream]).await;
    house.connect("files", &upstream).await;
    house.reading("files/look").await;
    house.changing("files/move").await;
    (house, upstream)
}

/// Both tools, in an older view and in a fresh one: denied, recorded, and not sent.
async fn gone(house: &House, upstream: &Upstream, older: &Arc<View>, what: &str) {
    let sent = upstream.calls().len();
    for name in ["files__look", "files__move"] {
        for (view, age) in [(older, "older"), (&house.view(), "fresh")] {
            let reply = house.call_in(view, name, json!({})).await;
            assert_eq!(
                reply.outcome.status,
                Status::Denied,
                "{name}, {age} view, after {what}: {reply:?}"
            );
            let item = house.item(reply.call).await;
            let recorded = Decided::of(&item);
            assert_eq!(&*recorded.decision, "deny", "{name}, {age} view, after {what}");
            assert_eq!(recorded.reason.code.as_str(), notice(&reply).code);
        }
    }
    assert_eq!(upstream.calls().len(), sent, "after {what}");
}

async fn works(house: &House, view: &Arc<View>, after: &str) {
    for name in ["files__look", "files__move"] {
        let reply = house.call_in(view, name, json!({})).await;
        assert_eq!(
            reply.outcome.status,
            Status::Succeeded,
            "{name} after {after}: {reply:?}"
        );
    }
}

// C03, V062
async fn everything_taken_away_bites_at_the_next_call(bench: Bench) {
    let (house, upstream) = open_house(bench).await;
    let cases = [
        (
            "revocation",
            json!({ "revoke": true }),
            json!({ "grant": "allow" }),
        ),
        (
            "a grant that denies",
            json!({ "grant": "deny" }),
            json!({ "grant": "allow" }),
        ),
        (
            "a kill switch",
            json!({ "enabled": false }),
            json!({ "enabled": true }),
        ),
        (
            "lost trust",
            json!({ "trusted": false }),
            json!({ "trusted": true }),
        ),
        (
            "a narrower list",
            json!({ "allowed_tools": ["other"] }),
            json!({ "allowed_tools": null }),
        ),
        ("a rule", json!({ "rule": true }), json!({ "rule": false })),
        (
            "a disabled agent",
            json!({ "agent": false }),
            json!({ "agent": true }),
        ),
    ];
    for (what, away, back) in cases {
        let older = house.view();
        works(&house, &older, "everything was given").await;
        apply(&house, &away).await;
        gone(&house, &upstream, &older, what).await;
        apply(&house, &back).await;
        works(&house, &house.view(), "it was given back").await;
    }
    house.verify().await;
}

async fn apply(house: &House, change: &serde_json::Value) {
    let (word, value) = change.as_object().unwrap().iter().next().unwrap();
    match (&**word, value) {
        ("revoke", _) => {
            house.revoke("files/look").await;
            house.revoke("files/move").await;
        }
        ("grant", value) => {
            house.grant("files/look", value.as_str().unwrap()).await;
            house.grant("files/move", value.as_str().unwrap()).await;
        }
        ("rule", value) if value == true => {
            house
                .rule(
                    "stop",
                    "forbid(principal, action, resource in Connection::\"files\");",
                )
                .await;
        }
        ("rule", _) => house.no_rules().await,
        ("agent", value) => {
            let now = house.admin("agents.show", json!({ "agent": "default" })).await;
            let input = json!({ "agent": "default", "expected_version": now["version"], "enabled": value });
            house.admin("agents.update", input).await;
        }
        _ => house.change("files", change.clone()).await,
    }
}

// C03: the change is in the database, and this process has not heard of it.
async fn another_replicas_change_stops_an_act(bench: Bench) {
    let (house, upstream) = open_house(bench).await;
    let connection = house
        .gateway
        .workspace(house.tenant)
        .unwrap()
        .find_connection("files")
        .unwrap()
        .id;
    let subject = domain::GrantSubject::Tool(ToolRef::Upstream {
        connection,
        name: "move".into(),
    });
    let change = Change::by_system("test");
    assert!(
        house
            .store
            .remove_grant(house.tenant, &change, house.agent.id, &subject)
            .await
            .unwrap()
    );
    let view = house.view();
    assert!(
        view.snapshot().by_name("files__move").is_some(),
        "this process has not heard of it"
    );
    let reply = house
        .gateway
        .call(&view, super::house::request("files__move", &json!({})))
        .await;
    assert_eq!(denied(&reply), "revoked");
    assert!(upstream.calls().is_empty());
    house.item(reply.call).await;
    house.verify().await;
}

// V062
async fn nothing_is_gained_in_an_older_view(bench: Bench) {
    let upstream = Upstream::echoing(vec![tool("look")]).await;
    let house = House::with(bench, &[&upstream]).await;
    house.connect("files", &upstream).await;
    let before_grant = house.view();
    house.grant("files/look", "allow").await;
    let asks = house.view();
    house.grant("files/look", "unattended").await;
    assert_eq!(
        denied(&house.call_in(&before_grant, "files__look", json!({})).await),
        "no_grant"
    );
    asked(&house.call_in(&asks, "files__look", json!({})).await);
    assert!(upstream.calls().is_empty());
    let fresh = house.call("files__look", json!({})).await;
    assert_eq!(fresh.outcome.status, Status::Succeeded);
    house.verify().await;
}

async fn an_agent_or_connection_that_is_gone_is_gone_for_older_views(bench: Bench) {
    let (house, upstream) = open_house(bench).await;
    let older = house.view();
    house
        .admin("connections.remove", json!({ "connection": "files" }))
        .await;
    for name in ["files__look", "files__move"] {
        assert_eq!(denied(&house.call_in(&older, name, json!({})).await), "revoked");
    }
    house.connect("files", &upstream).await;
    house.reading("files/look").await;
    house.changing("files/move").await;
    let older = house.view();
    house.admin("agents.remove", json!({ "agent": "default" })).await;
    for name in ["files__look", "files__move"] {
        let reply = house.call_in(&older, name, json!({})).await;
        assert_eq!(denied(&reply), "revoked");
        let recorded = Decided::of(&house.item(reply.call).await);
        assert_eq!(recorded.risk.as_str(), "low");
    }
    assert!(upstream.calls().is_empty());
    house.verify().await;
}
