//! Servers over HTTP: what their answers mean, how long they are waited for, and what is never sent twice.

use std::sync::Arc;
use std::time::Duration;

use connections::{DispatchBody, Limits};
use domain::{
    Account, AccountKind, ConnectionState, Effect, Health, NoEvents, OutcomeCode, Status, Transport,
};
use serde_json::{Value, json};
use testkit::scripted::{Received, Reply, Scripted, Step};

use super::house::{At, House, Plan, Wanted, plain, until};

type Script = Box<dyn Fn(&Received) -> Reply + Send + Sync>;

async fn house_for(server: &Scripted, limits: Limits) -> House {
    House::build(Plan {
        urls: vec![server.url().to_owned()],
        limits,
        ..Plan::default()
    })
    .await
}

/// A plain legacy server whose tool calls are answered by this.
async fn calls(script: impl Fn(&Received) -> Reply + Send + Sync + 'static) -> Scripted {
    Scripted::start(move |request| match request.rpc_method().as_deref() {
        Some("tools/call") => script(request),
        _ => Reply::legacy(request),
    })
    .await
    .unwrap()
}

// V158
#[tokio::test]
async fn statuses_and_errors_have_their_codes() {
    use OutcomeCode as Code;
    let error = |code: i64, status: u16| {
        move |request: &Received| {
            let error = json!({ "code": code, "message": "no" });
            Reply::json(
                status,
                &json!({ "jsonrpc": "2.0", "id": request.json()["id"], "error": error }),
            )
        }
    };
    let cases: Vec<(Script, Code, Option<u16>)> = vec![
        (
            Box::new(|_| Reply::status(400)),
            Code::ArgumentsRejected,
            Some(400),
        ),
        (
            Box::new(|_| Reply::status(422)),
            Code::ArgumentsRejected,
            Some(422),
        ),
        (Box::new(error(-32602, 200)), Code::ArgumentsRejected, None),
        (Box::new(error(-32602, 400)), Code::ArgumentsRejected, Some(400)),
        (Box::new(|_| Reply::status(401)), Code::AuthRejected, Some(401)),
        (Box::new(|_| Reply::status(403)), Code::AuthRejected, Some(403)),
        (
            Box::new(|_| Reply::status(429).header("retry-after", "7")),
            Code::RateLimited,
            Some(429),
        ),
        (Box::new(|_| Reply::status(503)), Code::UpstreamError, Some(503)),
        (Box::new(error(-32603, 200)), Code::UpstreamError, None),
        (
            Box::new(|_| Reply::status(302).header("location", "https://example.com/")),
            Code::UpstreamError,
            Some(302),
        ),
        (
            Box::new(|request| Reply::result(request, json!([1]))),
            Code::UpstreamInvalid,
            None,
        ),
        (
            Box::new(|_| Reply::bytes(200, "{").header("content-type", "application/json")),
            Code::UpstreamInvalid,
            None,
        ),
    ];
    for (at, (script, code, status)) in cases.into_iter().enumerate() {
        let server = calls(script).await;
        let house = house_for(&server, Limits::default()).await;
        let id = house.add(Wanted::url(server.url())).await;
        let answer = house.act(id, "echo", json!({})).await;
        assert_eq!(answer.outcome.status, Status::Failed, "{at}: {answer:?}");
        assert_eq!(answer.outcome.code, Some(code), "{at}: {answer:?}");
        assert!(answer.sent, "{at}");
        if status.is_some() {
            assert_eq!(answer.http_status, status, "{at}");
        }
        if code == Code::RateLimited {
            assert_eq!(answer.retry_after, Some(Duration::from_secs(7)));
        }
        assert_eq!(
            server.received_of("tools/call").len(),
            1,
            "{at}: nothing is sent twice"
        );
    }
}

