//! What is said before an answer: progress, log messages, an upstream's own requests; cancelling, and resuming.

use domain::{ConnectionOwner, Permission};
use http::{Method, StatusCode};
use serde_json::{Value, json};
use testkit::fixture::Fixture;
use testkit::house::House;

use super::peer::{Modern, Peer};

async fn furnished() -> (Fixture, House, String) {
    let fixture = Fixture::start().await.unwrap();
    let house = House::start(&[&fixture.url]).await;
    house
        .connect(ConnectionOwner::Agent(house.agent), "own", &fixture.url)
        .await;
    let url = format!("{}/mcp/default/own", house.url);
    (fixture, house, url)
}

fn methods(messages: &[Value]) -> Vec<&str> {
    messages
        .iter()
        .map(|message| message["method"].as_str().unwrap_or("answer"))
        .collect()
}

#[tokio::test]
async fn progress_comes_under_the_clients_token() {
    let (_fixture, house, url) = furnished().await;
    let params = || json!({ "name": "test_tool_with_progress", "arguments": {}, "_meta": { "progressToken": "mine" } });
    let peer = Peer::begin(&url, &house.agent_key, json!({})).await;
    let modern = Modern::new(&url, &house.agent_key);
    for answer in [
        peer.call("tools/call", params()).await,
        modern.call("tools/call", params()).await,
    ] {
        let messages = answer.messages();
        let progress: Vec<&Value> = messages
            .iter()
            .filter(|m| m["method"] == "notifications/progress")
            .collect();
        assert_eq!(progress.len(), 3, "{messages:?}");
        assert!(
            progress.iter().all(|m| m["params"]["progressToken"] == "mine"),
            "{messages:?}"
        );
        assert!(
            messages.last().unwrap()["result"]["content"].is_array(),
            "{messages:?}"
        );
        assert_eq!(answer.headers["x-accel-buffering"], "no");
    }
    // Nobody asked for progress: one JSON document.
    let plain = peer.tool("test_tool_with_progress", json!({})).await;
    assert_eq!(plain.headers["content-type"], "application/json");
}

#[tokio::test]
async fn log_messages_come_at_the_level_asked_for() {
    let (_fixture, house, url) = furnished().await;
    let peer = Peer::begin(&url, &house.agent_key, json!({})).await;
    let logged = async |level: &str| {
        peer.call("logging/setLevel", json!({ "level": level })).await;
        let answer = peer.tool("test_tool_with_logging", json!({})).await;
        answer
            .messages()
            .iter()
            .filter(|m| m["method"] == "notifications/message")
            .count()
    };
    assert_eq!(logged("error").await, 0);
    assert_eq!(logged("info").await, 3);

    let modern = Modern::new(&url, &house.agent_key);
    for (meta, count) in [
        (json!({}), 0),
        (json!({ "io.modelcontextprotocol/logLevel": "debug" }), 3),
    ] {
        let params = json!({ "name": "test_tool_with_logging", "arguments": {}, "_meta": meta });
        let messages = modern.call("tools/call", params).await.messages();
        assert_eq!(
            messages
                .iter()
                .filter(|m| m["method"] == "notifications/message")
                .count(),
            count,
            "{messages:?}"
        );
    }
}

#[tokio::test]
async fn a_modern_upstreams_questions_reach_a_client_with_a_session() {
    let (_fixture, house, url) = furnished().await;
    let capabilities = json!({ "elicitation": {}, "sampling": {}, "roots": {} });
    let peer = Peer::begin(&url, &house.agent_key, capabilities).await;
    let params = json!({ "name": "test_elicitation", "arguments": { "message": "Who?" } });
    let mut events = peer.streamed("tools/call", params).await;
    assert_eq!(events.headers["content-type"], "text/event-stream");
    let asked = events.next().await.unwrap();
    assert_eq!(asked["method"], "elicitation/create", "{asked}");
    let accepted = json!({
        "jsonrpc": "2.0", "id": asked["id"], "result": { "action": "accept", "content": { "name": "Ada" } },
    });
    assert_eq!(peer.post(&accepted).await.status, StatusCode::ACCEPTED);
    let rest = events.rest().await;
    assert_eq!(methods(&rest), ["answer"], "{rest:?}");
    assert!(
        rest[0]["result"]["content"][0]["text"]
            .as_str()
            .unwrap()
            .contains("Ada"),
        "{rest:?}"
    );
}

#[tokio::test]
async fn a_client_is_asked_only_what_it_can_do() {
    let (_fixture, house, url) = furnished().await;
    let peer = Peer::begin(&url, &house.agent_key, json!({})).await;
    let answer = peer
        .tool("test_elicitation", json!({ "message": "Who?" }))
        .await
        .json();
    assert!(
        answer["error"].is_object() || answer["result"]["isError"] == true,
        "{answer}"
    );
    let modern = Modern::new(&url, &house.agent_key);
    let answer = modern.tool("test_missing_capability", json!({})).await;
    assert_eq!(
        (answer.status.as_u16(), answer.json()["error"]["code"].as_i64()),
        (400, Some(-32021)),
        "{answer:?}"
    );
}

