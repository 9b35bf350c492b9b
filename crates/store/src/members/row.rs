//! Rows of members, invitations and sessions.

use domain::{BrowserSession, Invitation, InvitationId, Member, MemberId, SessionId};
use sea_orm::QueryResult;

use crate::StoreError;
use crate::sql::{corrupt, count, get, time, time_or_none, word, word_or_none};

/// A member as a workspace sees them: `$1` is the organization, `$2` the workspace.
pub(super) const MEMBER: &str =
    "SELECT m.*, o.role AS organization_role, w.role AS workspace_role FROM members m
 LEFT JOIN roles o ON o.organization_id = m.organization_id AND o.member_id = m.member_id AND o.scope_id = $1
 LEFT JOIN roles w ON w.organization_id = m.organization_id AND w.member_id = m.member_id AND w.scope_id = $2
 WHERE m.organization_id = $1";

pub(super) fn member(row: &QueryResult) -> Result<Member, StoreError> {
    Ok(Member {
        id: MemberId::from_uuid(get(row, "member_id")?),
        email: get(row, "email")?,
        name: get(row, "name")?,
        organization_role: word_or_none(row, "organization_role")?,
        workspace_role: word_or_none(row, "workspace_role")?,
        enabled: get(row, "enabled")?,
        created_at: time(row, "created_at")?,
        signed_in_at: time_or_none(row, "signed_in_at")?,
        version: count(row, "version")?,
    })
}

pub(super) fn invitation(row: &QueryResult) -> Result<Invitation, StoreError> {
    Ok(Invitation {
        id: InvitationId::from_uuid(get(row, "invitation_id")?),
        email: get(row, "email")?,
        role: word(row, "role")?,
        scope: word(row, "scope")?,
        created_at: time(row, "created_at")?,
        expires_at: time(row, "expires_at")?,
        accepted_at: time_or_none(row, "accepted_at")?,
        revoked_at: time_or_none(row, "revoked_at")?,
    })
}

pub(super) fn session(row: &QueryResult) -> Result<BrowserSession, StoreError> {
    Ok(BrowserSession {
        id: SessionId::from_uuid(get(row, "session_id")?),
        member: MemberId::from_uuid(get(row, "member_id")?),
        browser: get(row, "browser")?,
        created_at: time(row, "created_at")?,
        expires_at: time(row, "expires_at")?,
    })
}

pub(super) fn hash(row: &QueryResult) -> Result<[u8; 32], StoreError> {
    get::<Vec<u8>>(row, "hash")?
        .try_into()
        .map_err(|_| corrupt("hash", "it is not 32 bytes long"))
}
