//! The inspector's command line.

use serde_json::{Value, json};
use testkit::tools::Tools;
use tokio::process::Command;

use super::world::World;

/// Runs one method; what it printed, and whether it says that it worked.
async fn inspect(tools: &Tools, world: &World, key: &str, arguments: &[&str]) -> (bool, String) {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(tools.npm("mcp-inspector"))
        .arg("--cli")
        .arg(format!("{}/mcp", world.house.url))
        .args(["--transport", "http", "--header"])
        .arg(format!("Authorization: Bearer {key}"))
        .args(arguments)
        .env_clear()
        .env("PATH", tools.path())
        .env("HOME", folder.path())
        .kill_on_drop(true)
        .output()
        .await
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    (output.status.success(), said)
}

#[tokio::test]
async fn inspector() {
    let Some(tools) = Tools::find() else { return };
    let world = World::make().await;
    let key = &world.house.agent_key;
    let parsed = |(worked, said): (bool, String)| -> Value {
        serde_json::from_str(&said).unwrap_or_else(|_| panic!("{worked}: {said}"))
    };

    let listed = parsed(inspect(&tools, &world, key, &["--method", "tools/list"]).await);
    let listed = listed["tools"].as_array().unwrap().iter();
    let mut names: Vec<_> = listed
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect();
    names.sort();
    assert_eq!(names, world.names());

    let call = ["--method", "tools/call", "--tool-name"];
    let sunny = [
        &call[..],
        &["now__test_structured_content", "--tool-arg", "city=Bern"],
    ]
    .concat();
    let sunny = parsed(inspect(&tools, &world, key, &sunny).await);
    assert_eq!(
        sunny["structuredContent"],
        json!({ "city": "Bern", "celsius": 21.5 }),
        "{sunny}"
    );

    let risky = [&call[..], &["now__test_simple_text"]].concat();
    let asked = parsed(inspect(&tools, &world, key, &risky).await);
    let details = &asked["structuredContent"];
    assert_eq!(details["code"], "approval_required", "{asked}");
    world.approve(details["approval_id"].as_str().unwrap()).await;
    let done = parsed(inspect(&tools, &world, key, &risky).await);
    assert_ne!(done["isError"], true, "{done}");

    let (worked, said) = inspect(&tools, &world, "sb_agent_nobody", &["--method", "tools/list"]).await;
    assert!(!worked, "{said}");
}
