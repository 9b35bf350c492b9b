//! Whatever fails, the caller gets an answer to go on with, and the record says how it ended.

use std::sync::Arc;

use domain::{CallStatus, Effect, Risk, Status, Surface};
use gateway::capability::{Action, Declaration, Method};
use gateway::{Capability, Context, Exchange, Failure, FailureKind, ReplyBody, ToolRequest};
use serde_json::{Value, json};
use testkit::scripted::{Received, Reply};

use super::both;
use super::house::{Bench, House, Plan, code, denied, notice, raw, result};
use super::upstream::{Upstream, tool};

both!(
    every_failure_is_an_answer,
    a_tools_own_error_goes_through_untouched,
    an_upstream_that_is_gone_fails_one_call_at_a_time,
    a_built_in_that_fails_is_an_answer_too,
    a_fault_of_ours_is_an_answer_too,
    a_servers_question_goes_through_untouched,
    names_and_addresses_of_any_kind_are_answered_and_recorded,
);

fn failing(request: &Received) -> Reply {
    let arguments = request.json()["params"]["arguments"].clone();
    match arguments["how"].as_str().unwrap() {
        "500" => Reply::status(500),
        "401" => Reply::status(401),
        "429" => Reply::status(429).header("retry-after", "7"),
        "302" => Reply::status(302).header("location", "https://example.com/"),
        "malformed" => Reply::bytes(200, "{").header("content-type", "application/json"),
        "no object" => Reply::result(request, json!([1])),
        "rpc" => Reply::error(request, -32050, "the disk is full"),
        "closed" => Reply::close(),
        "silent" => Reply::hang(),
        other => panic!("{other}"),
    }
}

// V160, V161, V162, V126, V174
async fn every_failure_is_an_answer(bench: Bench) {
    let upstream = Upstream::answering(vec![tool("look"), tool("move")], failing).await;
    let house = House::with(bench, &[&upstream]).await;
    house
        .connect_to("files", upstream.server.url(), json!({ "call_timeout_ms": 300 }))
        .await;
    house.reading("files/look").await;
    house.changing("files/move").await;
    // What it is for a reading, and for an act.
    let cases = [
        ("500", "upstream_error", "upstream_error"),
        ("401", "auth_rejected", "auth_rejected"),
        ("429", "rate_limited", "rate_limited"),
        ("302", "upstream_error", "upstream_error"),
        ("malformed", "upstream_invalid", "upstream_invalid"),
        ("no object", "upstream_invalid", "upstream_invalid"),
        ("rpc", "upstream_error", "upstream_error"),
        ("closed", "upstream_error", "unknown"),
        ("silent", "timeout", "unknown"),
    ];
    for (how, reading, acting) in cases {
        for (name, expected) in [("files__look", reading), ("files__move", acting)] {
            let before = upstream.calls().len();
            let reply = house.call(name, json!({ "how": how })).await;
            assert_eq!(code(&reply), expected, "{name} {how}: {reply:?}");
            let status = if expected == "unknown" {
                Status::Unknown
            } else {
                Status::Failed
            };
            assert_eq!(
                (reply.outcome.status, house.item(reply.call).await.status),
                (status, CallStatus::from(status))
            );
            assert_eq!(upstream.calls().len() - before, 1, "{name} {how} is sent once");
            match &reply.body {
                ReplyBody::Error(error) => {
                    assert_eq!(
                        (how, error.code, &*error.message),
                        ("rpc", -32050, "the disk is full")
                    );
                }
                // The model is told that this gave nothing to use, and what to do.
                ReplyBody::Notice(notice) => {
                    assert_eq!(notice.code, expected);
                    assert!(notice.text.len() > 20, "{how}: {}", notice.text);
                    if how == "429" {
                        assert_eq!(notice.details["retry_after_s"], 7);
                    }
                }
                other => panic!("{how}: {other:?}"),
            }
        }
    }
    house.verify().await;
}

