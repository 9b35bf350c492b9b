//! The child as a process.

use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};
use testkit::child::CRASHED;
use testkit::program::program;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

struct Running {
    child: Child,
    input: Option<ChildStdin>,
    output: Lines<BufReader<ChildStdout>>,
}

impl Running {
    fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new(program("scripted-child").unwrap())
            .args(arguments)
            .env_clear()
            .env("GREETING", "hello")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap()).lines();
        Self {
            input: child.stdin.take(),
            output,
            child,
        }
    }

    async fn send(&mut self, message: Value) {
        self.input
            .as_mut()
            .unwrap()
            .write_all(format!("{message}\n").as_bytes())
            .await
            .unwrap();
    }

    async fn line(&mut self) -> Option<String> {
        self.output.next_line().await.unwrap()
    }

    async fn request(&mut self, method: &str, params: Value) -> Value {
        self.send(json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }))
            .await;
        serde_json::from_str(&self.line().await.expect("an answer")).unwrap()
    }

    async fn tool(&mut self, name: &str, arguments: Value) -> Value {
        self.request("tools/call", json!({ "name": name, "arguments": arguments }))
            .await["result"]
            .take()
    }

    async fn exit_code(&mut self) -> Option<i32> {
        self.child.wait().await.unwrap().code()
    }
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

#[tokio::test]
async fn without_arguments_it_behaves() {
    let mut child = Running::start(&[]);
    let initialized = child
        .request("initialize", json!({ "protocolVersion": "2025-03-26" }))
        .await;
    assert_eq!(initialized["result"]["protocolVersion"], "2025-03-26");
    assert_eq!(
        child.tool("environment", json!({})).await["structuredContent"],
        json!({ "GREETING": "hello" })
    );
    assert_eq!(
        child.tool("echo", json!({ "a": 1 })).await["structuredContent"],
        json!({ "a": 1 })
    );
    assert_eq!(
        child.tool("big", json!({ "bytes": 100_000 })).await["content"][0]["text"]
            .as_str()
            .unwrap()
            .len(),
        100_000
    );
    assert_eq!(child.tool("fail", json!({})).await["isError"], true);
    child.input = None;
    assert_eq!(child.exit_code().await, Some(0));
}

#[tokio::test]
async fn it_dies_when_told() {
    let cases: [(&[&str], &[&str]); 3] = [
        (&["--die-after", "2"], &["echo", "echo"]),
        (&["--die-on-call", "2"], &["echo"]),
        (&[], &[]),
    ];
    for (arguments, answered) in cases {
        let mut child = Running::start(arguments);
        for name in answered {
            assert_eq!(
                child.tool(name, json!({})).await["isError"],
                false,
                "{arguments:?}"
            );
        }
        if arguments.first() != Some(&"--die-after") {
            let crash =
                json!({ "jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": { "name": "crash" } });
            child.send(crash).await;
        }
        assert_eq!(child.line().await, None, "{arguments:?}");
        assert_eq!(child.exit_code().await, Some(i32::from(CRASHED)), "{arguments:?}");
    }
}

#[tokio::test]
async fn it_makes_noise() {
    let mut child = Running::start(&["--noise", "Starting…", "--noise-each", "- working"]);
    assert_eq!(child.line().await.as_deref(), Some("Starting…"));
    child
        .send(json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }))
        .await;
    assert_eq!(child.line().await.as_deref(), Some("- working"));
    assert_eq!(
        child.line().await.as_deref(),
        Some(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#)
    );

    let mut noisy = Running::start(&[
        "--invalid-utf8",
        "--endless-line",
        "10",
        "--flood-stderr",
        "200000",
    ]);
    noisy.input = None;
    let mut errors = Vec::new();
    noisy
        .child
        .stderr
        .take()
        .unwrap()
        .read_to_end(&mut errors)
        .await
        .unwrap();
    assert_eq!(errors.len(), 200_000);
    let mut output = Vec::new();
    noisy.output.into_inner().read_to_end(&mut output).await.unwrap();
    assert_eq!(output, b"\xff\xfe not text\nxxxxxxxxxx");
}

#[tokio::test]
async fn it_leaves_traces() {
    let folder = tempfile::tempdir().unwrap();
    let (pids, calls, grandchild) = (
        folder.path().join("pids"),
        folder.path().join("calls"),
        folder.path().join("grandchild"),
    );
    let path = |path: &Path| path.to_str().unwrap().to_owned();
    let arguments = [
        "--pid-file",
        &path(&pids),
        "--count-calls",
        &path(&calls),
        "--grandchild",
        &path(&grandchild),
    ];
    let mut child = Running::start(&arguments);
    let pid = child.tool("pid", json!({})).await["structuredContent"]["pid"].clone();
    assert_eq!(
        (text(&pids), text(&calls)),
        (format!("{pid}\n"), "pid\n".to_owned())
    );
    child.input = None;
    assert_eq!(child.exit_code().await, Some(0));
    let left: i32 = text(&grandchild).trim().parse().unwrap();
    let left = rustix::process::Pid::from_raw(left).unwrap();
    // Succeeds only if the process is still there.
    rustix::process::kill_process(left, rustix::process::Signal::KILL).unwrap();
}

#[tokio::test]
async fn it_does_not_leave_when_asked() {
    let mut child = Running::start(&["--ignore-sigterm", "--ignore-eof"]);
    child.request("ping", json!({})).await;
    let pid = rustix::process::Pid::from_raw(i32::try_from(child.child.id().unwrap()).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert_eq!(child.request("ping", json!({})).await["result"], json!({}));
    child.input = None;
    child.child.kill().await.unwrap();
    assert_eq!(child.exit_code().await, None);
}

#[tokio::test]
async fn it_asks_the_client() {
    let mut child = Running::start(&["--ask", "log", "--ask", "roots/list"]);
    child
        .send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
        .await;
    for method in ["log", "roots/list"] {
        let asked: Value = serde_json::from_str(&child.line().await.unwrap()).unwrap();
        assert_eq!(asked["method"], method);
        child
            .send(json!({ "jsonrpc": "2.0", "id": asked["id"], "error": { "code": -32601 } }))
            .await;
    }
    let heard = child.tool("answers", json!({})).await;
    assert_eq!(
        heard["structuredContent"]["answers"].as_array().map(Vec::len),
        Some(2),
        "{heard}"
    );
}

#[tokio::test]
async fn it_discovers_as_told() {
    let cases = [
        ("result", json!(null)),
        ("unknown", json!(-32601)),
        ("invalid", json!(-32602)),
    ];
    for (how, code) in cases {
        let answer = Running::start(&["--discover", how])
            .request("server/discover", json!({}))
            .await;
        assert_eq!(answer["error"]["code"], code, "{how}: {answer}");
    }
    let mut silent = Running::start(&["--discover", "never", "--hang-on", "ping"]);
    silent
        .send(json!({ "jsonrpc": "2.0", "id": 1, "method": "server/discover" }))
        .await;
    silent
        .send(json!({ "jsonrpc": "2.0", "id": 2, "method": "ping" }))
        .await;
    assert_eq!(
        silent.request("initialize", json!({})).await["result"]["serverInfo"]["name"],
        "scripted-child"
    );
}
