//! What people and programs see: text, tables, JSON, progress. The one place that prints.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "printing is what this module is for")]

use std::io::IsTerminal as _;
use std::process::ExitCode;
use std::time::Duration;

use comfy_table::presets::UTF8_HORIZONTAL_ONLY;
use comfy_table::{ContentArrangement, Table};
use gateway::Registry;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::Value;

use crate::config::Problem;

/// Prints a line for people.
pub(crate) fn say(line: &str) {
    println!("{line}");
}

/// Prints a line for people beside the output of programs.
pub(crate) fn note(line: &str) {
    eprintln!("{line}");
}

/// Prints a document for programs.
pub(crate) fn json(value: &Value) {
    println!("{value:#}");
}

/// Ends with an error.
pub(crate) fn fail(error: &anyhow::Error) -> ExitCode {
    eprintln!("switchboard: {error:#}");
    ExitCode::FAILURE
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
    anyhow::anyhow!("the configuration has mistakes:\n{}", lines.join("\n"))
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
    ProgressBar::new(0).with_message(what.to_owned()).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// Prints rows under headings.
pub(crate) fn table(headings: &[String], rows: Vec<Vec<String>>) {
    let mut table = Table::new();
    table.load_preset(UTF8_HORIZONTAL_ONLY).set_content_arrangement(ContentArrangement::Dynamic);
    if !std::io::stdout().is_terminal() {
        table.set_content_arrangement(ContentArrangement::Disabled);
    }
    table.set_header(headings);
    table.add_rows(rows);
    println!("{table}");
}
