//! Commands made from capabilities: each calls the server's REST operation of the same declaration.

mod areas;
mod body;
mod call;
mod columns;
mod commands;
mod fields;
mod hosted_agent;
mod http;
mod server;
mod show;
#[cfg(test)]
mod tests;

use std::process::ExitCode;

use clap::{ArgMatches, FromArgMatches as _};
use domain::Surface;
use gateway::Registry;

use crate::args::ImportArgs;
use crate::{import, output};

pub(crate) use body::secret;
pub(crate) use commands::commands;
pub(crate) use http::{Http, Payload};
pub(crate) use server::Server;

/// Runs the command when it is one made from a capability, or stands among them.
pub(crate) fn run(matches: &ArgMatches, registry: &Registry) -> Option<ExitCode> {
    let mut words = Vec::new();
    let mut leaf = matches;
    while let Some((word, next)) = leaf.subcommand() {
        words.push(word);
        leaf = next;
    }
    let done = if words == commands::IMPORT {
        let args = ImportArgs::from_arg_matches(leaf).map_err(anyhow::Error::new);
        args.and_then(|args| import::run(&args, registry))
            .map(|()| ExitCode::SUCCESS)
    } else if words.starts_with(&commands::HOSTED_AGENT) {
        let args = matches
            .subcommand_matches(commands::HOSTED_AGENT[0])?
            .subcommand_matches(commands::HOSTED_AGENT[1])?;
        let args = hosted_agent::HostedAgentArgs::from_arg_matches(args).map_err(anyhow::Error::new);
        args.and_then(|args| crate::serve::small_runtime()?.block_on(hosted_agent::run(&args)))
    } else {
        let capability = registry
            .on(Surface::Cli)
            .find(|c| c.declaration.command_words() == words)?;
        crate::serve::small_runtime().and_then(|runtime| runtime.block_on(call::call(capability, leaf)))
    };
    Some(done.unwrap_or_else(|error| output::fail(&error)))
}
