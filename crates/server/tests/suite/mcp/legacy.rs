//! Sessions of the revisions with `initialize`, and clients that do without.

use domain::{ConnectionOwner, Sharing};
use http::{Method, StatusCode};
use serde_json::{Value, json};
use testkit::fixture::Fixture;
use testkit::house::House;
use testkit::scripted::{Reply, Scripted};

use super::peer::{Modern, Peer};

#[tokio::test]
async fn versions_are_agreed_on() {
    let house = House::start(&[]).await;
    for (asked, got) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ] {
        let mut peer = Peer::new(&format!("{}/mcp", house.url), &house.agent_key);
        let answer = peer.initialize(asked, json!({})).await;
        let result = &answer.json()["result"];
        assert_eq!(result["protocolVersion"], got, "{asked}");
        assert_eq!(result["serverInfo"]["name"], "switchboard");
        assert_eq!(result["capabilities"]["tools"]["listChanged"], true);
        let session = peer.session.unwrap();
        assert!(
            session.len() >= 22 && session.bytes().all(|b| (0x21..0x7f).contains(&b)),
            "{session}"
        );
    }
}

#[tokio::test]
async fn a_session_is_its_owners_at_its_endpoint_until_it_ends() {
    let house = House::start(&[]).await;
    let other = house.make_agent("other").await;
    let url = format!("{}/mcp", house.url);
    let peer = Peer::begin(&url, &house.agent_key, json!({})).await;
    let status = async |key: &str, path: &str, session: &str| {
        let mut peer = Peer::new(&format!("{}{path}", house.url), key);
        peer.session = Some(session.to_owned());
        peer.call("ping", json!({})).await.status.as_u16()
    };
    let session = peer.session.clone().unwrap();
    assert_eq!(status(&house.agent_key, "/mcp", &session).await, 200);
    assert_eq!(status(&other.key, "/mcp", &session).await, 404);
    assert_eq!(status(&house.agent_key, "/mcp/default", &session).await, 404);
    assert_eq!(status(&house.agent_key, "/mcp", "invented").await, 404);
    let ended = peer.send(Method::DELETE, String::new(), &[]).await;
    assert_eq!(ended.status, StatusCode::NO_CONTENT);
    assert_eq!(status(&house.agent_key, "/mcp", &session).await, 404);
}

#[tokio::test]
async fn clients_without_a_session_are_served() {
    let fixture = Fixture::start().await.unwrap();
    let house = House::start(&[&fixture.url]).await;
    house
        .connect(ConnectionOwner::Agent(house.agent), "own", &fixture.url)
        .await;
    let peer = Peer::new(&format!("{}/mcp/default/own", house.url), &house.agent_key);
    for (method, params) in [
        ("ping", json!({})),
        ("tools/list", json!({})),
        ("tools/call", json!({ "name": "test_simple_text" })),
        ("prompts/list", json!({})),
        ("prompts/get", json!({ "name": "test_simple_prompt" })),
        ("resources/list", json!({})),
        ("resources/read", json!({ "uri": "test://static-text" })),
        ("resources/templates/list", json!({})),
        ("logging/setLevel", json!({ "level": "info" })),
    ] {
        let answer = peer.call(method, params).await;
        assert_eq!(answer.status, StatusCode::OK);
        assert!(answer.json()["result"].is_object(), "{method}: {}", answer.json());
    }
}

