//! Importing beside the server and through its API.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::{Value, json};
use testkit::scripted::{Reply, Scripted};

use crate::house::{House, PROGRAM};

fn outcomes(report: &Value) -> Vec<(&str, &str)> {
    let entries = report["entries"].as_array().unwrap();
    entries
        .iter()
        .map(|entry| {
            (
                entry["name"].as_str().unwrap(),
                entry["outcome"].as_str().unwrap(),
            )
        })
        .collect()
}

// V123 V124
#[test]
fn files_of_clients_become_connections_once_they_were_read() {
    let house = House::start(&["--no-sample"]);
    let data = house.data();
    let desktop = house.file(
        "claude_desktop_config.json",
        &json!({ "mcpServers": {
            "Notebook": { "command": PROGRAM, "args": ["sample-server"], "env": { "NOTES_TOKEN": "n0t-to-be-seen-anywhere" } },
            "Search": { "url": "https://search.example.com/mcp", "type": "http", "headers": { "Authorization": "Bearer s3cret-to-be-kept" } },
            "Local": { "url": "http://127.0.0.1:9/mcp", "type": "http" },
        } })
        .to_string(),
    );
    let codex = house.file(
        "config.toml",
        "[mcp_servers.clock]\ncommand = \"clock\"\nargs = [\"--zone\", \"UTC\"]\n",
    );

    let dry = house.json(&["connections", "import", &desktop, "--data", &data, "--dry-run"]);
    assert_eq!(
        outcomes(&dry),
        [("Notebook", "taken"), ("Search", "taken"), ("Local", "not_taken")],
        "{dry}"
    );
    let imported = house.folder.path().join("data/connections.d/imported.toml");
    assert!(!imported.exists(), "a dry run writes nothing");

    let first = house.json(&["connections", "import", &desktop, "--data", &data]);
    assert_eq!(outcomes(&first), outcomes(&dry));
    house.json(&["connections", "import", &codex, "--data", &data]);
    let text = std::fs::read_to_string(&imported).unwrap();
    assert_eq!(
        std::fs::metadata(&imported).unwrap().permissions().mode() & 0o777,
        0o600
    );
    assert!(
        text.contains("name = \"clock\"") && text.contains("{ vault = \"notebook/env/NOTES_TOKEN\" }"),
        "{text}"
    );
    assert!(
        !text.contains("n0t-to-be-seen") && !first.to_string().contains("s3cret"),
        "{text}"
    );
    let again = house.json(&["connections", "import", &desktop, "--data", &data]);
    assert_eq!(
        outcomes(&again),
        [
            ("Notebook", "already_there"),
            ("Search", "already_there"),
            ("Local", "not_taken")
        ]
    );
    assert_eq!(
        std::fs::read_to_string(&imported).unwrap(),
        text,
        "a second import changes nothing"
    );

    let reloaded = house.json(&["config", "reload"]);
    assert_eq!(
        (&reloaded["connections"], &reloaded["problems"]),
        (&json!(2), &json!([])),
        "{reloaded}"
    );
    for name in ["notebook", "search", "clock"] {
        let shown = house.json(&["connections", "show", name]);
        assert_eq!(
            (&shown["enabled"], &shown["trusted"]),
            (&json!(false), &json!(false)),
            "{shown}"
        );
    }
    assert_eq!(
        house.json(&["connections", "show", "search"])["auth"]["type"],
        "bearer"
    );

    switch_on(&house, &imported, &text);
}

/// A person read the file and switches one on.
fn switch_on(house: &House, imported: &Path, text: &str) {
    let (before, after) = text.split_once("name = \"notebook\"").unwrap();
    let after = after.replacen(
        "enabled = false\ntrusted = false",
        "enabled = true\ntrusted = true",
        1,
    );
    std::fs::write(imported, format!("{before}name = \"notebook\"{after}")).unwrap();
    house.json(&["config", "reload"]);
    let tested = house.json(&["connections", "test", "notebook"]);
    assert_eq!(
        (&tested["ok"], &tested["counts"]["tools"]),
        (&json!(true), &json!(5)),
        "{tested}"
    );
}

#[test]
fn through_the_api_only_addresses_are_taken() {
    let house = House::start(&["--no-sample"]);
    let file = house.file(
        "mcp.json",
        r#"{"mcpServers": {"run": {"command": "run"}, "far": {"type": "http", "url": "http://127.0.0.1:9/mcp"}}}"#,
    );
    let report = house.json(&["connections", "import", &file, "--url", &house.url]);
    assert_eq!(outcomes(&report), [("run", "not_taken"), ("far", "not_taken")]);
    assert!(
        report["entries"][0]["reason"]
            .as_str()
            .unwrap()
            .contains("--data"),
        "{report}"
    );
    // The server's own guard refuses what is not public.
    assert!(
        report["entries"][1]["reason"]
            .as_str()
            .unwrap()
            .contains("not allowed"),
        "{report}"
    );
    assert_eq!(house.json(&["connections", "list"])["items"], json!([]));
}

