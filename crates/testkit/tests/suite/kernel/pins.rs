//! Definitions are pinned: a changed one is not used until a person saw the difference and accepted it.

use std::sync::Arc;

use domain::Status;
use gateway::{FailureKind, View};
use serde_json::{Value, json};

use super::both;
use super::house::{Bench, House, code, denied};
use super::upstream::{Upstream, tool};

both!(
    a_changed_definition_waits_for_a_person,
    what_was_looked_at_is_what_is_accepted,
    new_tools_land_on_nobody,
);

fn search(limit: u32, required: &[&str]) -> Value {
    let properties =
        json!({ "query": { "type": "string" }, "limit": { "type": "integer", "maximum": limit } });
    json!({ "name": "search", "description": "finds", "inputSchema": { "type": "object", "properties": properties, "required": required } })
}

/// A house whose upstream changed a tool that was in use, and a view from before.
async fn changed(bench: Bench) -> (House, Upstream, Arc<View>) {
    let upstream = Upstream::echoing(vec![search(10, &[]), tool("other")]).await;
    let house = House::with(bench, &[&upstream]).await;
    house.connect("web", &upstream).await;
    house.changing("web/search").await;
    house.changing("web/other").await;
    let older = house.view();
    let reply = house.call("web__search", json!({ "limit": 10 })).await;
    assert_eq!(reply.outcome.status, Status::Succeeded);
    upstream.now_lists(vec![search(100, &["query"]), tool("other")]);
    let report = house.refresh("web").await;
    assert_eq!(report["changes"]["changed"], 1);
    (house, upstream, older)
}

async fn a_changed_definition_waits_for_a_person(bench: Bench) {
    let (house, upstream, older) = changed(bench).await;
    assert_eq!(house.names(), ["web__other"]);
    let sent = upstream.calls().len();
    for view in [&older, &house.view()] {
        let reply = house.call_in(view, "web__search", json!({})).await;
        assert_eq!(denied(&reply), "quarantined");
    }
    assert_eq!(upstream.calls().len(), sent);
    let other = house.call("web__other", json!({})).await;
    assert_eq!(other.outcome.status, Status::Succeeded);

    let changes = house
        .admin("connections.changes", json!({ "connection": "web" }))
        .await;
    let [change] = changes["items"].as_array().unwrap().as_slice() else {
        panic!("{changes:#}")
    };
    assert_eq!(change["tool"], "search");
    let differences = change["differences"].as_array().unwrap();
    let differs = |part: &str| {
        differences
            .iter()
            .any(|d| d["path"].as_str().unwrap().contains(part))
    };
    assert!(
        differs("/limit/maximum") && differs("/required") && !differs("/description"),
        "{change:#}"
    );
    house.verify().await;
}

async fn what_was_looked_at_is_what_is_accepted(bench: Bench) {
    let (house, upstream, older) = changed(bench).await;
    let changes = house
        .admin("connections.changes", json!({ "connection": "web" }))
        .await;
    let change = &changes["items"][0];
    let accept = |digest: &Value| json!({ "connection": "web", "tool": "search", "digest": digest });
    let refused = house
        .ask("connections.accept", accept(&change["pinned_digest"]))
        .await
        .unwrap_err();
    assert_eq!(refused.kind, FailureKind::Conflict, "{refused}");
    assert_eq!(denied(&house.call("web__search", json!({})).await), "quarantined");
    house
        .admin("connections.accept", accept(&change["offered_digest"]))
        .await;

    // The new schema holds from now on; a view from before does not use it.
    let reply = house.call("web__search", json!({ "limit": 50 })).await;
    assert_eq!(code(&reply), "invalid_arguments");
    let reply = house
        .call("web__search", json!({ "limit": 50, "query": "x" }))
        .await;
    assert_eq!(reply.outcome.status, Status::Succeeded);
    let sent = upstream.calls().len();
    let reply = house.call_in(&older, "web__search", json!({ "limit": 5 })).await;
    assert_eq!((denied(&reply), upstream.calls().len()), ("quarantined", sent));
    // A person's word about the tool stays.
    let listed = house.admin("tools.list", json!({ "connection": "web" })).await;
    let tools = listed["items"].as_array().unwrap();
    let found = tools.iter().find(|tool| tool["tool"] == "search").unwrap();
    assert_eq!(
        (&found["risk"], &found["classified"]),
        (&json!("low"), &json!(true))
    );
    house.verify().await;
}

// O042, I025
async fn new_tools_land_on_nobody(bench: Bench) {
    let upstream = Upstream::echoing(vec![tool("first")]).await;
    let house = House::with(bench, &[&upstream]).await;
    house.connect("web", &upstream).await;
    house.changing("web/first").await;
    upstream.now_lists(vec![tool("first"), tool("second")]);
    let report = house
        .admin("connections.refresh", json!({ "connection": "web" }))
        .await;
    assert_eq!(report["changes"]["added"], 1);
    assert_eq!(house.names(), ["web__first"]);
    assert_eq!(denied(&house.call("web__second", json!({})).await), "no_grant");
    house.verify().await;
}