#[tokio::test]
async fn errors_are_the_protocols() {
    let house = House::start(&[]).await;
    let peer = Peer::begin(&format!("{}/mcp", house.url), &house.agent_key, json!({})).await;
    let request = |method: &str, params: Value| {
        json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params }).to_string()
    };
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"ping","params":{}1{}}}"#,
        "[".repeat(200),
        "]".repeat(200)
    );
    let cases = [
        (request("unknown/method", json!({})), 200, -32601),
        (request("server/discover", json!({})), 200, -32601),
        (
            request("tools/list", json!({ "cursor": "nonsense" })),
            200,
            -32602,
        ),
        (request("tools/list", json!({ "cursor": 5 })), 200, -32602),
        (request("tools/call", json!({})), 200, -32602),
        (request("tools/call", json!([])), 200, -32602),
        (request("tools/call", json!({ "name": "nothing" })), 200, -32602),
        (request("prompts/get", json!({ "name": "nothing" })), 200, -32602),
        (
            request("resources/read", json!({ "uri": "x://nothing" })),
            200,
            -32002,
        ),
        (
            request("logging/setLevel", json!({ "level": "loud" })),
            200,
            -32602,
        ),
        (request("initialize", json!({})), 200, -32602),
        ("nonsense".to_owned(), 400, -32700),
        (deep, 400, -32700),
        (
            r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#.to_owned(),
            400,
            -32600,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#.to_owned(),
            400,
            -32700,
        ),
        ("[]".to_owned(), 400, -32600),
    ];
    for (body, status, code) in cases {
        let shown: String = body.chars().take(100).collect();
        let answer = peer.send(Method::POST, body, &[]).await;
        assert_eq!(
            (answer.status.as_u16(), answer.json()["error"]["code"].as_i64()),
            (status, Some(code)),
            "{shown}"
        );
    }
    let version = peer
        .send(
            Method::POST,
            request("ping", json!({})),
            &[("mcp-protocol-version", "v9")],
        )
        .await;
    assert_eq!(version.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn batches_are_of_one_revision() {
    let house = House::start(&[]).await;
    let mut peer = Peer::new(&format!("{}/mcp", house.url), &house.agent_key);
    peer.initialize("2025-03-26", json!({})).await;
    let batch = json!([
        { "jsonrpc": "2.0", "id": 1, "method": "ping" },
        { "jsonrpc": "2.0", "method": "notifications/initialized" },
        { "jsonrpc": "2.0", "id": "b", "method": "tools/list" },
        { "jsonrpc": "2.0", "id": 3, "method": "unknown" },
        { "jsonrpc": "2.0", "id": 4, "method": "initialize", "params": {} },
    ]);
    let answers = peer.post(&batch).await.json();
    let ids: Vec<&Value> = answers
        .as_array()
        .unwrap()
        .iter()
        .map(|answer| &answer["id"])
        .collect();
    assert_eq!(ids, [&json!(1), &json!("b"), &json!(3), &json!(4)]);
    assert!(answers[1]["result"]["tools"].is_array());
    assert_eq!(answers[2]["error"]["code"], -32601);
    assert_eq!(answers[3]["error"]["code"], -32600);
    let silent = peer
        .post(&json!([{ "jsonrpc": "2.0", "method": "notifications/initialized" }]))
        .await;
    assert_eq!((silent.status, silent.body.len()), (StatusCode::ACCEPTED, 0));
    peer.initialize("2025-06-18", json!({})).await;
    assert_eq!(peer.post(&batch).await.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_batch_is_of_its_session() {
    let upstream = Scripted::start(|request| match request.rpc_method().as_deref() {
        Some("tools/call") => {
            let note =
                json!({ "jsonrpc": "2.0", "method": "notifications/elicitation/complete", "params": {} });
            let result = json!({ "content": [] });
            let answer = json!({ "jsonrpc": "2.0", "id": request.json()["id"], "result": result });
            Reply::events([&note, &answer])
        }
        _ => Reply::legacy(request),
    })
    .await
    .unwrap();
    let house = House::start(&[upstream.url()]).await;
    let owner = ConnectionOwner::Agent(house.agent);
    house
        .connect_with(owner, "own", upstream.url(), Sharing::PerSession)
        .await;
    let mut peer = Peer::new(&format!("{}/mcp/default/own", house.url), &house.agent_key);
    peer.initialize("2025-03-26", json!({})).await;
    peer.tool("echo", json!({})).await;
    let sessions = upstream.received_of("initialize").len();
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "echo" } });
    let answers = peer.post(&json!([call])).await.json();
    assert_eq!(answers[0]["result"], json!({ "content": [] }), "{answers}");
    assert_eq!(
        upstream.received_of("initialize").len(),
        sessions,
        "the same upstream session"
    );
}

#[tokio::test]
async fn errors_of_upstreams_are_answers() {
    // The code an upstream answers with, what an older client hears of it, and a modern one.
    let cases = [
        (-32600, (200, -32600), (400, -32600)),
        (-32601, (200, -32601), (404, -32601)),
        (-32000, (200, -32000), (200, -32000)),
        (-32020, (200, -32603), (200, -32603)),
        (-32022, (200, -32603), (200, -32603)),
    ];
    for (code, older, modern) in cases {
        let upstream = Scripted::start(move |request| match request.rpc_method().as_deref() {
            Some("tools/call") => Reply::error(request, code, "no"),
            _ => Reply::legacy(request),
        })
        .await
        .unwrap();
        let house = House::start(&[upstream.url()]).await;
        house
            .connect(ConnectionOwner::Agent(house.agent), "own", upstream.url())
            .await;
        let url = format!("{}/mcp/default/own", house.url);
        let peer = Peer::begin(&url, &house.agent_key, json!({})).await;
        let client = Modern::new(&url, &house.agent_key);
        for (answer, (status, code)) in [
            (peer.tool("echo", json!({})).await, older),
            (client.tool("echo", json!({})).await, modern),
        ] {
            assert_eq!(answer.status.as_u16(), status, "{answer:?}");
            assert_eq!(answer.json()["error"]["code"], code, "{answer:?}");
        }
    }
}