/// The names entries got.
fn names(report: &Value) -> Vec<&str> {
    let entries = report["entries"].as_array().unwrap();
    entries
        .iter()
        .filter_map(|entry| entry["connection"].as_str())
        .collect()
}

/// The file of a client: an entry with secrets, one whose place is taken by nobody, and a command.
fn mixed(house: &House, search: &str, docs: &str) -> String {
    let servers = json!({
        "search": { "type": "http", "url": search, "headers": {
            "Authorization": "Bearer s3cret-of-search", "X-Team": "core", "Accept": "text/html",
        } },
        "Docs": { "type": "sse", "url": docs },
        "run": { "command": "run" },
    });
    house.file("mcp.json", &json!({ "mcpServers": servers }).to_string())
}

// V123 V124
#[tokio::test(flavor = "multi_thread")]
async fn through_the_api_addresses_are_taken_with_their_secrets_and_wait_for_a_person() {
    let upstream = Scripted::start(Reply::legacy).await.unwrap();
    let elsewhere = "http://127.0.0.1:9/mcp";
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config.toml");
    let internal = |url: &str| format!("[[internal_urls]]\npurpose = \"mcp\"\nurl = {url:?}\n");
    std::fs::write(&config, internal(upstream.url()) + &internal(elsewhere)).unwrap();
    let house = House::start(&["--no-sample", "--config", config.to_str().unwrap()]);
    let add = ["connections", "add", "--label", "Search", "--url", elsewhere];
    house.json(&[&add[..], &["--enabled", "false"]].concat());
    let file = mixed(&house, upstream.url(), elsewhere);
    let import = |options: &[&str]| {
        let line = ["connections", "import", &file, "--url", &house.url];
        house.json(&[&line, options].concat())
    };
    let count = || {
        let listed = house.json(&["connections", "list"]);
        listed["items"].as_array().unwrap().len()
    };

    let dry = import(&["--dry-run"]);
    assert_eq!(count(), 1, "a dry run adds nothing");
    let first = import(&[]);
    let want = [("search", "incomplete"), ("Docs", "taken"), ("run", "not_taken")];
    assert_eq!(
        (outcomes(&first), outcomes(&dry)),
        (want.to_vec(), want.to_vec()),
        "{first}"
    );
    let got = ["search-2", "docs"];
    assert_eq!(
        (names(&first), names(&dry)),
        (got.to_vec(), got.to_vec()),
        "a taken name stays whose it is"
    );
    let search = &first["entries"][0];
    assert_eq!(search["secrets"], json!(["bearer token", "header x-team"]));
    assert!(
        search["to_do"][0].as_str().unwrap().starts_with("headers/Accept"),
        "{search}"
    );
    assert!(!first.to_string().contains("s3cret"), "{first}");

    let again = import(&[]);
    let want = [
        ("search", "already_there"),
        ("Docs", "already_there"),
        ("run", "not_taken"),
    ];
    assert_eq!(
        (outcomes(&again), names(&again)),
        (want.to_vec(), got.to_vec()),
        "it finds itself"
    );
    assert_eq!(count(), 3);
    review(&house, &upstream);
}

/// A person looks at what was imported and switches one on: until then nobody is reached, and then with its secrets.
fn review(house: &House, upstream: &Scripted) {
    for name in ["search-2", "docs"] {
        let shown = house.json(&["connections", "show", name]);
        assert_eq!(
            (&shown["enabled"], &shown["trusted"]),
            (&json!(false), &json!(false)),
            "{shown}"
        );
    }
    assert!(
        upstream.received().is_empty(),
        "nobody is reached before a person has looked"
    );
    let update = ["connections", "update", "search-2", "--expected-version", "1"];
    house.json(&[&update[..], &["--enabled", "true", "--trusted", "true"]].concat());
    let tested = house.json(&["connections", "test", "search-2"]);
    assert_eq!(tested["ok"], true, "{tested}");
    let received = upstream.received();
    assert!(!received.is_empty());
    for request in received {
        let sent = (request.header("authorization"), request.header("x-team"));
        assert_eq!(sent, (Some("Bearer s3cret-of-search"), Some("core")));
    }
}