// V174, V175
#[tokio::test]
async fn silence_ends_whatever_keeps_the_line_alive() {
    let alive = |_: &Received| {
        let mut reply = Reply::events([]);
        for _ in 0..1_000 {
            reply = reply
                .then(Step::keep_alive())
                .then(Step::Pause(Duration::from_millis(20)));
        }
        reply
    };
    let scripts: Vec<Script> = vec![Box::new(|_| Reply::hang()), Box::new(alive)];
    for script in scripts {
        let server = calls(script).await;
        let house = house_for(&server, Limits::default()).await;
        let mut wanted = Wanted::url(server.url());
        wanted.timeout_ms = Some(300);
        let id = house.add(wanted).await;
        let acted = house.act(id, "echo", json!({})).await;
        assert_eq!(
            (acted.outcome.status, acted.outcome.code),
            (Status::Unknown, Some(OutcomeCode::Unknown))
        );
        let read = house.read(id, "echo", json!({})).await;
        assert_eq!(
            (read.outcome.status, read.outcome.code),
            (Status::Failed, Some(OutcomeCode::Timeout))
        );
        assert_eq!(server.received_of("tools/call").len(), 2);
    }
}

// V174
#[tokio::test]
async fn connecting_and_listing_are_bounded_too() {
    let limits = Limits {
        connect: Duration::from_millis(300),
        discovery: Duration::from_millis(300),
        ..Limits::default()
    };
    let silent = Scripted::start(|_| Reply::hang()).await.unwrap();
    let house = house_for(&silent, limits.clone()).await;
    let id = house.add(Wanted::url(silent.url())).await;
    let error = house.connections.prepare(house.tenant, id).await.unwrap_err();
    assert_eq!(error.health(), Some(Health::Timeout), "{error}");

    let slow = Scripted::start(|request| match request.rpc_method().as_deref() {
        Some("tools/list") => Reply::hang(),
        _ => Reply::legacy(request),
    })
    .await
    .unwrap();
    let house = house_for(&slow, limits).await;
    let id = house.add(Wanted::url(slow.url())).await;
    let error = house.connections.prepare(house.tenant, id).await.unwrap_err();
    assert_eq!(error.health(), Some(Health::Timeout), "{error}");
    assert_eq!(house.stored(id).await.state, ConnectionState::Error);
}

#[tokio::test]
async fn a_line_that_breaks_after_sending_leaves_the_act_unknown() {
    let server = calls(|_| Reply::close()).await;
    let house = house_for(&server, Limits::default()).await;
    let id = house.add(Wanted::url(server.url())).await;
    let acted = house.act(id, "echo", json!({})).await;
    assert_eq!(
        (acted.outcome.status, acted.sent),
        (Status::Unknown, true),
        "{acted:?}"
    );
    let read = house.read(id, "echo", json!({})).await;
    assert_eq!(read.outcome.status, Status::Failed, "{read:?}");
    assert_eq!(server.received_of("tools/call").len(), 2, "nothing is sent twice");
}

#[tokio::test]
async fn nothing_there_is_nothing_sent() {
    let url = {
        let server = Scripted::start(Reply::legacy).await.unwrap();
        server.url().to_owned()
    };
    let house = House::build(Plan {
        urls: vec![url.clone()],
        ..Plan::default()
    })
    .await;
    let id = house.add(Wanted::url(&url)).await;
    let acted = house.act(id, "echo", json!({})).await;
    assert_eq!(
        (acted.outcome.status, acted.outcome.code),
        (Status::Failed, Some(OutcomeCode::Unreachable))
    );
    assert!(!acted.sent);
}

