//! Tools whose output is no object, which only the newest revision allows: published clients of both eras list and call them.

use domain::ConnectionOwner;
use serde_json::{Value, json};
use testkit::house::House;
use testkit::scripted::{Reply, Scripted};
use testkit::tools::Tools;

use super::driver::{Driver, Era, Profile, Sdk, Target};

/// A server with a tool that answers with a list.
async fn listing() -> Scripted {
    Scripted::start(|request| match request.rpc_method().as_deref() {
        Some("tools/list") => {
            let items = json!({ "type": "array", "items": { "type": "string" } });
            let tool =
                json!({ "name": "colours", "inputSchema": { "type": "object" }, "outputSchema": items });
            Reply::result(request, json!({ "tools": [tool] }))
        }
        Some("tools/call") => {
            let said = json!({ "content": [], "structuredContent": ["red", "green"] });
            Reply::result(request, said)
        }
        _ => Reply::legacy(request),
    })
    .await
    .unwrap()
}

pub(super) async fn check(tools: &Tools, sdk: Sdk, era: Era) {
    let upstream = listing().await;
    let house = House::start(&[upstream.url()]).await;
    house
        .connect(ConnectionOwner::Agent(house.agent), "own", upstream.url())
        .await;
    let target = Target {
        words: vec![format!("{}/mcp/default/own", house.url).into()],
        variables: vec![("SWITCHBOARD_API_KEY", house.agent_key.clone())],
    };
    let profile = Profile { sdk, era, modes: "" };
    let (mut client, _) = Driver::start(tools, profile, target).await;
    let listed = client.result(json!({ "do": "tools" })).await;
    assert_eq!(listed[0]["name"], "colours", "{sdk:?}: {listed}");
    let called = client.call("colours", json!({})).await;
    match era {
        Era::Modern => {
            assert_eq!(listed[0]["outputSchema"]["type"], "array", "{sdk:?}: {listed}");
            assert_eq!(
                called["structuredContent"],
                json!(["red", "green"]),
                "{sdk:?}: {called}"
            );
        }
        Era::Legacy => {
            assert_eq!(listed[0]["outputSchema"], Value::Null, "{sdk:?}: {listed}");
            assert_eq!(called["structuredContent"], Value::Null, "{sdk:?}: {called}");
            assert_eq!(
                called["content"][0]["text"], r#"["red","green"]"#,
                "{sdk:?}: {called}"
            );
        }
    }
}
