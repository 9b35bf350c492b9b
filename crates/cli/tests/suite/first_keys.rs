//! The keys of the first start: made, given, or refused before anything is made.

use crate::house::{House, program, said};

const GIVEN: &str = "SWITCHBOARD_BOOTSTRAP_ADMIN_KEY";

/// A key made elsewhere.
fn given() -> String {
    format!("sb_admin_{}_{}", "0f".repeat(16), "A".repeat(43))
}

#[test]
fn automation_sets_the_first_administrators_key() {
    let key = given();
    let house = House::start_in(
        tempfile::tempdir().unwrap(),
        &["--no-sample"],
        &[(GIVEN, key.as_str())],
    );
    assert!(!house.told.contains(&key), "it is not repeated: {}", house.told);
    assert_eq!(house.admin, "the one you gave");
    let asked = house.run_with(&["agents", "list"], &key, "");
    assert_eq!(asked.code, 0, "{asked:?}");
    let keys = house.run_with(&["keys", "list", "--json"], &key, "");
    assert!(
        !keys.out.contains(&"A".repeat(43)),
        "nothing shows it again: {keys:?}"
    );
    // The agent's key is made as ever, and is one.
    let agent = house.run_with(&["mcp", "--help"], &house.agent, "");
    assert!(
        house.agent.starts_with("sb_agent_") && agent.code == 0,
        "{}",
        house.agent
    );
}

#[test]
fn a_given_key_that_is_none_stops_the_start() {
    let agents = given().replacen("admin", "agent", 1);
    let short = given().split_off(1);
    for wrong in ["", "hunter2", &agents, &short, &format!("{} ", given())] {
        let folder = tempfile::tempdir().unwrap();
        let mut command = program();
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--data", "data"])
            .env(GIVEN, wrong)
            .current_dir(folder.path());
        let said = said(&mut command, "");
        assert_eq!(said.code, 64, "{wrong:?}: {said:?}");
        assert!(
            said.err.contains(GIVEN) && said.err.contains("sb_admin_<uuid>_"),
            "{wrong:?}: {said:?}"
        );
        assert!(
            wrong.is_empty() || !said.err.contains(wrong),
            "it is not repeated: {said:?}"
        );
        assert!(
            !folder.path().join("data").exists(),
            "{wrong:?}: nothing was made"
        );
    }
}

/// A start that ended before anybody had a key is not the last first start.
#[test]
fn a_first_start_that_was_cut_off_begins_again() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    // A store with its tenant and without keys: the start stops where the rules are put in force.
    std::fs::write(
        folder.path().join("cut.toml"),
        "[store]\nbackend = \"sqlite\"\n[[internal_urls]]\npurpose = \"mcp\"\nurl = \"nonsense\"\n",
    )
    .unwrap();
    let mut cut = program();
    cut.args([
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--no-sample",
        "--config",
        "cut.toml",
        "--data",
    ])
    .arg(&data)
    .current_dir(folder.path());
    let first = said(&mut cut, "");
    assert_ne!(first.code, 0, "{first:?}");
    assert!(data.join("switchboard.db").exists(), "it got as far as its store");
    let mut house = House::start_in(folder, &["--no-sample"], &[]);
    assert_eq!(house.run(&["agents", "list"]).code, 0);
    assert!(house.stop().success());
}
