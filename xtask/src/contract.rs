//! The API document that is checked in, held against the one the program prints.

use std::fs;

use anyhow::Context;
use clap::Args;

use crate::workspace::Workspace;
use crate::{process, say};

const DOCUMENT: &str = "openapi/v1.json";

/// Whether to write.
#[derive(Args)]
pub(crate) struct Options {
    /// Only compare; leave the file as it is.
    #[arg(long)]
    check: bool,
}

/// Generates the document and, unless told only to check, writes it.
///
/// # Errors
/// Fails if the file was stale, so that a build notices, and if the document cannot be generated.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> anyhow::Result<()> {
    let mut cargo = process::cargo();
    cargo.args(["run", "-q", "-p", "switchboard-cli", "--", "openapi"]);
    let generated = process::output(cargo.current_dir(workspace.root()))?;
    serde_json::from_str::<serde_json::Value>(&generated).context("the generated document is not JSON")?;
    let path = workspace.path(DOCUMENT);
    if fs::read_to_string(&path).is_ok_and(|checked_in| checked_in == generated) {
        say::step(&format!("{DOCUMENT} is current"));
        return Ok(());
    }
    anyhow::ensure!(
        !options.check,
        "{DOCUMENT} is stale: run `make contract` and commit the result"
    );
    fs::create_dir_all(workspace.path("openapi")).context("creating openapi/")?;
    fs::write(&path, generated).with_context(|| format!("writing {DOCUMENT}"))?;
    anyhow::bail!("{DOCUMENT} was stale and has been written again: review the difference and commit it")
}
