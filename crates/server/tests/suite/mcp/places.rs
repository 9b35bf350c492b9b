//! Who may come to which endpoint, and what they find there.

use domain::ConnectionOwner;
use http::{Method, StatusCode};
use serde_json::{Value, json};
use testkit::fixture::Fixture;
use testkit::house::House;

use super::peer::{Modern, Peer};

fn names(listed: &Value) -> Vec<&str> {
    listed["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn keys_and_paths() {
    let house = House::start(&[]).await;
    let other = house.make_agent("other").await;
    let (admin, agent) = (house.admin.as_str(), house.agent_key.as_str());
    let id = house.agent.to_string();
    let cases = [
        ("/mcp", "", 401),
        ("/mcp", "sb_agent_nonsense", 401),
        ("/mcp/-/operator", "", 401),
        ("/mcp", agent, 200),
        ("/mcp/default", agent, 200),
        ("/mcp/other", agent, 404),
        ("/mcp/nobody", agent, 404),
        ("/mcp", admin, 400),
        ("/mcp/default", admin, 200),
        ("/mcp/other", admin, 200),
        ("/mcp/nobody", admin, 404),
        ("/mcp/No-Handle", admin, 404),
        ("/mcp/-", admin, 404),
        ("/mcp/default/nothing", agent, 404),
        ("/mcp/-/operator", admin, 200),
        ("/mcp/-/operator", agent, 403),
        ("/mcp/default", other.key.as_str(), 404),
    ];
    let by_id = format!("/mcp/{id}");
    for (path, key, want) in cases
        .into_iter()
        .chain([(by_id.as_str(), admin, 200), (by_id.as_str(), agent, 200)])
    {
        let peer = Peer::new(&format!("{}{path}", house.url), key);
        let answer = peer.call("tools/list", json!({})).await;
        assert_eq!(answer.status.as_u16(), want, "{path} {key}: {answer:?}");
        if want >= 400 {
            assert_eq!(
                answer.headers["content-type"], "application/problem+json",
                "{path}"
            );
        }
    }
}

// V064 O002 O004 O005
#[tokio::test]
async fn an_agent_sees_what_it_was_granted_and_nothing_else() {
    let fixture = Fixture::start().await.unwrap();
    let house = House::start(&[&fixture.url]).await;
    let shared = house
        .connect(ConnectionOwner::Workspace, "shared", &fixture.url)
        .await;
    let other = house.make_agent("other").await;
    let peer = Peer::new(&format!("{}/mcp", house.url), &house.agent_key);
    assert_eq!(
        names(&peer.call("tools/list", json!({})).await.json()),
        Vec::<&str>::new()
    );

    house
        .grant(house.agent, shared, "test_echo", domain::Permission::Unattended)
        .await;
    assert_eq!(
        names(&peer.call("tools/list", json!({})).await.json()),
        ["shared__test_echo"]
    );
    let unprefixed = Peer::new(&format!("{}/mcp/default/shared", house.url), &house.agent_key);
    assert_eq!(
        names(&unprefixed.call("tools/list", json!({})).await.json()),
        ["test_echo"]
    );
    let theirs = Peer::new(&format!("{}/mcp", house.url), &other.key);
    assert_eq!(
        names(&theirs.call("tools/list", json!({})).await.json()),
        Vec::<&str>::new()
    );

    // V061: calling looks at the grant, not at what was listed.
    let refused = theirs.tool("shared__test_echo", json!({})).await.json();
    assert_eq!(refused["result"]["isError"], true, "{refused}");
    assert_eq!(
        refused["result"]["structuredContent"]["code"], "no_grant",
        "{refused}"
    );
    let unknown = theirs.tool("shared__nothing", json!({})).await.json();
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
}

// O025
#[tokio::test]
async fn agents_never_see_what_answers_approvals() {
    let house = House::start(&[]).await;
    let agents = Modern::new(&format!("{}/mcp/default", house.url), &house.admin);
    let listed = agents.call("tools/list", json!({})).await.json();
    assert!(
        names(&listed).iter().all(|name| !name.contains("approval")),
        "{listed}"
    );
    let called = agents.tool("resolve_approval", json!({})).await.json();
    assert!(
        called["error"].is_object() || called["result"]["isError"] == true,
        "{called}"
    );
}

/// A method, headers, and the status they come to.
type Case<'a> = (Method, &'a [(&'a str, &'a str)], u16);

#[tokio::test]
async fn other_methods_and_media_types() {
    let house = House::start(&[]).await;
    let peer = Peer::new(&format!("{}/mcp", house.url), &house.agent_key);
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }).to_string();
    let cases: [Case<'_>; 13] = [
        (Method::POST, &[], 200),
        (Method::POST, &[("accept", "")], 200),
        (Method::POST, &[("accept", "application/json")], 406),
        (Method::POST, &[("content-type", "text/plain")], 415),
        (Method::POST, &[("host", "evil.example")], 403),
        (Method::POST, &[("origin", "https://evil.example")], 403),
        (Method::GET, &[], 405),
        (Method::GET, &[("mcp-protocol-version", "2026-07-28")], 405),
        (Method::GET, &[("mcp-session-id", "invented")], 404),
        (Method::DELETE, &[], 400),
        (Method::DELETE, &[("mcp-protocol-version", "2026-07-28")], 405),
        (Method::DELETE, &[("mcp-session-id", "invented")], 404),
        (Method::PUT, &[], 405),
    ];
    for (method, headers, want) in cases {
        let body = if method == Method::POST {
            list.clone()
        } else {
            String::new()
        };
        let answer = peer.send(method.clone(), body, headers).await;
        assert_eq!(answer.status.as_u16(), want, "{method} {headers:?}");
        let code = match (&method, want) {
            (_, 400) => "mcp.session_required",
            (_, 404) => "mcp.session_not_found",
            (_, 405) => "request.method_not_allowed",
            _ => continue,
        };
        assert_eq!(answer.json()["code"], code, "{method} {headers:?}");
        assert_eq!(
            answer.headers.contains_key("allow"),
            want == 405,
            "{method} {headers:?}"
        );
    }
    // At the operator's endpoint there is nothing to tell of.
    let operator = Peer::begin(&format!("{}/mcp/-/operator", house.url), &house.admin, json!({})).await;
    let answer = operator.send(Method::GET, String::new(), &[]).await;
    assert_eq!(answer.status, StatusCode::METHOD_NOT_ALLOWED);
    let too_large = peer.send(Method::POST, "x".repeat((4 << 20) + 1), &[]).await;
    assert_eq!(too_large.status, StatusCode::PAYLOAD_TOO_LARGE);
}
