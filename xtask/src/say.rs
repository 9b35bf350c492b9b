//! What the tasks tell the person at the terminal; the only place that prints.

use std::fmt::Display;

/// Announces a step before it runs. Goes to standard error, so that results can be piped.
#[expect(clippy::print_stderr, reason = "tasks talk to a person")]
pub(crate) fn step(text: &str) {
    eprintln!("==> {text}");
}

/// Prints one line of a result to standard output.
#[expect(clippy::print_stdout, reason = "tasks print their results")]
pub(crate) fn line(text: impl Display) {
    println!("{text}");
}

/// Prints why a task failed.
#[expect(clippy::print_stderr, reason = "tasks talk to a person")]
pub(crate) fn problem(text: &str) {
    eprintln!("error: {text}");
}

/// Fails with one numbered list if `violations` is not empty.
///
/// # Errors
/// Names `what` was held and every violation.
pub(crate) fn fail_on(what: &str, violations: &[String]) -> anyhow::Result<()> {
    if violations.is_empty() {
        step(&format!("{what}: nothing to report"));
        return Ok(());
    }
    anyhow::bail!(
        "{what}: {} found\n  {}",
        violations.len(),
        violations.join("\n  ")
    )
}
