//! Upstream sessions: opened again when the server forgot them, never used when dead, released when nobody needs them; what was given up
//! is taken back at the server.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use connections::Limits;
use domain::{ConnectionId, ConnectionOwner, Endpoint, Sharing, Transport};
use futures::StreamExt as _;
use http::Method;
use serde_json::{Value, json};
use testkit::hostile::{Hostile, Plan, Say, Script, Way};
use testkit::house::{House, Wanted};
use testkit::scripted::{Received, Reply};

use super::bench::{ANSWERED, Bench, Case, FINE, command, limits, seen};
use super::counts::{children, until};

/// The session a request names.
fn session(request: &Received) -> Option<String> {
    let by_header = request.header("mcp-session-id").map(str::to_owned);
    by_header.or_else(|| request.uri.query().map(str::to_owned))
}

fn no_such_session(status: u16) -> Reply {
    match status {
        400 => Reply::json(
            400,
            &json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32000, "message": "Bad Request: No valid session ID provided" } }),
        ),
        status => Reply::status(status),
    }
}

// C: expired upstream sessions
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_forgotten_session_is_opened_again_and_the_call_runs_once() {
    let mut cases = Vec::new();
    let mut ledgers = Vec::new();
    for (way, status) in [
        (&[Way::Events], 404),
        (&[Way::Events], 410),
        (&[Way::Events], 400),
        (&[Way::Sse], 404),
        (&[Way::Sse], 410),
    ] {
        let forgotten: Arc<Mutex<HashSet<String>>> = Arc::default();
        let ran = Arc::new(AtomicUsize::new(0));
        ledgers.push((forgotten.clone(), ran.clone()));
        let http = move |request: &Received| {
            let gone = session(request).is_some_and(|session| forgotten.lock().unwrap().contains(&session));
            if gone {
                return (request.method == Method::POST).then(|| no_such_session(status));
            }
            if request.rpc_method().as_deref() == Some("tools/call") {
                ran.fetch_add(1, Ordering::SeqCst);
            }
            None
        };
        let plan = Plan {
            script: Script::default(),
            http: Some(Arc::new(http)),
        };
        cases.push(Case::new(format!("{status}"), plan, ANSWERED).over(way));
    }
    let bench = Bench::start(&cases).await;
    for (subject, (forgotten, ran)) in bench.subjects.iter().zip(&ledgers) {
        let what = format!("{} over {:?}", subject.case.name, subject.hostile.way);
        let server = subject.hostile.server.as_ref().unwrap();
        subject.hostile.misbehave(true).unwrap();
        for round in 1..=3 {
            let answer = bench.beside_a_healthy_call(&subject.namespace, "act").await;
            assert_eq!(seen(&answer), FINE, "{what}, {round}: {answer}");
            assert_eq!(ran.load(Ordering::SeqCst), round, "{what}");
            assert_eq!(server.received_of("initialize").len(), round, "{what}");
            assert_eq!(bench.house.connections.live(subject.id).sessions, 1, "{what}");
            let known = server
                .received()
                .iter()
                .filter_map(session)
                .collect::<HashSet<_>>();
            forgotten.lock().unwrap().extend(known);
        }
    }
}

// V176
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_client_gives_up_is_taken_back_at_the_server() {
    let script = Script::calls([Say::Hang]);
    let cases =
        vec![Case::new("hangs", Plan { script, http: None }, ANSWERED).flags(&["--heard", "$folder/heard"])];
    let bench = Bench::start(&cases).await;
    let heard = bench.folder.path().join("heard");
    for subject in &bench.subjects {
        subject.hostile.misbehave(true).unwrap();
        let count = |method: &str| match &subject.hostile.server {
            Some(server) => server.received_of(method).len(),
            None => {
                let heard = std::fs::read_to_string(&heard).unwrap_or_default();
                heard.lines().filter(|line| *line == method).count()
            }
        };
        let name = format!("{}__look", subject.namespace);
        {
            let calling = bench.client.call(&name);
            let sent = until("the call is there", async || count("tools/call") == 1);
            tokio::select! {
                answer = calling => panic!("{:?}: {answer}", subject.hostile.way),
                () = sent => {}
            }
            // Here the client leaves.
        }
        match (&subject.hostile.server, subject.hostile.way) {
            // What is closed needs no word of it (2026-07-28).
            (Some(server), Way::Modern) => server.wait_for_abandoned(1).await,
            _ => {
                until("the server hears of it", async || {
                    count("notifications/cancelled") == 1
                })
                .await;
            }
        }
        until("the call is over", async || {
            bench.house.connections.live(subject.id).in_flight == 0
        })
        .await;
        // The session was not given up with it.
        subject.hostile.misbehave(false).unwrap();
        let answer = bench.beside_a_healthy_call(&subject.namespace, "look").await;
        assert_eq!(seen(&answer), FINE, "{:?}: {answer}", subject.hostile.way);
        if let (Some(server), true) = (&subject.hostile.server, subject.hostile.way != Way::Modern) {
            assert_eq!(server.received_of("initialize").len(), 1);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions_outlive_the_connections_under_them() {
    let mut limits = limits();
    limits.idle = Duration::from_millis(50);
    limits.http.pool_idle = Duration::from_millis(50);
    let plan = Plan::default();
    let cases = vec![Case::new("idle", plan, ANSWERED).flags(&["--pid-file", "$folder/pids"])];
    let mut bench = Bench::empty(limits).await;
    bench.connect(&cases).await;
    let ids: Vec<_> = bench.subjects.iter().map(|subject| subject.id).collect();
    assert_eq!(bench.house.prepare_all(&ids).await, []);
    bench.open_to_all().await;
    for subject in &bench.subjects {
        let call = async || {
            let answer = bench.beside_a_healthy_call(&subject.namespace, "act").await;
            assert_eq!(seen(&answer), FINE, "{:?}: {answer}", subject.hostile.way);
        };
        call().await;
        let before = subject
            .hostile
            .server
            .as_ref()
            .map_or(0, |server| server.connections());
        for _ in 0..3 {
            // Longer than anything idle is kept open.
            tokio::time::sleep(Duration::from_millis(200)).await;
            call().await;
        }
        match &subject.hostile.server {
            Some(server) => {
                assert!(server.connections() > before, "{:?}", subject.hostile.way);
                let openings =
                    ["initialize", "server/discover"].map(|method| server.received_of(method).len());
                let wanted = if subject.hostile.way == Way::Modern {
                    [0, 1]
                } else {
                    [1, openings[1]]
                };
                assert_eq!(openings, wanted, "{:?}", subject.hostile.way);
            }
            None => {
                let pids = std::fs::read_to_string(bench.folder.path().join("pids")).unwrap();
                assert_eq!(pids.lines().count(), 1, "the process was started once");
            }
        }
    }
}

/// A client of an earlier revision, which begins a session, calls a tool and leaves.
async fn abandoned(house: &House, tool: &str) -> String {
    let url = format!("{}/mcp", house.url);
    let bearer = format!("Bearer {}", house.agent_key);
    let send = async |session: Option<&str>, message: Value| {
        let mut headers = vec![
            ("authorization", bearer.as_str()),
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
        ];
        if let Some(session) = session {
            headers.push(("mcp-session-id", session));
            headers.push(("mcp-protocol-version", "2025-06-18"));
        }
        testkit::http::send(Method::POST, &url, &headers, message.to_string())
            .await
            .unwrap()
    };
    let opened = send(
        None,
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "gone", "version": "1" } } }),
    )
    .await;
    let session = opened.headers["mcp-session-id"].to_str().unwrap().to_owned();
    send(
        Some(&session),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
    )
    .await;
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": tool, "arguments": {} } });
    let answer = send(Some(&session), call).await.json();
    assert_eq!(seen(&answer), FINE, "{answer}");
    session
}

