//! Lists that are read again: because somebody asks, because their time is over, because another way leads to the server.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use connections::{ConnectionEventKind, Limits};
use domain::{ConnectionState, Health, OutcomeCode, Status};
use futures::future::join_all;
use serde_json::{Value, json};
use testkit::scripted::{Received, Reply, Scripted, Step};
use tokio_util::sync::CancellationToken;

use super::house::{House, Plan, Wanted, until};

fn tools(names: &[&str]) -> Value {
    names
        .iter()
        .map(|name| json!({ "name": name, "inputSchema": { "type": "object" } }))
        .collect()
}

async fn house_for(server: &Scripted, limits: Limits) -> House {
    House::build(Plan {
        urls: vec![server.url().to_owned()],
        limits,
        ..Plan::default()
    })
    .await
}

#[tokio::test]
async fn a_refresh_lists_after_it_was_asked_for() {
    let offered = Arc::new(Mutex::new(tools(&["a"])));
    let go = CancellationToken::new();
    let (listed, held) = (offered.clone(), go.clone());
    let server = Scripted::start(move |request| match request.rpc_method().as_deref() {
        // What is listed is what it has when it is asked, however late the answer leaves.
        Some("tools/list") => {
            let result = json!({ "tools": *listed.lock().unwrap() });
            Reply::result(request, result).after(held.clone())
        }
        _ => Reply::legacy(request),
    })
    .await
    .unwrap();
    let house = house_for(&server, Limits::default()).await;
    let id = house.add(Wanted::url(server.url())).await;
    let (connections, tenant) = (house.connections.clone(), house.tenant);
    let first = tokio::spawn(async move { connections.prepare(tenant, id).await });
    until("it is listing", || server.received_of("tools/list").len() == 1).await;
    *offered.lock().unwrap() = tools(&["a", "b"]);
    let refreshes = join_all((0..20).map(|_| house.connections.refresh(tenant, id)));
    let joined = house.connections.test(tenant, id);
    // All have asked before the first listing comes to its end.
    let (refreshed, tested, ()) = tokio::join!(refreshes, joined, async { go.cancel() });
    for report in refreshed {
        assert_eq!(report.unwrap().seen.unwrap().tools.listed, 2);
    }
    assert_eq!(first.await.unwrap().unwrap().tools.listed, 1);
    assert_eq!(
        tested.unwrap().seen.unwrap().tools.listed,
        1,
        "a test takes what is under way"
    );
    assert_eq!(
        server.received_of("tools/list").len(),
        2,
        "all who ask share one more listing"
    );
    // Somebody who asks and leaves keeps nobody from a listing of his own.
    let leaving = house.connections.refresh(tenant, id);
    drop(tokio::time::timeout(Duration::ZERO, leaving).await);
    until("it was listed", || server.received_of("tools/list").len() == 3).await;
    *offered.lock().unwrap() = tools(&["a", "b", "c"]);
    let report = house.connections.refresh(tenant, id).await.unwrap();
    assert_eq!(report.seen.unwrap().tools.listed, 3);
}

/// A modern server that says how long its list stays true, and has one more tool each time it is asked.
async fn growing(modern: bool, ttl: Value) -> Scripted {
    let asked = Arc::new(AtomicUsize::new(0));
    Scripted::start(move |request: &Received| match request.rpc_method().as_deref() {
        Some("server/discover") if modern => Reply::result(
            request,
            json!({ "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} },
                "_meta": { "io.modelcontextprotocol/serverInfo": { "name": "growing", "version": "1" } } }),
        ),
        Some("tools/list") => {
            let count = asked.fetch_add(1, Ordering::SeqCst);
            let names: Vec<String> = (0..=count).map(|n| format!("t{n}")).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            Reply::result(request, json!({ "resultType": "complete", "tools": tools(&names), "ttlMs": ttl, "cacheScope": "private" }))
        }
        Some("tools/call") => Reply::result(request, json!({ "resultType": "complete", "content": [] })),
        _ => Reply::legacy(request),
    })
    .await
    .unwrap()
}

/// Limits under which sweeps come often.
fn restless(relist: Duration) -> Limits {
    Limits {
        idle: Duration::from_millis(80),
        relist,
        ..Limits::default()
    }
}

#[tokio::test]
async fn lists_whose_time_is_over_are_read_again_while_they_are_used() {
    let server = growing(true, json!(0)).await;
    let mut house = house_for(&server, restless(Duration::from_millis(1))).await;
    let id = house.add(Wanted::url(server.url())).await;
    house.connections.prepare(house.tenant, id).await.unwrap();
    let grown = |kind: &ConnectionEventKind| matches!(kind, ConnectionEventKind::CatalogueChanged { .. });
    house.hear(id, grown).await;
    for round in 2..5 {
        let answer = house.read(id, "t0", json!({})).await;
        assert_eq!(answer.outcome.status, Status::Succeeded, "{answer:?}");
        house.hear(id, grown).await;
        assert_eq!(
            server.received_of("tools/list").len(),
            round,
            "once for each time it was used"
        );
    }
}

