//! The server's tests: real HTTP against a whole Switchboard on loopback.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "these are tests; what is not there fails them"
)]

mod attacks;
mod mcp;
