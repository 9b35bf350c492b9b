//! A legacy upstream that asks in the middle of a call, and a client of the stateless revision.

use std::time::Duration;

use domain::ConnectionOwner;
use http::Method;
use serde_json::{Value, json};
use testkit::house::House;
use testkit::scripted::{Reply, Scripted, Step};
use tokio_util::sync::CancellationToken;

use super::peer::{Modern, Peer, administer};

/// Asks for a name in the middle of each call of `echo`, and answers with what it was told.
async fn asking() -> Scripted {
    asking_then(Step::event).await
}

/// Asks for a name in the middle of each call of `echo`, and goes on like this with the call's answer once it was told.
async fn asking_then(go_on: impl Fn(&Value) -> Step + Send + Sync + 'static) -> Scripted {
    let told = std::sync::Mutex::new(CancellationToken::new());
    Scripted::start(move |request| {
        let message = request.json();
        if message["method"].is_null() && message["result"].is_object() {
            told.lock().unwrap().cancel();
            return Reply::status(202);
        }
        if request.rpc_method().as_deref() != Some("tools/call") {
            return Reply::legacy(request);
        }
        let fresh = CancellationToken::new();
        *told.lock().unwrap() = fresh.clone();
        let form = json!({ "message": "Who?", "requestedSchema": { "type": "object", "properties": {} } });
        let ask = json!({ "jsonrpc": "2.0", "id": 900, "method": "elicitation/create", "params": form });
        let content = json!([{ "type": "text", "text": "told" }]);
        let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": { "content": content } });
        Reply::events([&ask])
            .then(Step::Until(fresh))
            .then(go_on(&answer))
    })
    .await
    .unwrap()
}

async fn first(modern: &Modern) -> Value {
    let answer = modern.tool("echo", json!({ "a": 1 })).await.json();
    assert_eq!(answer["result"]["resultType"], "input_required", "{answer}");
    answer["result"].clone()
}

fn retry(state: &Value, arguments: Value, responses: Value) -> Value {
    json!({ "name": "echo", "arguments": arguments, "requestState": state, "inputResponses": responses })
}

#[tokio::test]
async fn the_call_waits_for_the_clients_next_request() {
    let upstream = asking().await;
    let house = House::start(&[upstream.url()]).await;
    house
        .connect(ConnectionOwner::Agent(house.agent), "own", upstream.url())
        .await;
    let url = format!("{}/mcp/default/own", house.url);
    let modern = Modern::with(&url, &house.agent_key, json!({ "elicitation": {} }));
    let required = first(&modern).await;
    assert_eq!(
        required["inputRequests"]["r1"]["method"], "elicitation/create",
        "{required}"
    );
    assert_eq!(required["inputRequests"]["r1"]["params"]["message"], "Who?");
    let state = &required["requestState"];
    let said = json!({ "r1": { "action": "accept", "content": { "name": "Ada" } } });

    // Bound to who asked, where, and what.
    let other = house.make_agent("other").await;
    let stranger = Modern::with(
        &format!("{}/mcp/default/own", house.url),
        &house.admin,
        json!({ "elicitation": {} }),
    );
    let refused = stranger
        .call("tools/call", retry(state, json!({ "a": 1 }), said.clone()))
        .await
        .json();
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    let refused = modern
        .call("tools/call", retry(state, json!({ "a": 2 }), said.clone()))
        .await
        .json();
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    drop(other);

    // What is missing is asked for again; the old state is spent.
    let again = modern
        .call("tools/call", retry(state, json!({ "a": 1 }), json!({})))
        .await
        .json();
    assert_eq!(again["result"]["resultType"], "input_required", "{again}");
    let spent = modern
        .call("tools/call", retry(state, json!({ "a": 1 }), said.clone()))
        .await
        .json();
    assert_eq!(spent["error"]["code"], -32602, "{spent}");
    let state = &again["result"]["requestState"];
    let done = modern
        .call("tools/call", retry(state, json!({ "a": 1 }), said.clone()))
        .await
        .json();
    assert_eq!(done["result"]["content"][0]["text"], "told", "{done}");
    assert_eq!(done["result"]["resultType"], "complete");
    let calls = upstream.received_of("tools/call");
    assert_eq!(calls.len(), 1, "the call was made once");
    let told: Vec<Value> = upstream
        .received()
        .iter()
        .map(|r| r.json())
        .filter(|m| m["id"] == 900)
        .collect();
    assert_eq!(told.len(), 1);
    assert_eq!(told[0]["result"]["content"]["name"], "Ada", "{told:?}");
}

#[tokio::test]
async fn a_client_that_cannot_be_asked_is_not() {
    let upstream = asking().await;
    let house = House::start(&[upstream.url()]).await;
    house
        .connect(ConnectionOwner::Agent(house.agent), "own", upstream.url())
        .await;
    let modern = Modern::new(&format!("{}/mcp/default/own", house.url), &house.agent_key);
    let call = modern.tool("echo", json!({}));
    let refused = async {
        loop {
            let told = upstream.received().into_iter().find(|r| r.json()["id"] == 900);
            match told {
                Some(told) => return told.json(),
                None => upstream.wait_for_received(upstream.received().len() + 1).await,
            };
        }
    };
    let told = tokio::select! {
        answer = call => panic!("answered before the upstream heard of the refusal: {answer:?}"),
        told = refused => told,
    };
    assert_eq!(told["error"]["code"], -32601, "{told}");
}

