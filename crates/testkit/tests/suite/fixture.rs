//! The fixture as a process.

use std::process::Stdio;

use serde_json::{Value, json};
use testkit::http::post_modern;
use testkit::program::program;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, Command};

fn start(arguments: &[&str]) -> Child {
    Command::new(program("fixture").unwrap())
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap()
}

#[tokio::test]
async fn prints_the_url_it_serves() {
    let mut fixture = start(&["--http", "0"]);
    let mut lines = BufReader::new(fixture.stdout.take().unwrap()).lines();
    let url = lines.next_line().await.unwrap().unwrap();
    let answer = post_modern(&url, "server/discover", json!({}))
        .await
        .unwrap()
        .json();
    assert_eq!(
        answer["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["name"],
        "switchboard-fixture"
    );
}

#[tokio::test]
async fn serves_standard_input_until_it_ends() {
    let mut fixture = start(&["--stdio"]);
    let mut input = fixture.stdin.take().unwrap();
    let mut lines = BufReader::new(fixture.stdout.take().unwrap()).lines();
    let params = json!({ "protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    let messages = [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "test_simple_text" } }),
    ];
    for message in messages {
        input.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }
    let mut answer = Value::Null;
    while answer["id"] != 2 {
        answer = serde_json::from_str(&lines.next_line().await.unwrap().unwrap()).unwrap();
    }
    assert_eq!(answer["result"]["content"][0]["type"], "text", "{answer}");
    drop(input);
    assert!(fixture.wait().await.unwrap().success());
}
