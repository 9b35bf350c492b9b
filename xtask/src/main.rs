//! Development tasks of the workspace: checks of its shape, set-up of test tools, the API contract.

mod workspace;

mod edges;
#[cfg(test)]
mod problem_codes;
mod sizes;

mod contract;
mod requirements;

mod cargo_tools;
mod fuzz;
mod postgres;
mod process;
mod release;
mod tools;

mod gate;
mod suite;

mod say;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::workspace::Workspace;

/// Development tasks; `make` names the ones people need.
#[derive(Parser)]
#[command(name = "xtask")]
struct Xtask {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Compare the dependency graph and the homes of libraries with xtask/edges.toml.
    Edges,
    /// Hold files to their size and names to the rules.
    Sizes,
    /// Print every requirement and the test that cites it.
    Requirements(requirements::Options),
    /// Write openapi/v1.json; fails if it was stale.
    Contract(contract::Options),
    /// Prepare what tests need under .cache/.
    Setup,
    /// Run PostgreSQL for as long as something needs it.
    Postgres(postgres::Options),
    /// Set up tools and PostgreSQL, then run every test.
    Test(suite::Options),
    /// Format, lints, edges, sizes, spelling, unused dependencies, licences.
    Check,
    /// Fuzz what reads input of others.
    Fuzz(fuzz::Options),
    /// Build the optimized binary.
    Release(release::Options),
    /// Accept the reviewed snapshots.
    Accept,
    /// Ask the advisory database about our dependencies (needs its mirror).
    Advisories,
}

fn main() -> ExitCode {
    let workspace = Workspace::here();
    match run(&workspace, Xtask::parse().task) {
        Ok(code) => code,
        Err(error) => {
            say::problem(&format!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn run(workspace: &Workspace, task: Task) -> anyhow::Result<ExitCode> {
    match task {
        Task::Edges => edges::run(workspace)?,
        Task::Sizes => sizes::run(workspace)?,
        Task::Requirements(options) => requirements::run(workspace, &options)?,
        Task::Contract(options) => contract::run(workspace, &options)?,
        Task::Setup => tools::setup(workspace)?,
        Task::Postgres(options) => return postgres::run(workspace, options),
        Task::Test(options) => suite::run(workspace, &options)?,
        Task::Check => gate::check(workspace)?,
        Task::Fuzz(options) => fuzz::run(workspace, &options)?,
        Task::Release(options) => release::run(workspace, &options)?,
        Task::Accept => gate::accept(workspace)?,
        Task::Advisories => gate::advisories(workspace)?,
    }
    Ok(ExitCode::SUCCESS)
}