async fn end(house: &House, session: &str) {
    let bearer = format!("Bearer {}", house.agent_key);
    let headers = [
        ("authorization", bearer.as_str()),
        ("mcp-session-id", session),
        ("mcp-protocol-version", "2025-06-18"),
    ];
    let answer = testkit::http::send(Method::DELETE, &format!("{}/mcp", house.url), &headers, "").await;
    assert!(answer.unwrap().status.is_success());
}

/// A connection with a session for each client.
async fn one_each(house: &House, endpoint: Endpoint) -> ConnectionId {
    let wanted = Wanted {
        owner: ConnectionOwner::Workspace,
        namespace: "own",
        endpoint,
        sharing: Sharing::PerSession,
        call_timeout_ms: None,
    };
    let id = house.add(wanted).await;
    house.discover(id).await;
    house.grant_all(house.agent, &[id]).await;
    id
}

const CLIENTS: usize = 200;

fn abandoning() -> Limits {
    Limits {
        idle: Duration::from_secs(2),
        ..limits()
    }
}

// X019
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_abandoned_clients_leave_no_process() {
    let commands = [("own", command(Vec::new()))].into_iter().collect();
    let limits = abandoning();
    let most = limits.processes;
    let house = House::build(testkit::house::Plan {
        commands,
        limits,
        ..testkit::house::Plan::default()
    })
    .await;
    let id = one_each(
        &house,
        Endpoint::Command {
            configured: "own".into(),
        },
    )
    .await;
    let highest = AtomicUsize::new(0);
    futures::stream::iter(0..CLIENTS)
        .for_each_concurrent(4, |_| async {
            abandoned(&house, "own__echo").await;
            highest.fetch_max(children().len(), Ordering::SeqCst);
        })
        .await;
    let highest = highest.into_inner();
    assert!(
        (1..=most).contains(&highest),
        "{highest} processes, {most} allowed"
    );
    until("no process is left", async || children().is_empty()).await;
    assert_eq!(house.connections.live(id).processes, 0);
    println!("{CLIENTS} clients, {highest} processes at most, none left");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_abandoned_clients_leave_no_upstream_session() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Hostile::start(Way::Events, Plan::default(), folder.path().join("none"))
        .await
        .unwrap();
    let url = upstream.url().unwrap().to_owned();
    let house = House::build(testkit::house::Plan {
        reachable: vec![url.clone()],
        limits: abandoning(),
        ..testkit::house::Plan::default()
    })
    .await;
    let endpoint = Endpoint::Url {
        url: url.into(),
        transport: Transport::StreamableHttp,
    };
    let id = one_each(&house, endpoint).await;
    let server = upstream.server.as_ref().unwrap();
    let ended = || {
        let received = server.received();
        let deleted = received.iter().filter(|request| request.method == Method::DELETE);
        deleted.filter_map(session).collect::<HashSet<_>>().len()
    };
    // A client that ends its session takes the upstream session with it, at once.
    let before = ended();
    end(&house, &abandoned(&house, "own__act").await).await;
    until("the session was ended at the server", async || ended() > before).await;
    futures::stream::iter(0..CLIENTS)
        .for_each_concurrent(4, |_| async {
            abandoned(&house, "own__act").await;
        })
        .await;
    let opened = server.received_of("initialize").len();
    assert_eq!(opened, CLIENTS + 2, "one each, and one to list");
    until("every session was ended at the server", async || {
        ended() == opened
    })
    .await;
    assert_eq!(house.connections.live(id).sessions, 0);
    println!("{opened} upstream sessions, all ended");
}
