//! Who changes what: no administrative write without it.

use std::sync::Arc;

use domain::{Actor, AgentId, CallId, ConsentId};

/// Who makes a change, in which call, and what they call it. The store writes it into the record in the change's own transaction.
#[derive(Debug, Clone)]
pub struct Change {
    /// The capability call it belongs to.
    pub call: CallId,
    /// Who.
    pub actor: Actor,
    /// The capability or part that does it, as `connections.update`.
    pub action: Arc<str>,
}

impl Change {
    /// A change by an MCP client, about its own tokens.
    #[must_use]
    pub fn by_client(consent: ConsentId, agent: AgentId, action: &str) -> Self {
        Self {
            call: CallId::generate(),
            actor: Actor {
                kind: "mcp_client".into(),
                id: consent.to_string().into(),
                agent: Some(agent),
            },
            action: action.into(),
        }
    }

    /// A change by Switchboard itself, in a call of its own.
    #[must_use]
    pub fn by_system(action: &str) -> Self {
        Self {
            call: CallId::generate(),
            actor: Actor {
                kind: "system".into(),
                id: "".into(),
                agent: None,
            },
            action: action.into(),
        }
    }
}
