//! A stdio MCP server that misbehaves as its arguments say; the program `scripted-child` runs it.
//!
//! Its tools: `echo` answers its arguments, `environment` its environment, `pid` its process id, `big` as many bytes as
//! asked for, `answers` what the client answered to `--ask`, `fail` a tool error, `crash` ends the process instead of
//! answering.

mod behaviour;
mod messages;

use std::fs::OpenOptions;
use std::io::{BufRead, Write, stderr, stdin, stdout};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Duration;

use serde_json::{Value, json};

pub use behaviour::{Behaviour, Discovering};

/// The exit code of a child that ends before it should.
pub const CRASHED: u8 = 7;

/// Serves standard input and output until the client closes it, or as long as `behaviour` says.
///
/// # Errors
///
/// If a stream, a file or the grandchild fails.
pub fn run(behaviour: &Behaviour) -> std::io::Result<ExitCode> {
    if behaviour.linger {
        linger();
        return Ok(ExitCode::SUCCESS);
    }
    let _ignored = behaviour.ignore_sigterm.then(ignore_sigterm).transpose()?;
    prepare(behaviour)?;
    if let Some(script) = &behaviour.script {
        crate::hostile::serve(script, |method| {
            if let Some(file) = &behaviour.heard {
                append(file, method)?;
            }
            match method {
                "tools/call" => flood(behaviour.flood_each),
                _ => Ok(()),
            }
        })?;
        if behaviour.ignore_eof {
            linger();
        }
        return Ok(ExitCode::SUCCESS);
    }
    let mut child = Child {
        behaviour,
        calls: 0,
        answered: 0,
        answers: Vec::new(),
    };
    for line in stdin().lock().lines() {
        match child.receive(&line?)? {
            Next::Continue => {}
            Next::Crash => return Ok(ExitCode::from(CRASHED)),
        }
    }
    if behaviour.ignore_eof {
        linger();
    }
    Ok(ExitCode::SUCCESS)
}

enum Next {
    Continue,
    Crash,
}

struct Child<'a> {
    behaviour: &'a Behaviour,
    calls: u64,
    answered: u64,
    answers: Vec<Value>,
}

impl Child<'_> {
    fn receive(&mut self, line: &str) -> std::io::Result<Next> {
        let message: Value = serde_json::from_str(line).unwrap_or_default();
        let Some(method) = message["method"].as_str() else {
            self.answers.push(message);
            return Ok(Next::Continue);
        };
        if method == "tools/call" {
            self.calls += 1;
            if let Some(file) = &self.behaviour.count_calls {
                append(file, message["params"]["name"].as_str().unwrap_or_default())?;
            }
        }
        let crashes = message["params"]["name"] == "crash" || self.behaviour.die_on_call == Some(self.calls);
        if method == "tools/call" && crashes || self.behaviour.die_on.iter().any(|fatal| fatal == method) {
            return Ok(Next::Crash);
        }
        if method == "notifications/initialized" {
            for (number, asked) in self.behaviour.ask.iter().enumerate() {
                send(
                    &json!({ "jsonrpc": "2.0", "id": format!("ask-{number}"), "method": asked, "params": {} }),
                )?;
            }
        }
        let silent = self.behaviour.hang_on.iter().any(|ignored| ignored == method);
        if message["id"].is_null() || silent {
            return Ok(Next::Continue);
        }
        if let Some(answer) = messages::answer(self.behaviour, &message, &self.answers) {
            if method == "tools/call" {
                flood(self.behaviour.flood_each)?;
            }
            for noise in &self.behaviour.noise_each {
                write_line(noise.as_bytes())?;
            }
            send(&answer)?;
            self.answered += 1;
        }
        Ok(if self.behaviour.die_after == Some(self.answered) {
            Next::Crash
        } else {
            Next::Continue
        })
    }
}

/// What happens before the first message is read.
fn prepare(behaviour: &Behaviour) -> std::io::Result<()> {
    if let Some(file) = &behaviour.pid_file {
        append(file, &std::process::id().to_string())?;
    }
    if let Some(file) = &behaviour.grandchild {
        let grandchild = Command::new(std::env::current_exe()?).arg("--linger").spawn()?;
        append(file, &grandchild.id().to_string())?;
    }
    std::thread::sleep(Duration::from_millis(behaviour.slow_start_ms));
    flood(behaviour.flood_stderr)?;
    for noise in &behaviour.noise {
        write_line(noise.as_bytes())?;
    }
    if behaviour.invalid_utf8 {
        write_line(b"\xff\xfe not text")?;
    }
    if let Some(bytes) = behaviour.endless_line {
        let line = vec![b'x'; usize::try_from(bytes).unwrap_or(usize::MAX)];
        stdout().write_all(&line)?;
        stdout().flush()?;
    }
    Ok(())
}

/// Writes so many bytes to standard error.
fn flood(bytes: u64) -> std::io::Result<()> {
    let mut left = bytes;
    while left > 0 {
        let piece = usize::try_from(left.min(4096)).unwrap_or(4096);
        stderr().write_all(&vec![b'e'; piece])?;
        left -= piece as u64;
    }
    Ok(())
}

fn send(message: &Value) -> std::io::Result<()> {
    write_line(message.to_string().as_bytes())
}

fn write_line(line: &[u8]) -> std::io::Result<()> {
    let mut output = stdout().lock();
    output.write_all(line)?;
    output.write_all(b"\n")?;
    output.flush()
}

fn append(file: &Path, line: &str) -> std::io::Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).open(file)?;
    file.write_all(format!("{line}\n").as_bytes())
}

/// Stays for two minutes: longer than any test waits, short enough not to outlive a failed one for long.
fn linger() {
    std::thread::sleep(Duration::from_secs(120));
}

/// Takes SIGTERM over and does nothing with it, as long as the runtime returned lives.
fn ignore_sigterm() -> std::io::Result<tokio::runtime::Runtime> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let _entered = runtime.enter();
    drop(tokio::signal::unix::signal(
        tokio::signal::unix::SignalKind::terminate(),
    )?);
    Ok(runtime)
}
