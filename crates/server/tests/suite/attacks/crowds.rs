//! Many at once: connections, sessions and streams of one client leave room for the others.

use futures::future::join_all;
use http::{Method, StatusCode};
use serde_json::json;
use testkit::house::{Bounds, House, Plan};
use tokio::io::AsyncWriteExt as _;

use super::raw::{Raw, still_serves};
use crate::mcp::peer::{Modern, Peer};

async fn house(per_key: usize, total: usize) -> House {
    let mut bounds = Bounds::default();
    (bounds.sessions.per_key, bounds.sessions.total) = (per_key, total);
    House::build(Plan {
        bounds,
        ..Plan::default()
    })
    .await
}

#[tokio::test]
async fn idle_connections() {
    let house = house(10, 100).await;
    idle(&house, 300).await;
}

#[tokio::test]
#[ignore = "soak"]
async fn soak_idle_connections() {
    let house = house(10, 100).await;
    idle(&house, 4_000).await;
}

/// A third says nothing, a third half a head, a third half a body.
async fn idle(house: &House, count: usize) {
    let body = format!(
        "POST /mcp/default HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
         Content-Length: 100\r\n\r\n{{",
        house.admin
    );
    let beginnings = ["", "GET /health HTTP/1.1\r\nHo", &body];
    let mut open = Vec::new();
    for n in 0..count {
        let mut raw = Raw::connect(house).await;
        raw.writer.write_all(beginnings[n % 3].as_bytes()).await.unwrap();
        open.push(raw);
    }
    still_serves(house).await;
    assert_eq!(open.len(), count);
}

#[tokio::test]
async fn sessions_of_one_key() {
    let house = house(20, 50).await;
    let other = house.make_agent("other").await;
    let url = format!("{}/mcp", house.url);
    let mut sessions = Vec::new();
    for _ in 0..20 {
        sessions.push(Peer::begin(&url, &house.agent_key, json!({})).await);
    }
    // Standing streams of all of them are open.
    let streams = join_all(
        sessions
            .iter()
            .map(|peer| peer.stream(Method::GET, String::new(), &[])),
    )
    .await;
    assert!(streams.iter().all(|stream| stream.status == StatusCode::OK));
    let mut one_more = Peer::new(&url, &house.agent_key);
    let answer = one_more.initialize("2025-11-25", json!({})).await;
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE, "{answer:?}");
    assert_eq!(answer.json()["code"], "mcp.sessions_exhausted");
    // Others have their own places, and those who have one go on.
    let theirs = Peer::begin(&url, &other.key, json!({})).await;
    assert_eq!(theirs.call("ping", json!({})).await.status, StatusCode::OK);
    assert_eq!(sessions[0].call("ping", json!({})).await.status, StatusCode::OK);
    // One that ends makes room.
    let ended = sessions[0].send(Method::DELETE, String::new(), &[]).await;
    assert!(ended.status.is_success(), "{ended:?}");
    Peer::begin(&url, &house.agent_key, json!({})).await;
}

#[tokio::test]
async fn sessions_of_all() {
    let house = house(20, 30).await;
    let other = house.make_agent("other").await;
    let url = format!("{}/mcp", house.url);
    for n in 0..30 {
        let key = if n % 2 == 0 { &house.agent_key } else { &other.key };
        Peer::begin(&url, key, json!({})).await;
    }
    let mut one_more = Peer::new(&url, &other.key);
    let answer = one_more.initialize("2025-11-25", json!({})).await;
    assert_eq!(answer.json()["code"], "mcp.sessions_exhausted", "{answer:?}");
    // Who needs no session is served.
    still_serves(&house).await;
    assert_eq!(
        Modern::new(&url, &other.key)
            .call("tools/list", json!({}))
            .await
            .status,
        StatusCode::OK
    );
}

#[tokio::test]
async fn streams_of_changes() {
    let house = house(20, 50).await;
    let other = house.make_agent("other").await;
    let url = format!("{}/mcp", house.url);
    let ours = Modern::new(&url, &house.agent_key);
    let wanted = || json!({ "notifications": { "toolsListChanged": true } });
    let mut open = Vec::new();
    for _ in 0..20 {
        let mut stream = ours.stream("subscriptions/listen", wanted()).await;
        let first = stream.next().await.unwrap();
        assert_eq!(
            first["method"], "notifications/subscriptions/acknowledged",
            "{first}"
        );
        open.push(stream);
    }
    let refused = ours.call("subscriptions/listen", wanted()).await;
    assert!(
        refused.json()["error"]["message"]
            .as_str()
            .unwrap()
            .contains("too many streams"),
        "{refused:?}"
    );
    let mut theirs = Modern::new(&url, &other.key)
        .stream("subscriptions/listen", wanted())
        .await;
    assert!(theirs.next().await.is_some());
    // One that ends makes room, as soon as the server notices.
    open.pop();
    loop {
        let mut again = ours.stream("subscriptions/listen", wanted()).await;
        if again
            .next()
            .await
            .is_some_and(|first| first["method"].is_string())
        {
            break;
        }
    }
}
