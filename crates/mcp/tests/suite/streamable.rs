//! Sessions over Streamable HTTP, in both eras.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use domain::Secret;
use futures::StreamExt;
use mcp::param_headers::ParamHeaders;
use mcp::version::ProtocolVersion;
use mcp::wire::raw;
use mcp::{
    ClientContext, ConnectError, HeaderName, Negotiated, Phase, Request, RequestError, Silent, Transport,
    TransportKind, Upstream,
};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::server::{Reply, Seen, Server, event};
use crate::watch::{call, ear, http, in_seconds, json_of, object, target};

const MODERN: &str = "2026-07-28";

fn discovered(seen: &Seen) -> Reply {
    Reply::json(&seen.result(json!({
        "resultType": "complete", "supportedVersions": [MODERN], "capabilities": {"tools": {}, "prompts": {}},
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "web", "version": "3"}},
    })))
}

fn initialized(seen: &Seen) -> Reply {
    Reply::json(&seen.result(json!({
        "protocolVersion": seen.body["params"]["protocolVersion"], "capabilities": {"tools": {}},
        "serverInfo": {"name": "web", "version": "1"},
    })))
    .with("mcp-session-id", "session-1")
}

/// A modern server: the script sees everything but the greeting.
async fn modern(script: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> (Server, Upstream) {
    let server = Server::start(move |seen| match seen.method() {
        "server/discover" => discovered(seen),
        _ => script(seen),
    })
    .await;
    let upstream = connect(&server).await.unwrap();
    (server, upstream)
}

/// A legacy server with sessions and without a standing stream, unless the script answers GET otherwise.
async fn legacy(script: impl Fn(&Seen) -> Option<Reply> + Send + Sync + 'static) -> (Server, Upstream) {
    let server = Server::start(move |seen| {
        script(seen).unwrap_or_else(|| match seen.method() {
            "initialize" => initialized(seen),
            "server/discover" => Reply::status(400, "Bad Request: no session"),
            "GET" => Reply::status(405, ""),
            _ => Reply::status(202, ""),
        })
    })
    .await;
    let upstream = connect(&server).await.unwrap();
    (server, upstream)
}

async fn connect(server: &Server) -> Result<Upstream, ConnectError> {
    Upstream::connect(
        target(Transport::StreamableHttp(http(&server.url()))),
        None,
        Arc::new(Silent),
    )
    .await
}

async fn ask(upstream: &Upstream, tool: &str, arguments: Value) -> Result<Value, RequestError> {
    upstream
        .request(call(tool, &arguments), Arc::new(Silent))
        .await
        .map(|raw| json_of(&raw))
}

#[tokio::test]
async fn every_greeting_leads_to_a_session() {
    type Greeting = fn(&Seen) -> Reply;
    /// The version spoken in the end, and how it came to that.
    type Outcome = (&'static str, &'static str);
    const LEGACY: Outcome = ("2025-11-25", "discover initialize");
    let cases: [(&str, Greeting, Outcome); 14] = [
        ("a result", discovered, (MODERN, "discover")),
        ("400", |_| Reply::status(400, ""), LEGACY),
        ("400 with text", |_| Reply::status(400, "no session id"), LEGACY),
        (
            "400 with an error",
            |s| Reply::status(400, &s.error(-32000, json!(null)).to_string()),
            LEGACY,
        ),
        ("404", |_| Reply::status(404, "not found"), LEGACY),
        (
            "404 with an error",
            |s| Reply::status(404, &s.error(-32601, json!(null)).to_string()),
            LEGACY,
        ),
        ("405", |_| Reply::status(405, ""), LEGACY),
        ("406", |_| Reply::status(406, ""), LEGACY),
        ("500", |_| Reply::status(500, "oops"), LEGACY),
        (
            "200 with an error",
            |s| Reply::json(&s.error(-32602, json!(null))),
            LEGACY,
        ),
        (
            "200 with something",
            |s| Reply::json(&s.result(json!({}))),
            LEGACY,
        ),
        ("200 with a page", |_| Reply::status(200, "<html>"), LEGACY),
        ("202", |_| Reply::status(202, ""), LEGACY),
        (
            "legacy versions",
            |s| {
                Reply::status(
                    400,
                    &s.error(-32022, json!({"supported": ["2025-03-26"]})).to_string(),
                )
            },
            ("2025-03-26", "discover initialize"),
        ),
    ];
    for (name, greeting, (version, opening)) in cases {
        let server = Server::start(move |seen| match seen.method() {
            "server/discover" => greeting(seen),
            "initialize" => initialized(seen),
            "GET" => Reply::status(405, ""),
            _ => Reply::status(202, ""),
        })
        .await;
        let upstream = connect(&server)
            .await
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(upstream.negotiated().version.as_str(), version, "{name}");
        assert_eq!(upstream.server().name, "web", "{name}");
        let methods = server.methods();
        let seen: Vec<&str> = methods
            .iter()
            .filter_map(|method| {
                method
                    .strip_prefix("server/")
                    .or((method == "initialize").then_some(method))
            })
            .collect();
        assert_eq!(seen.join(" "), opening, "{name}");
        upstream.close().await;
    }
}

#[tokio::test]
async fn some_refusals_are_final() {
    let check = async |reply: fn() -> Reply, want: fn(&RequestError) -> bool| {
        let server = Server::start(move |_| reply()).await;
        let Err(ConnectError::Refused(error)) = connect(&server).await else {
            panic!()
        };
        assert!(want(&error), "{error:?}");
        assert_eq!(server.methods(), ["server/discover"]);
    };
    check(
        || Reply::status(401, "{}").with("www-authenticate", "Bearer resource_metadata=\"x\""),
        |error| matches!(error, RequestError::Http { status: 401, challenge: Some(c), .. } if c.contains("metadata")),
    )
    .await;
    check(
        || Reply::status(429, "slow down").with("retry-after", "7"),
        |error| matches!(error, RequestError::Http { status: 429, retry_after: Some(after), .. } if after.as_secs() == 7),
    )
    .await;
    // V126
    check(
        || Reply::status(307, "").with("location", "https://elsewhere.example/mcp"),
        |error| matches!(error, RequestError::Redirect { status: 307, location } if location == "elsewhere.example"),
    )
    .await;
    check(
        || Reply::status(503, ""),
        |error| error.http_status() == Some(503),
    )
    .await;
}

#[tokio::test]
async fn a_refused_version_is_asked_for_again() {
    let refusals = AtomicUsize::new(0);
    let server = Server::start(move |seen| match refusals.fetch_add(1, Ordering::SeqCst) {
        // Once at the greeting, once in the middle of the session.
        0 | 2 => Reply::status(
            400,
            &seen.error(-32022, json!({"supported": [MODERN]})).to_string(),
        ),
        1 => discovered(seen),
        _ => Reply::json(&seen.result(json!({"n": 1}))),
    })
    .await;
    let upstream = connect(&server).await.unwrap();
    assert_eq!(ask(&upstream, "t", json!({})).await.unwrap(), json!({"n": 1}));
    assert_eq!(
        server.methods(),
        ["server/discover", "server/discover", "tools/call", "tools/call"]
    );
}

#[tokio::test]
async fn a_remembered_version_is_used_at_once() {
    let server = Server::start(|seen| match seen.method() {
        "initialize" => initialized(seen),
        _ => Reply::status(202, ""),
    })
    .await;
    let remembered = Negotiated {
        version: ProtocolVersion::V2025_06_18,
        transport: TransportKind::StreamableHttp,
    };
    let mut target = target(Transport::Auto(http(&server.url())));
    target.limits.standing_stream = false;
    let upstream = Upstream::connect(target, Some(remembered), Arc::new(Silent))
        .await
        .unwrap();
    assert_eq!(upstream.negotiated(), remembered);
    assert_eq!(server.methods(), ["initialize", "notifications/initialized"]);
}

#[tokio::test]
async fn modern_requests_say_who_asks() {
    let (server, upstream) = modern(|seen| Reply::json(&seen.result(json!({})))).await;
    let schema =
        json!({"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}});
    let plan = Arc::new(ParamHeaders::from_schema(&raw(&schema).unwrap()).unwrap());
    let context = ClientContext {
        capabilities: Some(raw(&json!({"sampling": {}})).unwrap()),
        info: Some(raw(&json!({"name": "downstream", "version": "9"})).unwrap()),
        log_level: Some("warning".into()),
    };
    let params =
        json!({"name": "größe", "arguments": {"region": "eu"}, "_meta": {"progressToken": "theirs", "k": 1}});
    let request = Request::new("tools/call", object(&params), in_seconds(20))
        .with_progress()
        .with_param_headers(plan)
        .on_behalf_of(context);
    upstream.request(request, Arc::new(Silent)).await.unwrap();
    let read = Request::new(
        "resources/read",
        object(&json!({"uri": "file:///a b"})),
        in_seconds(20),
    );
    upstream.request(read, Arc::new(Silent)).await.unwrap();
    let [discover, called, read] = &server.seen()[..] else {
        panic!()
    };
    for seen in [discover, called, read] {
        assert_eq!(seen.header("mcp-protocol-version"), Some(MODERN));
        assert_eq!(seen.header("mcp-method"), Some(seen.method()));
        assert_eq!(seen.header("accept"), Some("application/json, text/event-stream"));
        assert_eq!(
            seen.body["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"],
            MODERN
        );
        assert_eq!(seen.header("mcp-session-id"), None);
    }
    assert_eq!(called.header("mcp-name"), Some("=?base64?Z3LDtsOfZQ==?="));
    assert_eq!(called.header("mcp-param-region"), Some("eu"));
    assert_eq!(read.header("mcp-name"), Some("file:///a b"));
    let meta = &called.body["params"]["_meta"];
    assert_eq!(
        (&meta["k"], &meta["progressToken"]),
        (&json!(1), &called.body["id"])
    );
    assert_eq!(meta["io.modelcontextprotocol/clientInfo"]["name"], "downstream");
    assert_eq!(
        meta["io.modelcontextprotocol/clientCapabilities"],
        json!({"sampling": {}})
    );
    assert_eq!(meta["io.modelcontextprotocol/logLevel"], "warning");
    assert_eq!(
        read.body["params"]["_meta"]["io.modelcontextprotocol/clientInfo"]["name"],
        "suite"
    );
}

#[tokio::test]
async fn legacy_sessions_carry_their_id() {
    let (server, upstream) = legacy(|seen| match seen.method() {
        "tools/call" => Some(Reply::json(&seen.result(json!({})))),
        _ => None,
    })
    .await;
    ask(&upstream, "t", json!({})).await.unwrap();
    upstream
        .notify("notifications/roots/list_changed", object(&json!({})))
        .await
        .unwrap();
    upstream.close().await;
    let seen = server.seen();
    let of = |method: &str| seen.iter().find(|seen| seen.method() == method).unwrap();
    assert_eq!(
        (
            of("initialize").header("mcp-session-id"),
            of("initialize").header("mcp-protocol-version")
        ),
        (None, None)
    );
    for method in [
        "notifications/initialized",
        "tools/call",
        "notifications/roots/list_changed",
        "DELETE",
    ] {
        assert_eq!(of(method).header("mcp-session-id"), Some("session-1"), "{method}");
        assert_eq!(
            of(method).header("mcp-protocol-version"),
            Some("2025-11-25"),
            "{method}"
        );
        assert_eq!(of(method).header("mcp-method"), None);
    }
}

#[tokio::test]
async fn results_pass_untouched() {
    let text =
        r#"{"content" : [ ],"n":1.50e3,"big":123456789012345678901234567890,"é":"\u00e9\/","a":{"b":[]}}"#;
    let check = async |stream: bool| {
        let (_server, upstream) = modern(move |seen| {
            let body = format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{text}}}",
                seen.body["id"]
            );
            if stream {
                Reply::pieces(vec![format!("data: {body}\n\n")])
            } else {
                Reply::status(200, &body)
            }
        })
        .await;
        let got = upstream
            .request(call("t", &json!({})), Arc::new(Silent))
            .await
            .unwrap();
        assert_eq!(got.get(), text);
    };
    check(false).await;
    check(true).await;
}