#[tokio::test]
async fn an_expired_session_is_opened_again_once() {
    let sessions = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let opened = sessions.clone();
    let server = Scripted::start(move |request| {
        let session = request.header("mcp-session-id").map(ToOwned::to_owned);
        match request.rpc_method().as_deref() {
            Some("initialize") => {
                let number = opened.fetch_add(1, std::sync::atomic::Ordering::SeqCst) + 1;
                Reply::legacy(request).header("mcp-session-id", &format!("s{number}"))
            }
            // Only the second session is known when it comes to calling.
            Some("tools/call") if session.as_deref() == Some("s1") => Reply::status(404),
            Some("tools/call") => Reply::result(
                request,
                json!({ "content": [], "structuredContent": { "by": session } }),
            ),
            _ => Reply::legacy(request),
        }
    })
    .await
    .unwrap();
    let house = house_for(&server, Limits::default()).await;
    let id = house.add(Wanted::url(server.url())).await;
    let answer = house.act(id, "echo", json!({})).await;
    assert_eq!(super::house::structured(&answer), json!({ "by": "s2" }));
    assert_eq!(sessions.load(std::sync::atomic::Ordering::SeqCst), 2);
}

#[tokio::test]
async fn the_credential_goes_along_and_never_comes_back() {
    let server = Scripted::start(|request| match request.rpc_method().as_deref() {
        Some("tools/call") => Reply::error(
            request,
            -32000,
            &format!("bad token {}", request.header("x-key").unwrap_or("?")),
        ),
        _ => Reply::legacy(request),
    })
    .await
    .unwrap();
    let house = house_for(&server, Limits::default()).await;
    let mut wanted = Wanted::url(server.url());
    wanted.account = Account {
        kind: AccountKind::Header,
        header_name: Some("X-Key".into()),
        value_prefix: Some("Token ".into()),
        configured: true,
        ..Account::NONE
    };
    let id = house.add(wanted).await;
    // Without its secret nothing is sent.
    let report = house.connections.test(house.tenant, id).await.unwrap();
    assert_eq!((report.ok, report.health), (false, Health::AuthRejected));
    assert!(server.received().is_empty());
    house.set_credential(id, "s3cret-value").await;
    house.connections.changed(id);
    let answer = house.act(id, "echo", json!({})).await;
    assert!(
        server
            .received()
            .iter()
            .all(|r| r.header("x-key") == Some("Token s3cret-value"))
    );
    assert!(answer.detail.contains("Token [secret]"), "{}", answer.detail);
}

#[tokio::test]
async fn a_refused_credential_turns_the_light_red_and_a_taken_one_green() {
    let refuse = Arc::new(std::sync::atomic::AtomicBool::new(true));
    let refusing = refuse.clone();
    let server = calls(move |request| {
        if refusing.load(std::sync::atomic::Ordering::SeqCst) {
            Reply::status(401).header("www-authenticate", "Bearer")
        } else {
            Reply::result(request, json!({ "content": [] }))
        }
    })
    .await;
    let mut house = house_for(&server, Limits::default()).await;
    let id = house.add(Wanted::url(server.url())).await;
    house.connections.prepare(house.tenant, id).await.unwrap();
    assert_eq!(house.stored(id).await.health, Health::Ok);
    let changed = |wanted: Health| {
        move |kind: &connections::ConnectionEventKind| {
            *kind
                == connections::ConnectionEventKind::StateChanged {
                    state: ConnectionState::Ready,
                    health: wanted,
                }
        }
    };
    house.act(id, "echo", json!({})).await;
    house.hear(id, changed(Health::AuthRejected)).await;
    assert_eq!(house.stored(id).await.health, Health::AuthRejected);
    refuse.store(false, std::sync::atomic::Ordering::SeqCst);
    house.act(id, "echo", json!({})).await;
    house.hear(id, changed(Health::Ok)).await;
}

// V176
#[tokio::test]
async fn giving_up_closes_the_exchange_and_not_the_session() {
    let server = calls(|_| Reply::hang()).await;
    let house = house_for(&server, Limits::default()).await;
    let id = house.add(Wanted::url(server.url())).await;
    house.connections.prepare(house.tenant, id).await.unwrap();
    let connections = house.connections.clone();
    let target = domain::Target::Tool(domain::ToolRef::Upstream {
        connection: id,
        name: "echo".into(),
    });
    let cleared = house.clear(target, &json!({}), Effect::ReadOnly).await;
    let call = tokio::spawn(async move { connections.dispatch(cleared, plain(), Arc::new(NoEvents)).await });
    while server.received_of("tools/call").is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(house.connections.live(id).in_flight, 1);
    let before = server.abandoned();
    call.abort();
    server.wait_for_abandoned(before + 1).await;
    until("the call is given back", || {
        house.connections.live(id).in_flight == 0
    })
    .await;
    assert_eq!(house.connections.live(id).sessions, 1);
}

