//! What people and programs see: text, tables, JSON, progress. The one place that prints.
#![expect(clippy::print_stderr, reason = "printing is what this module is for")]

mod table;

use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::time::Duration;

use gateway::Registry;
use indicatif::{ProgressBar, ProgressStyle};
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
use serde_json::Value;

use crate::config::Problem;

pub(crate) use table::Table;

/// The command line asks for something that cannot be: ends with the code for that.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Usage(pub(crate) String);

/// Prints a line for people.
pub(crate) fn say(line: &str) {
    print(format_args!("{line}"));
}

/// Writes to standard output. Whoever closed the pipe has seen enough.
fn print(text: std::fmt::Arguments<'_>) {
    drop(writeln!(std::io::stdout().lock(), "{text}"));
}

/// Prints a line for people beside the output of programs.
pub(crate) fn note(line: &str) {
    eprintln!("{line}");
}

/// Asks a person for a line that the terminal does not show.
pub(crate) fn ask_hidden(question: &str) -> anyhow::Result<String> {
    eprint!("{question}");
    let mut input = std::io::stdin().lock();
    let before = tcgetattr(&input)?;
    let mut hidden = before.clone();
    hidden.local_modes.remove(LocalModes::ECHO);
    tcsetattr(&input, OptionalActions::Flush, &hidden)?;
    let mut line = String::new();
    let read = input.read_line(&mut line);
    tcsetattr(&input, OptionalActions::Flush, &before)?;
    eprintln!();
    read?;
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}

/// Prints a document for programs.
pub(crate) fn json(value: &Value) {
    print(format_args!("{value:#}"));
}

/// Ends with an error.
pub(crate) fn fail(error: &anyhow::Error) -> ExitCode {
    eprintln!("switchboard: {error:#}");
    if error.chain().any(|cause| cause.is::<Usage>()) {
        ExitCode::from(crate::EX_USAGE)
    } else {
        ExitCode::FAILURE
    }
}

/// Ends with what the command line's parser says: a page of help, or what is wrong.
pub(crate) fn refused(error: &clap::Error) -> ExitCode {
    // Whoever closed the pipe has seen enough.
    drop(error.print());
    if error.use_stderr() {
        ExitCode::from(crate::EX_USAGE)
    } else {
        ExitCode::SUCCESS
    }
}

/// Ends with the configuration's mistakes, all of them.
pub(crate) fn wrong_configuration(problems: &[Problem]) -> ExitCode {
    eprintln!("switchboard: the configuration has mistakes; nothing was started:");
    for problem in problems {
        eprintln!("  {problem}");
    }
    ExitCode::from(crate::EX_USAGE)
}

/// The same as an error.
pub(crate) fn problems(problems: Vec<Problem>) -> anyhow::Error {
    let lines: Vec<String> = problems.iter().map(|problem| format!("  {problem}")).collect();
    Usage(format!("the configuration has mistakes:\n{}", lines.join("\n"))).into()
}

/// Prints the OpenAPI document.
pub(crate) fn openapi(registry: &Registry) -> anyhow::Result<()> {
    json(&server::openapi::document(registry));
    Ok(())
}

/// A spinner on a terminal; nothing elsewhere.
pub(crate) fn spinner(what: &str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let spinner = ProgressBar::new_spinner().with_message(what.to_owned());
    spinner.enable_steady_tick(Duration::from_millis(120));
    spinner
}

/// A bar on a terminal; nothing elsewhere.
pub(crate) fn bar(what: &str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len}");
    ProgressBar::new(0)
        .with_message(what.to_owned())
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
