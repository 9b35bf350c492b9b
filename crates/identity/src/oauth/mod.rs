//! The authorization server for MCP clients: clients become known, a person lets one act as an agent, and it gets tokens for that.
//!
//! All clients are public and prove themselves by PKCE with S256 (OAuth 2.1). Tokens are opaque, bound to one agent and one endpoint,
//! checked in memory, and stored as hashes. A refresh token is good once; seen twice, it ends everything that came of its consent.
//!
//! Sources: MCP 2026-07-28 "Authorization", RFC 6749, 7009, 7591, 7636, 8252, 8414, 8707, 9207, 9700, 9728, and the OAuth client ID
//! metadata document draft.

mod client;
mod document;
mod exchange;
mod parameters;
mod redirect;
mod refusal;
mod request;
mod resource;
mod server;
mod tokens;

pub use self::client::{Registration, SeenClient};
pub use self::document::{ClientDocuments, Fetching};
pub use self::exchange::{Issued, new_code};
pub use self::parameters::Parameters;
pub use self::refusal::Refusal;
pub use self::request::{AuthorizationRequest, Unredirected};
pub use self::resource::Resources;
pub use self::server::AuthorizationServer;
pub use self::tokens::Tokens;

/// The one scope there is: to use an agent's tools.
pub const SCOPE: &str = "mcp";
