//! Commands: their environment, their sharing, their ends and their new beginnings.

use std::time::Duration;

use connections::{ConnectionEventKind, DispatchBody, Limits};
use domain::{ConnectionState, Health, OutcomeCode, Sharing, Status};
use serde_json::json;

use super::house::{House, Plan, Wanted, alive, child, from, known, structured, table, until};

async fn house(arguments: &[&str], limits: Limits) -> House {
    House::build(Plan {
        commands: vec![("child", child(arguments))],
        limits,
        ..Plan::default()
    })
    .await
}

async fn pid(house: &House, id: domain::ConnectionId) -> u64 {
    structured(&house.read(id, "pid", json!({})).await)["pid"]
        .as_u64()
        .unwrap()
}

async fn pid_of(house: &House, id: domain::ConnectionId, session: Option<&str>) -> u64 {
    let answer = house
        .call_with(
            (id, "pid", domain::Effect::ReadOnly),
            json!({}),
            from(session),
            std::sync::Arc::new(domain::NoEvents),
        )
        .await;
    structured(&answer)["pid"].as_u64().unwrap()
}

// X015, and clean otherwise
#[tokio::test]
async fn the_environment_is_what_is_configured() {
    let mut spec = child(&[]);
    spec.env = vec![("BRAVE_API_KEY".to_owned(), known("key-1"))];
    spec.inherited = vec![("LANG".to_owned(), domain::Secret::new("C"))];
    let house = House::build(Plan {
        commands: vec![("child", spec)],
        ..Plan::default()
    })
    .await;
    let id = house.add(Wanted::command("child")).await;
    let seen = structured(&house.read(id, "environment", json!({})).await);
    assert_eq!(seen, json!({ "BRAVE_API_KEY": "key-1", "LANG": "C" }));
    house.connections.shutdown(Duration::from_secs(10)).await;
}

// X018, X019
#[tokio::test]
async fn concurrent_calls_share_one_process_and_keep_apart() {
    let house = house(&[], Limits::default()).await;
    let id = house.add(Wanted::command("child")).await;
    house.connections.prepare(house.tenant, id).await.unwrap();
    let first = pid(&house, id).await;
    let calls = (0..100).map(|n| {
        let house = &house;
        async move { (n, structured(&house.read(id, "echo", json!({ "n": n })).await)) }
    });
    for (n, answer) in futures::future::join_all(calls).await {
        assert_eq!(answer, json!({ "n": n }));
    }
    assert_eq!(pid(&house, id).await, first);
    let facts = house.connections.live(id);
    assert_eq!(
        (facts.sessions, facts.processes, facts.in_flight, facts.restarts),
        (1, 1, 0, 0)
    );
    house.connections.shutdown(Duration::from_secs(10)).await;
    assert!(!alive(first));
}

// X019
#[tokio::test]
async fn a_process_of_ones_own() {
    let house = house(&[], Limits::default()).await;
    let each = house
        .add(Wanted::command("child").sharing(Sharing::PerCall))
        .await;
    let (a, b) = (pid(&house, each).await, pid(&house, each).await);
    assert_ne!(a, b);
    until("the processes of single calls end", || !alive(a) && !alive(b)).await;

    let session = house
        .add(Wanted::command("child").sharing(Sharing::PerSession))
        .await;
    let (a, again, b) = (
        pid_of(&house, session, Some("a")).await,
        pid_of(&house, session, Some("a")).await,
        pid_of(&house, session, Some("b")).await,
    );
    assert_eq!(a, again);
    assert_ne!(a, b);
    house.connections.end_session(&from(Some("a")).session);
    until("the process of a session ends with it", || !alive(a)).await;
    assert!(alive(b));
    house.connections.remove(session).await;
    assert!(!alive(b));
}

#[tokio::test]
async fn idle_sessions_end() {
    let limits = Limits {
        idle: Duration::from_millis(80),
        ..Limits::default()
    };
    let house = house(&[], limits).await;
    let id = house
        .add(Wanted::command("child").sharing(Sharing::PerSession))
        .await;
    let pid = pid_of(&house, id, Some("a")).await;
    until("an idle process ends", || !alive(pid)).await;
    assert_ne!(pid_of(&house, id, Some("a")).await, pid);
}

// X020
#[tokio::test]
async fn a_dead_process_is_started_again_by_the_next_call() {
    let house = house(&[], Limits::default()).await;
    let id = house.add(Wanted::command("child")).await;
    let first = pid(&house, id).await;
    let lost = house.act(id, "crash", json!({})).await;
    assert_eq!(
        (lost.outcome.status, lost.outcome.code, lost.sent),
        (Status::Unknown, Some(OutcomeCode::Unknown), true)
    );
    let second = pid(&house, id).await;
    assert_ne!(first, second);
    // What only reads has failed, and that is known.
    let lost = house.read(id, "crash", json!({})).await;
    assert_eq!(
        (lost.outcome.status, lost.outcome.code),
        (Status::Failed, Some(OutcomeCode::UpstreamError))
    );
    assert!(house.connections.live(id).restarts >= 1);
}

