//! The official conformance suite against a whole Switchboard in front of the fixture: the endpoint of one connection.

use std::collections::BTreeSet;
use std::path::Path;

use domain::{ConnectionOwner, Effect, Risk, Sharing};
use serde_json::Value;
use testkit::house::House;
use testkit::tools::Tools;
use tokio::process::Command;

/// What the suite found, over all scenarios of a revision.
#[derive(Default)]
struct Found {
    passed: usize,
    failed: Vec<String>,
    /// Warnings of scenarios that are scored: the suite lets them pass, we do not.
    warned: Vec<String>,
    scenarios: usize,
    unscored: Vec<String>,
}

/// Gives the agent everything of the server at `url` and lets the suite of a revision at it.
pub(super) async fn check(revision: &str, url: &str) {
    let Some(tools) = Tools::find() else { return };
    let house = House::start(&[url]).await;
    let id = house
        .connect_with(ConnectionOwner::Workspace, "fixture", url, Sharing::PerSession)
        .await;
    for pin in house.store.list_pins(house.tenant, Some(id)).await.unwrap() {
        let effect = match pin.hints.read_only {
            Some(true) => Effect::ReadOnly,
            _ => Effect::Mutating,
        };
        house.classify(id, &pin.name, Risk::Low, effect).await;
    }
    house.grant_all(house.agent, &[id]).await;
    let front = house.front(&house.agent_key).await;
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(tools.npm("conformance"))
        .args(["server", "--requirements", revision, "--url"])
        .arg(format!("{}/mcp/default/fixture", front.url))
        .arg("-o")
        .arg(folder.path())
        .env("PATH", tools.path())
        .kill_on_drop(true)
        .output()
        .await
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let found = read(folder.path(), &scored(&tools, revision));
    let complaints = [&*found.failed, &*found.warned].concat();
    assert!(
        output.status.success() && complaints.is_empty(),
        "{revision}: {}\n{}\n{said}",
        output.status,
        complaints.join("\n")
    );
    eprintln!(
        "{revision}: {} scored scenarios, {} checks passed; not scored and not passed: {:?}",
        found.scenarios, found.passed, found.unscored
    );
}

/// The scenarios a server of the revision has to pass, as the suite lists them.
fn scored(tools: &Tools, revision: &str) -> BTreeSet<String> {
    let package = tools.packages().join("@modelcontextprotocol/conformance");
    let list = std::fs::read_to_string(package.join(format!("requirements/{revision}.yaml"))).unwrap();
    let lines = list.lines().skip_while(|line| *line != "server:").skip(1);
    lines
        .take_while(|line| line.starts_with([' ', '#']) || line.is_empty())
        .filter_map(|line| line.trim().strip_prefix("- "))
        .map(str::to_owned)
        .collect()
}

/// Folders are named `server-<scenario>-2026-01-02T03-04-05-678Z`.
fn read(folder: &Path, scored: &BTreeSet<String>) -> Found {
    let mut found = Found::default();
    let mut seen = BTreeSet::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let scenario = name["server-".len()..name.len() - "-2026-01-02T03-04-05-678Z".len()].to_owned();
        let text = std::fs::read_to_string(path.join("checks.json")).unwrap();
        let checks: Vec<Value> = serde_json::from_str(&text).unwrap();
        let of = |status: &str| -> Vec<String> {
            let of = checks.iter().filter(|check| check["status"] == status);
            of.map(|check| format!("{status} {scenario} {}: {}", check["id"], check["errorMessage"]))
                .collect()
        };
        if scored.contains(&scenario) {
            found.passed += of("SUCCESS").len();
            found.failed.extend(of("FAILURE"));
            found.warned.extend(of("WARNING"));
        } else if !of("FAILURE").is_empty() {
            found.unscored.push(scenario.clone());
        }
        seen.insert(scenario);
    }
    let missing: Vec<_> = scored
        .difference(&seen)
        .map(|scenario| format!("did not run: {scenario}"))
        .collect();
    found.failed.extend(missing);
    found.scenarios = scored.len();
    found.unscored.sort();
    found
}
