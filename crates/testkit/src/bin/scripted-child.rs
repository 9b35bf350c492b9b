//! A stdio MCP server that misbehaves as its arguments say; see `testkit::child`.

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;
use testkit::child::{Behaviour, run};

fn main() -> ExitCode {
    run(&Behaviour::parse()).unwrap_or_else(|error| {
        // Standard error is all there is to report to.
        drop(writeln!(std::io::stderr(), "{error}"));
        ExitCode::FAILURE
    })
}
