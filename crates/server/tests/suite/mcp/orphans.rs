//! What is open when a key is revoked, or an agent is disabled or removed, ends.

use http::Method;
use serde_json::{Value, json};
use testkit::house::{House, Made};

use super::peer::{Modern, Peer, administer};

/// A way of taking away, by the key it is about.
async fn take_away(house: &House, how: &str, key: &str) {
    match how {
        "revoke" => {
            let id = key.split('_').nth(2).unwrap();
            administer(house, Method::DELETE, &format!("/keys/{id}"), Value::Null).await;
        }
        "disable" => {
            let change = json!({ "expected_version": 1, "enabled": false });
            administer(house, Method::PATCH, "/agents/guest", change).await;
        }
        _ => administer(house, Method::DELETE, "/agents/guest", Value::Null).await,
    }
}

#[tokio::test]
async fn streams_and_sessions_end_with_their_key_and_their_agent() {
    // Who keeps something open, what is taken away, and what a request in the session is answered afterwards.
    let cases = [
        ("agent", "revoke", 401),
        ("agent", "disable", 404),
        ("agent", "remove", 401),
        ("admin", "revoke", 401),
        ("admin", "disable", 404),
        ("admin", "remove", 404),
    ];
    for (who, how, status) in cases {
        let house = House::start(&[]).await;
        let Made { key, .. } = house.make_agent("guest").await;
        let key = if who == "admin" {
            house.make_admin().await
        } else {
            key
        };
        let url = format!("{}/mcp/guest", house.url);
        let peer = Peer::begin(&url, &key, json!({})).await;
        let mut standing = peer.stream(Method::GET, String::new(), &[]).await;
        let wanted = json!({ "notifications": { "toolsListChanged": true } });
        let mut listening = Modern::new(&url, &key)
            .stream("subscriptions/listen", wanted)
            .await;
        assert!(listening.next().await.is_some(), "acknowledged");

        // Of somebody else's loss nobody hears.
        let bystander = Peer::begin(&format!("{}/mcp", house.url), &house.agent_key, json!({})).await;
        take_away(&house, how, &key).await;
        assert_eq!(standing.next().await, None, "{who} {how}");
        let last = listening.next().await.unwrap();
        assert_eq!(last["result"]["resultType"], "complete", "{who} {how}: {last}");
        assert_eq!(listening.next().await, None, "{who} {how}");
        let after = peer.call("ping", json!({})).await;
        assert_eq!(after.status.as_u16(), status, "{who} {how}: {after:?}");
        assert_eq!(bystander.call("ping", json!({})).await.status.as_u16(), 200);
    }
}

#[tokio::test]
async fn a_session_of_a_disabled_agent_sees_nothing_until_it_is_enabled() {
    let house = House::start(&[]).await;
    let Made { key, .. } = house.make_agent("guest").await;
    take_away(&house, "disable", &key).await;
    let peer = Peer::begin(&format!("{}/mcp", house.url), &key, json!({})).await;
    let shown = peer.call("tools/list", json!({})).await.json();
    assert_eq!(shown["result"]["tools"], json!([]), "{shown}");
    let enabled = json!({ "expected_version": 2, "enabled": true });
    administer(&house, Method::PATCH, "/agents/guest", enabled).await;
    assert_eq!(peer.call("ping", json!({})).await.status.as_u16(), 200);
    let disabled = json!({ "expected_version": 3, "enabled": false });
    administer(&house, Method::PATCH, "/agents/guest", disabled).await;
    assert_eq!(peer.call("ping", json!({})).await.status.as_u16(), 404);
}
