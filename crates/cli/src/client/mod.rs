//! Commands made from capabilities: each calls the server's REST operation of the same declaration.

mod body;
mod call;
mod commands;
mod http;
mod show;

use std::process::ExitCode;

use clap::ArgMatches;
use domain::Surface;
use gateway::Registry;

pub(crate) use call::Server;
pub(crate) use commands::commands;
pub(crate) use http::{Http, Payload};

/// Runs the command when it is one made from a capability.
pub(crate) fn run(matches: &ArgMatches, registry: &Registry) -> Option<ExitCode> {
    let mut words = Vec::new();
    let mut leaf = matches;
    while let Some((word, next)) = leaf.subcommand() {
        words.push(word.to_owned());
        leaf = next;
    }
    let capability = registry.on(Surface::Cli).find(|c| c.declaration.command_words() == words)?;
    let outcome = crate::serve::small_runtime().and_then(|runtime| runtime.block_on(call::call(capability, leaf)));
    Some(outcome.unwrap_or_else(|error| crate::output::fail(&error)))
}
