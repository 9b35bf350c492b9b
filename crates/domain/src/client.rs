//! MCP clients that people let in by signing in (OAuth 2.1): a client, what it was allowed, and the kinds of its tokens.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::risk::words;
use crate::{AgentId, ClientId, ConsentId, MemberId, Timestamp};

/// A client that registered itself (RFC 7591). All are public: none has a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Client {
    /// Its id.
    pub id: ClientId,
    /// What it calls itself; at most 100 characters. Nobody has checked it.
    pub name: String,
    /// Where people may be sent back to.
    pub redirect_uris: Vec<String>,
    /// When it registered.
    pub created_at: Timestamp,
}

/// What a person allowed a client: to act as one agent, at one endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Consent {
    /// Its id.
    pub id: ConsentId,
    /// Who allowed it; none where an issuer outside vouches for the client.
    pub member: Option<MemberId>,
    /// As whom the client acts.
    pub agent: AgentId,
    /// The client's id as it says it: a UUID of ours, or the address of its metadata document.
    pub client: Arc<str>,
    /// What the client calls itself.
    pub client_name: Arc<str>,
    /// The path of the endpoint its tokens are for (RFC 8707), as `/mcp/default`.
    pub resource: Arc<str>,
    /// When it was allowed.
    pub created_at: Timestamp,
    /// When the client last got a token.
    pub last_used_at: Option<Timestamp>,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// Why it ended: `revoked`, `given_back`, `replayed` or `lapsed`.
    pub ended_by: Option<Arc<str>>,
}

/// What a token is good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// To be exchanged for the others, once, within a minute.
    Code,
    /// To be sent with requests.
    Access,
    /// To be exchanged for new ones, once.
    Refresh,
}

words!(
    TokenKind,
    "token kind",
    Code = "code",
    Access = "access",
    Refresh = "refresh"
);
