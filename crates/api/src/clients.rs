//! MCP clients that people let in.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// What somebody allowed an MCP client: to act as one agent, at one endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Client {
    /// Its id, for `clients.revoke`; the record names the client by it.
    pub id: Uuid,
    /// What the client calls itself. Nobody has checked it.
    pub name: String,
    /// The client's own id: the address of its metadata, whose host vouches for it, or the id it was given when it registered itself,
    /// which anybody can.
    pub client_id: String,
    /// The member who allowed it; null where an issuer outside vouches for the client.
    pub member_id: Option<Uuid>,
    /// The agent it acts as.
    pub agent_id: Uuid,
    /// The endpoint it may use, as `/mcp/default`.
    pub resource: String,
    /// When it was allowed.
    pub created_at: DateTime<Utc>,
    /// When it last got a token; null when it never did. Tokens are good for an hour.
    pub last_used_at: Option<DateTime<Utc>>,
    /// When this ended; null while it stands.
    pub ended_at: Option<DateTime<Utc>>,
    /// Why it ended: `revoked`, `given_back` (by the client), `replayed` (a token was seen twice) or `lapsed`.
    pub ended_by: Option<String>,
}

/// Names a client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClientQuery {
    /// Its id.
    pub client: Uuid,
}

/// What a person allows a client, from the page that asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AllowClient {
    /// The client's own id.
    pub client_id: String,
    /// What it calls itself.
    pub client_name: String,
    /// Where the person is sent back to.
    pub redirect_uri: String,
    /// The challenge of RFC 7636, by S256.
    pub challenge: String,
    /// The path of the endpoint.
    pub resource: String,
    /// The agent: its handle or id.
    pub agent: String,
}

/// What the client is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AllowedClient {
    /// The code it gets its tokens for, within a minute.
    pub code: String,
}
