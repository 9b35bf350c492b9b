//! The published clients `inkbox` as processes that do what they are told (`tools/inkbox`, `tools/clients/inkbox_client.py`).

use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::tools::Tools;

/// Which of the published clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Published {
    /// The Rust crate, which knows everything.
    Rust,
    /// The Python package, which knows nothing of connections.
    Python,
}

/// A running client with a key. Dropping it ends it.
pub struct Inkbox {
    to: ChildStdin,
    from: Lines<BufReader<ChildStdout>>,
    _child: Child,
}

impl Inkbox {
    /// Starts one for the server at this address.
    ///
    /// # Errors
    /// If it does not start.
    pub fn start(tools: &Tools, published: Published, server: &str, key: &str) -> std::io::Result<Self> {
        // It takes plain HTTP for these two names of a host and no other.
        let mut command = match published {
            Published::Rust => Command::new(tools.inkbox()),
            Published::Python => {
                let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tools/clients/inkbox_client.py");
                let mut command = Command::new(tools.python("python"));
                command.arg(script);
                command
            }
        };
        let mut child = command
            .args([server, key])
            .env_clear()
            .env("PATH", tools.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let gone = || std::io::Error::other("the client has no pipes");
        Ok(Self {
            to: child.stdin.take().ok_or_else(gone)?,
            from: BufReader::new(child.stdout.take().ok_or_else(gone)?).lines(),
            _child: child,
        })
    }

    /// Has it do something: what came of it, in the client's own words.
    ///
    /// # Errors
    /// If it ends instead of answering.
    pub async fn ask(&mut self, what: &str, with: Value) -> std::io::Result<Value> {
        let mut wanted = json!({ "do": what });
        if let (Some(wanted), Value::Object(with)) = (wanted.as_object_mut(), with) {
            wanted.extend(with);
        }
        self.to.write_all(format!("{wanted}\n").as_bytes()).await?;
        let line = self.from.next_line().await?;
        let line = line.ok_or_else(|| std::io::Error::other(format!("the client ended at {what}")))?;
        Ok(serde_json::from_str(&line)?)
    }

    /// The same where it must succeed.
    ///
    /// # Errors
    /// If it does not, with what it said.
    pub async fn good(&mut self, what: &str, with: Value) -> std::io::Result<Value> {
        let mut said = self.ask(what, with).await?;
        match said.as_object_mut().and_then(|said| said.remove("ok")) {
            Some(answer) => Ok(answer),
            None => Err(std::io::Error::other(format!("{what}: {said}"))),
        }
    }
}
