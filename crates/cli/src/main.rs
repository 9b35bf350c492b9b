//! The binary `switchboard`.

use std::process::ExitCode;

fn main() -> ExitCode {
    switchboard::run()
}
