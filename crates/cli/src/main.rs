//! The binary `switchboard`.

use std::process::ExitCode;

/// A call makes some two hundred small allocations, many of them freed by another thread than the one that made them.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    switchboard::run()
}