#[tokio::test]
async fn input_required_passes_both_ways() {
    let (_fixture, house, url) = furnished().await;
    let modern = Modern::with(&url, &house.agent_key, json!({ "elicitation": {} }));
    let name = "test_input_required_result_request_state";
    let first = modern.tool(name, json!({})).await.json();
    assert_eq!(first["result"]["resultType"], "input_required", "{first}");
    assert_eq!(first["result"]["ttlMs"], Value::Null, "{first}");
    let (key, _) = first["result"]["inputRequests"]
        .as_object()
        .unwrap()
        .iter()
        .next()
        .unwrap();
    let retry = json!({
        "name": name, "arguments": {}, "requestState": first["result"]["requestState"],
        "inputResponses": { key: { "action": "accept", "content": { "ok": true, "name": "Ada", "confirmed": true } } },
    });
    let second = modern.call("tools/call", retry).await.json();
    assert_eq!(second["result"]["resultType"], "complete", "{second}");
}

#[tokio::test]
async fn cancelling_ends_the_call_upstream() {
    let (fixture, house, url) = furnished().await;
    let id = house
        .gateway
        .workspace(house.tenant)
        .unwrap()
        .find_connection("own")
        .unwrap()
        .id;
    house
        .classify(
            id,
            "test_wait_for_cancel",
            domain::Risk::Low,
            domain::Effect::ReadOnly,
        )
        .await;
    let peer = Peer::begin(&url, &house.agent_key, json!({})).await;
    let waiting = peer.tool("test_wait_for_cancel", json!({}));
    let cancelling = async {
        fixture.wait_for_waiting_calls(1).await;
        let cancel =
            json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 7 } });
        peer.post(&cancel).await;
    };
    let (answer, ()) = tokio::join!(waiting, cancelling);
    assert_eq!((answer.status, answer.body.len()), (StatusCode::ACCEPTED, 0));
    fixture.wait_for_cancelled_calls(1).await;

    // A client that leaves cancels as well.
    let left = tokio::spawn({
        let (url, key) = (url.clone(), house.agent_key.clone());
        async move {
            Modern::new(&url, &key)
                .tool("test_wait_for_cancel", json!({}))
                .await
                .status
        }
    });
    fixture.wait_for_waiting_calls(2).await;
    left.abort();
    fixture.wait_for_cancelled_calls(2).await;
}

#[tokio::test]
async fn an_id_in_use_twice_cancels_the_earlier_request() {
    let (fixture, house, url) = furnished().await;
    let peer = Peer::begin(&url, &house.agent_key, json!({})).await;
    let waiting = peer.tool("test_wait_for_cancel", json!({}));
    let cancelling = async {
        fixture.wait_for_waiting_calls(1).await;
        // All requests of this client have the same id.
        peer.tool("test_simple_text", json!({})).await;
        let cancel =
            json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 7 } });
        peer.post(&cancel).await;
    };
    let (answer, ()) = tokio::join!(waiting, cancelling);
    assert_eq!(answer.status, StatusCode::ACCEPTED);
}

#[tokio::test]
async fn a_stream_that_cannot_be_resumed_is_not_taken_for_the_standing_one() {
    let (_fixture, house, url) = furnished().await;
    let peer = Peer::begin(&url, &house.agent_key, json!({})).await;
    let mut standing = peer.stream(Method::GET, String::new(), &[]).await;
    for last in ["999-1", "somebody else's", "-"] {
        let answer = peer
            .send(Method::GET, String::new(), &[("last-event-id", last)])
            .await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{last}");
        assert_eq!(answer.json()["code"], "mcp.stream_gone", "{last}");
    }
    let own = house
        .gateway
        .workspace(house.tenant)
        .unwrap()
        .find_connection("own")
        .unwrap()
        .id;
    house.grant(house.agent, own, "test_echo", Permission::Deny).await;
    let heard = standing.next().await.unwrap();
    assert_eq!(heard["method"], "notifications/tools/list_changed", "{heard}");
}

#[tokio::test]
async fn a_broken_stream_is_resumed() {
    let (_fixture, house, url) = furnished().await;
    let peer = Peer::begin(&url, &house.agent_key, json!({ "elicitation": {} })).await;
    let params = json!({ "name": "test_elicitation", "arguments": { "message": "Who?" } });
    let mut events = peer.streamed("tools/call", params).await;
    let asked = events.next().await.unwrap();
    let last = events.last_id.clone().unwrap();
    drop(events);
    let accepted =
        json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "action": "accept", "content": {} } });
    peer.post(&accepted).await;
    let resumed = peer
        .stream(Method::GET, String::new(), &[("last-event-id", &last)])
        .await
        .rest()
        .await;
    assert_eq!(methods(&resumed), ["answer"], "{resumed:?}");
    assert_eq!(resumed[0]["id"], 7);
}