// V160
async fn a_tools_own_error_goes_through_untouched(bench: Bench) {
    let body = r#"{"content":[ {"type":"text","text":"no such file"} ],"isError":true,"_meta":{"x":1.50}}"#;
    let upstream = Upstream::answering(vec![tool("look")], move |request| {
        let text = format!(
            r#"{{"jsonrpc":"2.0","id":{},"result":{body}}}"#,
            request.json()["id"]
        );
        Reply::bytes(200, text).header("content-type", "application/json")
    })
    .await;
    let house = House::with(bench, &[&upstream]).await;
    house.connect("files", &upstream).await;
    house.reading("files/look").await;
    let reply = house.call("files__look", json!({})).await;
    assert_eq!(
        (reply.outcome.status, code(&reply)),
        (Status::Failed, "tool_error")
    );
    let ReplyBody::Result(raw) = &reply.body else {
        panic!("{reply:?}")
    };
    assert_eq!(raw.get(), body);
    assert!(!reply.is_success());
    house.verify().await;
}

async fn an_upstream_that_is_gone_fails_one_call_at_a_time(bench: Bench) {
    let (leaving, staying) = (
        Upstream::echoing(vec![tool("look")]).await,
        Upstream::echoing(vec![tool("look")]).await,
    );
    let house = House::with(bench, &[&leaving, &staying]).await;
    house.connect("one", &leaving).await;
    house.connect("two", &staying).await;
    house.reading("one/look").await;
    house.changing("two/look").await;
    drop(leaving);
    let reply = house.call("one__look", json!({})).await;
    assert_eq!(
        (reply.outcome.status, code(&reply)),
        (Status::Failed, "unreachable")
    );
    // Its tools stay in the view, and nobody else is held up.
    assert_eq!(house.names(), ["one__look", "two__look"]);
    assert_eq!(
        house.call("two__look", json!({})).await.outcome.status,
        Status::Succeeded
    );
    house.verify().await;
}

// V160
async fn a_built_in_that_fails_is_an_answer_too(bench: Bench) {
    let house = House::with(bench, &[]).await;
    house.grant("current_time", "allow").await;
    let reply = house
        .call("current_time", json!({ "time_zone": "Mars/Olympus" }))
        .await;
    assert_eq!(
        (reply.outcome.status, code(&reply)),
        (Status::Failed, "tool_error")
    );
    assert_eq!(
        (notice(&reply).code, &notice(&reply).details["field"]),
        ("input.invalid", &json!("time_zone"))
    );
    let reply = house.call("current_time", json!({ "zone": "UTC" })).await;
    assert_eq!(code(&reply), "invalid_arguments");
    let reply = house.call("current_time", json!({ "time_zone": "UTC" })).await;
    let said: &Value = &result(&reply)["structuredContent"];
    assert_eq!(said["utc"], "2027-01-15T08:00:00Z");
    house.verify().await;
}

async fn panics(_context: Context, _input: Value) -> Result<Value, Failure> {
    panic!("a mistake in a handler")
}

fn faulty(id: &'static str, path: &'static str, effect: Effect) -> Capability {
    let declaration = Declaration {
        id,
        title: "Faulty",
        description: "Panics.",
        method: Method::Post,
        path,
        success: 200,
        paged: false,
        idempotent: true,
        risk: Risk::Low,
        effect,
        surfaces: &[Surface::Api, Surface::Agent],
        action: Action::Use,
        command: None,
    };
    Capability::new(declaration, panics)
}

