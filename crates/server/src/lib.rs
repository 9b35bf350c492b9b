//! HTTP: REST made from the capabilities, inbound MCP, problem documents, and the few pages that are written by hand.
//!
//! Knows nothing of the MCP client side, of policy or of the store: whatever it does, it asks the gateway. Status codes live here
//! and nowhere else.

// A request's future holds those of everything below it, unboxed; proving that they may change threads goes that deep.
#![recursion_limit = "256"]

mod app;
mod auth;
mod compatible;
mod docs;
mod front;
mod guard;
mod health;
mod limits;
mod mcp;
mod metrics;
mod oauth;
pub mod openapi;
mod pace;
mod page;
mod people;
mod problem;
mod request_id;
mod rest;
mod serve;
mod sign_in;
mod state;

pub use app::App;
#[doc(hidden)]
pub use mcp::probe;
pub use serve::{Ending, serve};
pub use state::{Options, SessionLimits};
