//! The commands that are not made from capabilities.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

use crate::import;

/// Connect tools once. Let every agent use them under one policy.
#[derive(Debug, Parser)]
#[command(
    name = "switchboard",
    version,
    about,
    max_term_width = 100,
    arg_required_else_help = true
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve: REST, MCP, everything.
    #[command(
        after_help = "Signals: SIGTERM and SIGINT stop in order, SIGHUP reads the configuration again."
    )]
    Serve(ServeArgs),
    /// A small MCP server on standard input and output, to try things with.
    SampleServer,
    /// Bridge for MCP clients that only speak stdio: passes everything on to a server's /mcp.
    #[command(after_help = BRIDGE_EXAMPLE)]
    Mcp(BridgeArgs),
    /// Print the OpenAPI document.
    #[command(hide = true)]
    Openapi,
    /// End children of a server that was killed. The server itself starts this, and says on standard input which they are.
    #[command(hide = true)]
    Reap,
    /// Print completions for a shell.
    #[command(after_help = COMPLETION_EXAMPLES)]
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Look after the vault.
    #[command(arg_required_else_help = true)]
    Vault(VaultArgs),
    /// Look after the store.
    #[command(arg_required_else_help = true)]
    Store(StoreArgs),
    /// Example skills: which there are, and loading them into a server.
    #[command(arg_required_else_help = true)]
    ExampleSkills(ExampleSkillsArgs),
}

const BRIDGE_EXAMPLE: &str = "\
In a client's configuration:
  { \"mcpServers\": { \"switchboard\": { \"command\": \"switchboard\", \"args\": [\"mcp\", \"--key-file\", \"/path/to/key\"] } } }";

const COMPLETION_EXAMPLES: &str = "\
bash:  switchboard completions bash > ~/.local/share/bash-completion/completions/switchboard
zsh:   switchboard completions zsh > \"${fpath[1]}/_switchboard\"
fish:  switchboard completions fish > ~/.config/fish/completions/switchboard.fish";

const VAULT_EXAMPLES: &str = "\
Examples:
  switchboard vault set github-token
  pass show github | switchboard vault set github-token --data /srv/switchboard";

const COPY_EXAMPLES: &str = "\
Examples:
  switchboard store copy --from data --to env:DATABASE_URL
  switchboard store copy --from file:/run/secrets/database-url --to /srv/switchboard";

const EXAMPLE_SKILLS_EXAMPLES: &str = "\
Examples:
  switchboard example-skills load --mcp github --dry-run
  switchboard example-skills load --mcp github --user 0193a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b";

/// Where things are.
#[derive(Debug, Clone, Args)]
pub(crate) struct Place {
    /// The configuration file.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// The folder of the database, the vault's key and imported commands.
    #[arg(long, value_name = "DIR", default_value = "data")]
    pub(crate) data: PathBuf,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    pub(crate) place: Place,
    /// Where to listen, instead of server.listen.
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<SocketAddr>,
    /// Leave the sample server out of the first start.
    #[arg(long)]
    pub(crate) no_sample: bool,
    /// Print a link on which somebody becomes an Owner, although there is one: for when the only one has lost the password.
    #[arg(long)]
    pub(crate) owner_link: bool,
}

/// Which server, and with which key.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Server")]
pub(crate) struct ServerArgs {
    /// The server's address.
    #[arg(
        long,
        env = "SWITCHBOARD_URL",
        hide_env_values = true,
        default_value = "http://127.0.0.1:7100",
        value_name = "URL"
    )]
    pub(crate) server: String,
    /// A file that holds the key; "-" is standard input. SWITCHBOARD_API_KEY is used when this is left out.
    #[arg(long, value_name = "FILE")]
    pub(crate) key_file: Option<PathBuf>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct BridgeArgs {
    /// The agent, with an administrator's key; an agent's own key names it by itself.
    #[arg(long)]
    pub(crate) agent: Option<String>,
    /// Only this connection's tools, under their own names.
    #[arg(long, requires = "agent")]
    pub(crate) connection: Option<String>,
    #[command(flatten)]
    pub(crate) server: ServerArgs,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct VaultArgs {
    #[command(subcommand)]
    pub(crate) command: VaultCommand,
}

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum VaultCommand {
    /// Seal every secret with the current root key, so that previous ones can be dropped. The server must not run.
    Rotate {
        #[command(flatten)]
        place: Place,
        /// Make a new root key first; the present one becomes a previous one until the rotation is done.
        #[arg(long)]
        new_key: bool,
    },
    /// Put a secret for { vault = "NAME" } into the vault, in place of an earlier one. A server may run.
    #[command(after_help = VAULT_EXAMPLES)]
    Set {
        #[command(flatten)]
        place: Place,
        /// A file with the secret; left out or "-", it is read from standard input, on a terminal without showing it.
        #[arg(long, value_name = "FILE", default_value = "-", hide_default_value = true)]
        file: String,
        /// The name.
        name: String,
    },
    /// List the names { vault = "NAME" } can use. Values are never shown.
    List {
        #[command(flatten)]
        place: Place,
        /// Print JSON for programs.
        #[arg(long)]
        json: bool,
    },
    /// Remove a secret. What refers to it cannot be started any more.
    Remove {
        #[command(flatten)]
        place: Place,
        /// The name.
        name: String,
    },
}

#[derive(Debug, Clone, Args)]
pub(crate) struct StoreArgs {
    #[command(subcommand)]
    pub(crate) command: StoreCommand,
}

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum StoreCommand {
    /// Copy a whole store into an empty one, also from SQLite to PostgreSQL and back. No server may run on either.
    #[command(
        long_about = "Copies a whole store into an empty one, also from SQLite to PostgreSQL and back: all rows as they are, in one \
                      transaction, counted and with the record verified before it ends. The source is only read. No server may run \
                      on either. Secrets stay sealed: whoever serves from the copy needs the same root key (vault.key). What else \
                      lies in the data folder (connections.d) is not part of the store.",
        after_help = COPY_EXAMPLES
    )]
    Copy(CopyArgs),
}

