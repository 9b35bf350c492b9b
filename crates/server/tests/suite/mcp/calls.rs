//! Calls: results untouched, refusals explained, everything recorded.

use domain::{ConnectionOwner, Effect, Permission, Risk};
use serde_json::{Value, json};
use testkit::fixture::Fixture;
use testkit::house::House;
use testkit::scripted::{Reply, Scripted};

use super::peer::{Modern, Peer};

#[tokio::test]
async fn results_and_definitions_pass_byte_for_byte() {
    const RESULT: &str = r#"{ "content":[ {"type":"text","text":"é\u00e9","x-vendor":1e2}],"structuredContent":{"b":1,"a":2.50},"_meta":{"k":null} }"#;
    const TOOL: &str = r#"{"name":"echo", "x-vendor": [1,2], "inputSchema":{"type":"object","properties":{"n":{"type":"integer"}}}}"#;
    let upstream = Scripted::start(|request| match request.rpc_method().as_deref() {
        Some("tools/list") => raw_result(request, &format!(r#"{{"tools":[{TOOL}]}}"#)),
        Some("tools/call") => raw_result(request, RESULT),
        _ => Reply::legacy(request),
    })
    .await
    .unwrap();
    let house = House::start(&[upstream.url()]).await;
    house
        .connect(ConnectionOwner::Agent(house.agent), "own", upstream.url())
        .await;
    let own = Peer::new(&format!("{}/mcp/default/own", house.url), &house.agent_key);
    let all = Peer::new(&format!("{}/mcp", house.url), &house.agent_key);

    let listed = own.call("tools/list", json!({})).await;
    assert_eq!(
        text(&listed.body),
        format!(r#"{{"jsonrpc":"2.0","id":7,"result":{{"tools":[{TOOL}]}}}}"#)
    );
    let prefixed = TOOL.replace("\"echo\"", "\"own__echo\"");
    let listed = all.call("tools/list", json!({})).await;
    assert_eq!(
        text(&listed.body),
        format!(r#"{{"jsonrpc":"2.0","id":7,"result":{{"tools":[{prefixed}]}}}}"#)
    );
    let called = all.tool("own__echo", json!({ "n": 1 })).await;
    assert_eq!(
        text(&called.body),
        format!(r#"{{"jsonrpc":"2.0","id":7,"result":{RESULT}}}"#)
    );
    let stamped = RESULT.strip_prefix('{').unwrap();
    let modern = Modern::new(&format!("{}/mcp", house.url), &house.agent_key);
    let called = modern.tool("own__echo", json!({ "n": 1 })).await;
    assert_eq!(
        text(&called.body),
        format!(r#"{{"jsonrpc":"2.0","id":"q","result":{{"resultType":"complete",{stamped}}}"#)
    );

    // V155: what does not fit is not sent.
    let before = upstream.received_of("tools/call").len();
    let refused = all.tool("own__echo", json!({ "n": "one" })).await.json();
    assert_eq!(refused["result"]["isError"], true, "{refused}");
    assert_eq!(
        refused["result"]["structuredContent"]["code"], "invalid_arguments",
        "{refused}"
    );
    assert_eq!(upstream.received_of("tools/call").len(), before);
}

// V160 V161
#[tokio::test]
async fn failures_are_answers() {
    let upstream = Scripted::start(|request| match request.rpc_method().as_deref() {
        Some("tools/call") => match request.json()["params"]["arguments"]["how"].as_str() {
            Some("500") => Reply::status(500),
            Some("close") => Reply::close(),
            Some("rpc") => Reply::error(request, -32050, "own words"),
            _ => Reply::bytes(200, "{").header("content-type", "application/json"),
        },
        _ => Reply::legacy(request),
    })
    .await
    .unwrap();
    let house = House::start(&[upstream.url()]).await;
    let id = house
        .connect(ConnectionOwner::Agent(house.agent), "own", upstream.url())
        .await;
    house.classify(id, "echo", Risk::Low, Effect::ReadOnly).await;
    let peer = Peer::new(&format!("{}/mcp", house.url), &house.agent_key);
    for how in ["500", "close", "garbage"] {
        let answer = peer.tool("own__echo", json!({ "how": how })).await;
        let result = &answer.json()["result"];
        assert_eq!(result["isError"], true, "{how}: {result}");
        assert!(
            result["content"][0]["text"]
                .as_str()
                .is_some_and(|text| !text.is_empty()),
            "{how}: {result}"
        );
        assert!(result["structuredContent"]["code"].is_string(), "{how}: {result}");
    }
    let error = &peer.tool("own__echo", json!({ "how": "rpc" })).await.json()["error"];
    assert_eq!(*error, json!({ "code": -32050, "message": "own words" }));
}

// V063
#[tokio::test]
async fn every_decision_is_recorded() {
    let fixture = Fixture::start().await.unwrap();
    let house = House::start(&[&fixture.url]).await;
    let id = house
        .connect(ConnectionOwner::Workspace, "shared", &fixture.url)
        .await;
    house
        .grant(house.agent, id, "test_simple_text", Permission::Unattended)
        .await;
    let peer = Peer::new(&format!("{}/mcp", house.url), &house.agent_key);
    for tool in [
        "shared__test_simple_text",
        "shared__test_echo",
        "shared__unheard_of",
    ] {
        peer.tool(tool, json!({})).await;
    }
    let operator = Peer::new(&format!("{}/mcp/-/operator", house.url), &house.admin);
    let listed = operator.tool("activity_list", json!({})).await.json();
    let items = listed["result"]["structuredContent"]["items"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let recorded: Vec<(&str, &str)> = items
        .iter()
        .filter(|item| {
            item["exposed_name"]
                .as_str()
                .is_some_and(|tool| tool.starts_with("shared__"))
        })
        .map(|item| {
            (
                item["exposed_name"].as_str().unwrap(),
                item["decision"].as_str().unwrap_or_default(),
            )
        })
        .collect();
    for want in [
        ("shared__test_simple_text", "allow"),
        ("shared__test_echo", "deny"),
        ("shared__unheard_of", "deny"),
    ] {
        assert!(recorded.contains(&want), "{want:?} is not in {listed}");
    }
}

fn raw_result(request: &testkit::scripted::Received, result: &str) -> Reply {
    let id: &Value = &request.json()["id"];
    Reply::bytes(200, format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#))
        .header("content-type", "application/json")
}

fn text(body: &bytes::Bytes) -> String {
    String::from_utf8(body.to_vec()).unwrap()
}