#[tokio::test]
async fn urls_of_an_older_revision_become_input_that_is_required() {
    let visited = std::sync::atomic::AtomicBool::new(false);
    let upstream = Scripted::start(move |request| {
        if request.rpc_method().as_deref() != Some("tools/call") {
            return Reply::legacy(request);
        }
        if visited.swap(true, std::sync::atomic::Ordering::SeqCst) {
            return Reply::result(request, json!({ "content": [] }));
        }
        let page = json!({ "mode": "url", "elicitationId": "e1", "url": "https://example.com/in", "message": "Sign in" });
        let error = json!({ "code": -32042, "message": "sign in first", "data": { "elicitations": [page] } });
        Reply::json(200, &json!({ "jsonrpc": "2.0", "id": request.json()["id"], "error": error }))
    })
    .await
    .unwrap();
    let house = House::start(&[upstream.url()]).await;
    house
        .connect(ConnectionOwner::Agent(house.agent), "own", upstream.url())
        .await;
    let url = format!("{}/mcp/default/own", house.url);
    let modern = Modern::with(&url, &house.agent_key, json!({ "elicitation": { "url": {} } }));
    let required = modern.tool("echo", json!({})).await.json()["result"].clone();
    let page = &required["inputRequests"]["url0"];
    assert_eq!(page["params"]["url"], "https://example.com/in", "{required}");
    let said = json!({ "url0": { "action": "accept" } });
    let done = modern
        .call("tools/call", retry(&required["requestState"], json!({}), said))
        .await
        .json();
    assert_eq!(done["result"]["resultType"], "complete", "{done}");
    // The upstream, which knows nothing of it, is told nothing of it.
    let calls = upstream.received_of("tools/call");
    assert_eq!(calls.len(), 2);
    assert_eq!(calls[1].json()["params"]["requestState"], Value::Null);
    assert_eq!(calls[1].json()["params"]["inputResponses"], Value::Null);
}

/// A limit for calls that is over before anybody could have answered.
const LIMIT: Duration = Duration::from_millis(300);

/// A house with such a server as the agent's own, whose calls are limited.
async fn limited(upstream: &Scripted) -> (House, String) {
    let house = House::start(&[upstream.url()]).await;
    house
        .connect(ConnectionOwner::Agent(house.agent), "own", upstream.url())
        .await;
    let limit = json!({ "expected_version": 1, "call_timeout_ms": 300 });
    administer(&house, Method::PATCH, "/connections/own", limit).await;
    let url = format!("{}/mcp/default/own", house.url);
    (house, url)
}

#[tokio::test]
async fn a_calls_clock_stands_while_its_client_is_asked() {
    let upstream = asking().await;
    let (house, url) = limited(&upstream).await;
    let modern = Modern::with(&url, &house.agent_key, json!({ "elicitation": {} }));
    let required = first(&modern).await;
    tokio::time::sleep(LIMIT * 3).await;
    let said = json!({ "r1": { "action": "accept", "content": {} } });
    let done = modern
        .call(
            "tools/call",
            retry(&required["requestState"], json!({ "a": 1 }), said),
        )
        .await
        .json();
    assert_eq!(done["result"]["content"][0]["text"], "told", "{done}");

    let peer = Peer::begin(&url, &house.agent_key, json!({ "elicitation": {} })).await;
    let mut events = peer
        .streamed("tools/call", json!({ "name": "echo", "arguments": {} }))
        .await;
    let asked = events.next().await.unwrap();
    assert_eq!(asked["method"], "elicitation/create", "{asked}");
    tokio::time::sleep(LIMIT * 3).await;
    let declined = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "action": "decline" } });
    peer.post(&declined).await;
    let done = events.next().await.unwrap();
    assert_eq!(done["result"]["content"][0]["text"], "told", "{done}");
}

#[tokio::test]
async fn a_calls_clock_goes_on_once_its_client_has_answered() {
    let upstream = asking_then(|_| Step::Hang).await;
    let (house, url) = limited(&upstream).await;
    let modern = Modern::with(&url, &house.agent_key, json!({ "elicitation": {} }));
    let required = first(&modern).await;
    let said = json!({ "r1": { "action": "accept", "content": {} } });
    let done = modern
        .call(
            "tools/call",
            retry(&required["requestState"], json!({ "a": 1 }), said),
        )
        .await
        .json();
    assert_eq!(done["result"]["isError"], true, "{done}");
    // It may have changed something, and was sent.
    assert_eq!(done["result"]["structuredContent"]["code"], "unknown", "{done}");
}

#[tokio::test]
async fn calls_that_wait_for_their_clients_are_in_nobodys_way() {
    let upstream = Scripted::start(|request| {
        if request.rpc_method().as_deref() != Some("tools/call") {
            return Reply::legacy(request);
        }
        let id = request.json()["params"]["arguments"]["ask"].clone();
        if id.is_null() {
            return Reply::result(request, json!({ "content": [] }));
        }
        let form = json!({ "message": "Who?", "requestedSchema": { "type": "object", "properties": {} } });
        let ask = json!({ "jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": form });
        Reply::events([&ask]).then(Step::Hang)
    })
    .await
    .unwrap();
    let (house, url) = limited(&upstream).await;
    // As many as may be in flight at a connection, and as many as one key may have waiting.
    for (key, first) in [(&house.agent_key, 0), (&house.admin, 32)] {
        let modern = Modern::with(&url, key, json!({ "elicitation": {} }));
        for n in first..first + 32 {
            let asked = modern.tool("echo", json!({ "ask": n })).await.json();
            assert_eq!(asked["result"]["resultType"], "input_required", "{n}: {asked}");
        }
    }
    let modern = Modern::new(&url, &house.agent_key);
    let done = modern.tool("echo", json!({})).await.json();
    assert_eq!(done["result"]["resultType"], "complete", "{done}");
    assert_ne!(done["result"]["isError"], true, "{done}");
}