// V160, V162
async fn a_fault_of_ours_is_an_answer_too(bench: Bench) {
    let more = vec![
        faulty("faulty_look", "/faulty/look", Effect::ReadOnly),
        faulty("faulty_move", "/faulty/move", Effect::Mutating),
    ];
    let house = House::build(
        bench,
        Plan {
            more,
            ..Plan::default()
        },
    )
    .await;
    for name in ["faulty_look", "faulty_move"] {
        house.grant(name, "allow").await;
        let reply = house.call(name, json!({})).await;
        assert_eq!(
            (reply.outcome.status, code(&reply)),
            (Status::Failed, "tool_error"),
            "{name}"
        );
        // What went wrong is for the log.
        assert!(!format!("{reply:?}").contains("mistake"), "{reply:?}");
        assert_eq!(house.item(reply.call).await.status, CallStatus::Failed);
        let failure = house.ask(name, json!({})).await.unwrap_err();
        assert_eq!(
            (failure.kind, failure.code),
            (FailureKind::Internal, "server.internal"),
            "{name}"
        );
        let items = house.calls_of(name).await;
        assert!(
            items.iter().all(|item| item.status == CallStatus::Failed),
            "{items:?}"
        );
    }
    house.verify().await;
}

async fn a_servers_question_goes_through_untouched(bench: Bench) {
    let question = r#"{"resultType":"input_required","inputRequests":{"n":{"method":"elicitation/create"} },"requestState":"s1"}"#;
    let upstream = Upstream::answering(vec![tool("ask")], move |request| {
        if request.json()["params"]["requestState"] == "s1" {
            return super::upstream::echo(request);
        }
        let text = format!(
            r#"{{"jsonrpc":"2.0","id":{},"result":{question}}}"#,
            request.json()["id"]
        );
        Reply::bytes(200, text).header("content-type", "application/json")
    })
    .await;
    let house = House::with(bench, &[&upstream]).await;
    house.connect("files", &upstream).await;
    house.changing("files/ask").await;
    let reply = house.call("files__ask", json!({ "a": 1 })).await;
    let ReplyBody::InputRequired(said) = &reply.body else {
        panic!("{reply:?}")
    };
    assert_eq!((said.get(), reply.outcome.status), (question, Status::Succeeded));
    // The answer is a call of its own, decided and recorded like any; what goes along is exactly what the protocol has for it.
    let extras = [
        ("requestState", json!("s1")),
        ("inputResponses", json!({ "n": {} })),
        ("name", json!("other")),
    ];
    let extras = extras
        .map(|(name, value)| (Arc::from(name), Arc::from(raw(&value))))
        .to_vec();
    let exchange = Exchange {
        extras,
        ..Exchange::default()
    };
    let request = ToolRequest {
        name: "files__ask".into(),
        arguments: Some(raw(&json!({ "a": 1 }))),
        exchange,
    };
    let answered = house.gateway.call(&house.view(), request).await;
    assert_eq!(result(&answered)["structuredContent"]["echo"], json!({ "a": 1 }));
    let sent = upstream.calls().pop().unwrap();
    assert_eq!(
        (&sent["name"], &sent["inputResponses"]),
        (&json!("ask"), &json!({ "n": {} }))
    );
    assert_eq!(house.calls_of("files__ask").await.len(), 2);
    house.verify().await;
}

// Whatever a caller calls a tool: it gets its answer, and the record stays readable and whole.
async fn names_and_addresses_of_any_kind_are_answered_and_recorded(bench: Bench) {
    let house = House::with(bench, &[]).await;
    let long = "n".repeat(200_000);
    for name in [
        "",
        " ",
        "a\u{0}b",
        "\u{202e}x",
        "'; DROP TABLE journal; --",
        "../../x",
        "a/b",
        &long,
        "\u{1f600}",
    ] {
        let reply = house.call(name, json!({})).await;
        assert_eq!(denied(&reply), "unknown_tool", "{name:?}");
        assert_eq!(
            house.item(reply.call).await.status,
            CallStatus::Denied,
            "{name:?}"
        );
        for method in [
            "prompts/get",
            "resources/read",
            "resources/subscribe",
            "completion/complete",
            "other",
        ] {
            let reply = house.read(method, name, json!({})).await;
            assert_eq!(denied(&reply), "unknown_tool", "{method} {name:?}");
            assert_eq!(
                house.item(reply.call).await.status,
                CallStatus::Denied,
                "{method} {name:?}"
            );
        }
    }
    assert!(house.gateway.healthy().await);
    house.verify().await;
}
