//! Importing the configuration files of MCP clients.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "what stops a helper stops its test"
)]

mod cases;
mod expectation;
mod hostile;
mod properties;
mod samples;
