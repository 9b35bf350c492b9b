//! The program `switchboard`: reads configuration, wires everything, serves, or calls a server. Nothing of it is a promised interface.

mod args;
mod bridge;
mod client;
mod completions;
mod config;
mod example_skills;
mod files;
mod import;
mod output;
#[doc(hidden)]
pub mod probe;
mod serve;
mod store_copy;
mod vault;

use std::process::ExitCode;

use args::{Cli, Command};
use clap::{CommandFactory, FromArgMatches};

/// The command line or the configuration is wrong (sysexits.h).
const EX_USAGE: u8 = 64;

/// The program: reads its arguments, does what they say, and returns how it went.
#[must_use]
pub fn run() -> ExitCode {
    let registry = match capabilities::registry() {
        Ok(registry) => registry,
        Err(error) => return output::fail(&anyhow::Error::new(error)),
    };
    let matches = match client::commands(Cli::command(), &registry).try_get_matches() {
        Ok(matches) => matches,
        Err(error) => return output::refused(&error),
    };
    if let Some(outcome) = client::run(&matches, &registry) {
        return outcome;
    }
    let cli = match Cli::from_arg_matches(&matches) {
        Ok(cli) => cli,
        Err(error) => return output::refused(&error),
    };
    let done = match cli.command {
        Command::Serve(args) => return serve::run(args, registry),
        Command::SampleServer => serve::sample(),
        Command::Mcp(args) => bridge::run(&args),
        Command::Reap => serve::reap(),
        Command::Openapi => output::openapi(&registry),
        Command::Completions { shell } => {
            completions::write(shell, client::commands(Cli::command(), &registry))
        }
        Command::Vault(args) => vault::run(args),
        Command::Store(args) => store_copy::run(args),
        Command::ExampleSkills(args) => match example_skills::run(&args, &registry) {
            Ok(outcome) => return outcome,
            Err(error) => Err(error),
        },
    };
    done.map_or_else(|error| output::fail(&error), |()| ExitCode::SUCCESS)
}
