//! A small MCP server over an in-memory notebook: the upstream a new installation starts with, so that the first
//! governed call works without a network or any other runtime.

mod notebook;
mod server;

use rmcp::ServiceExt;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::server::SampleServer;

/// Why the sample server stopped before its client closed the connection.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SampleServerError {
    /// The first messages were neither `initialize` nor `server/discover`, or the streams broke during them.
    #[error("the sample server could not agree on a protocol version with its client")]
    Opening(#[source] Box<rmcp::service::ServerInitializeError>),
    /// The task that serves the connection panicked or was aborted.
    #[error("the sample server's connection task ended abnormally")]
    Serving(#[source] tokio::task::JoinError),
}

/// Serves one client on standard input and output until it closes standard input.
///
/// Both lifecycles are understood: `initialize` (2024-11-05 to 2025-11-25) and `server/discover` (2026-07-28).
///
/// # Errors
///
/// [`SampleServerError::Opening`] if the client's first messages are not MCP.
pub async fn run_stdio() -> Result<(), SampleServerError> {
    let (input, output) = rmcp::transport::io::stdio_pipes();
    run(input, output).await
}

/// Serves one client on any pair of byte streams, one JSON-RPC message a line, until `input` ends.
///
/// # Errors
///
/// [`SampleServerError::Opening`] if the client's first messages are not MCP.
pub async fn run<R, W>(input: R, output: W) -> Result<(), SampleServerError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let serving = match SampleServer::new().serve((input, output)).await {
        Ok(serving) => serving,
        // Gone before its first request, or after no more than a look with `server/discover`.
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(SampleServerError::Opening(Box::new(error))),
    };
    serving
        .waiting()
        .await
        .map(drop)
        .map_err(SampleServerError::Serving)
}

#[cfg(test)]
mod tests;
