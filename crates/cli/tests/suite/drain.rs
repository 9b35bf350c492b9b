//! Stopping in order: what is under way may end, what does not is broken off in time, and both are in the record.

use std::fs;
use std::net::{SocketAddr, TcpStream};

use serde_json::Value;

use crate::client::{Client, succeeded};
use crate::house::{House, is_alive};
use crate::scene::{Kind, Scene};

/// A call that is under way when the server is told to stop.
struct Case {
    tool: &'static str,
    /// Whether its server answers before the time is up.
    ends: bool,
    status: &'static str,
    code: Option<&'static str>,
}

const fn case(tool: &'static str, ends: bool, status: &'static str, code: Option<&'static str>) -> Case {
    Case {
        tool,
        ends,
        status,
        code,
    }
}

const CASES: [Case; 8] = [
    case("up__write", true, "succeeded", None),
    case("up__read", true, "succeeded", None),
    case("fresh__write", true, "succeeded", None),
    case("fresh__read", true, "succeeded", None),
    case("up__write", false, "unknown", Some("unknown")),
    case("up__read", false, "failed", Some("cancelled")),
    case("fresh__write", false, "unknown", Some("unknown")),
    case("fresh__read", false, "failed", Some("cancelled")),
];

/// Waits until nobody can connect any more.
async fn until_it_takes_no_more(scene: &Scene) {
    let address: SocketAddr = scene.house.url.trim_start_matches("http://").parse().unwrap();
    scene
        .until("it takes no more connections", || {
            TcpStream::connect(address).is_err().then_some(())
        })
        .await;
}

/// Calls that were decided and of which the record does not say how they ended.
async fn without_end(scene: &Scene) -> i64 {
    let sql = "SELECT count(*) FROM journal d WHERE d.kind = 'decided' AND d.word = 'allow' AND NOT EXISTS
        (SELECT 1 FROM journal e WHERE e.call_id = d.call_id AND e.kind = 'ended')";
    scene.database.number(sql).await.unwrap()
}

async fn check(scene: &mut Scene, case: &Case) {
    let what = format!("{:?} {} {}", scene.kind, case.tool, case.status);
    let (before, calls) = (scene.listed(&[]), scene.upstream.calls());
    let client = Client::begin(&scene.house).await;
    scene.upstream.hold("tools/call");
    let call = client.call(case.tool);
    scene.upstream.until_heard("tools/call", calls + 1).await;
    scene.house.ask_to_stop();
    until_it_takes_no_more(scene).await;
    if case.ends {
        scene.upstream.release();
    }
    let ended = scene.house.wait();
    scene.upstream.release();
    assert!(ended.success(), "{what}: {ended:?}\n{}", scene.house.log());
    let answer = call.await.unwrap();
    if case.ends {
        assert!(succeeded(answer.as_ref()), "{what}: {answer:?}");
    } else {
        // Whoever waits is told what is known of it.
        let text = answer.map(|answer| answer.to_string()).unwrap_or_default();
        let said = if case.status == "unknown" {
            "nobody knows"
        } else {
            "cancelled"
        };
        assert!(text.contains(said), "{what}: {text}");
    }
    assert_eq!(
        without_end(scene).await,
        0,
        "{what}: the end is written before the server ends"
    );
    scene.house.again();
    let mut now = scene.listed(&[]);
    now.retain(|item| before.iter().all(|other| other.call != item.call));
    let shown: Vec<_> = now
        .iter()
        .map(|item| (&*item.status, item.code.as_deref()))
        .collect();
    assert_eq!(shown, [(case.status, case.code)], "{what}");
    assert_eq!(scene.upstream.calls(), calls + 1, "{what}: sent once");
    scene.verify(None);
}

async fn drains(kind: Kind, ends: bool) {
    // Whoever never ends is not waited for long; whoever ends does so long before that.
    let seconds = if ends { 30 } else { 1 };
    let more = format!("[server]\ndrain_seconds = {seconds}\n");
    let Some(mut scene) = Scene::start(kind, &more).await else {
        return;
    };
    scene.connect("fresh", "per_call").await;
    for case in CASES.iter().filter(|case| case.ends == ends) {
        check(&mut scene, case).await;
    }
    scene.check_database().await;
}

mod sqlite {
    use super::{Kind, drains};

    #[tokio::test(flavor = "multi_thread")]
    async fn what_ends_in_time_is_waited_for() {
        drains(Kind::Sqlite, true).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn what_does_not_end_is_broken_off_and_recorded() {
        drains(Kind::Sqlite, false).await;
    }
}

mod postgres {
    use super::{Kind, drains};

    #[tokio::test(flavor = "multi_thread")]
    async fn what_ends_in_time_is_waited_for() {
        drains(Kind::Postgres, true).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn what_does_not_end_is_broken_off_and_recorded() {
        drains(Kind::Postgres, false).await;
    }
}

/// A command that never answers, never ends by itself and has a child of its own.
#[tokio::test(flavor = "multi_thread")]
async fn commands_that_never_answer_are_gone() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let program = testkit::program::program("scripted-child").unwrap();
    let command = [
        program.to_str().unwrap(),
        "--hang-on",
        "tools/call",
        "--ignore-eof",
        "--ignore-sigterm",
        "--count-calls",
        &file("calls"),
        "--grandchild",
        &file("grandchild"),
    ];
    let config = format!(
        "[server]\ndrain_seconds = 1\n[[connections]]\nname = \"stubborn\"\nsharing = \"per_session\"\ncommand = {command:?}\n"
    );
    fs::write(file("config.toml"), config).unwrap();
    let mut house = House::start(&["--no-sample", "--config", &file("config.toml")]);
    let tested = house.json(&["connections", "test", "stubborn"]);
    assert_eq!(tested["ok"], true, "{tested}");
    let tools = house.json(&["tools", "list", "--connection", "stubborn"]);
    assert!(!tools["items"].as_array().unwrap().is_empty(), "{tools}");
    let set = [
        "grants",
        "set",
        "default",
        "--connection",
        "stubborn",
        "--tool",
        "echo",
    ];
    house.json(&[&set[..], &["--permission", "unattended"]].concat());
    let client = Client::begin(&house).await;
    let call = client.call("stubborn__echo");
    let started = crate::house::until("it is started", || {
        let list = house.json(&["activity", "list", "--connection", "stubborn"]);
        (list["items"][0]["status"] == "started").then_some(house.descendants())
    });
    assert!(started.len() > 1, "{started:?}");
    let ended = house.stop();
    assert!(ended.success(), "{ended:?}");
    crate::house::until("all are gone", || {
        (!started.iter().copied().any(is_alive)).then_some(())
    });
    drop(call.await.unwrap());
    house.again();
    let list = house.json(&["activity", "list", "--connection", "stubborn"]);
    let item: &Value = &list["items"][0];
    assert_eq!(item["status"], "unknown", "{item}");
}
