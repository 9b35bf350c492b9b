//! The bridge between a client's lines and a scripted server.

use bytes::Bytes;
use serde_json::{Value, json};
use testkit::scripted::{Received, Reply, Scripted, Step};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use url::Url;

use super::lines::{self, Line};
use super::relay::relay;
use crate::client::Http;

/// A client that speaks stdio, with the bridge at its other end.
struct Client {
    input: Option<DuplexStream>,
    output: Lines<BufReader<DuplexStream>>,
    done: JoinHandle<anyhow::Result<()>>,
}

impl Client {
    fn start(server: &Scripted) -> Self {
        let (input, theirs) = tokio::io::duplex(64 * 1024);
        let (ours, output) = tokio::io::duplex(64 * 1024);
        let endpoint = Url::parse(server.url()).unwrap();
        let done = tokio::spawn(relay(Http::new(None).unwrap(), endpoint, theirs, ours));
        Self {
            input: Some(input),
            output: BufReader::new(output).lines(),
            done,
        }
    }

    async fn say(&mut self, message: &Value) {
        let line = format!("{message}\n");
        self.input
            .as_mut()
            .unwrap()
            .write_all(line.as_bytes())
            .await
            .unwrap();
    }

    async fn hear(&mut self) -> Value {
        serde_json::from_str(&self.output.next_line().await.unwrap().unwrap()).unwrap()
    }

    async fn ask(&mut self, message: &Value) -> Value {
        self.say(message).await;
        self.hear().await
    }

    /// Ends the input and returns what still came.
    async fn end(mut self) -> Vec<Value> {
        self.input = None;
        let mut rest = Vec::new();
        while let Some(line) = self.output.next_line().await.unwrap() {
            rest.push(serde_json::from_str(&line).unwrap());
        }
        self.done.await.unwrap().unwrap();
        rest
    }
}

fn request(id: u32, method: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": {} })
}