#[tokio::test]
async fn errors_keep_their_status() {
    let check = async |reply: fn(&Seen) -> Reply, want: fn(&RequestError) -> bool| {
        let (_server, upstream) = modern(reply).await;
        let error = ask(&upstream, "t", json!({})).await.unwrap_err();
        assert!(want(&error) && error.sent(), "{error:?}");
    };
    check(
        |s| Reply::status(400, &s.error(-32602, json!({"why": 1})).to_string()),
        |e| matches!(e, RequestError::Rpc { code: -32602, http_status: Some(400), data: Some(d), .. } if d.get() == "{\"why\":1}"),
    )
    .await;
    check(
        |s| Reply::status(400, &s.error(-32020, json!(null)).to_string()),
        RequestError::is_header_mismatch,
    )
    .await;
    check(
        |s| Reply::json(&s.error(-32601, json!(null))),
        |e| e.is_method_not_found() && e.http_status() == Some(200),
    )
    .await;
    check(
        |_| Reply::status(422, "{\"error\":\"bad\"}"),
        |e| matches!(e, RequestError::Http { status: 422, body, .. } if body.contains("bad")),
    )
    .await;
    check(
        |_| Reply::status(404, "gone"),
        |e| matches!(e, RequestError::Http { status: 404, .. }),
    )
    .await;
    check(|_| Reply::status(500, "x"), |e| e.http_status() == Some(500)).await;
    check(
        |_| Reply::status(202, ""),
        |e| matches!(e, RequestError::Malformed(_)),
    )
    .await;
    check(
        |_| Reply::status(200, "{}"),
        |e| matches!(e, RequestError::Malformed(_)),
    )
    .await;
    check(
        |_| Reply::status(200, "{\"id\":77,\"result\":{}}"),
        |e| matches!(e, RequestError::Malformed(_)),
    )
    .await;
    check(
        |_| Reply::pieces(vec![]),
        |e| matches!(e, RequestError::Closed { sent: true, .. }),
    )
    .await;
}

