//! The client the official conformance suite runs: `conformance-client URL`, the scenario in the environment.

use std::error::Error;
use std::io::Write;
use std::process::ExitCode;

use clap::Parser;
use testkit::conformance_client::{Assignment, run};

#[derive(Debug, Parser)]
#[command(about = "A client of the MCP conformance suite")]
struct Arguments {
    /// The scenario to play
    #[arg(long, env = "MCP_CONFORMANCE_SCENARIO")]
    scenario: String,
    /// What the scenario gives its client, as JSON
    #[arg(long, env = "MCP_CONFORMANCE_CONTEXT")]
    context: Option<String>,
    /// The scenario's server
    url: String,
}

#[tokio::main]
async fn main() -> ExitCode {
    let Arguments {
        scenario,
        context,
        url,
    } = Arguments::parse();
    let assignment = Assignment {
        scenario,
        context,
        url,
    };
    match run(&assignment).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            report(&error);
            ExitCode::FAILURE
        }
    }
}

fn report(error: &dyn Error) {
    let mut cause = Some(error);
    while let Some(error) = cause {
        // Standard error is all there is to report to.
        drop(writeln!(std::io::stderr(), "{error}"));
        cause = error.source();
    }
}