fn modern(id: u32, method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28" });
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// A server with sessions, that has no standing stream.
fn with_session(request: &Received, id: &str) -> Reply {
    match (request.rpc_method().as_deref(), request.method.as_str()) {
        (Some("initialize"), _) => Reply::legacy(request).header("mcp-session-id", id),
        (_, "DELETE") => Reply::status(200),
        _ => Reply::legacy(request),
    }
}

#[tokio::test]
async fn a_session_is_opened_named_and_ended() {
    let server = Scripted::start(|request| with_session(request, "one"))
        .await
        .unwrap();
    let mut client = Client::start(&server);
    assert_eq!(
        client.ask(&request(0, "initialize")).await["result"]["protocolVersion"],
        "2025-06-18"
    );
    client
        .say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
        .await;
    assert_eq!(
        client.ask(&request(1, "tools/list")).await["result"]["tools"][0]["name"],
        "echo"
    );
    // An answer to a request of the server has no method; what comes of it is nobody's affair.
    client
        .say(&json!({ "jsonrpc": "2.0", "id": "s1", "result": {} }))
        .await;
    assert_eq!(
        client.ask(&request(2, "ping")).await,
        json!({ "jsonrpc": "2.0", "id": 2, "result": {} })
    );
    assert_eq!(client.end().await, Vec::<Value>::new());

    let received = server.received();
    let named: Vec<_> = received
        .iter()
        .filter(|r| r.rpc_method().as_deref() != Some("initialize"))
        .collect();
    assert!(
        named.iter().all(|r| r.header("mcp-session-id") == Some("one")),
        "{named:?}"
    );
    assert!(
        named
            .iter()
            .all(|r| r.header("mcp-protocol-version") == Some("2025-06-18")),
        "{named:?}"
    );
    assert!(
        received
            .iter()
            .any(|r| r.json() == json!({ "jsonrpc": "2.0", "id": "s1", "result": {} }))
    );
    assert_eq!(received.last().unwrap().method, "DELETE");
}

#[tokio::test]
async fn events_become_lines_however_they_are_cut() {
    let bodies: &[&str] = &[
        "data: {\"jsonrpc\":\"2.0\",\ndata: \"id\":1,\ndata:\"result\":{\"a\":\"b\"}}\n\n",
        ": hello\r\nevent: message\r\nid: 7\r\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\r\ndata: \"result\":{\"a\":\"b\"}}\r\n\r\n",
        "\u{feff}data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":\"b\"}}\r\rdata\n\n",
    ];
    for body in bodies {
        for size in [1, 7, 1_000] {
            let pieces: Vec<Bytes> = body.as_bytes().chunks(size).map(Bytes::copy_from_slice).collect();
            let server = Scripted::start(move |_| {
                let stream = Reply::status(200).header("content-type", "text/event-stream; charset=utf-8");
                pieces
                    .iter()
                    .fold(stream, |stream, piece| stream.then(Step::Bytes(piece.clone())))
            });
            let server = server.await.unwrap();
            let mut client = Client::start(&server);
            let want = json!({ "jsonrpc": "2.0", "id": 1, "result": { "a": "b" } });
            assert_eq!(
                client.ask(&request(1, "tools/call")).await,
                want,
                "{body:?} in pieces of {size}"
            );
            assert_eq!(client.end().await, Vec::<Value>::new());
        }
    }
}

#[tokio::test]
async fn the_server_asks_and_the_client_answers() {
    let question = json!({ "jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": {} });
    let heard = CancellationToken::new();
    let answered = heard.clone();
    let server =
        Scripted::start(
            move |request| match (request.rpc_method().as_deref(), request.method.as_str()) {
                (Some("tools/call"), _) => {
                    let answer =
                        json!({ "jsonrpc": "2.0", "id": request.json()["id"], "result": { "content": [] } });
                    Reply::events([&question])
                        .then(Step::Until(heard.clone()))
                        .then(Step::event(&answer))
                }
                (None, "POST") => {
                    answered.cancel();
                    Reply::status(202)
                }
                _ => with_session(request, "one"),
            },
        );
    let server = server.await.unwrap();
    let mut client = Client::start(&server);
    client.ask(&request(0, "initialize")).await;
    assert_eq!(
        client.ask(&request(1, "tools/call")).await["method"],
        "elicitation/create"
    );
    client
        .say(&json!({ "jsonrpc": "2.0", "id": "q", "result": { "action": "accept" } }))
        .await;
    assert_eq!(client.hear().await["result"], json!({ "content": [] }));
    client.end().await;
}

#[tokio::test]
async fn what_the_server_says_by_itself_arrives() {
    let change = json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" });
    let server = Scripted::start(move |request| match request.method.as_str() {
        "GET" => Reply::events([&change]).then(Step::Hang),
        _ => with_session(request, "one"),
    });
    let server = server.await.unwrap();
    let mut client = Client::start(&server);
    client.ask(&request(0, "initialize")).await;
    assert_eq!(client.hear().await["method"], "notifications/tools/list_changed");
    assert_eq!(client.end().await, Vec::<Value>::new());
}

#[tokio::test]
async fn a_modern_request_says_itself_again_in_headers() {
    let server = Scripted::start(|request| match request.rpc_method().as_deref() {
        Some("tools/list") => {
            let schema = json!({ "type": "object", "properties": { "region": { "type": "string", "x-mcp-header": "Region" } } });
            Reply::result(
                request,
                json!({ "tools": [{ "name": "söarch", "inputSchema": schema }] }),
            )
        }
        Some("tools/call") if request.header("mcp-param-region").is_none() => {
            let error = json!({ "code": -32020, "message": "header mismatch" });
            Reply::json(
                400,
                &json!({ "jsonrpc": "2.0", "id": request.json()["id"], "error": error }),
            )
        }
        _ => Reply::result(request, json!({ "content": [] })),
    });
    let server = server.await.unwrap();
    let mut client = Client::start(&server);
    // The client lists nothing before it calls: the bridge finds out what the server wants.
    let call = modern(
        1,
        "tools/call",
        json!({ "name": "söarch", "arguments": { "region": "eu" } }),
    );
    assert_eq!(client.ask(&call).await["result"], json!({ "content": [] }));
    assert_eq!(
        client
            .ask(&modern(2, "resources/read", json!({ "uri": "a://b" })))
            .await["id"],
        2
    );
    client.end().await;

    let received = server.received();
    let methods: Vec<_> = received
        .iter()
        .map(|r| r.header("mcp-method").unwrap_or_default().to_owned())
        .collect();
    assert_eq!(
        methods,
        ["tools/call", "tools/list", "tools/call", "resources/read"]
    );
    assert!(
        received
            .iter()
            .all(|r| r.header("mcp-protocol-version") == Some("2026-07-28"))
    );
    assert_eq!(received[2].header("mcp-name"), Some("=?base64?c8O2YXJjaA==?="));
    assert_eq!(received[2].header("mcp-param-region"), Some("eu"));
    assert_eq!(received[3].header("mcp-name"), Some("a://b"));
}

#[tokio::test]
async fn calling_off_a_modern_request_closes_its_exchange() {
    let server = Scripted::start(|_| Reply::hang()).await.unwrap();
    let mut client = Client::start(&server);
    client
        .say(&modern(7, "tools/call", json!({ "name": "slow" })))
        .await;
    server.wait_for_received(1).await;
    client
        .say(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 7 } }))
        .await;
    server.wait_for_abandoned(1).await;
    assert_eq!(client.end().await, Vec::<Value>::new());
    assert_eq!(server.received().len(), 1, "nothing else was sent");
}

