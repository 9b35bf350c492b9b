//! Administering through MCP.

use serde_json::{Value, json};
use testkit::house::House;

use super::peer::{Modern, Peer};

#[tokio::test]
async fn capabilities_are_tools() {
    let house = House::start(&[]).await;
    let url = format!("{}/mcp/-/operator", house.url);
    let peer = Peer::begin(&url, &house.admin, json!({})).await;
    let listed = peer.call("tools/list", json!({})).await.json();
    let names: Vec<&str> = listed["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert!(
        names.contains(&"connections_list") && names.iter().any(|name| name.contains("resolve")),
        "{names:?}"
    );
    for tool in listed["result"]["tools"].as_array().unwrap() {
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
    }

    let called = peer.tool("connections_list", json!({})).await.json();
    assert_eq!(
        called["result"]["structuredContent"]["items"],
        json!([]),
        "{called}"
    );
    let text: Value = serde_json::from_str(called["result"]["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(text, called["result"]["structuredContent"]);

    let refused = peer
        .tool("connections_list", json!({ "nonsense": 1 }))
        .await
        .json();
    assert_eq!(refused["result"]["isError"], true, "{refused}");
    assert!(
        refused["result"]["content"][0]["text"]
            .as_str()
            .unwrap()
            .contains("input.invalid"),
        "{refused}"
    );
    for (method, params) in [
        ("prompts/list", json!({})),
        ("resources/list", json!({})),
        ("logging/setLevel", json!({})),
    ] {
        assert_eq!(
            peer.call(method, params).await.json()["error"]["code"],
            -32601,
            "{method}"
        );
    }
    assert_eq!(
        peer.tool("connections.list", json!({})).await.json()["error"]["code"],
        -32602
    );
    let discovered = Modern::new(&url, &house.admin)
        .call("server/discover", json!({}))
        .await
        .json();
    assert_eq!(discovered["result"]["capabilities"], json!({ "tools": {} }));
}
