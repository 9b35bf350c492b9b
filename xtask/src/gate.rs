//! What must hold before a change lands, besides the tests.

use std::process::Command;

use crate::cargo_tools::Tool;
use crate::workspace::Workspace;
use crate::{edges, process, sizes, tools};

/// Runs every check, the quick ones first.
///
/// # Errors
/// The first check that fails.
pub(crate) fn check(workspace: &Workspace) -> anyhow::Result<()> {
    cargo(workspace, &["fmt", "--all", "--check"])?;
    edges::run(workspace)?;
    sizes::run(workspace)?;
    tools::setup(workspace)?;
    let mut typos = Command::new(tools::python_program(workspace, "typos"));
    process::run(typos.current_dir(workspace.root()))?;
    cargo(
        workspace,
        &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"],
    )?;
    process::run(Tool::Machete.command(workspace)?.args(["crates", "xtask"]))?;
    process::run(
        Tool::Deny
            .command(workspace)?
            .args(["check", "licenses", "bans", "sources"]),
    )
}

/// Asks the advisory database; apart from `check`, because it changes without us.
///
/// # Errors
/// Says which dependency has an advisory, or that the database could not be reached.
pub(crate) fn advisories(workspace: &Workspace) -> anyhow::Result<()> {
    process::run(Tool::Deny.command(workspace)?.args(["check", "advisories"]))
}

/// Accepts the snapshots that the last test run left for review.
///
/// # Errors
/// Says why they could not be accepted.
pub(crate) fn accept(workspace: &Workspace) -> anyhow::Result<()> {
    process::run(Tool::Insta.command(workspace)?.args(["accept"]))
}

fn cargo(workspace: &Workspace, arguments: &[&str]) -> anyhow::Result<()> {
    process::run(process::cargo().args(arguments).current_dir(workspace.root()))
}
