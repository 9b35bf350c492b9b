//! People: members and invitations.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::words::{Role, RoleScope};

/// A person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Member {
    /// Their id.
    pub id: Uuid,
    /// Their address.
    pub email: String,
    /// Their name.
    pub name: String,
    /// What they may do in this workspace: the higher of the two roles below. Null where they have none.
    pub role: Option<Role>,
    /// What they are in the whole organization.
    pub organization_role: Option<Role>,
    /// What they are in this workspace besides.
    pub workspace_role: Option<Role>,
    /// Whether they may sign in.
    pub enabled: bool,
    /// When they came.
    pub created_at: DateTime<Utc>,
    /// When they last signed in.
    pub signed_in_at: Option<DateTime<Utc>>,
    /// Counts changes; give it back as `expected_version`.
    pub version: u32,
}

/// Names a member.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemberQuery {
    /// Their id.
    pub member: Uuid,
}

/// Changes what a member may do. What is left out stays.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdateMember {
    /// Their id.
    pub member: Uuid,
    /// The version you saw.
    pub expected_version: u32,
    /// The role they get.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// Where the role holds; in this workspace when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<RoleScope>,
    /// Whether they may sign in. Switched off, they are signed out everywhere, and clients they let in are thrown out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
}

/// Asks a person to come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InviteMember {
    /// Their address.
    #[schemars(length(min = 3, max = 254))]
    pub email: String,
    /// What they will be.
    pub role: Role,
    /// Where; in this workspace when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<RoleScope>,
}

/// An invitation, without its link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Invitation {
    /// Its id.
    pub id: Uuid,
    /// Whom it is for; null for the first Owner, who says who they are.
    pub email: Option<String>,
    /// What they will be.
    pub role: Role,
    /// Where.
    pub scope: RoleScope,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// Until when it can be accepted.
    pub expires_at: DateTime<Utc>,
    /// When it was accepted.
    pub accepted_at: Option<DateTime<Utc>>,
    /// When it was taken back.
    pub revoked_at: Option<DateTime<Utc>>,
}

/// A new invitation with its link, which is shown this once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CreatedInvitation {
    /// The invitation.
    #[serde(flatten)]
    pub invitation: Invitation,
    /// The page on which the person accepts it. Whoever has the link can.
    pub url: String,
}

/// Names an invitation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InvitationQuery {
    /// Its id.
    pub invitation: Uuid,
}
