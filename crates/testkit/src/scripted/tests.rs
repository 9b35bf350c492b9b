//! What a script says is what a client sees, and what a client sends is what is remembered.

use std::time::Duration;

use http::Method;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{RawServer, Reply, Scripted, Step};
use crate::http::{HttpError, open, send};

const JSON: &[(&str, &str)] = &[("content-type", "application/json")];

#[tokio::test]
async fn remembers_exact_bytes_and_headers() {
    let upstream = Scripted::start(Reply::legacy).await.unwrap();
    let body = "{ \"jsonrpc\":\"2.0\",\n\"id\":1,\"method\":\"ping\" }";
    let answer = send(
        Method::POST,
        upstream.url(),
        &[("x-api-key", "k"), ("mcp-method", "ping")],
        body,
    )
    .await;
    assert_eq!(
        answer.unwrap().json(),
        json!({ "jsonrpc": "2.0", "id": 1, "result": {} })
    );
    let received = upstream.wait_for_received(1).await;
    assert_eq!(received[0].body, body);
    assert_eq!(
        (received[0].header("x-api-key"), received[0].uri.path()),
        (Some("k"), "/mcp")
    );
    assert_eq!(
        (
            upstream.received_of("ping").len(),
            upstream.received_of("tools/list").len()
        ),
        (1, 0)
    );
    assert_eq!((upstream.connections(), upstream.abandoned()), (1, 0));
}

#[tokio::test]
async fn plays_each_kind_of_reply() {
    let message = json!({ "jsonrpc": "2.0", "id": 1, "result": { "text": "long enough to drip" } });
    let cases: Vec<(&str, Reply, u16, Value)> = vec![
        (
            "status",
            Reply::status(503).header("retry-after", "2"),
            503,
            Value::Null,
        ),
        ("json", Reply::json(422, &message), 422, message.clone()),
        (
            "events",
            Reply::events([&json!({ "method": "n" }), &message]),
            200,
            message.clone(),
        ),
        (
            "keep-alive",
            Reply::events([])
                .then(Step::keep_alive())
                .then(Step::event(&message)),
            200,
            message.clone(),
        ),
        (
            "drip",
            Reply::drip(&message, 7, Duration::from_millis(1)),
            200,
            message.clone(),
        ),
        ("not JSON", Reply::bytes(200, "<html>"), 200, Value::Null),
    ];
    for (name, reply, status, expected) in cases {
        let upstream = Scripted::in_order([reply]).await.unwrap();
        let answer = send(Method::POST, upstream.url(), JSON, "{}").await.unwrap();
        assert_eq!(
            (answer.status.as_u16(), answer.json()),
            (status, expected),
            "{name}"
        );
        assert_eq!(
            send(Method::POST, upstream.url(), JSON, "{}")
                .await
                .unwrap()
                .status
                .as_u16(),
            500,
            "{name}"
        );
        assert_eq!(upstream.abandoned(), 0, "{name}");
    }
}

#[tokio::test]
async fn breaks_off_before_and_within_a_response() {
    let upstream = Scripted::in_order([Reply::close(), Reply::bytes(200, "half").then(Step::Break)])
        .await
        .unwrap();
    let before = send(Method::POST, upstream.url(), JSON, "{}").await;
    assert!(matches!(before, Err(HttpError::Exchange(_))), "{before:?}");
    let within = send(Method::POST, upstream.url(), JSON, "{}").await;
    assert!(matches!(within, Err(HttpError::Body(_))), "{within:?}");
    assert_eq!(upstream.abandoned(), 0);
}

#[tokio::test]
async fn notices_a_client_that_gives_up() {
    let hanging_body = Reply::events([&json!({ "method": "n" })]).then(Step::Hang);
    let upstream = Scripted::in_order([Reply::hang(), hanging_body]).await.unwrap();
    let waiting = tokio::spawn({
        let url = upstream.url().to_owned();
        async move { send(Method::POST, &url, JSON, "{}").await }
    });
    upstream.wait_for_received(1).await;
    waiting.abort();
    upstream.wait_for_abandoned(1).await;
    let mut response = open(Method::POST, upstream.url(), JSON, "{}").await.unwrap();
    let frame = response.body_mut().frame().await.unwrap().unwrap();
    assert!(frame.into_data().unwrap().starts_with(b"event: message"));
    drop(response);
    upstream.wait_for_abandoned(2).await;
}

#[tokio::test]
async fn holds_back_until_told() {
    let (head, body) = (CancellationToken::new(), CancellationToken::new());
    let reply = Reply::status(200)
        .after(head.clone())
        .then(Step::Until(body.clone()))
        .then(Step::Bytes("x".into()));
    let upstream = Scripted::in_order([reply]).await.unwrap();
    let url = upstream.url().to_owned();
    let waiting = tokio::spawn(async move { open(Method::GET, &url, &[], "").await });
    upstream.wait_for_received(1).await;
    assert!(!waiting.is_finished());
    head.cancel();
    let response = waiting.await.unwrap().unwrap();
    body.cancel();
    assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), "x");
}

#[tokio::test]
async fn a_raw_server_says_anything() {
    let cases: [(&str, bool); 3] = [
        ("garbage\r\n\r\n", false),
        ("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nshort", false),
        ("", false),
    ];
    for (bytes, hold) in cases {
        let server = RawServer::start(bytes, hold).await.unwrap();
        assert!(
            send(Method::POST, server.url(), JSON, "{}").await.is_err(),
            "{bytes:?}"
        );
        assert_eq!(server.connections(), 1, "{bytes:?}");
    }
    let held = RawServer::start("HTTP/1.1 204 No Content\r\n\r\n", true)
        .await
        .unwrap();
    assert_eq!(
        send(Method::POST, held.url(), JSON, "{}")
            .await
            .unwrap()
            .status
            .as_u16(),
        204
    );
}
