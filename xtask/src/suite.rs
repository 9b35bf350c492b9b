//! Every test, with what the tests need around them.

use std::process::Command;

use clap::Args;

use crate::postgres::Postgres;
use crate::workspace::{Kind, Workspace};
use crate::{process, say, tools};

/// Which tests.
#[derive(Args)]
pub(crate) struct Options {
    /// Only the tests of this package; may be repeated.
    #[arg(short, long = "package", value_name = "NAME")]
    packages: Vec<String>,
    /// Leave out Node.js and Python: tests that need them fail.
    #[arg(long)]
    no_tools: bool,
    /// Arguments for the test runner, after `--`.
    #[arg(last = true)]
    runner: Vec<String>,
}

/// Sets up the tools, starts PostgreSQL, runs the tests and then the documentation's examples.
///
/// # Errors
/// Says what could not be set up, or that tests failed.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> anyhow::Result<()> {
    if !options.no_tools {
        tools::setup(workspace)?;
    }
    let postgres = Postgres::for_tests(workspace)?;
    let outcome = run_with(workspace, options, postgres.url());
    postgres.stop()?;
    outcome
}

fn run_with(workspace: &Workspace, options: &Options, postgres: &str) -> anyhow::Result<()> {
    let with_needs = |mut command: Command| {
        command.current_dir(workspace.root());
        command
            .env("SWITCHBOARD_TEST_TOOLS", workspace.cache())
            .env("SWITCHBOARD_TEST_POSTGRES", postgres);
        command
    };
    let nextest = process::succeeds(process::cargo().args(["nextest", "--version"]));
    let runner: &[&str] = if nextest {
        &["nextest", "run"]
    } else {
        &["test", "--lib", "--bins", "--tests"]
    };
    let mut tests = with_needs(process::cargo());
    tests
        .args(runner)
        .args(scope(&options.packages))
        .args(&options.runner);
    process::run(&mut tests)?;

    let documented = documented(workspace, &options.packages)?;
    if documented.is_empty() {
        say::step("no examples in the documentation to run");
        return Ok(());
    }
    let mut examples = with_needs(process::cargo());
    process::run(examples.args(["test", "--doc"]).args(scope(&documented)))
}

/// Arguments that choose packages; none means all.
fn scope(packages: &[String]) -> Vec<&str> {
    if packages.is_empty() {
        return vec!["--workspace"];
    }
    packages
        .iter()
        .flat_map(|package| ["-p", package.as_str()])
        .collect()
}

/// The chosen packages whose documentation has code in it: starting rustdoc for the others would only cost time.
fn documented(workspace: &Workspace, chosen: &[String]) -> anyhow::Result<Vec<String>> {
    let sources = workspace.sources(&["crates"], &["rs"])?;
    let with_code = sources
        .iter()
        .filter(|source| source.kind == Kind::Production)
        .filter(|source| {
            let mut lines = source.text.lines().map(str::trim_start);
            lines.any(|line| line.starts_with("/// ```") || line.starts_with("//! ```"))
        });
    let mut packages: Vec<String> = with_code
        .map(|source| format!("switchboard-{}", source.crate_name()))
        .collect();
    packages.dedup();
    packages
        .retain(|package| package != "switchboard-cli" && (chosen.is_empty() || chosen.contains(package)));
    Ok(packages)
}
