//! Request and response types of the HTTP API (and so of the MCP tools and commands made from the same declarations). No logic.
//!
//! Conventions: `snake_case`, UTC timestamps in RFC 3339, UUIDs (v7), lists as `items` and `next_cursor`, updates with
//! `expected_version`. Fields that are not given are left as they are.

pub mod activity;
pub mod agents;
pub mod approvals;
pub mod audit;
pub mod clients;
pub mod connections;
pub mod context;
pub mod grants;
pub mod keys;
pub mod members;
pub mod phone;
pub mod presets;
pub mod problem;
pub mod registry;
pub mod skills;
pub mod system;
pub mod tools;
pub mod words;

mod page;

pub use page::{Page, PageQuery};
