//! Programs of others as processes: behind pipes that keep what was said, or listening on 127.0.0.1.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};

use domain::Secret;
use mcp::{StdioCommand, Transport};
use serde_json::Value;
use tempfile::TempDir;
use testkit::tools::Tools;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

/// A stdio server whose every session is written down, in both directions.
pub(super) struct Recorded {
    command: Vec<OsString>,
    env: Vec<(String, Secret)>,
    records: TempDir,
    sessions: AtomicUsize,
}

/// What was said in one session.
pub(super) struct Record {
    folder: PathBuf,
}

impl Recorded {
    pub(super) fn new<A: Into<OsString>>(
        path: &str,
        program: impl Into<OsString>,
        arguments: impl IntoIterator<Item = A>,
    ) -> Self {
        let arguments = arguments.into_iter().map(Into::into);
        Self {
            command: std::iter::once(program.into()).chain(arguments).collect(),
            env: vec![("PATH".to_owned(), Secret::new(path))],
            records: tempfile::tempdir().unwrap(),
            sessions: AtomicUsize::new(0),
        }
    }

    pub(super) fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), Secret::new(value)));
        self
    }

    /// The transport for one more session, and its record.
    pub(super) fn session(&self) -> (Transport, Record) {
        let number = self.sessions.fetch_add(1, Ordering::Relaxed);
        let folder = self.records.path().join(number.to_string());
        std::fs::create_dir(&folder).unwrap();
        let script = r#"tee "$0/sent" | "$@" | tee "$0/answered""#;
        let shell = ["sh", "-c", script].map(OsString::from);
        let argv = shell.into_iter().chain([folder.clone().into()]);
        let command = StdioCommand {
            argv: argv.chain(self.command.iter().cloned()).collect(),
            env: self.env.clone(),
            inherit: Vec::new(),
            cwd: None,
            reaper: None,
        };
        (Transport::Stdio(command), Record { folder })
    }
}

impl Record {
    /// The methods of what we sent, in order.
    pub(super) fn sent(&self) -> Vec<String> {
        let messages = self.messages("sent");
        let methods = messages.iter().filter_map(|message| message["method"].as_str());
        methods.map(str::to_owned).collect()
    }

    /// The first message the server answered with.
    pub(super) fn first_answer(&self) -> Value {
        self.messages("answered").swap_remove(0)
    }

    fn messages(&self, direction: &str) -> Vec<Value> {
        let text = std::fs::read_to_string(self.folder.join(direction)).unwrap();
        text.lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect()
    }
}

/// A server that listens, until dropped.
pub(super) struct Listening {
    pub(super) port: u16,
    _child: Child,
}

/// Starts a server that says on standard error where it listens: `loopback port 41234`.
pub(super) async fn listen<A: Into<OsString>>(
    tools: &Tools,
    program: PathBuf,
    arguments: impl IntoIterator<Item = A>,
) -> Listening {
    let mut child = Command::new(program)
        .args(arguments.into_iter().map(Into::into))
        .env_clear()
        .env("PATH", tools.path())
        .env("NODE_OPTIONS", tools.loopback_only())
        .env("PORT", "0")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut said = String::new();
    let port = loop {
        let line = lines
            .next_line()
            .await
            .unwrap()
            .unwrap_or_else(|| panic!("it ended: {said}"));
        if let Some(port) = line.strip_prefix("loopback port ") {
            break port.parse().unwrap();
        }
        said.push_str(&line);
        said.push('\n');
    };
    // A full pipe would stop it.
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    Listening { port, _child: child }
}
