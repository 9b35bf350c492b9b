//! People: who there is, what they may do, and their passwords' hashes.

mod invitations;
mod row;
mod sessions;

use domain::{ChangeKind, Member, MemberId, Page, PageRequest, Role, Scope, Tenant};
use sea_orm::ConnectionTrait;
use uuid::Uuid;

use crate::core::{Policy, Writing};
use crate::sql::{self, Query, get, values};
use crate::{Change, Store, StoreError, paging};

pub use invitations::NewMember;
pub use sessions::{LiveSession, NewSession};

const NOT_FOUND: StoreError = StoreError::NotFound { what: "member" };

/// A person who wants to sign in, with the hash their password is held against.
#[derive(Debug, Clone)]
pub struct Credential {
    /// Who.
    pub member: Member,
    /// The password's hash, in the PHC string format.
    pub password: String,
}

/// What of a member is changed; what is none stays.
#[derive(Debug, Clone, Copy, Default)]
pub struct MemberChange {
    /// The version the caller saw.
    pub expected_version: u32,
    /// The role where it holds; the inner none takes it away.
    pub role: Option<(Scope, Option<Role>)>,
    /// Whether they may sign in.
    pub enabled: Option<bool>,
}

impl Store {
    /// A page of the members that have business in a workspace, in the order they came.
    ///
    /// # Errors
    /// `BadCursor`, or when the database fails.
    pub async fn list_members(&self, tenant: Tenant, page: &PageRequest) -> Result<Page<Member>, StoreError> {
        let mut query = Query::of(tenant, row::MEMBER);
        query
            .sql
            .push_str(" AND (o.role IS NOT NULL OR w.role IS NOT NULL)");
        if let Some(place) = paging::begin("members", 1, page)?.and_then(|place| place.first().copied()) {
            query.push(" AND m.seq > {}", place);
        }
        query.push(" ORDER BY m.seq LIMIT {}", paging::limit(page));
        let rows = sql::all(&self.core().db.read, &query.sql, query.values).await?;
        let rows = rows
            .iter()
            .map(|row| Ok((vec![get(row, "seq")?], row::member(row)?)))
            .collect::<Result<_, StoreError>>()?;
        Ok(paging::end("members", page, rows))
    }