#[tokio::test]
async fn a_command_that_keeps_ending_rests_and_says_so() {
    let limits = Limits {
        backoff: Duration::from_secs(60),
        ..Limits::default()
    };
    let house = house(&["--die-on-call", "1"], limits).await;
    let id = house.add(Wanted::command("child")).await;
    house.connections.prepare(house.tenant, id).await.unwrap();
    for _ in 0..2 {
        assert_eq!(
            house.act(id, "echo", json!({})).await.outcome.status,
            Status::Unknown
        );
    }
    let resting = house.act(id, "echo", json!({})).await;
    assert_eq!(
        (resting.outcome.code, resting.sent),
        (Some(OutcomeCode::Unreachable), false),
        "{}",
        resting.detail
    );
    assert!(resting.retry_after.is_some());
    // A person who tests it does not have to wait.
    assert!(house.connections.test(house.tenant, id).await.unwrap().ok);
}

#[tokio::test]
async fn three_quick_ends_make_a_connection_failed() {
    let limits = Limits {
        backoff: Duration::from_millis(1),
        ..Limits::default()
    };
    let mut house = house(&["--die-on-call", "1"], limits).await;
    let id = house.add(Wanted::command("child")).await;
    house.connections.prepare(house.tenant, id).await.unwrap();
    let failed = ConnectionEventKind::StateChanged {
        state: ConnectionState::Error,
        health: Health::ProcessFailed,
    };
    let mut ends = 0;
    while ends < 3 {
        ends += u32::from(house.act(id, "echo", json!({})).await.outcome.status == Status::Unknown);
    }
    house.hear(id, |kind| *kind == failed).await;
    // It is prepared again by itself.
    house
        .hear(id, |kind| {
            matches!(
                kind,
                ConnectionEventKind::StateChanged {
                    state: ConnectionState::Ready,
                    ..
                }
            )
        })
        .await;
}

#[tokio::test]
async fn a_command_that_cannot_start_is_an_error_with_a_reason() {
    let mut house = house(&["--die-on", "initialize"], Limits::default()).await;
    let id = house.add(Wanted::command("child")).await;
    let error = house.connections.prepare(house.tenant, id).await.unwrap_err();
    assert_eq!(error.health(), Some(Health::ProcessFailed), "{error}");
    let wanted = ConnectionEventKind::StateChanged {
        state: ConnectionState::Error,
        health: Health::ProcessFailed,
    };
    assert_eq!(house.hear(id, |_| true).await, wanted);
    let stored = house.stored(id).await;
    assert_eq!(
        (stored.state, stored.health),
        (ConnectionState::Error, Health::ProcessFailed)
    );
    assert!(
        stored
            .health_detail
            .is_some_and(|detail| detail.contains("command failed"))
    );

    let gone = house.add(Wanted::command("nowhere")).await;
    let report = house.connections.test(house.tenant, gone).await.unwrap();
    assert_eq!((report.ok, report.health), (false, Health::NotConfigured));
    let call = house.act(gone, "echo", json!({})).await;
    assert_eq!(
        (call.outcome.code, call.sent),
        (Some(OutcomeCode::Unreachable), false)
    );
}

#[tokio::test]
async fn processes_are_bounded() {
    let limits = Limits {
        processes: 2,
        connect: Duration::from_millis(300),
        ..Limits::default()
    };
    let house = house(&["--hang-on", "tools/call"], limits).await;
    let id = house
        .add(Wanted::command("child").sharing(Sharing::PerSession))
        .await;
    let hang = |session: &'static str| {
        let mut to = from(Some(session));
        to.timeout = Some(Duration::from_millis(1_500));
        house.call_with(
            (id, "echo", domain::Effect::ReadOnly),
            json!({}),
            to,
            std::sync::Arc::new(domain::NoEvents),
        )
    };
    let (a, b, c) = tokio::join!(hang("a"), hang("b"), hang("c"));
    let codes = [a.outcome.code, b.outcome.code, c.outcome.code];
    assert_eq!(
        codes
            .iter()
            .filter(|code| **code == Some(OutcomeCode::Timeout))
            .count(),
        2,
        "{codes:?}"
    );
    let refused = [a, b, c]
        .into_iter()
        .find(|d| d.outcome.code == Some(OutcomeCode::Unreachable))
        .unwrap();
    assert!(refused.detail.contains("all 2 processes"), "{}", refused.detail);
    assert!(house.connections.live(id).processes <= 2);
}

