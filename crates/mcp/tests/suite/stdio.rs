//! Sessions with child processes: every way of greeting, noise, many calls at once, cancellation, and no orphans.

use std::sync::Arc;
use std::time::Duration;

use mcp::version::ProtocolVersion;
use mcp::wire::{RpcError, codes};
use mcp::{
    ConnectError, LineSource, Negotiated, Phase, Request, RequestError, Silent, Target, Transport,
    TransportKind, Upstream,
};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::watch::{Told, call, child, command, ear, in_seconds, json_of, object};

async fn connect(target: Target) -> Upstream {
    Upstream::connect(target, None, Arc::new(Silent)).await.unwrap()
}

async fn ask(upstream: &Upstream, tool: &str, arguments: Value) -> Value {
    json_of(
        &upstream
            .request(call(tool, &arguments), Arc::new(Silent))
            .await
            .unwrap(),
    )
}

async fn methods(upstream: &Upstream) -> Vec<String> {
    serde_json::from_value(ask(upstream, "state", json!({})).await["seen"].take()).unwrap()
}

#[tokio::test]
async fn every_greeting_leads_to_a_session() {
    for (mode, version, greeting) in [
        ("modern", "2026-07-28", "discover"),
        ("both", "2026-07-28", "discover"),
        ("modern-picky", "2026-07-28", "discover discover"),
        ("not-found", "2025-11-25", "discover initialize"),
        ("invalid-params", "2025-11-25", "discover initialize"),
        ("odd-error", "2025-11-25", "discover initialize"),
        ("anything", "2025-11-25", "discover initialize"),
        ("names-legacy", "2025-06-18", "discover initialize"),
        ("2024-11-05", "2024-11-05", "discover initialize"),
        ("2025-03-26", "2025-03-26", "discover initialize"),
        ("picky-initialize", "2024-11-05", "discover initialize initialize"),
        // A fresh process, which is not probed again.
        ("dies", "2025-11-25", "initialize"),
    ] {
        let upstream = connect(child(mode)).await;
        assert_eq!(upstream.negotiated().version.as_str(), version, "{mode}");
        assert_eq!(upstream.negotiated().transport, TransportKind::Stdio);
        assert_eq!(upstream.server().name, "child", "{mode}");
        assert!(upstream.server().declares("tools"));
        let seen = methods(&upstream).await;
        let opening: Vec<&str> = seen
            .iter()
            .filter_map(|method| {
                method
                    .strip_prefix("server/")
                    .or((method == "initialize").then_some(method))
            })
            .collect();
        assert_eq!(opening.join(" "), greeting, "{mode}");
        let told = seen.iter().any(|method| method == "notifications/initialized");
        assert_eq!(told, version != "2026-07-28", "{mode}");
        upstream.close().await;
    }
}

#[tokio::test]
async fn silence_costs_one_probe() {
    for (mode, version) in [
        ("silent", "2025-11-25"),
        ("garbage", "2025-11-25"),
        ("modern-late", "2026-07-28"),
    ] {
        let mut target = child(mode);
        target.limits.probe = Duration::from_millis(50);
        let upstream = connect(target).await;
        assert_eq!(upstream.negotiated().version.as_str(), version, "{mode}");
        upstream.close().await;
    }
}

#[tokio::test]
async fn what_is_remembered_is_not_probed_again() {
    let remember = |version| {
        Some(Negotiated {
            version,
            transport: TransportKind::Stdio,
        })
    };
    for (mode, remembered, greeting) in [
        ("silent", ProtocolVersion::V2025_06_18, "initialize"),
        ("not-found", ProtocolVersion::V2024_11_05, "initialize"),
        ("modern", ProtocolVersion::V2026_07_28, "server/discover"),
        // What was remembered no longer holds.
        ("modern-late", ProtocolVersion::V2025_11_25, "server/discover"),
    ] {
        let mut target = child(mode);
        if mode == "modern-late" {
            target.limits.probe = Duration::from_millis(50);
        }
        let upstream = Upstream::connect(target, remember(remembered), Arc::new(Silent))
            .await
            .unwrap();
        assert_eq!(methods(&upstream).await[0], greeting, "{mode}");
        upstream.close().await;
    }
}

