//! Completions for shells.

use std::io::{self, Write as _};

use anyhow::Context as _;
use clap_complete::{Shell, generate};

pub(crate) fn write(shell: Shell, command: clap::Command) -> anyhow::Result<()> {
    io::stdout()
        .lock()
        .write_all(&script(shell, command))
        .context("the completions cannot be written")
}

fn script(shell: Shell, command: clap::Command) -> Vec<u8> {
    // What help does not show is not proposed either; the generator would.
    let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
    let mut command = clap::Command::new("switchboard")
        .version(env!("CARGO_PKG_VERSION"))
        .subcommands(shown.cloned());
    // Made in memory: the generator would end the process when the pipe it writes to is closed.
    let mut script = Vec::new();
    generate(shell, &mut command, "switchboard", &mut script);
    script
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;
    use clap_complete::Shell;

    use super::script;
    use crate::args::Cli;
    use crate::client;

    #[test]
    fn every_shell_knows_the_commands_made_from_capabilities() {
        let registry = capabilities::registry().unwrap();
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let script = script(shell, client::commands(Cli::command(), &registry));
            let script = String::from_utf8(script).unwrap();
            for word in ["approvals", "classify", "key-file", "import", "vault", "version"] {
                assert!(script.contains(word), "{shell} does not know {word}");
            }
            for word in ["openapi", "reap"] {
                assert!(!script.contains(word), "{shell} proposes {word}");
            }
        }
    }
}
