//! Completions for shells.

use std::io;

use clap_complete::{Shell, generate};

pub(crate) fn write(shell: Shell, mut command: clap::Command) -> anyhow::Result<()> {
    generate(shell, &mut command, "switchboard", &mut io::stdout().lock());
    Ok(())
}
