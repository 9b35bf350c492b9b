//! The integration tests of the outbound protocol, one binary.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "set-up outside the test functions fails the test just as well"
)]

mod discovery;
mod egress;
mod http;
mod legacy_sse;
mod oauth;
mod origin;
mod reach;
mod server;
mod sse;
mod stdio;
mod streamable;
mod tls;
mod watch;