#[tokio::test]
async fn what_was_not_sent_is_known() {
    let (server, upstream) = modern(|seen| Reply::json(&seen.result(json!({})))).await;
    drop(server);
    // The pooled connection is closed as well; nothing listens any more.
    let error = loop {
        match ask(&upstream, "t", json!({})).await {
            Err(error) if !error.sent() => break error,
            Err(_) => {}
            Ok(_) => tokio::task::yield_now().await,
        }
    };
    assert!(matches!(error, RequestError::Unreachable(_)), "{error:?}");
    let mut target = http("http://127.0.0.1:9/mcp");
    target
        .headers
        .push((HeaderName::from_static("x-key"), Secret::new("line\nbreak")));
    let error = Upstream::connect(
        crate::watch::target(Transport::StreamableHttp(target)),
        None,
        Arc::new(Silent),
    )
    .await;
    assert!(
        matches!(error, Err(ConnectError::Target(text)) if text.contains("x-key") && !text.contains("line"))
    );
}

#[tokio::test]
async fn an_expired_session_is_told() {
    let (_server, upstream) = legacy(|seen| match seen.method() {
        "tools/call" => Some(Reply::status(404, &seen.error(-32001, json!(null)).to_string())),
        _ => None,
    })
    .await;
    let error = ask(&upstream, "t", json!({})).await.unwrap_err();
    assert!(
        matches!(error, RequestError::SessionExpired) && !error.may_have_run(),
        "{error:?}"
    );
    assert!(upstream.is_closed());
    assert!(!ask(&upstream, "t", json!({})).await.unwrap_err().sent());
}

