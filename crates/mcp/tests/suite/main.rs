//! The integration tests of the outbound protocol, one binary.

#![expect(clippy::unwrap_used, reason = "set-up outside the test functions fails the test just as well")]

mod egress;
mod http;
mod origin;
mod sse;
mod stdio;
mod tls;
mod watch;
