//! People: who they are in an organization, and what they may do there.

use std::fmt;
use std::str::FromStr;

use crate::risk::words;
use crate::{InvitationId, MemberId, SessionId, Timestamp};

/// What a person may do. Each role but Billing may do what the ones after it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Everything, and makes and unmakes other Owners.
    Owner,
    /// Administers.
    Admin,
    /// Looks, uses tools, and lets MCP clients act as agents.
    Member,
    /// Looks.
    Viewer,
    /// Sees what it costs, and nothing else.
    Billing,
}

words!(
    Role,
    "role",
    Owner = "owner",
    Admin = "admin",
    Member = "member",
    Viewer = "viewer",
    Billing = "billing"
);

impl Role {
    /// Whether it administers.
    #[must_use]
    pub const fn administers(self) -> bool {
        matches!(self, Self::Owner | Self::Admin)
    }

    /// Whether it may look at agents, connections and the record.
    #[must_use]
    pub const fn looks(self) -> bool {
        !matches!(self, Self::Billing)
    }

    /// Whether it may use tools, by itself or through a client.
    #[must_use]
    pub const fn uses(self) -> bool {
        matches!(self, Self::Owner | Self::Admin | Self::Member)
    }

    /// The higher of two: what a person is in the organization holds in every workspace.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        if self.rank() >= other.rank() { self } else { other }
    }

    const fn rank(self) -> u8 {
        match self {
            Self::Owner => 4,
            Self::Admin => 3,
            Self::Member => 2,
            Self::Viewer => 1,
            Self::Billing => 0,
        }
    }
}

/// Where a role holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// In every workspace of the organization.
    Organization,
    /// In one workspace.
    Workspace,
}

words!(
    Scope,
    "scope",
    Organization = "organization",
    Workspace = "workspace"
);

/// A person, as one workspace sees them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Their id.
    pub id: MemberId,
    /// Their address; one person has it in an organization, however it is capitalized.
    pub email: String,
    /// Their name.
    pub name: String,
    /// What they are in the whole organization.
    pub organization_role: Option<Role>,
    /// What they are in this workspace besides.
    pub workspace_role: Option<Role>,
    /// Whether they may sign in.
    pub enabled: bool,
    /// When they came.
    pub created_at: Timestamp,
    /// When they last signed in.
    pub signed_in_at: Option<Timestamp>,
    /// Counts changes.
    pub version: u32,
}

impl Member {
    /// What they may do in this workspace; none where they have no business in it.
    #[must_use]
    pub fn role(&self) -> Option<Role> {
        match (self.organization_role, self.workspace_role) {
            (Some(a), Some(b)) => Some(a.or(b)),
            (a, b) => a.or(b),
        }
    }
}

/// A person is asked to come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invitation {
    /// Its id.
    pub id: InvitationId,
    /// Whom it is for; the first Owner says who they are themselves.
    pub email: Option<String>,
    /// What they will be.
    pub role: Role,
    /// Where.
    pub scope: Scope,
    /// When it was made.
    pub created_at: Timestamp,
    /// Until when it can be accepted.
    pub expires_at: Timestamp,
    /// When it was accepted.
    pub accepted_at: Option<Timestamp>,
    /// When it was taken back.
    pub revoked_at: Option<Timestamp>,
}

/// A browser somebody signed in with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrowserSession {
    /// Its id.
    pub id: SessionId,
    /// Who.
    pub member: MemberId,
    /// What the browser calls itself; at most 200 characters.
    pub browser: String,
    /// When they signed in.
    pub created_at: Timestamp,
    /// When it ends, whatever happens.
    pub expires_at: Timestamp,
}