#[tokio::test]
async fn a_stream_carries_progress_and_questions() {
    let (server, upstream) = legacy(|seen| match seen.method() {
        "tools/call" => {
            let token = &seen.body["params"]["_meta"]["progressToken"];
            Some(Reply::held(vec![
                event(&json!({"method": "notifications/progress", "params": {"progressToken": token, "progress": 1}})),
                event(&json!({"id": "q", "method": "elicitation/create", "params": {}})),
                event(&json!({"id": "r", "method": "vendor/odd"})),
                event(&json!({"method": "notifications/tools/list_changed"})),
                ": keep-alive\n\n".to_owned(),
                event(&seen.result(json!({"done": true}))),
            ]))
        }
        _ => None,
    })
    .await;
    let (events, mut heard) = ear();
    let request = upstream.request(call("t", &json!({})).with_progress(), events);
    assert_eq!(json_of(&request.await.unwrap()), json!({"done": true}));
    assert_eq!(heard.notification().await.1["progress"], 1);
    heard.request().await.responder.answer(Ok(
        RawValue::from_string("{\"action\":\"decline\"}".into()).unwrap()
    ));
    let mut answers = [server.arrival("POST").await, server.arrival("POST").await].map(|seen| seen.body);
    answers.sort_by_key(|answer| answer["id"].to_string());
    assert_eq!(
        answers[0],
        json!({"jsonrpc": "2.0", "id": "q", "result": {"action": "decline"}})
    );
    assert_eq!(answers[1]["error"]["code"], -32601);
    assert!(heard.rest().is_empty(), "list changes are the session's");
}

