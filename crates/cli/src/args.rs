//! The commands that are not made from capabilities.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

/// Connect tools once. Let every agent use them under one policy.
#[derive(Debug, Parser)]
#[command(name = "switchboard", version, about, propagate_version = true, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve: REST, MCP, everything.
    Serve(ServeArgs),
    /// A small MCP server on standard input and output, to try things with.
    SampleServer,
    /// Bridge for MCP clients that only speak stdio: passes everything on to a server's /mcp.
    Mcp(BridgeArgs),
    /// Print the OpenAPI document.
    #[command(hide = true)]
    Openapi,
    /// Print completions for a shell.
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Look after the vault.
    Vault(VaultArgs),
    /// Read the configuration file of another MCP client.
    #[command(name = "import-connections", hide = true)]
    ImportConnections(ImportArgs),
}

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
}

/// Which server, and with which key.
#[derive(Debug, Clone, Args)]
pub(crate) struct ServerArgs {
    /// The server's address.
    #[arg(long, env = "SWITCHBOARD_URL", default_value = "http://127.0.0.1:7100", value_name = "URL", global = true)]
    pub(crate) url: String,
    /// A file that holds the key; "-" reads it from standard input. SWITCHBOARD_API_KEY is used when it is left out.
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) key_file: Option<PathBuf>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct BridgeArgs {
    #[command(flatten)]
    pub(crate) server: ServerArgs,
    /// The agent, with an administrator's key; an agent's own key names it by itself.
    #[arg(long)]
    pub(crate) agent: Option<String>,
    /// Only this connection's tools, under their own names.
    #[arg(long, requires = "agent")]
    pub(crate) connection: Option<String>,
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
    /// Put a secret for { vault = "NAME" } into the vault; it is read from standard input. The server must not run.
    Set {
        #[command(flatten)]
        place: Place,
        /// The name.
        name: String,
    },
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ImportArgs {
    /// The file: any of the formats MCP clients keep their servers in. "-" reads standard input.
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) place: Place,
    /// Read it as this client's format instead of recognising it.
    #[arg(long, value_name = "CLIENT")]
    pub(crate) dialect: Option<String>,
    /// Only say what would be done.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Import through a running server: remote entries only.
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// Print the report as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