    /// The member with this id, as a workspace sees them.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn member(&self, tenant: Tenant, id: MemberId) -> Result<Option<Member>, StoreError> {
        find(&self.core().db.read, tenant, id).await
    }

    /// Who signs in with this address, however it is capitalized.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn credential(&self, tenant: Tenant, email: &str) -> Result<Option<Credential>, StoreError> {
        let mut query = Query::of(tenant, row::MEMBER);
        query.push(" AND m.email_key = {}", email.to_lowercase());
        let row = sql::one(&self.core().db.read, &query.sql, query.values).await?;
        row.as_ref()
            .map(|row| {
                Ok(Credential {
                    member: row::member(row)?,
                    password: get(row, "password")?,
                })
            })
            .transpose()
    }

    /// Whether an organization has somebody who may do everything.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn has_owner(&self, tenant: Tenant) -> Result<bool, StoreError> {
        Ok(owners(&self.core().db.read, tenant).await? > 0)
    }

    /// Changes what a member may do. Browsers they signed in with stay signed in and can do what they may then; of somebody who may
    /// nothing any more they are signed out.
    ///
    /// # Errors
    /// `NotFound`, `Version`; `Unsound` where nobody would be left who may do everything.
    pub async fn update_member(
        &self,
        tenant: Tenant,
        change: &Change,
        id: MemberId,
        wanted: MemberChange,
    ) -> Result<Member, StoreError> {
        let writing = self.core().writing().await?;
        writing.next_seq(tenant).await?;
        let had = owners(writing.db(), tenant).await?;
        let now = find(writing.db(), tenant, id).await?.ok_or(NOT_FOUND)?;
        if now.version != wanted.expected_version {
            return Err(StoreError::Version {
                what: "member",
                expected: wanted.expected_version,
                current: now.version,
            });
        }
        if let Some((scope, role)) = wanted.role {
            put_role(writing.db(), tenant, (id, scope), role).await?;
        }
        sql::run(
            writing.db(),
            "UPDATE members SET version = version + 1, enabled = $3 WHERE organization_id = $1 AND member_id = $2",
            values![
                tenant.organization.uuid(),
                id.uuid(),
                wanted.enabled.unwrap_or(now.enabled)
            ],
        )
        .await?;
        let stored = find(writing.db(), tenant, id).await?.ok_or(NOT_FOUND)?;
        if !stored.enabled || stored.role().is_none() {
            sessions::end_all(&writing, tenant, (id, None)).await?;
        }
        self.finish(writing, tenant, change, (ChangeKind::Updated, id, had))
            .await?;
        Ok(stored)
    }

    /// Removes a person: their roles and browsers go, and what clients they let in may do ends.
    ///
    /// # Errors
    /// `NotFound`; `Unsound` where nobody would be left who may do everything.
    pub async fn remove_member(
        &self,
        tenant: Tenant,
        change: &Change,
        id: MemberId,
    ) -> Result<(), StoreError> {
        let writing = self.core().writing().await?;
        writing.next_seq(tenant).await?;
        let had = owners(writing.db(), tenant).await?;
        let removed = sql::run(
            writing.db(),
            "DELETE FROM members WHERE organization_id = $1 AND member_id = $2",
            values![tenant.organization.uuid(), id.uuid()],
        )
        .await?;
        if removed == 0 {
            return Err(NOT_FOUND);
        }
        self.finish(writing, tenant, change, (ChangeKind::Removed, id, had))
            .await
    }

    /// Puts another password in place, and signs out all browsers but this one.
    ///
    /// # Errors
    /// `NotFound`, or when the database fails.
    pub async fn set_password(
        &self,
        tenant: Tenant,
        change: &Change,
        id: MemberId,
        (hash, stays): (&str, Option<domain::SessionId>),
    ) -> Result<(), StoreError> {
        let writing = self.core().writing().await?;
        writing.next_seq(tenant).await?;
        let found = sql::run(
            writing.db(),
            "UPDATE members SET password = $3 WHERE organization_id = $1 AND member_id = $2",
            values![tenant.organization.uuid(), id.uuid(), hash],
        )
        .await?;
        if found == 0 {
            return Err(NOT_FOUND);
        }
        sessions::end_all(&writing, tenant, (id, stays)).await?;
        let facts = vec![(ChangeKind::Updated, object(id))];
        writing.finish(tenant, change, facts, Policy::Moves).await
    }

    /// Holds that somebody is left who may do everything, if there was anybody, and ends what clients of those who may not may do; then
    /// commits.
    async fn finish(
        &self,
        writing: Writing<'_>,
        tenant: Tenant,
        change: &Change,
        (kind, id, had): (ChangeKind, MemberId, i64),
    ) -> Result<(), StoreError> {
        if had > 0 && owners(writing.db(), tenant).await? == 0 {
            return Err(StoreError::Unsound {
                what: "change",
                reason: "nobody would be left who is an Owner of the organization; make somebody else an Owner first",
            });
        }
        let stays = find(writing.db(), tenant, id).await?;
        if !stays.is_some_and(|member| member.enabled && member.role().is_some_and(Role::uses)) {
            sql::run(
                writing.db(),
                "UPDATE consents SET ended_at = $3, ended_by = 'revoked' WHERE organization_id = $1 AND member_id = $2 AND ended_at IS NULL",
                values![tenant.organization.uuid(), id.uuid(), self.now().micros()],
            )
            .await?;
        }
        let facts = vec![(kind, object(id))];
        writing.finish(tenant, change, facts, Policy::Moves).await
    }
}

async fn find(db: &impl ConnectionTrait, tenant: Tenant, id: MemberId) -> Result<Option<Member>, StoreError> {
    let mut query = Query::of(tenant, row::MEMBER);
    query.push(" AND m.member_id = {}", id.uuid());
    let row = sql::one(db, &query.sql, query.values).await?;
    row.as_ref().map(row::member).transpose()
}

async fn owners(db: &impl ConnectionTrait, tenant: Tenant) -> Result<i64, StoreError> {
    let row = sql::one(
        db,
        "SELECT COUNT(*) AS count FROM members m JOIN roles r ON r.organization_id = m.organization_id AND r.member_id = m.member_id
         WHERE m.organization_id = $1 AND m.enabled AND r.scope_id = $1 AND r.role = 'owner'",
        values![tenant.organization.uuid()],
    )
    .await?;
    Ok(row.map_or(Ok(0), |row| get(&row, "count"))?)
}

/// Gives a role, or takes it away.
async fn put_role(
    db: &impl ConnectionTrait,
    tenant: Tenant,
    (id, scope): (MemberId, Scope),
    role: Option<Role>,
) -> Result<(), StoreError> {
    let scope: Uuid = match scope {
        Scope::Organization => tenant.organization.uuid(),
        Scope::Workspace => tenant.workspace.uuid(),
    };
    let organization = tenant.organization.uuid();
    sql::run(
        db,
        "DELETE FROM roles WHERE organization_id = $1 AND member_id = $2 AND scope_id = $3",
        values![organization, id.uuid(), scope],
    )
    .await?;
    if let Some(role) = role {
        sql::run(
            db,
            "INSERT INTO roles (organization_id, member_id, scope_id, role) VALUES ($1, $2, $3, $4)",
            values![organization, id.uuid(), scope, role.as_str()],
        )
        .await?;
    }
    Ok(())
}

fn object(id: MemberId) -> String {
    format!("member:{id}")
}