#[tokio::test]
async fn failures_to_connect_say_why() {
    let check = async |target: Target, want: &str| {
        let error = Upstream::connect(target, None, Arc::new(Silent))
            .await
            .unwrap_err();
        assert!(error.to_string().contains(want), "{error}");
    };
    check(child("unknown-version"), "[1999-01-01]").await;
    check(child("modern-future"), "[2099-01-01]").await;
    check(
        command(&["/nonexistent/server"]),
        "`/nonexistent/server` could not be started",
    )
    .await;
    check(command(&[]), "the command is empty").await;
    check(
        command(&["sh", "-c", "echo the disk is full >&2; exit 4"]),
        "it last wrote: the disk is full",
    )
    .await;
    let mut hanging = command(&["sleep", "1000"]);
    hanging.limits.connect = Duration::from_millis(200);
    hanging.limits.probe = Duration::from_millis(50);
    let error = Upstream::connect(hanging, None, Arc::new(Silent))
        .await
        .unwrap_err();
    assert!(matches!(error, ConnectError::Timeout(_)), "{error}");
}

#[tokio::test]
async fn noise_is_survived_and_shown() {
    let (listener, mut heard) = ear();
    let upstream = Upstream::connect(child("not-found"), None, listener)
        .await
        .unwrap();
    assert_eq!(ask(&upstream, "noise", json!({})).await, json!({"ok": true}));
    let state = ask(&upstream, "state", json!({})).await;
    assert_eq!(state["answers"][0]["error"]["code"], codes::METHOD_NOT_FOUND);
    let texts: Vec<String> = upstream.log().into_iter().map(|line| line.text).collect();
    for want in [
        "hello, I am a library",
        "{broken",
        "999999",
        "names no request",
        "vendor/strange",
    ] {
        assert!(texts.iter().any(|text| text.contains(want)), "{want}: {texts:?}");
    }
    assert_eq!(heard.notification().await.0, "notifications/tools/list_changed");
    assert!(
        heard
            .rest()
            .iter()
            .any(|told| matches!(told, Told::Line(line) if line.source == LineSource::Stdout))
            || texts.len() >= 5
    );
    assert!(!upstream.is_closed());
    upstream.close().await;
}

// X018
#[tokio::test]
async fn concurrent_calls_get_their_own_answers() {
    let upstream = connect(child("modern")).await;
    let count = 200;
    let calls = (0..count).map(|n| {
        let upstream = upstream.clone();
        async move { ask(&upstream, "reverse", json!({"of": count, "n": n})).await["given"]["n"].as_i64() }
    });
    let answers = futures::future::join_all(calls).await;
    assert_eq!(answers, (0..count).map(Some).collect::<Vec<_>>());
    assert_eq!(upstream.in_flight(), 0);
    upstream.close().await;
}

#[tokio::test]
async fn dropping_a_call_cancels_it() {
    for mode in ["modern", "not-found"] {
        let upstream = connect(child(mode)).await;
        let (events, mut heard) = ear();
        let running = tokio::spawn({
            let upstream = upstream.clone();
            async move {
                upstream
                    .request(call("never", &json!({})).with_progress(), events)
                    .await
            }
        });
        let (method, params) = heard.notification().await;
        assert_eq!(
            (method.as_str(), upstream.in_flight()),
            ("notifications/progress", 1)
        );
        running.abort();
        assert!(running.await.unwrap_err().is_cancelled());
        let state = ask(&upstream, "state", json!({})).await;
        assert_eq!(state["cancelled"], json!([params["progressToken"]]), "{mode}");
        upstream.close().await;
    }
}

