//! What tests stand on: MCP servers that are good, slow, odd and hostile. Development only; nothing that ships may
//! depend on it.

#![expect(
    clippy::indexing_slicing,
    reason = "members of JSON values: reading an absent one gives null, and testkit runs in tests only"
)]

pub mod authority;
pub mod cases;
pub mod catalogue_server;
pub mod child;
pub mod conformance_client;
#[cfg(feature = "database")]
pub mod database;
pub mod elder;
pub mod fixture;
#[cfg(feature = "targets")]
pub mod fuzzed;
pub mod hostile;
#[cfg(feature = "house")]
pub mod house;
pub mod http;
pub mod inkbox;
mod loopback;
pub mod program;
pub mod scripted;
pub mod skill_server;
pub mod tools;
