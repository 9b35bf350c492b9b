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

#[tokio::test]
async fn what_headers_and_metadata_must_say() {
    let fixture = Fixture::start().await.unwrap();
    let house = House::start(&[&fixture.url]).await;
    house
        .connect(ConnectionOwner::Agent(house.agent), "own", &fixture.url)
        .await;
    let peer = Modern::new(&format!("{}/mcp/default/own", house.url), &house.agent_key);
    let meta = |version: &str| {
        json!({
            "io.modelcontextprotocol/protocolVersion": version, "io.modelcontextprotocol/clientCapabilities": {},
        })
    };
    let good = || json!({ "_meta": meta("2026-07-28") });
    let call = |name: &str, arguments: Value| json!({ "name": name, "arguments": arguments, "_meta": meta("2026-07-28") });
    let case = |method, params, headers, want| Case {
        method,
        params,
        headers,
        want,
    };
    let cases = [
        case("tools/list", good(), &[], (200, 0)),
        case("tools/list", json!({}), &[], (400, -32602)),
        case(
            "tools/list",
            json!({ "_meta": { "io.modelcontextprotocol/clientCapabilities": {} } }),
            &[],
            (400, -32602),
        ),
        case(
            "tools/list",
            json!({ "_meta": { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } }),
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
        case("tools/call", call("test_simple_text", json!({})), &[], (200, 0)),
        case(
            "tools/call",
            call("test_simple_text", json!({})),
            &[("mcp-name", "  test_simple_text ")],
            (200, 0),
        ),
        case(
            "tools/call",
            call("test_simple_text", json!({})),
            &[("mcp-name", "other")],
            (400, -32020),
        ),
        case(
            "tools/call",
            call("test_simple_text", json!({})),
            &[("mcp-name", "")],
            (400, -32020),
        ),
        case(
            "tools/call",
            call("test_custom_header", json!({ "region": "eu" })),
            &[("mcp-param-region", "eu")],
            (200, 0),
        ),
        case(
            "tools/call",
            call("test_custom_header", json!({ "region": "eu" })),
            &[("mcp-param-region", "=?base64?ZXU=?=")],
            (200, 0),
        ),
        case(
            "tools/call",
            call("test_custom_header", json!({ "region": "eu" })),
            &[("mcp-param-region", "us")],
            (400, -32020),
        ),
        case(
            "tools/call",
            call("test_custom_header", json!({ "region": "eu" })),
            &[],
            (400, -32020),
        ),
        case("initialize", good(), &[], (404, -32601)),
        case("ping", good(), &[], (404, -32601)),
        case("logging/setLevel", good(), &[], (404, -32601)),
        case("resources/subscribe", good(), &[], (404, -32601)),
        case("unknown/method", good(), &[], (404, -32601)),
    ];
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
    }
    let unsupported = peer
        .raw(
            "tools/list",
            json!({ "_meta": meta("v9") }),
            &[("mcp-protocol-version", "v9")],
        )
        .await;
    assert_eq!(
        unsupported.json()["error"]["data"],
        json!({ "supported": ["2026-07-28"], "requested": "v9" })
    );
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
