//! Running other programs, saying so, and failing with their name.

use std::ffi::OsString;
use std::process::{Command, Stdio};

use anyhow::Context;

use crate::say;

/// The cargo that runs this program, or the one on the path.
pub(crate) fn cargo() -> Command {
    Command::new(variable("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// A variable of the environment, if it is set and not empty.
#[expect(
    clippy::disallowed_methods,
    reason = "tasks are told by the environment what the tests get"
)]
pub(crate) fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// Runs to the end with our terminal.
///
/// # Errors
/// Says which command could not start or failed, and how.
pub(crate) fn run(command: &mut Command) -> anyhow::Result<()> {
    say::step(&describe(command));
    let status = command
        .status()
        .with_context(|| format!("starting {}", describe(command)))?;
    anyhow::ensure!(status.success(), "{} ended with {status}", describe(command));
    Ok(())
}

/// Runs to the end and returns what it printed; its own errors go to our terminal.
///
/// # Errors
/// Says which command could not start, failed, or did not print UTF-8.
pub(crate) fn output(command: &mut Command) -> anyhow::Result<String> {
    let result = command
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("starting {}", describe(command)))?;
    anyhow::ensure!(
        result.status.success(),
        "{} ended with {}",
        describe(command),
        result.status
    );
    String::from_utf8(result.stdout).with_context(|| format!("reading the output of {}", describe(command)))
}

/// Whether the command runs and succeeds; nothing is shown.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    let quiet = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}

fn describe(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words
        .map(|word| word.to_string_lossy())
        .collect::<Vec<_>>()
        .join(" ")
}