#[tokio::test]
async fn lists_that_stay_true_are_left_alone() {
    let cases = [
        // Longer than this test, less than the least that is believed, and of a revision in which it means nothing.
        (true, json!(3_600_000), Duration::from_millis(1)),
        (true, json!(0), Duration::from_secs(3_600)),
        (true, Value::Null, Duration::from_millis(1)),
        (false, json!(0), Duration::from_millis(1)),
    ];
    for (modern, ttl, relist) in cases {
        let server = growing(modern, ttl.clone()).await;
        let other = growing(true, json!(0)).await;
        let mut house = House::build(Plan {
            urls: vec![server.url().to_owned(), other.url().to_owned()],
            limits: restless(relist),
            ..Plan::default()
        })
        .await;
        let id = house.add(Wanted::url(server.url())).await;
        house.connections.prepare(house.tenant, id).await.unwrap();
        let answer = house.read(id, "t0", json!({})).await;
        assert_eq!(answer.outcome.status, Status::Succeeded, "{answer:?}");
        if relist < Duration::from_secs(1) {
            // Sweeps have come by when another server's lists were read again twice.
            let witness = house.add(Wanted::url(other.url())).await;
            house.connections.prepare(house.tenant, witness).await.unwrap();
            let grown =
                |kind: &ConnectionEventKind| matches!(kind, ConnectionEventKind::CatalogueChanged { .. });
            house.hear(witness, grown).await;
            for _ in 0..2 {
                house.read(witness, "t0", json!({})).await;
                house.hear(witness, grown).await;
            }
        }
        assert_eq!(
            server.received_of("tools/list").len(),
            1,
            "{modern} {ttl} {relist:?}"
        );
    }
}

#[tokio::test]
async fn a_server_nobody_calls_is_looked_at() {
    let gone = Arc::new(AtomicBool::new(false));
    let known = gone.clone();
    let server = Scripted::start(move |request| match known.load(Ordering::Acquire) {
        true => Reply::status(503),
        false => Reply::legacy(request),
    })
    .await
    .unwrap();
    let limits = Limits {
        check: Duration::from_millis(100),
        ..Limits::default()
    };
    let mut house = house_for(&server, limits).await;
    let id = house.add(Wanted::url(server.url())).await;
    house.connections.prepare(house.tenant, id).await.unwrap();
    let health = |wanted: Health| move |kind: &ConnectionEventKind| matches!(kind, ConnectionEventKind::StateChanged { health, .. } if *health == wanted);
    house.hear(id, health(Health::Ok)).await;
    gone.store(true, Ordering::Release);
    house.hear(id, health(Health::Unreachable)).await;
    gone.store(false, Ordering::Release);
    house.hear(id, health(Health::Ok)).await;
}

/// A server that keeps a stream open over which it could speak at any time.
async fn listened_to() -> Scripted {
    Scripted::start(|request| match request.rpc_method().as_deref() {
        None if request.method == "GET" => Reply::status(200)
            .header("content-type", "text/event-stream")
            .then(Step::keep_alive())
            .then(Step::Hang),
        Some("tools/call") => Reply::result(request, json!({ "content": [] })),
        _ => Reply::legacy(request),
    })
    .await
    .unwrap()
}

// O038
#[tokio::test]
async fn urls_of_the_operator_come_and_go_while_running() {
    let (server, stays) = (listened_to().await, listened_to().await);
    let mut house = House::build(Plan {
        urls: vec![stays.url().to_owned()],
        ..Plan::default()
    })
    .await;
    let state = |health| match health {
        Health::Ok => ConnectionEventKind::StateChanged {
            state: ConnectionState::Ready,
            health,
        },
        _ => ConnectionEventKind::StateChanged {
            state: ConnectionState::Error,
            health,
        },
    };
    let kept = house.add(Wanted::url(stays.url())).await;
    house.connections.prepare(house.tenant, kept).await.unwrap();
    let id = house.add(Wanted::url(server.url())).await;
    let refused = house.connections.prepare(house.tenant, id).await.unwrap_err();
    assert_eq!(refused.health(), Some(Health::EgressRefused));
    assert!(server.received().is_empty());
    // It comes: what it is for works, without anybody asking again.
    let both = [stays.url().to_owned(), server.url().to_owned()];
    house.connections.reload_urls(&both).await.unwrap();
    house.hear(id, |kind| *kind == state(Health::Ok)).await;
    assert_eq!(
        house.read(id, "echo", json!({})).await.outcome.status,
        Status::Succeeded
    );
    until("its stream is open", || {
        server.received().iter().any(|r| r.method == "GET")
    })
    .await;
    // One that cannot be registered changes nothing.
    let unsound = [stays.url().to_owned(), "ftp://example.com/".to_owned()];
    let (url, _) = house.connections.reload_urls(&unsound).await.unwrap_err();
    assert_eq!(url, unsound[1]);
    assert_eq!(
        house.read(id, "echo", json!({})).await.outcome.status,
        Status::Succeeded
    );
    // It goes: the session over it is closed, its stream too, and nothing is sent any more.
    house.connections.reload_urls(&both[..1]).await.unwrap();
    house.hear(id, |kind| *kind == state(Health::EgressRefused)).await;
    server.wait_for_abandoned(1).await;
    let sent = server.received().len();
    let answer = house.read(id, "echo", json!({})).await;
    assert_eq!(
        (answer.outcome.code, answer.sent),
        (Some(OutcomeCode::Unreachable), false)
    );
    assert!(house.connections.check_url(server.url()).await.is_err());
    assert_eq!(house.connections.live(id).sessions, 0);
    assert_eq!(server.received().len(), sent);
    // What stayed was not disturbed.
    assert_eq!(
        house.read(kept, "echo", json!({})).await.outcome.status,
        Status::Succeeded
    );
    assert_eq!(stays.received_of("initialize").len(), 1);
}
