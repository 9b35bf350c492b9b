//! Calls a person must approve first, as each kind of client hears of it.

use domain::{ConnectionId, ConnectionOwner, Permission};
use http::Method;
use serde_json::{Value, json};
use testkit::fixture::Fixture;
use testkit::house::House;

use super::peer::{Modern, Peer};

const TOOL: &str = "shared__test_echo";

async fn asking() -> (Fixture, House) {
    let fixture = Fixture::start().await.unwrap();
    let house = House::start(&[&fixture.url]).await;
    let id: ConnectionId = house
        .connect(ConnectionOwner::Workspace, "shared", &fixture.url)
        .await;
    house.grant(house.agent, id, "test_echo", Permission::Ask).await;
    (fixture, house)
}

async fn resolve(house: &House, approval: &str) {
    let operator = Peer::new(&format!("{}/mcp/-/operator", house.url), &house.admin);
    let arguments = json!({ "approval": approval, "decision": "approved" });
    let answer = operator.tool("resolve_approval", arguments).await.json();
    assert_ne!(answer["result"]["isError"], true, "{answer}");
}

#[tokio::test]
async fn a_plain_client_is_told_and_repeats_the_call() {
    let (_fixture, house) = asking().await;
    let peer = Peer::begin(&format!("{}/mcp", house.url), &house.agent_key, json!({})).await;
    let told = peer.tool(TOOL, json!({ "text": "hi" })).await.json();
    assert_eq!(told["result"]["isError"], true, "{told}");
    let details = &told["result"]["structuredContent"];
    assert_eq!(details["code"], "approval_required", "{told}");
    assert!(details["url"].as_str().unwrap().starts_with(&house.url), "{told}");
    let again = peer.tool(TOOL, json!({ "text": "hi" })).await.json();
    assert_eq!(
        again["result"]["structuredContent"]["approval_id"], details["approval_id"],
        "asked once"
    );

    resolve(&house, details["approval_id"].as_str().unwrap()).await;
    let other = peer.tool(TOOL, json!({ "text": "other" })).await.json();
    assert_eq!(
        other["result"]["structuredContent"]["code"], "approval_required",
        "only exactly this call: {other}"
    );
    let done = peer.tool(TOOL, json!({ "text": "hi" })).await.json();
    assert_ne!(done["result"]["isError"], true, "{done}");
    let spent = peer.tool(TOOL, json!({ "text": "hi" })).await.json();
    assert_eq!(
        spent["result"]["structuredContent"]["code"], "approval_required",
        "once: {spent}"
    );
}

#[tokio::test]
async fn a_client_that_shows_urls_is_sent_to_the_page_and_told_when_it_is_answered() {
    let (_fixture, house) = asking().await;
    let capabilities = json!({ "elicitation": { "form": {}, "url": {} } });
    let peer = Peer::begin(&format!("{}/mcp", house.url), &house.agent_key, capabilities).await;
    let mut standing = peer.stream(Method::GET, String::new(), &[]).await;
    let told = peer.tool(TOOL, json!({ "text": "hi" })).await.json();
    assert_eq!(told["error"]["code"], -32042, "{told}");
    let elicitation = &told["error"]["data"]["elicitations"][0];
    assert_eq!(elicitation["mode"], "url", "{told}");
    let id = elicitation["elicitationId"].as_str().unwrap();
    assert!(elicitation["url"].as_str().unwrap().ends_with(id), "{told}");
    resolve(&house, id).await;
    let complete = loop {
        let message = standing.next().await.unwrap();
        if message["method"] == "notifications/elicitation/complete" {
            break message;
        }
    };
    assert_eq!(complete["params"]["elicitationId"], id);
    let done = peer.tool(TOOL, json!({ "text": "hi" })).await.json();
    assert_ne!(done["result"]["isError"], true, "{done}");
}

#[tokio::test]
async fn a_modern_client_waits_in_its_next_request() {
    let (_fixture, house) = asking().await;
    let modern = Modern::with(
        &format!("{}/mcp", house.url),
        &house.agent_key,
        json!({ "elicitation": { "url": {} } }),
    );
    let told = modern.tool(TOOL, json!({ "text": "hi" })).await.json();
    assert_eq!(told["result"]["resultType"], "input_required", "{told}");
    let page = &told["result"]["inputRequests"]["approval"]["params"];
    assert_eq!(page["mode"], "url", "{told}");
    let id: String = page["url"]
        .as_str()
        .unwrap()
        .rsplit('/')
        .next()
        .unwrap()
        .to_owned();
    let retry = |action: &str| -> Value {
        json!({
            "name": TOOL, "arguments": { "text": "hi" }, "requestState": told["result"]["requestState"],
            "inputResponses": { "approval": { "action": action } },
        })
    };
    // One that declined is asked again at once, because nobody approved.
    let declined = modern.call("tools/call", retry("decline")).await.json();
    assert_eq!(declined["result"]["resultType"], "input_required", "{declined}");
    let mut waiting = modern.stream("tools/call", retry("accept")).await;
    assert_eq!(waiting.headers["content-type"], "text/event-stream");
    resolve(&house, &id).await;
    let done = waiting.next().await.unwrap();
    assert_eq!(done["result"]["resultType"], "complete", "{done}");
    assert_ne!(done["result"]["isError"], true, "{done}");
}

#[tokio::test]
async fn a_modern_client_without_urls_is_told() {
    let (_fixture, house) = asking().await;
    let modern = Modern::with(
        &format!("{}/mcp", house.url),
        &house.agent_key,
        json!({ "elicitation": {} }),
    );
    let told = modern.tool(TOOL, json!({})).await.json();
    assert_eq!(
        told["result"]["structuredContent"]["code"], "approval_required",
        "{told}"
    );
}
