//! The browsers people signed in with. Their tokens are not stored, only hashes.

use domain::{
    BrowserSession, ChangeKind, MemberId, OrganizationId, Role, SessionId, Tenant, Timestamp, WorkspaceId,
};

use super::row;
use crate::core::{Policy, Writing};
use crate::sql::{self, get, values, word_or_none};
use crate::{Change, Store, StoreError};

/// A browser that somebody signs in with.
#[derive(Debug, Clone)]
pub struct NewSession {
    /// What is shown of it.
    pub session: BrowserSession,
    /// SHA-256 of its token.
    pub hash: [u8; 32],
}

/// A session that is good, for the table in memory.
#[derive(Debug, Clone)]
pub struct LiveSession {
    /// Its id.
    pub id: SessionId,
    /// Whose data it may touch.
    pub tenant: Tenant,
    /// Who.
    pub member: MemberId,
    /// What they may do there.
    pub role: Role,
    /// SHA-256 of its token.
    pub hash: [u8; 32],
    /// When it ends.
    pub expires_at: Timestamp,
}

const LIVE: &str = "SELECT s.*, o.role AS organization_role, w.role AS workspace_role FROM sessions s
 JOIN members m ON m.organization_id = s.organization_id AND m.member_id = s.member_id
 LEFT JOIN roles o ON o.organization_id = s.organization_id AND o.member_id = s.member_id AND o.scope_id = s.organization_id
 LEFT JOIN roles w ON w.organization_id = s.organization_id AND w.member_id = s.member_id AND w.scope_id = s.workspace_id
 WHERE m.enabled AND s.expires_at > $1";

impl Store {
    /// Stores that a browser is signed in.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn insert_session(
        &self,
        tenant: Tenant,
        change: &Change,
        new: &NewSession,
    ) -> Result<(), StoreError> {
        let writing = self.core().writing().await?;
        writing.next_seq(tenant).await?;
        let (organization, workspace) = sql::of(tenant);
        let session = &new.session;
        sql::run(
            writing.db(),
            "INSERT INTO sessions (organization_id, workspace_id, session_id, member_id, hash, browser, created_at, expires_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
            values![
                organization,
                workspace,
                session.id.uuid(),
                session.member.uuid(),
                new.hash.to_vec(),
                session.browser.as_str(),
                session.created_at.micros(),
                session.expires_at.micros()
            ],
        )
        .await?;
        sql::run(
            writing.db(),
            "UPDATE members SET signed_in_at = $3 WHERE organization_id = $1 AND member_id = $2",
            values![organization, session.member.uuid(), session.created_at.micros()],
        )
        .await?;
        sql::run(
            writing.db(),
            "DELETE FROM sessions WHERE organization_id = $1 AND expires_at <= $2",
            values![organization, self.now().micros()],
        )
        .await?;
        let facts = vec![(ChangeKind::Created, object(session.id))];
        writing.finish(tenant, change, facts, Policy::Stays).await
    }

    /// Every session of every tenant that is good.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn live_sessions(&self) -> Result<Vec<LiveSession>, StoreError> {
        let rows = sql::all(&self.core().db.read, LIVE, values![self.now().micros()]).await?;
        let live = rows.iter().map(live).collect::<Result<Vec<_>, _>>()?;
        Ok(live.into_iter().flatten().collect())
    }

    /// The one with this id, where it is good.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn live_session(&self, id: SessionId) -> Result<Option<LiveSession>, StoreError> {
        let sql = format!("{LIVE} AND s.session_id = $2");
        let row = sql::one(
            &self.core().db.read,
            &sql,
            values![self.now().micros(), id.uuid()],
        )
        .await?;
        Ok(row.as_ref().map(live).transpose()?.flatten())
    }

    /// The browsers a member is signed in with, the latest first; at most a hundred.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn sessions_of(
        &self,
        tenant: Tenant,
        member: MemberId,
    ) -> Result<Vec<BrowserSession>, StoreError> {
        let rows = sql::all(
            &self.core().db.read,
            "SELECT * FROM sessions WHERE organization_id = $1 AND member_id = $2 AND expires_at > $3
             ORDER BY created_at DESC LIMIT 100",
            values![tenant.organization.uuid(), member.uuid(), self.now().micros()],
        )
        .await?;
        rows.iter().map(row::session).collect()
    }

    /// Signs a member's browser out.
    ///
    /// # Errors
    /// `NotFound` where the member has no such session.
    pub async fn end_session(
        &self,
        tenant: Tenant,
        change: &Change,
        (member, id): (MemberId, SessionId),
    ) -> Result<(), StoreError> {
        let writing = self.core().writing().await?;
        writing.next_seq(tenant).await?;
        let ended = sql::run(
            writing.db(),
            "DELETE FROM sessions WHERE organization_id = $1 AND member_id = $2 AND session_id = $3",
            values![tenant.organization.uuid(), member.uuid(), id.uuid()],
        )
        .await?;
        if ended == 0 {
            return Err(StoreError::NotFound { what: "session" });
        }
        let facts = vec![(ChangeKind::Removed, object(id))];
        writing.finish(tenant, change, facts, Policy::Moves).await
    }
}

/// Signs all browsers of a member out, but one.
pub(super) async fn end_all(
    writing: &Writing<'_>,
    tenant: Tenant,
    (member, stays): (MemberId, Option<SessionId>),
) -> Result<(), StoreError> {
    // No session has the id nil.
    let stays = stays.map_or_else(uuid::Uuid::nil, SessionId::uuid);
    sql::run(
        writing.db(),
        "DELETE FROM sessions WHERE organization_id = $1 AND member_id = $2 AND session_id <> $3",
        values![tenant.organization.uuid(), member.uuid(), stays],
    )
    .await?;
    Ok(())
}

fn object(id: SessionId) -> String {
    format!("session:{id}")
}

/// None for somebody who has no business in the workspace any more.
fn live(row: &sea_orm::QueryResult) -> Result<Option<LiveSession>, StoreError> {
    let (organization, workspace): (Option<Role>, Option<Role>) = (
        word_or_none(row, "organization_role")?,
        word_or_none(row, "workspace_role")?,
    );
    let role = match (organization, workspace) {
        (Some(a), Some(b)) => Some(a.or(b)),
        (a, b) => a.or(b),
    };
    let Some(role) = role else { return Ok(None) };
    Ok(Some(LiveSession {
        id: SessionId::from_uuid(get(row, "session_id")?),
        tenant: Tenant {
            organization: OrganizationId::from_uuid(get(row, "organization_id")?),
            workspace: WorkspaceId::from_uuid(get(row, "workspace_id")?),
        },
        member: MemberId::from_uuid(get(row, "member_id")?),
        role,
        hash: row::hash(row)?,
        expires_at: sql::time(row, "expires_at")?,
    }))
}