#[tokio::test]
async fn refused_subscriptions_do_not_count() {
    let upstream = Scripted::start(|request| match request.rpc_method().as_deref() {
        Some("initialize") => {
            let result = json!({
                "protocolVersion": "2025-06-18", "capabilities": { "tools": {}, "resources": { "subscribe": true } },
                "serverInfo": { "name": "scripted", "version": "1" },
            });
            Reply::result(request, result)
        }
        Some("resources/list") => {
            let items = json!([{ "uri": "x://a", "name": "a" }]);
            Reply::result(request, json!({ "resources": items }))
        }
        Some("resources/templates/list") => Reply::result(request, json!({ "resourceTemplates": [] })),
        Some("resources/subscribe") => Reply::error(request, -32000, "not this one"),
        _ => Reply::legacy(request),
    })
    .await
    .unwrap();
    let house = House::start(&[upstream.url()]).await;
    house
        .connect(ConnectionOwner::Agent(house.agent), "own", upstream.url())
        .await;
    let url = format!("{}/mcp/default/own", house.url);
    let peer = Peer::begin(&url, &house.agent_key, json!({})).await;
    for n in 0..257 {
        let answer = peer
            .call("resources/subscribe", json!({ "uri": format!("x://{n}") }))
            .await
            .json();
        assert_eq!(answer["error"]["code"], -32000, "{n}: {answer}");
    }
}

#[tokio::test]
async fn sessions_are_bounded_per_key() {
    let house = House::start(&[]).await;
    let url = format!("{}/mcp", house.url);
    let mut peers = Vec::new();
    for _ in 0..1_000 {
        peers.push(Peer::begin(&url, &house.agent_key, json!({})).await);
    }
    let mut one_more = Peer::new(&url, &house.agent_key);
    assert_eq!(
        one_more.initialize("2025-11-25", json!({})).await.status,
        StatusCode::SERVICE_UNAVAILABLE
    );
    // Others are not in the way of each other, and who ends one may begin another.
    let mut other = Peer::new(&format!("{url}/default"), &house.admin);
    assert_eq!(
        other.initialize("2025-11-25", json!({})).await.status,
        StatusCode::OK
    );
    peers[0].send(Method::DELETE, String::new(), &[]).await;
    assert_eq!(
        one_more.initialize("2025-11-25", json!({})).await.status,
        StatusCode::OK
    );
}

#[tokio::test]
async fn a_dead_upstream_is_in_nobodys_way() {
    let alive = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
    let upstream = {
        let alive = alive.clone();
        Scripted::start(
            move |request| match alive.load(std::sync::atomic::Ordering::SeqCst) {
                true => Reply::legacy(request),
                false => Reply::hang(),
            },
        )
        .await
        .unwrap()
    };
    let fixture = Fixture::start().await.unwrap();
    let house = House::start(&[upstream.url(), &fixture.url]).await;
    let owner = ConnectionOwner::Agent(house.agent);
    house.connect(owner, "dead", upstream.url()).await;
    house.connect(owner, "own", &fixture.url).await;
    alive.store(false, std::sync::atomic::Ordering::SeqCst);
    let peer = Peer::begin(&format!("{}/mcp", house.url), &house.agent_key, json!({})).await;
    let hanging = peer.tool("dead__echo", json!({}));
    let meanwhile = async {
        let listed = peer.call("tools/list", json!({})).await.json();
        let names: Vec<&str> = listed["result"]["tools"]
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| tool["name"].as_str().unwrap())
            .collect();
        assert!(
            names.contains(&"dead__echo") && names.contains(&"own__test_echo"),
            "{names:?}"
        );
        let called = peer.tool("own__test_simple_text", json!({})).await.json();
        assert_ne!(called["result"]["isError"], true, "{called}");
    };
    tokio::select! {
        answer = hanging => panic!("a dead server answered: {answer:?}"),
        () = meanwhile => {}
    }
}
