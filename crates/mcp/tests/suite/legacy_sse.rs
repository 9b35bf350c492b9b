//! Sessions over HTTP with SSE, and falling back to it.

use std::sync::{Arc, Mutex};

use futures::StreamExt;
use mcp::{ConnectError, RequestError, Silent, Transport, TransportKind, Upstream};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::server::{Reply, Seen, Server, event};
use crate::watch::{call, ear, http, json_of, target};

/// A server of 2024-11-05 that names this address.
async fn server(address: &'static str) -> (Server, CancellationToken) {
    let stream: Arc<Mutex<Option<mpsc::UnboundedSender<String>>>> = Arc::default();
    let stop = CancellationToken::new();
    let ended = stop.clone();
    let server = Server::start(move |seen| {
        if seen.method() == "GET" {
            let (sender, receiver) = mpsc::unbounded_channel();
            sender
                .send(format!("event: endpoint\ndata: {address}\n\n"))
                .unwrap();
            *stream.lock().unwrap() = Some(sender);
            let pieces = futures::stream::unfold(receiver, |mut receiver| async {
                receiver.recv().await.map(|piece| (piece, receiver))
            });
            return Reply::Stream(pieces.take_until(ended.clone().cancelled_owned()).boxed());
        }
        if !seen.path.starts_with("/messages") {
            return Reply::status(405, "");
        }
        if let Some(answer) = answer(seen) {
            stream
                .lock()
                .unwrap()
                .as_ref()
                .unwrap()
                .send(event(&answer))
                .unwrap();
        }
        Reply::status(202, "Accepted")
    })
    .await;
    (server, stop)
}

fn answer(seen: &Seen) -> Option<Value> {
    match seen.method() {
        "initialize" => Some(seen.result(json!({
            "protocolVersion": "2024-11-05", "capabilities": {}, "serverInfo": {"name": "old", "version": "1"}}))),
        "tools/call" if seen.body["params"]["name"] == "echo" => Some(seen.result(seen.body["params"]["arguments"].clone())),
        _ => None,
    }
}

// V126
#[tokio::test]
async fn calls_and_cancellation() {
    for (transport, opening) in [
        ("sse", "GET initialize"),
        ("auto", "server/discover initialize GET initialize"),
    ] {
        let (server, stop) = server("/messages?session=1").await;
        let address = http(&server.url());
        let transport = if transport == "sse" {
            Transport::Sse(address)
        } else {
            Transport::Auto(address)
        };
        let (listener, mut heard) = ear();
        let upstream = Upstream::connect(target(transport.clone()), None, listener)
            .await
            .unwrap();
        assert_eq!(upstream.negotiated().transport, TransportKind::Sse);
        assert_eq!(upstream.negotiated().version.as_str(), "2024-11-05");
        let methods = server.methods();
        assert_eq!(methods.join(" "), format!("{opening} notifications/initialized"));
        let calls = (0..20).map(|n| {
            let upstream = &upstream;
            async move {
                let answer = upstream
                    .request(call("echo", &json!({ "n": n })), Arc::new(Silent))
                    .await
                    .unwrap();
                assert_eq!(json_of(&answer), json!({ "n": n }));
            }
        });
        futures::future::join_all(calls).await;
        let seen = tokio::select! {
            outcome = upstream.request(call("never", &json!({})), Arc::new(Silent)) => panic!("{outcome:?}"),
            seen = async {
                loop {
                    let seen = server.arrival("tools/call").await;
                    if seen.body["params"]["name"] == "never" { break seen; }
                }
            } => seen,
        };
        let cancelled = server.arrival("notifications/cancelled").await;
        assert_eq!(cancelled.body["params"]["requestId"], seen.body["id"]);
        // Remembered, the old transport is used at once.
        let again = Upstream::connect(target(transport), Some(upstream.negotiated()), Arc::new(Silent))
            .await
            .unwrap();
        assert_eq!(
            server
                .methods()
                .iter()
                .filter(|method| *method == "server/discover")
                .count(),
            opening.matches("discover").count()
        );
        drop(again);
        stop.cancel();
        assert!(heard.closed().await.contains("ended the stream"));
        let error = upstream
            .request(call("echo", &json!({})), Arc::new(Silent))
            .await
            .unwrap_err();
        assert!(!error.sent());
    }
}

#[tokio::test]
async fn another_origin_is_refused() {
    for address in [
        "http://127.0.0.1:1/messages",
        "https://elsewhere.example/messages",
        "//elsewhere.example/x",
    ] {
        let (server, _stop) = server(address).await;
        let outcome = Upstream::connect(
            target(Transport::Sse(http(&server.url()))),
            None,
            Arc::new(Silent),
        )
        .await;
        let Err(ConnectError::Refused(RequestError::Malformed(text))) = outcome else {
            panic!("{outcome:?}")
        };
        assert!(text.contains("another origin"));
        assert_eq!(server.methods(), ["GET"]);
    }
}

#[tokio::test]
async fn neither_transport() {
    let server = Server::start(|_| Reply::status(404, "nothing here")).await;
    let outcome = Upstream::connect(
        target(Transport::Auto(http(&server.url()))),
        None,
        Arc::new(Silent),
    )
    .await;
    assert_eq!(outcome.unwrap_err().http_status(), Some(404));
    assert_eq!(server.methods(), ["server/discover", "initialize", "GET"]);
}