#[tokio::test]
async fn answers_under_way_are_waited_for_when_the_input_ends() {
    let go = CancellationToken::new();
    let held = go.clone();
    let server =
        Scripted::start(move |request| Reply::result(request, json!({ "late": true })).after(held.clone()));
    let server = server.await.unwrap();
    let mut client = Client::start(&server);
    client.say(&request(1, "tools/call")).await;
    server.wait_for_received(1).await;
    client.input = None;
    go.cancel();
    assert_eq!(client.hear().await["result"]["late"], true);
    assert_eq!(client.end().await, Vec::<Value>::new());
}

#[tokio::test]
async fn whatever_goes_wrong_is_an_answer() {
    let problem = json!({ "status": 401, "code": "auth.required", "detail": "send a valid key" });
    let cases = [
        (Reply::json(401, &problem), "send a valid key"),
        (Reply::status(502), "the server answered 502"),
        (Reply::status(202), "without a message"),
        (Reply::bytes(200, "hello"), "without a message"),
        (Reply::close(), "cannot reach"),
        (Reply::events([]), "the server's answer broke off"),
        (
            Reply::events([])
                .then(Step::Bytes("data: {\"jso".into()))
                .then(Step::Break),
            "broke off",
        ),
    ];
    for (reply, want) in cases {
        let shown = format!("{reply:?}");
        let server = Scripted::start(move |_| reply.clone()).await.unwrap();
        let mut client = Client::start(&server);
        // Nobody waits for the answer to a notification.
        client
            .say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
            .await;
        let answer = client
            .ask(&json!({ "jsonrpc": "2.0", "id": "a", "method": "ping" }))
            .await;
        assert_eq!(
            (&answer["id"], &answer["error"]["code"]),
            (&json!("a"), &json!(-32000)),
            "{shown}"
        );
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains(want), "{shown}: {message}");
        assert_eq!(client.end().await, Vec::<Value>::new(), "{shown}");
    }
}

#[tokio::test]
async fn an_answer_that_broke_off_is_taken_up_where_it_was() {
    let server =
        Scripted::start(
            |request| match (request.rpc_method().as_deref(), request.header("last-event-id")) {
                (Some("tools/call"), _) => {
                    Reply::events([]).then(Step::Bytes("id: 5\nretry: 1\ndata:\n\n".into()))
                }
                (None, Some("5")) => {
                    Reply::events([&json!({ "jsonrpc": "2.0", "id": 1, "result": { "whole": true } })])
                }
                _ => with_session(request, "one"),
            },
        );
    let server = server.await.unwrap();
    let mut client = Client::start(&server);
    client.ask(&request(0, "initialize")).await;
    assert_eq!(
        client.ask(&request(1, "tools/call")).await["result"]["whole"],
        true
    );
    client.end().await;
}

#[tokio::test]
async fn a_session_the_server_lost_is_opened_again() {
    let opened = std::sync::atomic::AtomicU32::new(0);
    let server = Scripted::start(move |request| {
        let lost = request.header("mcp-session-id") == Some("1");
        match (request.rpc_method().as_deref(), lost) {
            (Some("initialize"), _) => {
                let number = opened.fetch_add(1, std::sync::atomic::Ordering::SeqCst) + 1;
                with_session(request, &number.to_string())
            }
            (Some("tools/list"), true) => Reply::status(404),
            _ => with_session(request, "unused"),
        }
    });
    let server = server.await.unwrap();
    let mut client = Client::start(&server);
    client.ask(&request(0, "initialize")).await;
    assert_eq!(
        client.ask(&request(1, "tools/list")).await["result"]["tools"][0]["name"],
        "echo"
    );
    assert_eq!(
        client.end().await,
        Vec::<Value>::new(),
        "the client does not notice"
    );
    assert_eq!(server.received_of("initialize").len(), 2);
    assert_eq!(server.received_of("notifications/initialized").len(), 1);
    assert_eq!(
        server
            .received_of("tools/list")
            .last()
            .unwrap()
            .header("mcp-session-id"),
        Some("2")
    );
}

#[tokio::test]
async fn lines_are_bounded() {
    let mut input: &[u8] = b"short\n0123456789a\n\r\nlast";
    let mut read = Vec::new();
    loop {
        match lines::next(&mut input, 10).await.unwrap() {
            Line::End => break,
            line => read.push(line),
        }
    }
    let whole = |text: &str| Line::Whole(text.as_bytes().to_vec());
    assert_eq!(read, [whole("short"), Line::TooLong, whole("\r"), whole("last")]);
}
