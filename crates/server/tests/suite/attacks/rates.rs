//! How often one key may ask, and where a key may stand.

use http::{Method, StatusCode};
use serde_json::json;
use testkit::house::{Bounds, House, Plan};
use testkit::http::{Answer, send};

/// More requests than any machine sends while the burst is used up.
const MANY: usize = 2_000;

/// One request at each kind of place that takes a key.
async fn ask(house: &House, place: &str, header: &str, key: &str) -> Answer {
    let url = format!("{}{place}", house.url);
    let bearer = format!("Bearer {key}");
    let credential = (header, if header == "authorization" { &bearer } else { key });
    if place.starts_with("/api") {
        return send(Method::GET, &url, &[credential], "").await.unwrap();
    }
    let headers = [
        credential,
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/list"),
    ];
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "peer", "version": "1" },
    });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": meta } });
    send(Method::POST, &url, &headers, body.to_string())
        .await
        .unwrap()
}

const PLACES: [&str; 4] = [
    "/api/v1/agents",
    "/mcp/default",
    "/mcp/-/operator",
    "/api/v1/connections",
];

#[tokio::test]
async fn a_key_stands_in_either_header() {
    let house = House::start(&[]).await;
    for header in ["authorization", "x-api-key"] {
        for place in PLACES {
            let answer = ask(&house, place, header, &house.admin).await;
            assert_eq!(answer.status, StatusCode::OK, "{place} {header}: {answer:?}");
        }
        let own = ask(&house, "/mcp", header, &house.agent_key).await;
        assert_eq!(own.status, StatusCode::OK, "{header}: {own:?}");
    }
}

#[tokio::test]
async fn a_key_that_asks_too_often_waits() {
    let bounds = Bounds {
        rate_per_second: 1,
        burst: 12,
        ..Bounds::default()
    };
    let house = House::build(Plan {
        bounds,
        ..Plan::default()
    })
    .await;
    for place in PLACES {
        // What one place used up is missing at the others: the rate is the key's.
        let mut answer = ask(&house, place, "authorization", &house.admin).await;
        for _ in 0..MANY {
            if answer.status != StatusCode::OK {
                break;
            }
            answer = ask(&house, place, "authorization", &house.admin).await;
        }
        assert_eq!(
            answer.status,
            StatusCode::TOO_MANY_REQUESTS,
            "{place}: {answer:?}"
        );
        assert_eq!(answer.json()["code"], "request.rate_limited", "{place}");
        let wait = answer.headers.get("retry-after").unwrap();
        assert_eq!(wait, "1", "{place}: never more than a second until the next");
        // Another key is not held up, and nobody is who shows none.
        let other = house.make_admin().await;
        let theirs = ask(&house, place, "authorization", &other).await;
        assert_eq!(theirs.status, StatusCode::OK, "{place}: {theirs:?}");
        let nobody = ask(&house, place, "authorization", "sb_admin_x").await;
        assert_eq!(nobody.status, StatusCode::UNAUTHORIZED, "{place}");
    }
    // The place in the queue comes back by itself.
    let mut later = StatusCode::TOO_MANY_REQUESTS;
    while later == StatusCode::TOO_MANY_REQUESTS {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        later = ask(&house, "/api/v1/agents", "authorization", &house.admin)
            .await
            .status;
    }
    assert_eq!(later, StatusCode::OK);
}
