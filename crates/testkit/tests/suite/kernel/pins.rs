//! Definitions are pinned: a changed one is not used until a person saw the difference and accepted it.

use domain::Status;
use serde_json::{Value, json};

use super::both;
use super::house::{Bench, House, code, denied};
use super::upstream::{Upstream, tool};

both!(a_changed_definition_waits_for_a_person, new_tools_land_on_nobody);

fn search(limit: u32, required: &[&str]) -> Value {
    let properties = json!({ "query": { "type": "string" }, "limit": { "type": "integer", "maximum": limit } });
    json!({ "name": "search", "description": "finds", "inputSchema": { "type": "object", "properties": properties, "required": required } })
}

async fn a_changed_definition_waits_for_a_person(bench: Bench) {
    let upstream = Upstream::echoing(vec![search(10, &[]), tool("other")]).await;
    let house = House::with(bench, &[&upstream]).await;
    house.connect("web", &upstream).await;
    house.changing("web/search").await;
    house.changing("web/other").await;
    let older = house.view();
    assert_eq!(house.call("web__search", json!({ "limit": 10 })).await.outcome.status, Status::Succeeded);

    upstream.now_lists(vec![search(100, &["query"]), tool("other")]);
    let report = house.admin("connections.refresh", json!({ "connection": "web" })).await;
    assert_eq!(report["changes"]["changed"], 1);
    assert_eq!(house.names(), ["web__other"]);
    assert_eq!(denied(&house.call("web__search", json!({})).await), "quarantined");
    assert_eq!(denied(&house.call_in(&older, "web__search", json!({})).await), "quarantined");
    assert_eq!(house.call("web__other", json!({})).await.outcome.status, Status::Succeeded);

    let changes = house.admin("connections.changes", json!({ "connection": "web" })).await;
    let change = &changes["items"][0];
    assert_eq!((changes["items"].as_array().unwrap().len(), &change["tool"]), (1, &json!("search")));
    let paths: Vec<&str> =
        change["differences"].as_array().unwrap().iter().map(|d| d["path"].as_str().unwrap()).collect();
    assert!(paths.iter().any(|path| path.ends_with("/limit/maximum")), "{paths:?}");
    assert!(paths.iter().any(|path| path.contains("/required")), "{paths:?}");
    // Exactly what was looked at is accepted.
    let accept = |digest: &Value| json!({ "connection": "web", "tool": "search", "digest": digest });
    let pinned = house.ask("connections.accept", accept(&change["pinned_digest"])).await.unwrap_err();
    assert_eq!(pinned.kind, gateway::FailureKind::Conflict, "{pinned}");
    assert_eq!(denied(&house.call("web__search", json!({})).await), "quarantined");
    house.admin("connections.accept", accept(&change["offered_digest"])).await;

    // The new schema holds from now on; a view from before does not use it.
    assert_eq!(code(&house.call("web__search", json!({ "limit": 50 })).await), "invalid_arguments");
    let through = house.call("web__search", json!({ "limit": 50, "query": "x" })).await;
    assert_eq!(through.outcome.status, Status::Succeeded);
    let sent = upstream.calls().len();
    assert_eq!(denied(&house.call_in(&older, "web__search", json!({ "limit": 5 })).await), "quarantined");
    assert_eq!(upstream.calls().len(), sent);
    // A person's word about the tool stays.
    let listed = house.admin("tools.list", json!({ "connection": "web" })).await;
    let found = listed["items"].as_array().unwrap().iter().find(|t| t["tool"] == "search").unwrap().clone();
    assert_eq!((&found["risk"], &found["classified"]), (&json!("low"), &json!(true)));
    house.verify().await;
}

// O042, I025
async fn new_tools_land_on_nobody(bench: Bench) {
    let upstream = Upstream::echoing(vec![tool("first")]).await;
    let house = House::with(bench, &[&upstream]).await;
    house.connect("web", &upstream).await;
    house.changing("web/first").await;
    upstream.now_lists(vec![tool("first"), tool("second")]);
    let report = house.admin("connections.refresh", json!({ "connection": "web" })).await;
    assert_eq!(report["changes"]["added"], 1);
    assert_eq!(house.names(), ["web__first"]);
    assert_eq!(denied(&house.call("web__second", json!({})).await), "no_grant");
    house.verify().await;
}
