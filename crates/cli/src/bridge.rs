//! `switchboard mcp`: for clients that only speak stdio. One line is one message; each is passed on to the server's `/mcp`.

mod exchange;
mod lines;
mod message;
mod mirror;
mod relay;
mod session;
#[cfg(test)]
mod tests;

use crate::args::BridgeArgs;
use crate::client::Server;
use crate::output::Usage;
use crate::serve;

/// Longest line or event, in bytes.
const MAX_MESSAGE: usize = 16 * 1024 * 1024;

pub(crate) fn run(args: &BridgeArgs) -> anyhow::Result<()> {
    let server = Server::of(&args.server)?;
    let mut endpoint = server.base;
    {
        let wrong = |()| Usage("the server's address cannot have a path".to_owned());
        let mut path = endpoint.path_segments_mut().map_err(wrong)?;
        path.pop_if_empty().push("mcp");
        path.extend(args.agent.iter().chain(&args.connection));
    }
    let runtime = serve::small_runtime()?;
    let done = runtime.block_on(relay::relay(
        server.http,
        endpoint,
        tokio::io::stdin(),
        tokio::io::stdout(),
    ));
    // A read of standard input cannot be called off; the client may keep it open although it reads no more.
    runtime.shutdown_background();
    done
}