// V174
#[tokio::test]
async fn a_deadline_ends_a_call_and_cancels_it() {
    let upstream = connect(child("not-found")).await;
    let mut request = call("never", &json!({}));
    request.deadline = in_seconds(0) + Duration::from_millis(100);
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
    assert_eq!(
        ask(&upstream, "state", json!({})).await["cancelled"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    upstream.close().await;
}

#[tokio::test]
async fn a_deaf_child_blocks_nobody_for_ever() {
    let upstream = connect(child("not-found")).await;
    ask(&upstream, "deaf", json!({})).await;
    let attempt = async || {
        // More than any pipe buffer holds.
        let mut request = call("echo", &json!({"x": "a".repeat(4 << 20)}));
        request.deadline = in_seconds(0) + Duration::from_millis(200);
        upstream.request(request, Arc::new(Silent)).await.unwrap_err()
    };
    // The first fills the pipe; the second stays in the queue, and certainly never left.
    assert!(attempt().await.sent());
    let error = attempt().await;
    assert!(
        matches!(
            error,
            RequestError::Timeout {
                phase: Phase::Send,
                sent: false
            }
        ),
        "{error:?}"
    );
    upstream.close().await;
}

#[tokio::test]
async fn server_requests_reach_the_call_and_are_answered() {
    let answer = |outcome: Result<Value, i64>| {
        outcome
            .map(|value| RawValue::from_string(value.to_string()).unwrap())
            .map_err(|code| RpcError::new(code, "declined"))
    };
    let upstream = connect(child("not-found")).await;
    for (outcome, want) in [
        (
            Some(Ok(json!({"action": "accept"}))),
            json!({"answer": {"action": "accept"}, "error": null}),
        ),
        (
            Some(Err(-7)),
            json!({"answer": null, "error": {"code": -7, "message": "declined"}}),
        ),
        (
            None,
            json!({"answer": null, "error": {
                "code": codes::METHOD_NOT_FOUND, "message": "nobody is there to answer this request"}}),
        ),
    ] {
        let upstream = connect(child("not-found")).await;
        let (events, mut heard) = ear();
        let request = upstream.request(call("ask", &json!({})), events);
        let respond = async {
            let asked = heard.request().await;
            assert_eq!(asked.method, "elicitation/create");
            assert_eq!(asked.params.as_ref().unwrap().get(), r#"{"message": "sure?"}"#);
            match outcome {
                Some(outcome) => asked.responder.answer(answer(outcome)),
                None => drop(asked),
            }
        };
        let (got, ()) = tokio::join!(request, respond);
        assert_eq!(json_of(&got.unwrap()), want);
        // The ping was answered by us.
        let state = ask(&upstream, "state", json!({})).await;
        assert_eq!(
            state["answers"][0],
            json!({"jsonrpc": "2.0", "id": "q1", "result": {}})
        );
        upstream.close().await;
    }
    upstream.close().await;
}

#[tokio::test]
async fn log_messages_go_to_the_only_call_or_to_the_listener() {
    let (listener, mut session) = ear();
    let upstream = Upstream::connect(child("not-found"), None, listener)
        .await
        .unwrap();
    let (events, mut heard) = ear();
    upstream.request(call("log", &json!({})), events).await.unwrap();
    assert_eq!(heard.notification().await.0, "notifications/message");
    let (busy, mut started) = ear();
    let other = upstream.request(call("never", &json!({})).with_progress(), busy);
    let log = async {
        started.notification().await;
        ask(&upstream, "log", json!({})).await
    };
    tokio::select! {
        outcome = other => panic!("{outcome:?}"),
        _ = log => {}
    }
    assert_eq!(session.notification().await.0, "notifications/message");
    upstream.close().await;
}

#[tokio::test]
async fn an_oversized_answer_fails_only_its_call() {
    for place in ["first", "last"] {
        let mut target = child("modern");
        target.limits.max_message = 100_000;
        let upstream = connect(target).await;
        let big = |size: usize| {
            upstream.request(call("big", &json!({"size": size, "id": place})), Arc::new(Silent))
        };
        assert!(big(90_000).await.is_ok());
        let (too_big, fine) = tokio::join!(big(5_000_000), ask(&upstream, "echo", json!({"n": 1})));
        assert!(
            matches!(too_big, Err(RequestError::TooLarge { limit: 100_000 })),
            "{too_big:?}"
        );
        assert_eq!(fine["given"]["n"], 1);
        upstream.close().await;
    }
}

#[tokio::test]
async fn an_answer_that_is_not_json_fails_its_call_at_once() {
    let upstream = connect(child("modern")).await;
    let (bad, fine) = tokio::join!(
        upstream.request(call("nan", &json!({})), Arc::new(Silent)),
        ask(&upstream, "echo", json!({"n": 1}))
    );
    assert!(matches!(bad, Err(RequestError::Malformed(_))), "{bad:?}");
    assert_eq!(fine["given"]["n"], 1);
    upstream.close().await;
}

#[tokio::test]
async fn line_ends_in_raw_json_do_not_end_the_line() {
    let upstream = connect(child("modern")).await;
    let mut params = object(&json!({"name": "echo"}));
    params.insert(
        "arguments",
        RawValue::from_string("{\r\n \"a\":\n[\"x\\ny\"]\n}".to_owned()).unwrap(),
    );
    let answer = upstream
        .request(
            Request::new("tools/call", params, in_seconds(20)),
            Arc::new(Silent),
        )
        .await;
    assert_eq!(json_of(&answer.unwrap())["given"], json!({"a": ["x\ny"]}));
    upstream.close().await;
}

#[tokio::test]
async fn a_death_fails_calls_and_is_told_once() {
    let (listener, mut heard) = ear();
    let upstream = Upstream::connect(child("not-found"), None, listener)
        .await
        .unwrap();
    let error = upstream
        .request(call("die", &json!({"status": 3})), Arc::new(Silent))
        .await
        .unwrap_err();
    assert!(
        matches!(&error, RequestError::Closed { sent: true, reason } if reason.contains("status: 3")),
        "{error:?}"
    );
    assert!(heard.closed().await.contains("status: 3"));
    assert!(upstream.is_closed());
    let later = upstream
        .request(call("echo", &json!({})), Arc::new(Silent))
        .await
        .unwrap_err();
    assert!(!later.sent());
    upstream.close().await;
    assert!(!heard.rest().iter().any(|told| matches!(told, Told::Closed(_))));
}

// X012
#[tokio::test]
async fn no_process_is_left() {
    for (tool, close) in [
        ("family", true),
        ("family", false),
        ("stubborn", true),
        ("stubborn", false),
    ] {
        let mut target = child("not-found");
        target.limits.grace = Duration::from_millis(200);
        let upstream = connect(target).await;
        let pids: Vec<u32> =
            serde_json::from_value(ask(&upstream, tool, json!({})).await["pids"].take()).unwrap();
        assert!(pids.iter().all(|pid| alive(*pid)), "{tool}");
        if close {
            upstream.close().await;
        } else {
            drop(upstream);
        }
        // The kernel takes a moment to carry out a kill; there is nothing else to wait on for a stranger's child.
        for pid in pids {
            tokio::time::timeout(Duration::from_secs(10), async {
                while alive(pid) {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            })
            .await
            .unwrap_or_else(|_| panic!("{pid} survives {tool}"));
        }
    }
}

/// A zombie of a grandchild is its reaper's business.
fn alive(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        !matches!(
            stat.rsplit(") ").next().and_then(|rest| rest.chars().next()),
            Some('Z' | 'X')
        )
    })
}

// X015
#[tokio::test]
async fn the_environment_is_clean() {
    let mut target = child("not-found");
    if let Transport::Stdio(command) = &mut target.transport {
        command.cwd = Some("/".into());
    }
    let upstream = connect(target).await;
    let answer = ask(&upstream, "environment", json!({})).await;
    let mut names: Vec<&str> = answer["env"]
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    // Shells and interpreters between us and the script add their own.
    names.retain(|name| {
        !matches!(*name, "LC_CTYPE" | "PWD" | "SHLVL" | "_" | "OLDPWD") && !name.contains("PYENV")
    });
    names.sort_unstable();
    assert_eq!(names, ["GREETING", "PATH"]);
    assert_eq!(
        (answer["env"]["GREETING"].as_str(), answer["cwd"].as_str()),
        (Some("hello"), Some("/"))
    );
    upstream.close().await;
}

#[tokio::test]
async fn stderr_is_kept_within_its_bound() {
    let mut target = command(&[
        "sh",
        "-c",
        "for i in 1 2 3 4 5 6 7 8 9; do echo line $i >&2; done; exec cat",
    ]);
    target.limits.stderr_ring = 20;
    target.limits.connect = Duration::from_millis(300);
    target.limits.probe = Duration::from_millis(100);
    // `cat` sends our own requests back, which a session must survive as well.
    let error = Upstream::connect(target, None, Arc::new(Silent))
        .await
        .unwrap_err();
    assert!(
        matches!(error, ConnectError::Timeout(_) | ConnectError::Refused(_)),
        "{error}"
    );
    let (listener, mut heard) = ear();
    let upstream = Upstream::connect(child("dies"), None, listener).await.unwrap();
    assert!(matches!(heard.next().await, Told::Line(line) if line.text == "cannot go on"));
    upstream.close().await;
}

#[tokio::test]
async fn subscriptions_are_told_apart() {
    let (session, mut session_heard) = ear();
    let upstream = Upstream::connect(child("modern"), None, session).await.unwrap();
    let (listener, mut heard) = ear();
    let filter = object(&json!({"toolsListChanged": true, "promptsListChanged": true}));
    let subscription = upstream.listen(&filter, listener).await.unwrap();
    assert_eq!(json_of(subscription.honored()), json!({"toolsListChanged": true}));
    assert_eq!(heard.notification().await.0, "notifications/tools/list_changed");
    assert_eq!(upstream.in_flight(), 0);
    drop(subscription);
    // Dropping cancels in the background; the next calls see it arrive.
    tokio::time::timeout(Duration::from_secs(10), async {
        while ask(&upstream, "state", json!({})).await["cancelled"] == json!([]) {}
    })
    .await
    .unwrap();
    assert!(session_heard.rest().is_empty());
    upstream.close().await;
}
