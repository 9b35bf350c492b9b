//! Processes that end by themselves: noticed without a call, started again with growing waits, and what they started ends with them.

use domain::{ConnectionState, Health};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use testkit::hostile::{Plan, Say, Script, Way};

use super::bench::{ANSWERED, Bench, Case, FINE, seen};
use super::counts::{alive, until};

/// A child with a file of its own starts and one of what it started.
fn child(script: Script) -> Vec<Case> {
    let plan = Plan { script, http: None };
    vec![Case::new("child", plan, ANSWERED).over(&[Way::Stdio]).flags(&[
        "--pid-file",
        "$folder/pids",
        "--grandchild",
        "$folder/grandchildren",
    ])]
}

fn pids(bench: &Bench<'_>, file: &str) -> Vec<u64> {
    let text = std::fs::read_to_string(bench.folder.path().join(file)).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

fn kill(pid: u64) {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
}

/// Every health and state a connection goes through from now on, until it is in these.
async fn lights(
    events: &mut tokio::sync::broadcast::Receiver<connections::ConnectionEvent>,
    last: (ConnectionState, Health),
) -> Vec<(ConnectionState, Health)> {
    let mut seen = Vec::new();
    loop {
        let event = tokio::time::timeout(std::time::Duration::from_secs(20), events.recv());
        let event = event
            .await
            .unwrap_or_else(|_| panic!("never {last:?}, only {seen:?}"));
        if let connections::ConnectionEventKind::StateChanged { state, health } = event.unwrap().kind {
            seen.push((state, health));
            if (state, health) == last {
                return seen;
            }
        }
    }
}

// X020
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dead_child_is_noticed_and_started_again_without_a_call() {
    let cases = child(Script::default());
    let bench = Bench::start(&cases).await;
    let id = bench.subjects[0].id;
    let mut events = bench.house.connections.events();
    kill(pids(&bench, "pids")[0]);
    let seen_lights = lights(&mut events, (ConnectionState::Ready, Health::Ok)).await;
    assert_eq!(
        seen_lights,
        [
            (ConnectionState::Ready, Health::ProcessFailed),
            (ConnectionState::Ready, Health::Ok)
        ]
    );
    let shown = bench.house.shown(id).await;
    assert_eq!(
        (shown.state, shown.health, shown.health_detail),
        (ConnectionState::Ready, Health::Ok, None)
    );
    let started = pids(&bench, "pids");
    assert_eq!(started.len(), 2);
    assert!(alive(started[1]) && !alive(started[0]));
    // What the dead one had started is gone as well, what the new one started is not.
    let grandchildren = pids(&bench, "grandchildren");
    until("the first grandchild is gone", async || !alive(grandchildren[0])).await;
    assert!(alive(grandchildren[1]));
    assert_eq!(bench.house.connections.live(id).restarts, 1);
    assert_eq!(seen(&bench.beside_a_healthy_call("c0", "act").await), FINE);
    assert_eq!(pids(&bench, "pids").len(), 2, "the call found it there");
    bench.house.connections.remove(id).await;
    until("nothing is left", async || {
        !alive(started[1]) && grandchildren.iter().all(|pid| !alive(*pid))
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_child_that_keeps_ending_turns_its_light_red_until_it_stays() {
    let tools = json!({ "tools": [{ "name": "look", "inputSchema": { "type": "object" } },
        { "name": "act", "inputSchema": { "type": "object" } }] });
    let cases = child(Script::default().when("tools/list", [Say::Result(tools), Say::Pause(20), Say::End]));
    let bench = Bench::start(&cases).await;
    let id = bench.subjects[0].id;
    let mut events = bench.house.connections.events();
    let epoch = bench.house.store.epoch(bench.house.tenant).await.unwrap();
    bench.subjects[0].hostile.misbehave(true).unwrap();
    kill(pids(&bench, "pids")[0]);
    let failed = (ConnectionState::Error, Health::ProcessFailed);
    lights(&mut events, failed).await;
    // Nobody calls, and it is started again and again, each time after a rest.
    until("it was started again some times", async || {
        pids(&bench, "pids").len() >= 5
    })
    .await;
    assert_eq!(seen(&bench.client.call("healthy__act").await), FINE);
    bench.subjects[0].hostile.misbehave(false).unwrap();
    until("the light is green and stays", async || {
        let shown = bench.house.shown(id).await;
        let last = *pids(&bench, "pids").last().unwrap();
        (shown.state, shown.health) == (ConnectionState::Ready, Health::Ok)
            && alive(last)
            && bench.house.connections.live(id).processes == 1
    })
    .await;
    assert_eq!(bench.recovers("c0").await, Ok(()));
    // Other connections' calls were not decided again for it.
    assert_eq!(bench.house.store.epoch(bench.house.tenant).await.unwrap(), epoch);
    bench.house.connections.remove(id).await;
    let all = [pids(&bench, "pids"), pids(&bench, "grandchildren")].concat();
    until("nothing is left", async || all.iter().all(|pid| !alive(*pid))).await;
    println!("{} starts, nothing left", all.len() / 2);
}