#[tokio::test]
async fn a_stream_closed_early_is_resumed() {
    let (server, upstream) = legacy(|seen| match (seen.method(), seen.header("last-event-id")) {
        ("tools/call", _) => Some(Reply::pieces(vec!["id: e1\nretry: 60\ndata:\n\n".to_owned()])),
        // Closed once more, with news; then the answer.
        ("GET", Some("e1")) => Some(Reply::pieces(vec![
            "id: e2\ndata: {\"method\":\"notifications/message\"}\n\n".to_owned(),
        ])),
        ("GET", Some("e2")) => Some(Reply::held(vec![event(
            &json!({"id": 3, "result": {"resumed": true}}),
        )])),
        _ => None,
    })
    .await;
    let (events, mut heard) = ear();
    let answer = upstream.request(call("t", &json!({})), events).await.unwrap();
    assert_eq!(json_of(&answer), json!({"resumed": true}));
    assert_eq!(heard.notification().await.0, "notifications/message");
    let resumed: Vec<_> = server
        .seen()
        .iter()
        .filter_map(|seen| seen.header("last-event-id").map(str::to_owned))
        .collect();
    assert_eq!(resumed, ["e1", "e2"]);
}

#[tokio::test]
async fn modern_streams_are_not_resumed() {
    let (server, upstream) = modern(|_| Reply::pieces(vec!["id: e1\nretry: 1\ndata:\n\n".to_owned()])).await;
    let error = ask(&upstream, "t", json!({})).await.unwrap_err();
    assert!(
        matches!(error, RequestError::Closed { sent: true, .. }),
        "{error:?}"
    );
    assert_eq!(server.methods(), ["server/discover", "tools/call"]);
}

// V176
#[tokio::test]
async fn dropping_a_call_closes_its_stream_or_tells_the_server() {
    let (server, upstream) = modern(|_| Reply::held(vec![])).await;
    abandon(&server, &upstream).await;
    server.client_left("tools/call").await;
    assert_eq!(server.methods(), ["server/discover", "tools/call"]);
    let (server, upstream) =
        legacy(|seen| (seen.method() == "tools/call").then(|| Reply::held(vec![]))).await;
    let id = abandon(&server, &upstream).await;
    server.client_left("tools/call").await;
    assert_eq!(
        server.arrival("notifications/cancelled").await.body["params"],
        json!({"requestId": id})
    );
    assert_eq!(upstream.in_flight(), 0);
}

async fn abandon(server: &Server, upstream: &Upstream) -> Value {
    let request = upstream.request(call("t", &json!({})), Arc::new(Silent));
    tokio::select! {
        outcome = request => panic!("{outcome:?}"),
        seen = server.arrival("tools/call") => seen.body["id"].clone(),
    }
}

// V174 V175
#[tokio::test]
async fn keep_alives_extend_nothing() {
    let pulse = || {
        let ticks = futures::stream::unfold((), |()| async {
            tokio::time::sleep(Duration::from_millis(10)).await;
            Some((": still here\n\n".to_owned(), ()))
        });
        Reply::Stream(ticks.boxed())
    };
    let (server, upstream) = modern(move |_| pulse()).await;
    let mut request = call("t", &json!({}));
    request.deadline = in_seconds(0) + Duration::from_millis(200);
    let error = upstream.request(request, Arc::new(Silent)).await.unwrap_err();
    assert!(
        matches!(
            error,
            RequestError::Timeout {
                phase: Phase::Answer,
                sent: true
            }
        ),
        "{error:?}"
    );
    server.client_left("tools/call").await;
}

// X018
#[tokio::test]
async fn concurrent_calls_get_their_own_answers() {
    let (_server, upstream) = modern(|seen| {
        let answer = seen.result(seen.body["params"]["arguments"].clone());
        if seen.body["id"].as_u64().unwrap() % 2 == 0 {
            Reply::json(&answer)
        } else {
            Reply::held(vec![event(&answer)])
        }
    })
    .await;
    let calls = (0..100).map(|n| ask(&upstream, "t", json!({ "n": n })));
    for (n, answer) in futures::future::join_all(calls).await.into_iter().enumerate() {
        assert_eq!(answer.unwrap(), json!({ "n": n }));
    }
}

/// A server may ask on the standing stream as soon as it is called; without the stream the question is lost.
#[tokio::test]
async fn a_session_begins_with_its_standing_stream_settled() {
    type Answer = fn() -> Reply;
    let cases: [(&str, Answer); 3] = [
        ("open", || Reply::held(Vec::new())),
        ("declined", || Reply::status(405, "")),
        ("failed", || Reply::status(503, "")),
    ];
    for (name, answer) in cases {
        let (server, _upstream) = legacy(move |seen| (seen.method() == "GET").then(answer)).await;
        let last = server.methods().pop();
        assert_eq!(last.as_deref(), Some("GET"), "{name}");
    }
}

