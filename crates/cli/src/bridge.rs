//! `switchboard mcp`: for clients that only speak stdio. One line is one message; each is passed on to the server's `/mcp`.

mod relay;

use anyhow::Context as _;

use crate::args::BridgeArgs;
use crate::client::Server;
use crate::serve;

pub(crate) fn run(args: &BridgeArgs) -> anyhow::Result<()> {
    let server = Server::of(&args.server)?;
    let path = match (&args.agent, &args.connection) {
        (None, _) => "mcp".to_owned(),
        (Some(agent), None) => format!("mcp/{agent}"),
        (Some(agent), Some(connection)) => format!("mcp/{agent}/{connection}"),
    };
    let endpoint = server.base.join(&path).context("the server's address cannot have a path")?;
    serve::small_runtime()?.block_on(relay::relay(server.http, endpoint))
}
