//! Who is acting, proven.

use crate::{AgentId, ConsentId, KeyId, MemberId, Role, Tenant};

/// What a key may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyKind {
    /// Administers the workspace; acts for an agent only where the path names the agent.
    Admin,
    /// Acts as this agent and as nothing else.
    Agent(AgentId),
}

/// How the principal proved itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Identity {
    /// A person who signed in.
    Member {
        /// Who.
        id: MemberId,
        /// What they may do in this workspace.
        role: Role,
    },
    /// An API key.
    Key {
        /// Which key.
        id: KeyId,
        /// What it may be.
        kind: KeyKind,
    },
    /// An MCP client that a person let act as an agent.
    Client {
        /// By which consent.
        consent: ConsentId,
        /// As whom it acts, and as nothing else.
        agent: AgentId,
    },
    /// Switchboard itself: start-up, background work.
    System,
}

/// Who is acting and in which workspace. Made only where a credential was checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Principal {
    /// Whose data it may touch.
    pub tenant: Tenant,
    /// Who it is.
    pub identity: Identity,
}

impl Principal {
    /// Whether it may administer the workspace. No agent ever may.
    #[must_use]
    pub const fn is_admin(&self) -> bool {
        match self.identity {
            Identity::Member { role, .. } => role.administers(),
            Identity::System
            | Identity::Key {
                kind: KeyKind::Admin, ..
            } => true,
            Identity::Client { .. }
            | Identity::Key {
                kind: KeyKind::Agent(_),
                ..
            } => false,
        }
    }

    /// The role of a person who signed in.
    #[must_use]
    pub const fn role(&self) -> Option<Role> {
        match self.identity {
            Identity::Member { role, .. } => Some(role),
            Identity::Key { .. } | Identity::Client { .. } | Identity::System => None,
        }
    }

    /// The agent an agent-bound credential is.
    #[must_use]
    pub const fn bound_agent(&self) -> Option<AgentId> {
        match self.identity {
            Identity::Client { agent, .. }
            | Identity::Key {
                kind: KeyKind::Agent(agent),
                ..
            } => Some(agent),
            Identity::Member { .. }
            | Identity::System
            | Identity::Key {
                kind: KeyKind::Admin, ..
            } => None,
        }
    }

    /// `member`, `admin_key`, `agent_key`, `mcp_client` or `system`.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self.identity {
            Identity::Member { .. } => "member",
            Identity::Client { .. } => "mcp_client",
            Identity::System => "system",
            Identity::Key {
                kind: KeyKind::Admin, ..
            } => "admin_key",
            Identity::Key {
                kind: KeyKind::Agent(_),
                ..
            } => "agent_key",
        }
    }

    /// The member's, key's or consent's id as text; empty for the system.
    #[must_use]
    pub fn id_text(&self) -> String {
        match self.identity {
            Identity::Member { id, .. } => id.to_string(),
            Identity::Key { id, .. } => id.to_string(),
            Identity::Client { consent, .. } => consent.to_string(),
            Identity::System => String::new(),
        }
    }
}