#[tokio::test]
async fn the_standing_stream_reaches_the_listener() {
    let server = Server::start(|seen| match seen.method() {
        "server/discover" => Reply::status(400, ""),
        "initialize" => initialized(seen),
        "GET" if seen.header("last-event-id").is_none() => Reply::pieces(vec![
            "id: s1\nretry: 100\ndata: {\"method\":\"notifications/tools/list_changed\"}\n\n".to_owned(),
        ]),
        "GET" => Reply::held(vec![event(
            &json!({"method": "notifications/resources/updated", "params": {"uri": "u"}}),
        )]),
        // Acknowledged here, answered there.
        _ => Reply::status(202, ""),
    })
    .await;
    let (listener, mut heard) = ear();
    let transport = Transport::StreamableHttp(http(&server.url()));
    let upstream = Upstream::connect(target(transport), None, listener)
        .await
        .unwrap();
    assert_eq!(heard.notification().await.0, "notifications/tools/list_changed");
    assert_eq!(
        heard.notification().await,
        ("notifications/resources/updated".to_owned(), json!({"uri": "u"}))
    );
    upstream.close().await;
    server.client_left("GET").await;
    assert_eq!(heard.closed().await, "closed by us");
}

#[tokio::test]
async fn subscriptions_of_modern_servers() {
    let (server, upstream) = modern(|seen| {
        let tag = json!({"io.modelcontextprotocol/subscriptionId": seen.body["id"]});
        let pieces = vec![
            event(&json!({"method": "notifications/subscriptions/acknowledged",
                "params": {"_meta": tag, "notifications": {"toolsListChanged": true}}})),
            event(&json!({"method": "notifications/tools/list_changed", "params": {"_meta": tag}})),
        ];
        let ends = seen.body["params"]["notifications"]
            .get("promptsListChanged")
            .is_some();
        if ends {
            Reply::pieces(
                pieces
                    .into_iter()
                    .chain([event(&seen.result(json!({})))])
                    .collect(),
            )
        } else {
            Reply::held(pieces)
        }
    })
    .await;
    let (listener, mut heard) = ear();
    let subscription = upstream
        .listen(&object(&json!({"toolsListChanged": true})), listener)
        .await
        .unwrap();
    assert_eq!(subscription.honored().get(), r#"{"toolsListChanged":true}"#);
    assert_eq!(heard.notification().await.0, "notifications/tools/list_changed");
    drop(subscription);
    server.client_left("subscriptions/listen").await;
    let (listener, _heard) = ear();
    let mut ending = upstream
        .listen(&object(&json!({"promptsListChanged": true})), listener)
        .await
        .unwrap();
    assert_eq!(&*ending.ended().await, "the server ended the subscription");
}

#[tokio::test]
async fn an_acknowledged_request_may_be_answered_on_the_standing_stream() {
    let (sender, receiver) = tokio::sync::mpsc::unbounded_channel::<String>();
    let receiver = std::sync::Mutex::new(Some(receiver));
    let (opened, mut open) = ear();
    let server = Server::start(move |seen| match seen.method() {
        "server/discover" => Reply::status(400, ""),
        "initialize" => initialized(seen),
        "GET" => match receiver.lock().unwrap().take() {
            Some(receiver) => Reply::Stream(
                futures::stream::unfold(receiver, |mut receiver| async {
                    receiver.recv().await.map(|piece| (piece, receiver))
                })
                .boxed(),
            ),
            None => Reply::status(405, ""),
        },
        "tools/call" => {
            sender.send(event(&seen.result(json!({"late": true})))).unwrap();
            Reply::status(202, "")
        }
        _ => {
            sender
                .send(event(&json!({"method": "notifications/tools/list_changed"})))
                .unwrap();
            Reply::status(202, "")
        }
    })
    .await;
    let transport = Transport::StreamableHttp(http(&server.url()));
    let upstream = Upstream::connect(target(transport), None, opened).await.unwrap();
    // The stream is known to be open once something arrived on it.
    open.notification().await;
    assert_eq!(
        ask(&upstream, "t", json!({})).await.unwrap(),
        json!({"late": true})
    );
}
