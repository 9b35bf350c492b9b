//! Hearing of changes: the standing stream of a session, and `subscriptions/listen`.

use domain::{ConnectionOwner, Permission};
use http::{Method, StatusCode};
use serde_json::json;
use testkit::fixture::Fixture;
use testkit::house::House;

use super::peer::{Modern, Peer};

#[tokio::test]
async fn a_session_hears_when_its_view_changes_and_only_then() {
    let fixture = Fixture::start().await.unwrap();
    let house = House::start(&[&fixture.url]).await;
    let id = house
        .connect(ConnectionOwner::Workspace, "shared", &fixture.url)
        .await;
    let other = house.make_agent("other").await;
    let peer = Peer::begin(&format!("{}/mcp", house.url), &house.agent_key, json!({})).await;
    // What changed while no stream was open is told when one is.
    peer.call("tools/list", json!({})).await;
    house
        .grant(house.agent, id, "test_simple_text", Permission::Unattended)
        .await;
    let mut standing = peer
        .stream(Method::GET, String::new(), &[("accept", "text/event-stream")])
        .await;
    assert_eq!(standing.status, StatusCode::OK);
    let changed = json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" });
    assert_eq!(standing.next().await, Some(changed.clone()));

    // Somebody else's grant is not news here; the next one is. A newer stream ends the older one.
    house
        .grant(other.agent, id, "test_echo", Permission::Unattended)
        .await;
    house
        .grant(house.agent, id, "test_image_content", Permission::Unattended)
        .await;
    assert_eq!(standing.next().await, Some(changed));
    let mut newer = peer.stream(Method::GET, String::new(), &[]).await;
    assert_eq!(standing.next().await, None);

    let ended = peer.send(Method::DELETE, String::new(), &[]).await;
    assert_eq!(ended.status, StatusCode::NO_CONTENT);
    assert_eq!(newer.next().await, None);
}

#[tokio::test]
async fn a_session_hears_of_resources_it_subscribed_to() {
    let fixture = Fixture::start().await.unwrap();
    let house = House::start(&[&fixture.url]).await;
    house
        .connect(ConnectionOwner::Agent(house.agent), "own", &fixture.url)
        .await;
    let peer = Peer::begin(
        &format!("{}/mcp/default/own", house.url),
        &house.agent_key,
        json!({}),
    )
    .await;
    let mut standing = peer.stream(Method::GET, String::new(), &[]).await;
    let uri = json!({ "uri": "test://watched-resource" });
    let subscribed = peer.call("resources/subscribe", uri.clone()).await.json();
    assert!(subscribed["result"].is_object(), "{subscribed}");
    peer.tool("test_trigger_resource_change", json!({})).await;
    let heard = standing.next().await.unwrap();
    assert_eq!(heard["method"], "notifications/resources/updated", "{heard}");
    assert_eq!(heard["params"], uri);
    let unsubscribed = peer.call("resources/unsubscribe", uri).await.json();
    assert!(unsubscribed["result"].is_object(), "{unsubscribed}");
}

#[tokio::test]
async fn a_listener_hears_what_it_asked_for_tagged() {
    let fixture = Fixture::start().await.unwrap();
    let house = House::start(&[&fixture.url]).await;
    house
        .connect(ConnectionOwner::Agent(house.agent), "own", &fixture.url)
        .await;
    let shared = house
        .connect(ConnectionOwner::Workspace, "shared", &fixture.url)
        .await;
    let modern = Modern::new(&format!("{}/mcp", house.url), &house.agent_key);
    let uris = json!(["test://watched-resource"]);
    let filter = json!({ "notifications": { "toolsListChanged": true, "resourceSubscriptions": uris } });
    let mut tools = modern.stream("subscriptions/listen", filter).await;
    let mut prompts = modern
        .stream(
            "subscriptions/listen",
            json!({ "notifications": { "promptsListChanged": true } }),
        )
        .await;
    let acknowledged = tools.next().await.unwrap();
    assert_eq!(
        acknowledged["method"], "notifications/subscriptions/acknowledged",
        "{acknowledged}"
    );
    assert_eq!(
        acknowledged["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"],
        "q"
    );
    assert_eq!(
        acknowledged["params"]["notifications"],
        json!({ "toolsListChanged": true, "resourceSubscriptions": ["test://watched-resource"] })
    );
    assert_eq!(
        prompts.next().await.unwrap()["params"]["notifications"],
        json!({ "promptsListChanged": true })
    );

    house
        .grant(house.agent, shared, "test_echo", Permission::Unattended)
        .await;
    let heard = tools.next().await.unwrap();
    assert_eq!(heard["method"], "notifications/tools/list_changed", "{heard}");
    assert_eq!(
        heard["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], "q",
        "{heard}"
    );
    modern.tool("own__test_trigger_resource_change", json!({})).await;
    let heard = tools.next().await.unwrap();
    assert_eq!(heard["method"], "notifications/resources/updated", "{heard}");
    assert_eq!(heard["params"]["uri"], "test://watched-resource");

    // The other stream heard none of it: what comes next there is of prompts.
    house.grant_context(house.agent, shared).await;
    assert_eq!(
        prompts.next().await.unwrap()["method"],
        "notifications/prompts/list_changed"
    );
    let bad = modern.call("subscriptions/listen", json!({})).await.json();
    assert_eq!(bad["error"]["code"], -32602, "{bad}");
}
