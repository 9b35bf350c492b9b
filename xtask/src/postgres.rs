//! A PostgreSQL of our own for tests: fresh, on loopback, gone afterwards.

mod cluster;
mod programs;

use std::ffi::OsString;
use std::process::{Command, ExitCode};

use anyhow::Context;
use clap::{Args, Subcommand};

use self::cluster::Cluster;
use crate::workspace::Workspace;
use crate::{process, say};

/// Where tests look for the server's URL.
pub(crate) const VARIABLE: &str = "SWITCHBOARD_TEST_POSTGRES";

/// How long the server runs.
#[derive(Args)]
pub(crate) struct Options {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Run a command with SWITCHBOARD_TEST_POSTGRES set to the server's URL, and end with its exit code.
    Run {
        /// The command and its arguments, after `--`.
        #[arg(last = true, required = true)]
        command: Vec<OsString>,
    },
    /// Print the URL and serve until interrupted.
    Serve,
}

/// A server that tests can use: one of ours, or the one the environment names.
pub(crate) enum Postgres {
    Ours(Cluster),
    Theirs(String),
}

/// Starts a server, does the task, stops the server.
///
/// # Errors
/// Says why there is no PostgreSQL, why it does not start or stop, or why the command could not run.
pub(crate) fn run(workspace: &Workspace, options: Options) -> anyhow::Result<ExitCode> {
    match options.task {
        Task::Run { command } => {
            let postgres = Postgres::for_tests(workspace)?;
            let code = run_with(&postgres, &command);
            postgres.stop()?;
            code
        }
        Task::Serve => {
            let mut cluster = Cluster::start(workspace)?;
            say::line(cluster.url());
            cluster.wait()?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn run_with(postgres: &Postgres, command: &[OsString]) -> anyhow::Result<ExitCode> {
    let (program, arguments) = command.split_first().context("there is no command to run")?;
    let status = Command::new(program)
        .args(arguments)
        .env(VARIABLE, postgres.url())
        .status();
    let status = status.with_context(|| format!("starting {}", program.display()))?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

impl Postgres {
    /// The server named by `SWITCHBOARD_TEST_POSTGRES`, else a new one.
    ///
    /// # Errors
    /// Says why there is no PostgreSQL or why it does not start.
    pub(crate) fn for_tests(workspace: &Workspace) -> anyhow::Result<Self> {
        match process::variable(VARIABLE) {
            Some(url) => {
                let url = url
                    .into_string()
                    .ok()
                    .with_context(|| format!("{VARIABLE} is not UTF-8"))?;
                say::step(&format!("using the PostgreSQL that {VARIABLE} names"));
                Ok(Self::Theirs(url))
            }
            None => Ok(Self::Ours(Cluster::start(workspace)?)),
        }
    }

    /// Where a superuser connects to the database `postgres`.
    pub(crate) fn url(&self) -> &str {
        match self {
            Self::Ours(cluster) => cluster.url(),
            Self::Theirs(url) => url,
        }
    }

    /// Stops it if it is ours.
    ///
    /// # Errors
    /// Says why it does not stop.
    pub(crate) fn stop(self) -> anyhow::Result<()> {
        match self {
            Self::Ours(cluster) => cluster.stop(),
            Self::Theirs(_) => Ok(()),
        }
    }
}
