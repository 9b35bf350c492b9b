//! The stateless revision: what headers and metadata must say, and what results carry.

use domain::ConnectionOwner;
use serde_json::{Value, json};
use testkit::fixture::Fixture;
use testkit::house::House;

use super::peer::Modern;

struct Case<'a> {
    method: &'a str,
    params: Value,
    headers: &'a [(&'a str, &'a str)],
    want: (u16, i64),
}

const fn case<'a>(
    method: &'a str,
    params: Value,
    headers: &'a [(&'a str, &'a str)],
    want: (u16, i64),
) -> Case<'a> {
    Case {
        method,
        params,
        headers,
        want,
    }
}

fn meta(version: &str) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": version, "io.modelcontextprotocol/clientCapabilities": {},
    })
}

fn good() -> Value {
    json!({ "_meta": meta("2026-07-28") })
}

fn call(name: &str, arguments: Value) -> Value {
    json!({ "name": name, "arguments": arguments, "_meta": meta("2026-07-28") })
}

async fn check(cases: Vec<Case<'_>>) {
    let fixture = Fixture::start().await.unwrap();
    let house = House::start(&[&fixture.url]).await;
    house
        .connect(ConnectionOwner::Agent(house.agent), "own", &fixture.url)
        .await;
    let peer = Modern::new(&format!("{}/mcp/default/own", house.url), &house.agent_key);
    for Case {
        method,
        params,
        headers,
        want,
    } in cases
    {
        let answer = peer.raw(method, params.clone(), headers).await;
        let message = answer.json();
        let code = message["error"]["code"].as_i64().unwrap_or_default();
        assert_eq!(
            (answer.status.as_u16(), code),
            want,
            "{method} {params} {headers:?}: {message}"
        );
        assert_eq!(message["id"], "q", "{method}: {message}");
        if code == -32022 {
            assert_eq!(
                message["error"]["data"],
                json!({ "supported": ["2026-07-28"], "requested": "v9" })
            );
        }
    }
}

#[tokio::test]
async fn what_every_request_must_say() {
    let only = |key: &str, value: Value| json!({ "_meta": { key: value } });
    check(vec![
        case("tools/list", good(), &[], (200, 0)),
        case("tools/list", json!({}), &[], (400, -32602)),
        case(
            "tools/list",
            only("io.modelcontextprotocol/clientCapabilities", json!({})),
            &[],
            (400, -32602),
        ),
        case(
            "tools/list",
            only("io.modelcontextprotocol/protocolVersion", "2026-07-28".into()),
            &[],
            (400, -32602),
        ),
        case(
            "tools/list",
            json!({ "_meta": meta("v9") }),
            &[("mcp-protocol-version", "v9")],
            (400, -32022),
        ),
        case("tools/list", json!({ "_meta": meta("v9") }), &[], (400, -32020)),
        case(
            "tools/list",
            good(),
            &[("mcp-protocol-version", "")],
            (400, -32020),
        ),
        case(
            "tools/list",
            good(),
            &[("mcp-protocol-version", "2025-11-25")],
            (400, -32020),
        ),
        case("tools/list", good(), &[("mcp-method", "")], (400, -32020)),
        case(
            "tools/list",
            good(),
            &[("mcp-method", "prompts/list")],
            (400, -32020),
        ),
        case(
            "tools/list",
            good(),
            &[("mcp-method", "TOOLS/LIST")],
            (400, -32020),
        ),
        case("initialize", good(), &[], (404, -32601)),
        case("ping", good(), &[], (404, -32601)),
        case("logging/setLevel", good(), &[], (404, -32601)),
        case("resources/subscribe", good(), &[], (404, -32601)),
        case("unknown/method", good(), &[], (404, -32601)),
    ])
    .await;
}

#[tokio::test]
async fn what_a_call_must_say() {
    let text = || call("test_simple_text", json!({}));
    let custom = || call("test_custom_header", json!({ "region": "eu" }));
    check(vec![
        case("tools/call", text(), &[], (200, 0)),
        case(
            "tools/call",
            text(),
            &[("mcp-name", "  test_simple_text ")],
            (200, 0),
        ),
        case("tools/call", text(), &[("mcp-name", "other")], (400, -32020)),
        case("tools/call", text(), &[("mcp-name", "")], (400, -32020)),
        case("tools/call", custom(), &[("mcp-param-region", "eu")], (200, 0)),
        case(
            "tools/call",
            custom(),
            &[("mcp-param-region", "=?base64?ZXU=?=")],
            (200, 0),
        ),
        case(
            "tools/call",
            custom(),
            &[("mcp-param-region", "us")],
            (400, -32020),
        ),
        case("tools/call", custom(), &[], (400, -32020)),
    ])
    .await;
}

#[tokio::test]
async fn results_carry_their_type_and_how_long_they_may_be_kept() {
    let fixture = Fixture::start().await.unwrap();
    let house = House::start(&[&fixture.url]).await;
    house
        .connect(ConnectionOwner::Agent(house.agent), "own", &fixture.url)
        .await;
    let peer = Modern::new(&format!("{}/mcp/default/own", house.url), &house.agent_key);
    for (method, params, kept) in [
        ("server/discover", json!({}), true),
        ("tools/list", json!({}), true),
        ("prompts/list", json!({}), true),
        ("resources/list", json!({}), true),
        ("resources/templates/list", json!({}), true),
        ("resources/read", json!({ "uri": "test://static-text" }), true),
        ("tools/call", json!({ "name": "test_simple_text" }), false),
        ("prompts/get", json!({ "name": "test_simple_prompt" }), false),
        (
            "completion/complete",
            json!({
                "ref": { "type": "ref/prompt", "name": "test_prompt_with_arguments" },
                "argument": { "name": "arg1", "value": "p" },
            }),
            false,
        ),
    ] {
        let answer = peer.call(method, params).await.json();
        let result = &answer["result"];
        assert_eq!(result["resultType"], "complete", "{method}: {answer}");
        if kept {
            assert_eq!(result["cacheScope"], "private", "{method}: {answer}");
            assert!(result["ttlMs"].as_u64().is_some(), "{method}: {answer}");
        }
    }
    let discovered = peer.call("server/discover", json!({})).await.json();
    assert_eq!(discovered["result"]["supportedVersions"], json!(["2026-07-28"]));
    assert_eq!(
        discovered["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["name"],
        "switchboard"
    );
    let missing = peer
        .call("resources/read", json!({ "uri": "x://nothing" }))
        .await
        .json();
    assert_eq!(missing["error"]["code"], -32602, "{missing}");
}
