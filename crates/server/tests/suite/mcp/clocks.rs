//! A clock that is set back an hour, forward a day and back again while clients are served.

use std::time::Duration;

use domain::{Clock, ConnectionOwner, Permission, Timestamp};
use serde_json::{Value, json};
use testkit::fixture::Fixture;
use testkit::house::{House, Plan};

use super::peer::Peer;

const START: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);
const HOUR: i64 = 3_600_000_000;
/// Where the clock jumps to, in microseconds after the start, and whether a question of the start is still open then: it is for an hour.
const JUMPS: [(i64, bool); 4] = [
    (-HOUR, true),
    (HOUR / 2, true),
    (24 * HOUR, false),
    (-24 * HOUR, true),
];

async fn operate(house: &House, tool: &str, arguments: Value) -> Value {
    let operator = Peer::new(&format!("{}/mcp/-/operator", house.url), &house.admin);
    operator.tool(tool, arguments).await.json()["result"].clone()
}

/// How the last two calls of the connection stand.
async fn last(house: &House) -> Vec<String> {
    let listed = operate(
        house,
        "activity_list",
        json!({ "connection": "shared", "limit": 2 }),
    )
    .await;
    let items = listed["structuredContent"]["items"].as_array().unwrap();
    let status = |item: &Value| item["status"].as_str().unwrap().to_owned();
    items.iter().map(status).collect()
}

async fn check(jump: i64, open: bool) {
    let fixture = Fixture::start().await.unwrap();
    let clock = Clock::test(START);
    let house = House::build(Plan {
        reachable: vec![fixture.url.clone()],
        clock: clock.clone(),
        ..Plan::default()
    })
    .await;
    let connection = house
        .connect(ConnectionOwner::Workspace, "shared", &fixture.url)
        .await;
    house
        .grant(house.agent, connection, "test_echo", Permission::Ask)
        .await;
    let peer = Peer::begin(&format!("{}/mcp", house.url), &house.agent_key, json!({})).await;
    let asked = peer
        .tool("shared__test_echo", json!({ "text": "hi" }))
        .await
        .json();
    let approval = asked["result"]["structuredContent"]["approval_id"]
        .as_str()
        .unwrap();

    clock.set(Timestamp::from_micros(START.micros() + jump));
    house.gateway.expire_approvals().await.unwrap();
    let arguments = json!({ "approval": approval, "decision": "approved" });
    let answered = operate(&house, "resolve_approval", arguments).await;
    assert_eq!(answered["isError"] != true, open, "{jump}: {answered}");
    let told = peer
        .tool("shared__test_echo", json!({ "text": "hi" }))
        .await
        .json();
    assert_eq!(told["result"]["isError"] != true, open, "{jump}: {told}");

    house
        .grant(house.agent, connection, "test_echo", Permission::Unattended)
        .await;
    for text in ["one", "two"] {
        let done = peer
            .tool("shared__test_echo", json!({ "text": text }))
            .await
            .json();
        assert_ne!(done["result"]["isError"], true, "{jump}: {done}");
    }
    // A moment after the answer, which does not wait for the record of its end.
    let done = ["succeeded", "succeeded"];
    for _ in 0..1_000 {
        if last(&house).await == done {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(last(&house).await, done, "{jump}");
    house.store.chain_once().await.unwrap();
    let found = house.store.verify(house.tenant, None, |_| {}).await.unwrap();
    assert_eq!(found.first_bad, None, "{jump}");
}

#[tokio::test]
async fn clocks_that_jump_stop_nobody() {
    for (jump, open) in JUMPS {
        check(jump, open).await;
    }
}
