//! A published client as a process that does what it is told (see `tools/clients`).

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};
use testkit::tools::Tools;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

/// Whose client it is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Sdk {
    Python,
    TypeScript,
}

/// What the client speaks by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    Modern,
    Legacy,
}

impl Era {
    pub(crate) fn revision(self) -> &'static str {
        match self {
            Self::Modern => "2026-07-28",
            Self::Legacy => "2025-11-25",
        }
    }
}

/// Which client, and what it says of itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Profile<'a> {
    pub(crate) sdk: Sdk,
    pub(crate) era: Era,
    /// The kinds of elicitation it declares: `form`, `form,url`, or none.
    pub(crate) modes: &'a str,
}

/// Where it connects to.
pub(crate) struct Target {
    /// A URL, or a command for standard input and output.
    pub(crate) words: Vec<OsString>,
    /// Variables besides the search path.
    pub(crate) variables: Vec<(&'static str, String)>,
}

/// A running client. Dropping it ends it.
pub(crate) struct Driver {
    to: ChildStdin,
    from: Lines<BufReader<ChildStdout>>,
    unread: Vec<Value>,
    next: u64,
    _child: Child,
}

/// What every form is filled in with.
const FILLED_IN: &str = r#"{"username":"ada","email":"ada@example.com"}"#;

impl Driver {
    /// Starts one and waits until it is connected; what it then says.
    pub(crate) async fn start(tools: &Tools, profile: Profile<'_>, target: Target) -> (Self, Value) {
        let (program, script) = match profile.sdk {
            Sdk::Python => (tools.python("python"), script("client.py")),
            Sdk::TypeScript => (PathBuf::from("node"), script("client.cjs")),
        };
        let era = match profile.era {
            Era::Modern => "modern",
            Era::Legacy => "legacy",
        };
        let mut child = Command::new("/usr/bin/env")
            .arg(program)
            .arg(script)
            .args([era, profile.modes, FILLED_IN])
            .args(target.words)
            .env_clear()
            .env("PATH", tools.path())
            .env("NODE_PATH", tools.packages())
            .envs(target.variables)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let to = child.stdin.take().unwrap();
        let from = BufReader::new(child.stdout.take().unwrap()).lines();
        let (unread, next) = (Vec::new(), 0);
        let mut driver = Self {
            to,
            from,
            unread,
            next,
            _child: child,
        };
        let connected = driver.event("connected").await;
        (driver, connected)
    }

    /// Has something done and waits for the reply, a result or an error.
    pub(crate) async fn ask(&mut self, order: Value) -> Value {
        let id = self.begin(order).await;
        self.reply(id).await
    }

    /// The result of what has to succeed.
    pub(crate) async fn result(&mut self, order: Value) -> Value {
        let told = order.to_string();
        let mut reply = self.ask(order).await;
        assert!(!reply["result"].is_null(), "{told}: {reply}");
        reply["result"].take()
    }

    /// Calls a tool; the result, which may say that it failed.
    pub(crate) async fn call(&mut self, name: &str, arguments: Value) -> Value {
        self.result(json!({ "do": "call", "name": name, "arguments": arguments }))
            .await
    }

    /// Has something done without waiting.
    pub(crate) async fn begin(&mut self, mut order: Value) -> u64 {
        self.next += 1;
        order["id"] = self.next.into();
        self.say(&order).await;
        self.next
    }

    /// Calls off what was begun.
    pub(crate) async fn cancel(&mut self, id: u64) {
        self.say(&json!({ "do": "cancel", "id": id })).await;
    }

    /// Waits for the reply to what was begun.
    pub(crate) async fn reply(&mut self, id: u64) -> Value {
        self.find(|line| line["id"] == id).await
    }

    /// Waits for an event; the oldest that was not looked at yet.
    pub(crate) async fn event(&mut self, name: &str) -> Value {
        self.find(|line| line["event"] == name).await
    }

    /// How many events of a kind arrived with what was read so far; forgets them.
    pub(crate) fn heard(&mut self, name: &str) -> Vec<Value> {
        let (heard, unread) = self.unread.drain(..).partition(|line| line["event"] == name);
        self.unread = unread;
        heard
    }

    async fn say(&mut self, line: &Value) {
        self.to.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    async fn find(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.unread.iter().position(&wanted) {
            return self.unread.remove(at);
        }
        loop {
            let line = self.from.next_line().await.unwrap();
            let line = line.unwrap_or_else(|| panic!("the client ended; unread: {:?}", self.unread));
            let line: Value = serde_json::from_str(&line).unwrap();
            if wanted(&line) {
                return line;
            }
            self.unread.push(line);
        }
    }
}

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tools/clients")
        .join(name)
}
