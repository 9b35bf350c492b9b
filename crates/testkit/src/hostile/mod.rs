//! Servers that misbehave as a script says, the same over every transport, and that can be told to behave again.
//!
//! A [`Script`] says what follows each message; a [`Hostile`] plays it as a child process, over Streamable HTTP or over HTTP with SSE.
//! What only HTTP can do wrong (statuses, redirects, bodies that break off) is a function beside the script.

mod feeds;
mod script;
mod stdio;
mod upstream;

pub use script::{Say, Script};
pub(crate) use stdio::serve;
pub use upstream::{Hostile, HttpReply, Plan, Way};