#[tokio::test]
async fn only_registered_and_public_addresses() {
    let server = Scripted::start(Reply::legacy).await.unwrap();
    let house = House::build(Plan::default()).await;
    for url in [
        server.url(),
        "http://example.com/mcp",
        "https://localhost/mcp",
        "https://10.0.0.1/mcp",
    ] {
        let id = house
            .add(Wanted {
                at: At::Url(url, Transport::Auto),
                ..Wanted::url("")
            })
            .await;
        let error = house.connections.prepare(house.tenant, id).await.unwrap_err();
        assert_eq!(error.health(), Some(Health::EgressRefused), "{url}: {error}");
        let acted = house.act(id, "echo", json!({})).await;
        assert_eq!(
            (acted.outcome.code, acted.sent),
            (Some(OutcomeCode::Unreachable), false),
            "{url}"
        );
    }
    assert!(server.received().is_empty());
    assert!(house.connections.check_url(server.url()).await.is_err());
}

#[tokio::test]
async fn a_slow_server_holds_up_no_other() {
    let (slow, quick) = (
        calls(|_| Reply::hang()).await,
        calls(|r| Reply::result(r, json!({ "content": [] }))).await,
    );
    let urls = vec![slow.url().to_owned(), quick.url().to_owned()];
    let limits = Limits {
        calls: 2,
        ..Limits::default()
    };
    let house = House::build(Plan {
        urls,
        limits,
        ..Plan::default()
    })
    .await;
    let (a, b) = (
        house.add(Wanted::url(slow.url())).await,
        house.add(Wanted::url(quick.url())).await,
    );
    let hanging = futures::future::join_all((0..5).map(|_| house.read(a, "echo", json!({}))));
    tokio::select! {
        _ = hanging => panic!("the slow server answered"),
        answer = house.read(b, "echo", json!({})) => assert_eq!(answer.outcome.status, Status::Succeeded),
    }
}

#[tokio::test]
async fn results_and_arguments_pass_untouched() {
    let body = r#"{"content":[ {"type":"text","text":"\u00e9"} ],"_meta":{"x":1.50},"unknown":[1e2]}"#;
    let server = calls(move |request| {
        let text = format!(
            r#"{{"jsonrpc":"2.0","id":{},"result":{body}}}"#,
            request.json()["id"]
        );
        Reply::bytes(200, text).header("content-type", "application/json")
    })
    .await;
    let house = house_for(&server, Limits::default()).await;
    let id = house.add(Wanted::url(server.url())).await;
    let mut to = plain();
    to.client.meta = Some(super::house::raw(&json!({ "traceparent": "00-1" })));
    to.extras = vec![
        ("requestState".into(), super::house::raw(&json!("s"))),
        ("name".into(), super::house::raw(&json!("evil"))),
    ];
    let answer = house
        .call_with(
            (id, "echo", Effect::ReadOnly),
            json!({ "b": 1.50, "a": "é" }),
            to,
            Arc::new(NoEvents),
        )
        .await;
    let DispatchBody::Result(raw) = &answer.body else {
        panic!("{answer:?}")
    };
    assert_eq!(raw.get(), body);
    let sent: Value = server.received_of("tools/call")[0].json();
    assert_eq!(sent["params"]["name"], "echo");
    assert_eq!(sent["params"]["arguments"], json!({ "b": 1.5, "a": "é" }));
    assert_eq!(sent["params"]["requestState"], "s");
    assert_eq!(sent["params"]["_meta"]["traceparent"], "00-1");
}
