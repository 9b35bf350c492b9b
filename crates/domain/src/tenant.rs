//! Whose data it is.

use crate::{AgentId, Handle, OrganizationId, Timestamp, WorkspaceId};

/// The organization and workspace every query starts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tenant {
    /// The organization.
    pub organization: OrganizationId,
    /// The workspace in it.
    pub workspace: WorkspaceId,
}

/// An identity that uses tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    /// Its id.
    pub id: AgentId,
    /// Its handle, unique in the workspace.
    pub handle: Handle,
    /// What it is for, for people; at most 500 characters.
    pub description: String,
    /// A disabled agent may call nothing.
    pub enabled: bool,
    /// Whether a person has taken it as theirs. Until then it may call nothing, and its keys may only say who they are.
    pub claimed: bool,
    /// Grows by one with each change; updates name the version they saw.
    pub version: u32,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}
