//! Reading the configuration again: internal URLs come and go without a restart.

use std::fs;

use serde_json::json;
use testkit::scripted::{Reply, Scripted};

use crate::house::{House, until};

#[test]
fn internal_urls_come_and_go() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let server = runtime.block_on(Scripted::start(Reply::legacy)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.toml");
    let write = |urls: &[&str]| {
        let entry = |url: &&str| format!("[[internal_urls]]\npurpose = \"mcp\"\nurl = \"{url}\"\n");
        fs::write(&path, urls.iter().map(entry).collect::<String>()).unwrap();
    };
    write(&[]);
    let house = House::start(&["--no-sample", "--config", path.to_str().unwrap()]);
    let add = [
        "connections",
        "add",
        "--label",
        "Web",
        "--url",
        server.url(),
        "--trusted",
    ];
    let refused = house.run(&add);
    assert!(
        refused.code != 0 && refused.err.contains("register"),
        "{refused:?}"
    );
    write(&[server.url()]);
    assert_eq!(house.json(&["config", "reload"])["problems"], json!([]));
    house.json(&add);
    assert_eq!(house.json(&["connections", "test", "web"])["ok"], true);
    // One that cannot be registered is told, and those so far stay.
    write(&["ftp://example.com/mcp"]);
    let told = house.run(&["config", "reload", "--json"]);
    assert_eq!(told.code, 1, "{told:?}");
    assert!(
        told.out.contains("internal_urls: ftp://example.com/mcp"),
        "{told:?}"
    );
    assert_eq!(house.json(&["connections", "test", "web"])["ok"], true);
    write(&[]);
    assert_eq!(house.json(&["config", "reload"])["problems"], json!([]));
    until("it is seen to be out of reach", || {
        let shown = house.json(&["connections", "show", "web"]);
        (shown["health_code"] == "egress_refused").then_some(())
    });
    let sent = server.received().len();
    let tested = house.run(&["connections", "test", "web", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&tested.out).unwrap();
    assert_eq!(report["ok"], false, "{report}");
    assert_eq!(server.received().len(), sent);
}
