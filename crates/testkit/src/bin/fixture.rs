//! The conformance fixture as a process: `fixture --stdio`, or `fixture --http PORT`, which prints its URL.

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;
use testkit::fixture::{Fixture, FixtureError, run_stdio};

#[derive(Debug, Parser)]
#[command(about = "An MCP server with everything the conformance suite looks for")]
struct Arguments {
    /// Serve Streamable HTTP on this port of 127.0.0.1; 0 lets the system choose
    #[arg(
        long,
        value_name = "PORT",
        required_unless_present = "stdio",
        conflicts_with = "stdio"
    )]
    http: Option<u16>,
    /// Serve one client on standard input and output
    #[arg(long)]
    stdio: bool,
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let outcome = match arguments.http {
        Some(port) => serve_http(port).await,
        None => run_stdio().await,
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Standard error is all there is to report to.
            drop(writeln!(std::io::stderr(), "{error}"));
            ExitCode::FAILURE
        }
    }
}

async fn serve_http(port: u16) -> Result<(), FixtureError> {
    let fixture = Fixture::start_on(port).await?;
    writeln!(std::io::stdout(), "{}", fixture.url)?;
    tokio::signal::ctrl_c().await?;
    Ok(())
}
