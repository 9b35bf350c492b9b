//! Headers that repeat what the body says, and do not; sessions of others.

use http::{Method, StatusCode};
use serde_json::json;
use testkit::house::House;

use crate::mcp::peer::{Modern, Peer};

#[tokio::test]
async fn headers_and_body_disagree_in_the_stateless_revision() {
    let house = House::start(&[]).await;
    let url = format!("{}/mcp", house.url);
    let modern = Modern::new(&url, &house.agent_key);
    let call = || modern.introduced(json!({ "name": "mail__send", "arguments": {} }));
    let cases: &[(&[(&str, &str)], i64)] = &[
        (&[("mcp-method", "tools/list")], -32020),
        (&[("mcp-method", "TOOLS/CALL")], -32020),
        (&[("mcp-method", "")], -32020),
        (&[("mcp-method", "tools/call, tools/list")], -32020),
        (&[("mcp-name", "mail__read")], -32020),
        (&[("mcp-name", "MAIL__SEND")], -32020),
        (&[("mcp-name", "")], -32020),
        (&[("mcp-name", "=?base64?bWFpbF9fcmVhZA==?=")], -32020),
        (&[("mcp-name", "=?base64?%%%?=")], -32020),
        (&[("mcp-name", "=?base64?//79?=")], -32020),
        (&[("mcp-name", "mail__send"), ("mcp-name", "mail__read")], -32020),
        (&[("mcp-protocol-version", "2025-11-25")], -32020),
        (&[("mcp-protocol-version", "2099-01-01")], -32020),
        (&[("mcp-protocol-version", "")], -32020),
    ];
    for (headers, code) in cases {
        let answer = modern.raw("tools/call", call(), headers).await;
        assert_eq!(answer.json()["error"]["code"], *code, "{headers:?}: {answer:?}");
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{headers:?}: {answer:?}");
    }
    // The body claims another revision than the header.
    for version in ["2025-11-25", "2099-01-01", "", "2026-07-28 "] {
        let mut params = call();
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = version.into();
        let answer = modern.raw("tools/call", params, &[]).await;
        assert!(answer.json()["error"].is_object(), "{version}: {answer:?}");
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{version}: {answer:?}");
    }
}

#[tokio::test]
async fn headers_of_the_other_era_change_nothing_in_a_session() {
    let house = House::start(&[]).await;
    let url = format!("{}/mcp", house.url);
    let peer = Peer::begin(&url, &house.agent_key, json!({})).await;
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }).to_string();
    for (headers, want) in [
        (&[("mcp-method", "tools/call"), ("mcp-name", "x")][..], 200),
        (&[("mcp-protocol-version", "2025-03-26")], 200),
        (&[("mcp-protocol-version", "1999-01-01")], 400),
        (&[("mcp-protocol-version", "2026-07-28")], 400),
    ] {
        let answer = peer.send(Method::POST, ping.clone(), headers).await;
        assert_eq!(answer.status.as_u16(), want, "{headers:?}: {answer:?}");
        if want == 200 {
            assert!(answer.json()["result"].is_object(), "{answer:?}");
        }
    }
}

#[tokio::test]
async fn a_session_is_its_owners_at_its_place() {
    let house = House::start(&[]).await;
    let other = house.make_agent("other").await;
    let url = format!("{}/mcp", house.url);
    let ours = Peer::begin(&url, &house.agent_key, json!({})).await;
    let named = format!("{}/mcp/default", house.url);
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }).to_string();
    let thieves = [
        (&url, &other.key),
        (&named, &house.admin),
        (&named, &house.agent_key),
        (&format!("{}/mcp/other", house.url), &other.key),
        (&format!("{}/mcp/-/operator", house.url), &house.admin),
    ];
    for (url, key) in thieves {
        let mut thief = Peer::new(url, key);
        thief.session.clone_from(&ours.session);
        let posted = thief.send(Method::POST, ping.clone(), &[]).await;
        let read = thief
            .send(Method::GET, String::new(), &[("accept", "text/event-stream")])
            .await;
        let resumed = [("accept", "text/event-stream"), ("last-event-id", "1-0")];
        let resumed = thief.send(Method::GET, String::new(), &resumed).await;
        let ended = thief.send(Method::DELETE, String::new(), &[]).await;
        let answer = json!({ "jsonrpc": "2.0", "id": "sb-1", "result": {} }).to_string();
        let answered = thief.send(Method::POST, answer, &[]).await;
        for answer in [posted, read, resumed, ended, answered] {
            assert_eq!(answer.status, StatusCode::NOT_FOUND, "{url}: {answer:?}");
        }
    }
    // Ids that are nobody's, and two at once.
    let real = ours.session.clone().unwrap();
    for id in [
        "",
        "x",
        &"a".repeat(10_000),
        &real.to_lowercase(),
        &format!("{real} "),
        &format!("{real},{real}"),
    ] {
        if *id == real || id.is_empty() || id.trim() == real {
            continue;
        }
        let answer = ours
            .send(Method::POST, ping.clone(), &[("mcp-session-id", id)])
            .await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{id}: {answer:?}");
    }
    assert_eq!(ours.call("ping", json!({})).await.status, StatusCode::OK);
}