#[derive(Debug, Clone, Args)]
pub(crate) struct CopyArgs {
    /// What to copy: a data folder, or env:NAME or file:PATH that holds the URL of a PostgreSQL database.
    #[arg(long, value_name = "STORE")]
    pub(crate) from: String,
    /// Where to: the same. A folder is made where it is missing, a PostgreSQL database must be there.
    #[arg(long, value_name = "STORE")]
    pub(crate) to: String,
    /// Print JSON for programs.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ExampleSkillsArgs {
    #[command(subcommand)]
    pub(crate) command: ExampleSkillsCommand,
}

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum ExampleSkillsCommand {
    /// List the skills of the folder, and what each needs. No server is asked.
    List {
        #[command(flatten)]
        folder: ExampleFolder,
        /// Print JSON for programs.
        #[arg(long)]
        json: bool,
    },
    /// Load skills into a running server. What is there already stays as it is.
    #[command(after_help = EXAMPLE_SKILLS_EXAMPLES)]
    Load {
        #[command(flatten)]
        folder: ExampleFolder,
        /// The member they are for, by id; the workspace's when left out.
        #[arg(long, value_name = "MEMBER_ID")]
        user: Option<uuid::Uuid>,
        /// Only say what would be done.
        #[arg(long)]
        dry_run: bool,
        /// Print JSON for programs.
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        server: ServerArgs,
    },
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ExampleFolder {
    /// The folder of skills: PRESET/SLUG/SKILL.md.
    #[arg(long, value_name = "DIR", default_value = "examples/skills")]
    pub(crate) from: PathBuf,
    /// Only skills that need a server of this preset.
    #[arg(long, value_name = "PRESET")]
    pub(crate) mcp: Option<String>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ImportArgs {
    /// The file: any of the formats MCP clients keep their servers in. "-" is standard input.
    pub(crate) file: PathBuf,
    /// Read it as this client's format instead of recognising it.
    #[arg(long, value_name = "CLIENT", value_parser = PossibleValuesParser::new(import::dialects()), hide_possible_values = true)]
    pub(crate) dialect: Option<String>,
    /// Only say what would be done.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print the report as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) place: Place,
    /// Import through a running server's API: remote entries only.
    #[arg(long, value_name = "URL", conflicts_with_all = ["config", "data"])]
    pub(crate) url: Option<String>,
    /// With --url: a file that holds the key; "-" is standard input. SWITCHBOARD_API_KEY is used when this is left out.
    #[arg(long, value_name = "FILE", requires = "url")]
    pub(crate) key_file: Option<PathBuf>,
}

impl ImportArgs {
    /// Whether the file is standard input.
    pub(crate) fn stdin(&self) -> bool {
        self.file.as_os_str() == "-"
    }
}
