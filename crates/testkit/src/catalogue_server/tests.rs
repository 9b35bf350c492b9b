//! What is replayed is what was recorded.

use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{Catalogue, CatalogueServer, Discovery, Replay, serve_lines};
use crate::cases;
use crate::http::{post_modern, send};

fn sample() -> Catalogue {
    Catalogue::parse(include_str!("sample.json")).unwrap()
}

fn ask(catalogue: &Catalogue, method: &str, params: Value) -> Value {
    let request = json!({ "jsonrpc": "2.0", "id": "a-1", "method": method, "params": params }).to_string();
    match catalogue.answer(&request) {
        Replay::Answer { message, .. } => serde_json::from_str(&message).unwrap(),
        other => panic!("{method}: {other:?}"),
    }
}

#[test]
fn results_are_the_recorded_bytes() {
    let sample = sample();
    let Replay::Answer { message, status: 200 } =
        sample.answer(r#"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#)
    else {
        panic!("no answer")
    };
    let recorded = include_str!("sample.json");
    let list = message
        .strip_prefix(r#"{"jsonrpc":"2.0","id":7,"result":"#)
        .unwrap()
        .strip_suffix('}')
        .unwrap();
    assert!(recorded.contains(list), "{list}");
    let tools = sample.tools().unwrap();
    assert_eq!(tools.len(), 3);
    assert!(tools.iter().all(|tool| recorded.contains(tool.get())));
}

#[test]
fn every_recording_replays_its_lists() {
    for (name, catalogue) in cases::catalogues().unwrap() {
        let initialized = ask(&catalogue, "initialize", json!({}));
        assert!(initialized["result"]["protocolVersion"].is_string(), "{name}");
        let listed = ask(&catalogue, "tools/list", json!({}));
        let tools = listed["result"]["tools"].as_array();
        let expected = catalogue.tools().unwrap().len();
        assert!(
            tools.map_or(listed["error"].is_object(), |tools| tools.len() == expected),
            "{name}: {listed}"
        );
    }
}

#[test]
fn pages_hold_the_same_items() {
    let whole: Vec<String> = sample()
        .tools()
        .unwrap()
        .iter()
        .map(|tool| tool.get().to_owned())
        .collect();
    for size in 1..=4 {
        let paged = sample().with_page_size(size);
        let (mut cursor, mut items, mut pages) = (None, Vec::new(), 0);
        loop {
            let params = cursor
                .as_ref()
                .map_or(json!({}), |cursor| json!({ "cursor": cursor }));
            let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params });
            let Replay::Answer { message, .. } = paged.answer(&request.to_string()) else {
                panic!("no answer")
            };
            #[derive(serde::Deserialize)]
            struct Response {
                result: Listed,
            }
            #[derive(serde::Deserialize)]
            #[serde(rename_all = "camelCase")]
            struct Listed {
                tools: Vec<Box<RawValue>>,
                next_cursor: Option<String>,
            }
            let listed = serde_json::from_str::<Response>(&message).unwrap().result;
            items.extend(listed.tools.iter().map(|tool| tool.get().to_owned()));
            pages += 1;
            cursor = listed.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(
            (items, pages),
            (whole.clone(), whole.len().div_ceil(size)),
            "pages of {size}"
        );
    }
}

#[test]
fn errors_come_as_recorded() {
    let sample = sample();
    let cases = [
        ("resources/list", json!({}), -32603),
        ("resources/templates/list", json!({}), -32601),
        ("tools/list", json!({ "cursor": "nonsense" }), -32602),
        ("server/discover", json!({}), -32601),
        ("prompts/get", json!({}), -32601),
    ];
    for (method, params, code) in cases {
        assert_eq!(ask(&sample, method, params)["error"]["code"], code, "{method}");
    }
}

#[test]
fn discovery_is_as_configured() {
    let modern = sample()
        .with_recorded_discovery(include_str!("sample-modern.json"))
        .unwrap();
    assert_eq!(
        ask(&modern, "server/discover", json!({}))["result"]["supportedVersions"],
        json!(["2026-07-28"])
    );
    let meta = json!({ "_meta": { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } });
    assert_eq!(
        ask(&modern, "tools/list", meta.clone())["result"]["tools"]
            .as_array()
            .map(Vec::len),
        Some(1)
    );
    let prompts = ask(&modern, "prompts/list", meta);
    assert_eq!(
        (&prompts["result"]["resultType"], &prompts["result"]["ttlMs"]),
        (&json!("complete"), &json!(0))
    );

    let refused = sample().with_discovery(Discovery::Error {
        status: 400,
        code: -32602,
    });
    assert_eq!(
        ask(&refused, "server/discover", json!({}))["error"]["code"],
        -32602
    );
    let silent = sample().with_discovery(Discovery::Never);
    let request = r#"{"jsonrpc":"2.0","id":1,"method":"server/discover"}"#;
    assert_eq!(silent.answer(request), Replay::Silence);
}

#[tokio::test]
async fn serves_many_over_http() {
    let refused = sample().with_discovery(Discovery::Error {
        status: 400,
        code: -32602,
    });
    let server = CatalogueServer::start([("one".to_owned(), sample()), ("two".to_owned(), refused)])
        .await
        .unwrap();
    let called = post_modern(
        &server.url("one"),
        "tools/call",
        json!({ "name": "send", "arguments": { "to": null } }),
    )
    .await;
    let content = &called.unwrap().json()["result"]["content"];
    assert_eq!(
        (&content[0]["text"], &content[1]["text"]),
        (&json!("called send"), &json!(r#"{"to":null}"#))
    );
    let discovered = post_modern(&server.url("two"), "server/discover", json!({}))
        .await
        .unwrap();
    assert_eq!(
        (discovered.status.as_u16(), &discovered.json()["error"]["code"]),
        (400, &json!(-32602))
    );
    let notified = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let cases = [
        (http::Method::POST, "one", notified, 202),
        (http::Method::GET, "one", "", 405),
        (http::Method::POST, "three", notified, 404),
    ];
    for (method, name, body, status) in cases {
        let answer = send(method.clone(), &server.url(name), &[], body).await.unwrap();
        assert_eq!(answer.status.as_u16(), status, "{method} {name}");
    }
}

#[tokio::test]
async fn serves_lines() {
    let (mut client, server) = tokio::io::duplex(4096);
    let (input, output) = tokio::io::split(server);
    let serving = tokio::spawn(async move { serve_lines(&sample(), input, output).await });
    let lines = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
    client.write_all(lines.as_bytes()).await.unwrap();
    client.shutdown().await.unwrap();
    let mut answers = String::new();
    client.read_to_string(&mut answers).await.unwrap();
    assert_eq!(answers, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
    serving.await.unwrap().unwrap();
}
