//! The reference servers of the protocol's authors, over stdio.

use std::path::Path;
use std::process::Command;

use mcp::Upstream;
use serde_json::{Value, json};
use testkit::scripted::{Reply, Scripted};
use testkit::tools::Tools;

use super::super::process::Recorded;
use super::super::session::{call, names, text};
use super::{Discovery, twice};

async fn check_offers(upstream: &Upstream, tools: &[&str], others: [&[&str]; 3]) {
    let [prompts, resources, templates] = others;
    assert_eq!(names(upstream).await, [tools, prompts, resources, templates]);
}

#[tokio::test]
async fn filesystem() {
    let Some(tools) = Tools::find() else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().canonicalize().unwrap().join("note.txt");
    std::fs::write(&file, "written by a test\n").unwrap();
    let root = file.parent().unwrap().as_os_str();
    let server = Recorded::new(&tools.path(), tools.npm("mcp-server-filesystem"), [root]);
    twice(&server, Discovery::Error(-32601), async |upstream| {
        assert_eq!(upstream.server().name, "secure-filesystem-server");
        let offered = [
            "create_directory",
            "directory_tree",
            "edit_file",
            "get_file_info",
            "list_allowed_directories",
            "list_directory",
            "list_directory_with_sizes",
            "move_file",
            "read_file",
            "read_media_file",
            "read_multiple_files",
            "read_text_file",
            "search_files",
            "write_file",
        ];
        check_offers(upstream, &offered, [&[], &[], &[]]).await;
        let read = call(upstream, "read_text_file", json!({ "path": file })).await;
        assert_eq!(text(&read), "written by a test\n");
        let outside = call(upstream, "read_text_file", json!({ "path": "/etc/hostname" })).await;
        assert_eq!(outside["isError"], true, "{outside}");
    })
    .await;
}

#[tokio::test]
async fn memory() {
    let Some(tools) = Tools::find() else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("memory.jsonl");
    let server = Recorded::new::<&str>(&tools.path(), tools.npm("mcp-server-memory"), [])
        .env("MEMORY_FILE_PATH", file.to_str().unwrap());
    twice(&server, Discovery::Error(-32601), async |upstream| {
        let entity = json!({ "name": "Ada", "entityType": "person", "observations": ["writes programs"] });
        // The second session finds what the first has stored.
        call(upstream, "create_entities", json!({ "entities": [entity] })).await;
        let graph = call(upstream, "read_graph", json!({})).await;
        let stored: Value = serde_json::from_str(text(&graph)).unwrap();
        assert_eq!(stored["entities"], json!([entity]));
        assert_eq!(graph["structuredContent"]["entities"], json!([entity]));
    })
    .await;
}

#[tokio::test]
async fn time() {
    let Some(tools) = Tools::find() else { return };
    let arguments = ["--local-timezone", "Etc/UTC"];
    let server = Recorded::new(&tools.path(), tools.python("mcp-server-time"), arguments);
    twice(&server, Discovery::Result, async |upstream| {
        check_offers(upstream, &["convert_time", "get_current_time"], [&[], &[], &[]]).await;
        let arguments =
            json!({ "source_timezone": "Etc/UTC", "time": "12:30", "target_timezone": "Asia/Tokyo" });
        let converted = call(upstream, "convert_time", arguments).await;
        let converted: Value = serde_json::from_str(text(&converted)).unwrap();
        assert_eq!(converted["time_difference"], "+9.0h", "{converted}");
    })
    .await;
}

#[tokio::test]
async fn git() {
    let Some(tools) = Tools::find() else { return };
    let folder = tempfile::tempdir().unwrap();
    repository(folder.path());
    let repository = folder.path().to_str().unwrap();
    let server = Recorded::new(
        &tools.path(),
        tools.python("mcp-server-git"),
        ["--repository", repository],
    );
    twice(&server, Discovery::Result, async |upstream| {
        let [offered, ..] = names(upstream).await;
        assert!(
            offered.len() >= 12 && offered.contains(&"git_log".to_owned()),
            "{offered:?}"
        );
        let log = call(upstream, "git_log", json!({ "repo_path": repository })).await;
        assert!(log.to_string().contains("the first commit"), "{log}");
    })
    .await;
}

/// A repository with one commit.
fn repository(folder: &Path) {
    let who = ["-c", "user.name=Test", "-c", "user.email=test@example.com"];
    let commands: [&[&str]; 2] = [
        &["init", "--quiet"],
        &[
            "commit",
            "--quiet",
            "--allow-empty",
            "--message",
            "the first commit",
        ],
    ];
    for arguments in commands {
        let mut git = Command::new("git");
        git.current_dir(folder).args(who).args(arguments);
        assert!(git.status().unwrap().success(), "{arguments:?}");
    }
}

#[tokio::test]
async fn fetch() {
    let Some(tools) = Tools::find() else { return };
    let site = Scripted::start(|request| match request.uri.path() {
        "/page.txt" => Reply::bytes(200, "a page for a test").header("content-type", "text/plain"),
        _ => Reply::status(404),
    })
    .await
    .unwrap();
    let page = site.url().replace("/mcp", "/page.txt");
    let server = Recorded::new(
        &tools.path(),
        tools.python("mcp-server-fetch"),
        ["--allow-private-ips"],
    );
    twice(&server, Discovery::Result, async |upstream| {
        check_offers(upstream, &["fetch"], [&["fetch"], &[], &[]]).await;
        let fetched = call(upstream, "fetch", json!({ "url": page })).await;
        assert!(text(&fetched).contains("a page for a test"), "{fetched}");
    })
    .await;
}