// X012
#[tokio::test]
async fn nothing_is_left_behind() {
    let house = House::build(Plan::default()).await;
    let (pids, grandchildren) = (house.file("pids"), house.file("grandchildren"));
    let spec = child(&[
        "--ignore-eof",
        "--ignore-sigterm",
        "--pid-file",
        pids.to_str().unwrap(),
        "--grandchild",
        grandchildren.to_str().unwrap(),
    ]);
    house.connections.reload(table(vec![("child", spec)])).await;
    let id = house.add(Wanted::command("child")).await;
    house.connections.prepare(house.tenant, id).await.unwrap();
    house.connections.shutdown(Duration::from_secs(20)).await;
    let read = |file: &std::path::Path| -> Vec<u64> {
        std::fs::read_to_string(file)
            .unwrap()
            .lines()
            .map(|line| line.parse().unwrap())
            .collect()
    };
    let all = [read(&pids), read(&grandchildren)].concat();
    assert_eq!(all.len(), 2);
    until("every process is gone", || all.iter().all(|pid| !alive(*pid))).await;
    // Nothing can be started any more.
    assert!(house.connections.prepare(house.tenant, id).await.is_err());
}

#[tokio::test]
async fn dropping_everything_leaves_nothing_either() {
    let house = house(&["--ignore-eof"], Limits::default()).await;
    let id = house.add(Wanted::command("child")).await;
    let pid = pid(&house, id).await;
    drop(house);
    until("the process is gone", || !alive(pid)).await;
}

#[tokio::test]
async fn a_changed_command_is_started_anew() {
    let mut house = house(&[], Limits::default()).await;
    let id = house.add(Wanted::command("child")).await;
    house.connections.prepare(house.tenant, id).await.unwrap();
    let before = pid(&house, id).await;
    // The same again changes nothing.
    house.connections.reload(table(vec![("child", child(&[]))])).await;
    assert_eq!(pid(&house, id).await, before);
    house
        .connections
        .reload(table(vec![("child", child(&["--discover", "invalid"]))]))
        .await;
    assert_ne!(pid(&house, id).await, before);
    until("the old process ends", || !alive(before)).await;
    // Gone from the configuration: gone from use.
    house.connections.reload(table(vec![])).await;
    let wanted = ConnectionEventKind::StateChanged {
        state: ConnectionState::Error,
        health: Health::NotConfigured,
    };
    house.hear(id, |kind| *kind == wanted).await;
    assert!(!house.read(id, "echo", json!({})).await.sent);
}

// V123, V124
#[tokio::test]
async fn no_command_but_the_operators() {
    let house = house(&[], Limits::default()).await;
    // What the configuration does not name is never run; that no URL becomes a command is the store's to hold.
    let id = house.add(Wanted::command("sh")).await;
    let error = house.connections.prepare(house.tenant, id).await.unwrap_err();
    assert_eq!(error.health(), Some(Health::NotConfigured), "{error}");
    assert_eq!(house.connections.live(id).processes, 0);
}

#[tokio::test]
async fn noise_is_survived_and_shown() {
    let house = house(
        &["--noise", "Server starting up", "--noise-each", "[log] answering"],
        Limits::default(),
    )
    .await;
    let id = house.add(Wanted::command("child")).await;
    let report = house.connections.test(house.tenant, id).await.unwrap();
    assert!(report.ok);
    assert!(
        report.lines.iter().any(|line| line.text == "Server starting up"),
        "{:?}",
        report.lines
    );
    assert_eq!(
        structured(&house.read(id, "echo", json!({"a": 1})).await),
        json!({"a": 1})
    );
    let failed = house.read(id, "fail", json!({})).await;
    assert_eq!(
        (failed.outcome.status, failed.outcome.code),
        (Status::Failed, Some(OutcomeCode::ToolError))
    );
    assert!(matches!(failed.body, DispatchBody::Result(_)));
}

#[tokio::test]
async fn what_was_negotiated_is_remembered() {
    let house = house(
        &["--discover", "never"],
        Limits {
            probe: Duration::from_millis(100),
            ..Limits::default()
        },
    )
    .await;
    let id = house.add(Wanted::command("child")).await;
    let prepared = house.connections.prepare(house.tenant, id).await.unwrap();
    assert_eq!(prepared.negotiated, "2025-11-25 stdio");
    assert_eq!(
        house.stored(id).await.negotiated.as_deref(),
        Some("2025-11-25 stdio")
    );
    assert_eq!(prepared.server, ("scripted-child".to_owned(), "1".to_owned()));
}
