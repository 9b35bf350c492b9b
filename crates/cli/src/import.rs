//! `switchboard connections import FILE`: takes over the servers in another MCP client's configuration.
//!
//! Nothing is run and nothing is guessed. Everything lands disabled: remote entries as connections, command entries in
//! `DATA/connections.d/imported.toml`, secrets in the vault. What could not be taken is listed with its reason.

mod beside;
mod command;
mod file;
mod names;
mod online;
mod plan;
mod remote;
mod report;
#[cfg(test)]
mod tests;
mod value;

use std::fs::File;
use std::io::Read;

use anyhow::Context as _;
use connections::import::{Dialect, Import, MAX_FILE_BYTES, Source, parse};
use gateway::Registry;

use crate::args::ImportArgs;
use crate::serve;

pub(crate) fn run(args: &ImportArgs, registry: &Registry) -> anyhow::Result<()> {
    let import = read(args)?;
    let runtime = serve::small_runtime()?;
    let report = match &args.url {
        None => runtime.block_on(beside::import(args, import))?,
        Some(url) => runtime.block_on(online::import(args, url, import, registry))?,
    };
    report.print(args.json);
    Ok(())
}

/// Names of the dialects, for the command line.
pub(crate) fn dialects() -> impl Iterator<Item = &'static str> {
    Dialect::ALL.iter().map(|dialect| dialect.name())
}

fn read(args: &ImportArgs) -> anyhow::Result<Import> {
    let shown = args.file.display();
    let mut bytes = Vec::new();
    let limit = u64::try_from(MAX_FILE_BYTES)
        .unwrap_or(u64::MAX)
        .saturating_add(1);
    if args.stdin() {
        std::io::stdin()
            .lock()
            .take(limit)
            .read_to_end(&mut bytes)
            .context("cannot read standard input")?;
    } else {
        let opened = File::open(&args.file).with_context(|| format!("cannot open {shown}"))?;
        opened
            .take(limit)
            .read_to_end(&mut bytes)
            .with_context(|| format!("cannot read {shown}"))?;
    }
    let dialect = args.dialect.as_deref().map(str::parse::<Dialect>).transpose()?;
    let name = if args.stdin() {
        String::new()
    } else {
        args.file.to_string_lossy().into_owned()
    };
    parse(&Source {
        file_name: &name,
        bytes: &bytes,
        dialect,
    })
    .with_context(|| format!("{shown} cannot be imported"))
}
