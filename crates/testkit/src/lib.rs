//! What tests stand on: MCP servers that are good, slow, odd and hostile. Development only; nothing that ships may
//! depend on it.

pub mod catalogue_server;
pub mod child;
pub mod fixture;
pub mod http;
mod loopback;
pub mod scripted;
