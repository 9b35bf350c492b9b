//! Databases that are gone, locked or full: calls are refused rather than unrecorded, whoever asks is told, nothing is damaged, and
//! all goes on by itself afterwards.

use std::path::PathBuf;
use std::process::Command;

use rustix::process::{Pid, Resource, Rlimit, prlimit};
use serde_json::Value;

use crate::client::{Client, succeeded};
use crate::scene::{Kind, Scene};

/// Whether a call was refused because it could not be recorded.
fn refused(answer: Option<&Value>) -> bool {
    answer.is_some_and(|answer| {
        answer["result"]["isError"] == true && answer.to_string().contains("record cannot be written")
    })
}

/// While the database takes nothing: a call that changes something is refused and not sent, one that reads gives no result, an
/// administrator is told, and so is whoever watches.
async fn check_refused(scene: &Scene, client: &Client) {
    let calls = scene.upstream.calls();
    let answer = client.call("up__write").await.unwrap();
    assert!(refused(answer.as_ref()), "{answer:?}");
    assert_eq!(scene.upstream.calls(), calls, "what is refused is not sent");
    let answer = client.call("up__read").await.unwrap();
    assert!(refused(answer.as_ref()), "{answer:?}");
    let made = scene.house.run(&["agents", "create", "late", "--json"]);
    assert_eq!(made.code, 1, "{made:?}");
    assert!(made.out.contains("record.unavailable"), "{made:?}");
    assert!(!scene.ready().await, "it says that it cannot serve");
}

/// Once the database is back: it serves again, everything of before is there, and nothing is missing in between.
async fn check_recovered(scene: &Scene) {
    for _ in 0..3_000 {
        if scene.ready().await {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert!(scene.ready().await, "{}", scene.house.log());
    for tool in ["up__write", "up__read"] {
        scene.call_well(tool).await;
    }
    scene.verify(None);
    scene
        .until("nothing is left open", || {
            scene.listed(&["--status", "started"]).is_empty().then_some(())
        })
        .await;
    assert_eq!(scene.listed(&["--status", "unknown"]), []);
    let agents = scene.house.json(&["agents", "list"]);
    assert!(
        !agents.to_string().contains("\"late\""),
        "what was refused did not happen: {agents}"
    );
}

mod postgres {
    use super::{Client, Kind, Scene, check_locked, check_recovered, check_refused, succeeded};

    #[tokio::test(flavor = "multi_thread")]
    async fn a_table_that_somebody_else_holds_for_long() {
        check_locked(Kind::Postgres).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_database_that_goes_and_comes_back() {
        let Some(mut scene) = Scene::start_relayed().await else {
            return;
        };
        let relay = scene.relay.take().unwrap();
        scene.call_well("up__write").await;
        for _ in 0..2 {
            let client = Client::begin(&scene.house).await;
            // One is under way meanwhile: what came of it is not lost.
            let before = scene.listed(&[]);
            let calls = scene.upstream.calls();
            scene.upstream.hold("tools/call");
            let call = client.call("up__write");
            scene.upstream.until_heard("tools/call", calls + 1).await;
            relay.go();
            scene.upstream.release();
            let answer = call.await.unwrap();
            assert!(succeeded(answer.as_ref()), "{answer:?}");
            check_refused(&scene, &client).await;
            relay.come_back();
            scene.until_listed(&before, "succeeded").await;
            check_recovered(&scene).await;
        }
        scene.check_database().await;
    }
}

/// Somebody else keeps the server from writing for longer than it waits.
async fn check_locked(kind: Kind) {
    let Some(scene) = Scene::start(kind, "").await else {
        return;
    };
    scene.call_well("up__write").await;
    let client = Client::begin(&scene.house).await;
    let calls = scene.upstream.calls();
    let held = scene.database.hold("journal").await.unwrap();
    let answer = client.call("up__write").await.unwrap();
    assert!(refused(answer.as_ref()), "{answer:?}");
    assert_eq!(scene.upstream.calls(), calls, "what is refused is not sent");
    held.release().await.unwrap();
    check_recovered(&scene).await;
    scene.check_database().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_somebody_else_writes_to_for_long() {
    check_locked(Kind::Sqlite).await;
}

/// A limit of the size of files is a full disk that everybody can have: writing beyond it fails.
#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_may_not_grow() {
    let scene = Scene::start_within(&["sh", "-c", "trap '' XFSZ; exec \"$0\" \"$@\""]).await;
    scene.call_well("up__write").await;
    let process = Pid::from_raw(i32::try_from(scene.house.id()).unwrap());
    let limit = |bytes: Option<u64>| {
        let limit = Rlimit {
            current: bytes,
            maximum: None,
        };
        prlimit(process, Resource::Fsize, limit).unwrap();
    };
    for _ in 0..2 {
        let client = Client::begin(&scene.house).await;
        let log = PathBuf::from(scene.house.data()).join("switchboard.db-wal");
        limit(Some(log.metadata().unwrap().len().max(1)));
        check_refused(&scene, &client).await;
        limit(None);
        check_recovered(&scene).await;
        scene.check_database().await;
    }
}

/// A disk that is full, where a test may have one of its own.
#[tokio::test(flavor = "multi_thread")]
async fn a_disk_that_is_full() {
    let may = Command::new("unshare")
        .args(["-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"])
        .status();
    if !may.is_ok_and(|status| status.success()) {
        println!("left out: no file system can be mounted here");
        return;
    }
    let mount = "mount -t tmpfs -o size=4m,mode=700 tmpfs \"$TEST_DISK\" && exec \"$0\" \"$@\"";
    let scene = Scene::start_within(&["unshare", "-rm", "sh", "-c", mount]).await;
    scene.call_well("up__write").await;
    let disk = PathBuf::from(format!("/proc/{}/root{}", scene.house.id(), scene.house.data()));
    let filler = disk.join("filler");
    for _ in 0..2 {
        let client = Client::begin(&scene.house).await;
        fill(&filler);
        check_refused(&scene, &client).await;
        std::fs::remove_file(&filler).unwrap();
        check_recovered(&scene).await;
    }
}

/// Writes until there is no room left for a byte.
fn fill(path: &std::path::Path) {
    use std::io::Write as _;

    let mut file = std::fs::File::create(path).unwrap();
    for size in [64 << 10, 4 << 10, 1] {
        while file.write_all(&vec![0; size]).is_ok() {}
    }
}
