//! Bodies that are too large, too deep, ambiguous or not text.

use std::time::Duration;

use http::{Method, StatusCode};
use serde_json::json;
use testkit::house::{Bounds, House, Plan};
use testkit::http::send;

use super::raw::{exchange, responses, status, still_serves};

const LIMIT: usize = 64 * 1024;

async fn house() -> House {
    House::build(Plan {
        bounds: Bounds {
            body_bytes: LIMIT,
            body_within: Duration::from_secs(5),
            ..Bounds::default()
        },
        ..Plan::default()
    })
    .await
}

fn head(house: &House, path: &str, more: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nConnection: close\r\n{more}\r\n",
        house.admin
    )
}

#[tokio::test]
async fn larger_than_allowed() {
    let house = house().await;
    for path in ["/mcp/default", "/mcp/-/operator", "/api/v1/agents"] {
        // Refused by what is announced, before any of it is read.
        for length in [LIMIT + 1, 1 << 40] {
            let said = exchange(
                &house,
                head(&house, path, &format!("Content-Length: {length}\r\n")),
            )
            .await;
            assert_eq!(status(&said), 413, "{path} {length}: {said}");
        }
        // Not announced: cut off where it becomes too much.
        let chunk = format!("{:x}\r\n{}\r\n", 16 * 1024, " ".repeat(16 * 1024));
        let endless = head(&house, path, "Transfer-Encoding: chunked\r\n") + &chunk.repeat(8);
        let said = exchange(&house, endless).await;
        assert_eq!(status(&said), 413, "{path}: {said}");
        assert!(said.contains("request.too_large"), "{said}");
        // As large as allowed is read, and not JSON.
        let full = head(&house, path, &format!("Content-Length: {LIMIT}\r\n")) + &" ".repeat(LIMIT);
        let said = exchange(&house, full).await;
        assert_eq!(status(&said), 400, "{path}: {said}");
    }
    // Nobody without a key makes us read anything.
    let stranger = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: {LIMIT}\r\nConnection: close\r\n\r\n"
    );
    let said = exchange(&house, stranger).await;
    assert_eq!((status(&said), responses(&said)), (401, 1), "{said}");
    still_serves(&house).await;
}

/// Bodies of a message or an operation that no reader may accept.
fn unreadable() -> Vec<(&'static str, Vec<u8>)> {
    let message =
        |params: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
    let nested = |open: &str, close: &str, inner: &str, levels: usize| {
        format!("{}{inner}{}", open.repeat(levels), close.repeat(levels))
    };
    let (lists, objects) = (nested("[", "]", "", 10_000), nested(r#"{"a":"#, "}", "1", 10_000));
    vec![
        ("lists, 10,000 levels", lists.clone().into_bytes()),
        ("objects, 10,000 levels", objects.clone().into_bytes()),
        ("never closed", "[".repeat(60_000).into_bytes()),
        ("as params", message(&lists).into_bytes()),
        ("as arguments", message(&format!(r#"{{"name":"a","arguments":{objects}}}"#)).into_bytes()),
        ("as metadata", message(&format!(r#"{{"name":"a","_meta":{{"x":{lists}}}}}"#)).into_bytes()),
        ("129 levels", nested("[", "]", "", 129).into_bytes()),
        ("in a batch", format!("[{}]", message(&lists)).into_bytes()),
        ("a key twice", br#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping","handle":"a","handle":"b"}"#.to_vec()),
        ("a key twice, escaped", br#"{"jsonrpc":"2.0","method":"ping","m\u0065thod":"tools/list","id":1,"handle":"a","h\u0061ndle":"b"}"#.to_vec()),
        ("not UTF-8", b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"p\xff\",\"handle\":\"\xff\"}".to_vec()),
        ("a byte order mark", b"\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}".to_vec()),
        ("UTF-16", "{\0\"\0a\0\"\0:\0\u{31}\0}\0".as_bytes().to_vec()),
        ("two documents", br#"{"jsonrpc":"2.0","id":1,"method":"ping"}{"a":1}"#.to_vec()),
        ("a half surrogate", br#"{"jsonrpc":"2.0","id":1,"method":"\ud800","handle":"\ud800"}"#.to_vec()),
        ("a half surrogate in params", message(r#"{"x":"\udc00","name":"a"}"#).into_bytes()),
        ("a half surrogate in a key", message(r#"{"name":"a","_meta":{"\ud83d":1}}"#).into_bytes()),
        ("halves in the wrong order", format!("[{}]", message(r#"{"name":"\ude00\ud83d"}"#)).into_bytes()),
        ("NaN", br#"{"jsonrpc":"2.0","id":NaN,"method":"ping"}"#.to_vec()),
        ("a comment", br#"{"jsonrpc":"2.0","id":1,/* */"method":"ping"}"#.to_vec()),
    ]
}

#[tokio::test]
async fn no_reader_accepts_what_two_could_read_differently() {
    let house = house().await;
    let bearer = format!("Bearer {}", house.admin);
    let headers = [
        ("authorization", &*bearer),
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
    ];
    let mut tried = 0;
    for path in ["/mcp/default", "/mcp/-/operator", "/api/v1/agents"] {
        for (what, body) in unreadable() {
            let url = format!("{}{path}", house.url);
            let answer = send(Method::POST, &url, &headers, body).await.unwrap();
            assert_eq!(
                answer.status,
                StatusCode::BAD_REQUEST,
                "{path} {what}: {answer:?}"
            );
            tried += 1;
        }
    }
    println!("{tried} unreadable bodies");
    // Arguments of an operation, where the message itself is fine.
    for arguments in [
        r#"{"handle":"a","handle":"b"}"#,
        r#"{"handle":"a","description":{"x":1,"x":2}}"#,
    ] {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"agents_create","arguments":{arguments}}}}}"#
        );
        let url = format!("{}/mcp/-/operator", house.url);
        let answer = send(Method::POST, &url, &headers, body).await.unwrap();
        assert_eq!(answer.json()["error"]["code"], -32602, "{answer:?}");
    }
    // None of it made an agent.
    let url = format!("{}/api/v1/agents", house.url);
    let agents = send(Method::GET, &url, &headers[..1], "").await.unwrap().json();
    assert_eq!(agents["items"].as_array().unwrap().len(), 1, "{agents}");
}

#[tokio::test]
async fn wide_envelopes() {
    let house = house().await;
    let members: Vec<String> = (0..2_000).map(|n| format!(r#""k{n}":{n}"#)).collect();
    let wide = members.join(",");
    let bearer = format!("Bearer {}", house.admin);
    for body in [
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping",{wide}}}"#),
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"x",{wide}}}}}"#),
        json!(vec![json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }); 33]).to_string(),
    ] {
        let headers = [
            ("authorization", &*bearer),
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
        ];
        let answer = send(
            Method::POST,
            &format!("{}/mcp/default", house.url),
            &headers,
            body,
        )
        .await
        .unwrap();
        assert!(answer.json()["error"].is_object(), "{answer:?}");
    }
}
