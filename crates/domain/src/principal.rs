//! Who is acting, proven.

use crate::{AgentId, KeyId, MemberId, Tenant};

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
    Member(MemberId),
    /// An API key.
    Key {
        /// Which key.
        id: KeyId,
        /// What it may be.
        kind: KeyKind,
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
            Identity::Member(_)
            | Identity::System
            | Identity::Key {
                kind: KeyKind::Admin, ..
            } => true,
            Identity::Key {
                kind: KeyKind::Agent(_),
                ..
            } => false,
        }
    }

    /// The agent an agent-bound credential is.
    #[must_use]
    pub const fn bound_agent(&self) -> Option<AgentId> {
        match self.identity {
            Identity::Key {
                kind: KeyKind::Agent(agent),
                ..
            } => Some(agent),
            Identity::Member(_)
            | Identity::System
            | Identity::Key {
                kind: KeyKind::Admin, ..
            } => None,
        }
    }

    /// `member`, `admin_key`, `agent_key` or `system`.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self.identity {
            Identity::Member(_) => "member",
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

    /// The member's or key's id as text; empty for the system.
    #[must_use]
    pub fn id_text(&self) -> String {
        match self.identity {
            Identity::Member(id) => id.to_string(),
            Identity::Key { id, .. } => id.to_string(),
            Identity::System => String::new(),
        }
    }
}
