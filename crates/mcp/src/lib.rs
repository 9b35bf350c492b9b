//! The Model Context Protocol, outbound: one live session with one server, over stdio, Streamable HTTP or HTTP with SSE,
//! in every revision from 2024-11-05 to 2026-07-28.
//!
//! Definitions and results pass through byte for byte. The crate knows no database and no policy, and reads neither
//! environment nor files.

pub mod egress;
pub mod http;
pub mod oauth;
pub mod sse;

pub mod discovery;
mod endpoint;
mod error;
mod legacy_sse;
pub mod param_headers;
mod peer;
mod stdio;
mod streamable;
mod target;
pub mod version;
pub mod wire;

pub use ::http::{HeaderName, HeaderValue};
pub use error::{ConnectError, Phase, RequestError};
pub use peer::{
    ClientContext, Events, LineSource, Listener, LogLine, Patience, Request, Responder, ServerFacts,
    ServerRequest, Silent, Standing, Subscription, Upstream,
};
pub use stdio::{Reaper, reap};
pub use target::{
    ClientProfile, HttpTarget, Limits, Negotiated, StdioCommand, Target, TokenError, TokenSource, Transport,
    TransportKind,
};
