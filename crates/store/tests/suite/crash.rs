//! What was acknowledged survives `kill -9`: a child process writes and says so, and is killed in the middle of it.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use domain::{CallId, CallStatus, Effect, Outcome, Secret};
use store::{Options, RootKey, RootKeys, Store};

use crate::harness::{decided, ended};

/// Tells the child where its database is.
const PATH: &str = "SWITCHBOARD_TEST_CRASH_PATH";
/// And how the vault opens.
const KEY: &str = "SWITCHBOARD_TEST_CRASH_KEY";
const ENOUGH: usize = 60;

/// The child: not a test of its own, so it ends at once when nobody told it where to write.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn child() {
    let (Some(path), Some(key)) = (variable(PATH), variable(KEY)) else {
        return;
    };
    let keys = RootKeys::only(RootKey::from_base64(&Secret::new(key)).unwrap());
    let store = Store::open(Options::sqlite(PathBuf::from(path), keys))
        .await
        .unwrap();
    let tenant = store.bootstrap().await.unwrap().tenant;
    let epoch = store.epoch(tenant).await.unwrap();
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..4 {
        let store = store.clone();
        tasks.spawn(async move {
            loop {
                let intent = decided("write", "allow", Effect::Mutating);
                let call = store
                    .begin_intent(tenant, intent, epoch, None)
                    .await
                    .unwrap()
                    .call();
                println!("\nintent {call}");
                let reading = decided("read", "allow", Effect::ReadOnly);
                let call = reading.call;
                store.record(tenant, reading).unwrap().written().await.unwrap();
                store
                    .record(tenant, ended(call, Outcome::SUCCEEDED))
                    .unwrap()
                    .written()
                    .await
                    .unwrap();
                println!("\nread {call}");
            }
        });
    }
    tasks.join_next().await;
}

#[tokio::test]
async fn acknowledged_entries_survive_a_kill() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("switchboard.db");
    let key = RootKey::generate().unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crash::child", "--nocapture"])
        .env(PATH, &path)
        .env(KEY, key.to_base64().expose())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut acknowledged: Vec<(bool, CallId)> = Vec::new();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let take = |line: String, acknowledged: &mut Vec<(bool, CallId)>| {
        if let Some((word @ ("intent" | "read"), id)) = line.split_once(' ')
            && let Ok(call) = id.parse()
        {
            acknowledged.push((word == "intent", call));
        }
    };
    while acknowledged.len() < ENOUGH {
        take(lines.next().unwrap().unwrap(), &mut acknowledged);
    }
    child.kill().unwrap();
    // What it still said before it was gone counts too.
    for line in lines.map_while(Result::ok) {
        take(line, &mut acknowledged);
    }
    child.wait().unwrap();

    let store = Store::open(Options::sqlite(path, RootKeys::only(key)))
        .await
        .unwrap();
    let tenant = store.bootstrap().await.unwrap().tenant;
    for (intent, call) in acknowledged {
        let item = store.activity(tenant, call).await.unwrap();
        let want = if intent {
            CallStatus::Unknown
        } else {
            CallStatus::Succeeded
        };
        assert_eq!(item.map(|item| item.status), Some(want), "{call}");
    }
    store.chain_once().await.unwrap();
    assert_eq!(store.verify(tenant, None, |_| {}).await.unwrap().first_bad, None);
    store.close().await;
}

#[expect(
    clippy::disallowed_methods,
    reason = "the child is told by its environment where to write"
)]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
