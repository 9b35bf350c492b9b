//! People are asked to come, and come.

use domain::{ChangeKind, Invitation, InvitationId, Member, MemberId, Page, PageRequest, Tenant};
use sea_orm::ConnectionTrait;

use super::{find, object as member_object, put_role, row};
use crate::core::Policy;
use crate::sql::{self, Query, get, values};
use crate::{Change, Store, StoreError, paging};

/// Who accepts an invitation.
#[derive(Debug, Clone)]
pub struct NewMember {
    /// Their address.
    pub email: String,
    /// Their name.
    pub name: String,
    /// Their password's hash, in the PHC string format.
    pub password: String,
}

const SELECT: &str = "SELECT * FROM invitations WHERE organization_id = $1 AND workspace_id = $2";
const GONE: StoreError = StoreError::NotFound {
    what: "invitation that is still open",
};

impl Store {
    /// Stores an invitation. One for the first Owner takes the place of those before it.
    ///
    /// # Errors
    /// `Conflict` where somebody with that address is a member already.
    pub async fn insert_invitation(
        &self,
        tenant: Tenant,
        change: &Change,
        invitation: &Invitation,
        hash: [u8; 32],
    ) -> Result<(), StoreError> {
        let writing = self.core().writing().await?;
        let seq = writing.next_seq(tenant).await?;
        let (organization, workspace) = sql::of(tenant);
        match &invitation.email {
            Some(email) => refuse_known(writing.db(), tenant, email).await?,
            None => {
                sql::run(
                    writing.db(),
                    "UPDATE invitations SET revoked_at = $3 WHERE organization_id = $1 AND workspace_id = $2 AND email IS NULL
                     AND accepted_at IS NULL AND revoked_at IS NULL",
                    values![organization, workspace, self.now().micros()],
                )
                .await?;
            }
        }
        sql::run(
            writing.db(),
            "INSERT INTO invitations (organization_id, workspace_id, invitation_id, seq, hash, email, role, scope, created_at, expires_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
            values![
                organization,
                workspace,
                invitation.id.uuid(),
                seq,
                hash.to_vec(),
                invitation.email.clone(),
                invitation.role.as_str(),
                invitation.scope.as_str(),
                invitation.created_at.micros(),
                invitation.expires_at.micros()
            ],
        )
        .await?;
        let facts = vec![(ChangeKind::Created, object(invitation.id))];
        writing.finish(tenant, change, facts, Policy::Stays).await
    }

    /// A page of invitations, used ones too, in the order they were made.
    ///
    /// # Errors
    /// `BadCursor`, or when the database fails.
    pub async fn list_invitations(
        &self,
        tenant: Tenant,
        page: &PageRequest,
    ) -> Result<Page<Invitation>, StoreError> {
        let mut query = Query::of(tenant, SELECT);
        if let Some(place) = paging::begin("invitations", 1, page)?.and_then(|place| place.first().copied()) {
            query.push(" AND seq > {}", place);
        }
        query.push(" ORDER BY seq LIMIT {}", paging::limit(page));
        let rows = sql::all(&self.core().db.read, &query.sql, query.values).await?;
        let rows = rows
            .iter()
            .map(|row| Ok((vec![get(row, "seq")?], row::invitation(row)?)))
            .collect::<Result<_, StoreError>>()?;
        Ok(paging::end("invitations", page, rows))
    }

    /// An open invitation and its hash.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn open_invitation(
        &self,
        tenant: Tenant,
        id: InvitationId,
    ) -> Result<Option<(Invitation, [u8; 32])>, StoreError> {
        open(&self.core().db.read, tenant, (id, self.now().micros())).await
    }

    /// Takes an invitation back.
    ///
    /// # Errors
    /// `NotFound` where there is none that is still open.
    pub async fn revoke_invitation(
        &self,
        tenant: Tenant,
        change: &Change,
        id: InvitationId,
    ) -> Result<(), StoreError> {
        let writing = self.core().writing().await?;
        writing.next_seq(tenant).await?;
        let now = self.now().micros();
        open(writing.db(), tenant, (id, now)).await?.ok_or(GONE)?;
        end(writing.db(), tenant, (id, now), "revoked_at").await?;
        let facts = vec![(ChangeKind::Removed, object(id))];
        writing.finish(tenant, change, facts, Policy::Stays).await
    }

    /// Makes the person who accepts an invitation a member, once.
    ///
    /// # Errors
    /// `NotFound` where it is not open any more; `Conflict` where somebody with that address is a member already.
    pub async fn accept_invitation(
        &self,
        tenant: Tenant,
        change: &Change,
        id: InvitationId,
        who: NewMember,
    ) -> Result<Member, StoreError> {
        let writing = self.core().writing().await?;
        let seq = writing.next_seq(tenant).await?;
        let now = self.now().micros();
        let (invitation, _) = open(writing.db(), tenant, (id, now)).await?.ok_or(GONE)?;
        let email = invitation.email.unwrap_or(who.email);
        refuse_known(writing.db(), tenant, &email).await?;
        end(writing.db(), tenant, (id, now), "accepted_at").await?;
        let member = MemberId::generate();
        sql::run(
            writing.db(),
            "INSERT INTO members (organization_id, member_id, seq, email, email_key, name, password, enabled, version, created_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, TRUE, 1, $8)",
            values![
                tenant.organization.uuid(),
                member.uuid(),
                seq,
                email.as_str(),
                email.to_lowercase(),
                who.name,
                who.password,
                now
            ],
        )
        .await?;
        let place = (member, invitation.scope);
        put_role(writing.db(), tenant, place, Some(invitation.role)).await?;
        let made = find(writing.db(), tenant, member).await?.ok_or(GONE)?;
        let change = Change {
            actor: domain::Actor {
                kind: "member".into(),
                id: member.to_string().into(),
                agent: None,
            },
            ..change.clone()
        };
        let facts = vec![
            (ChangeKind::Updated, object(id)),
            (ChangeKind::Created, member_object(member)),
        ];
        writing.finish(tenant, &change, facts, Policy::Moves).await?;
        Ok(made)
    }
}

async fn open(
    db: &impl ConnectionTrait,
    tenant: Tenant,
    (id, now): (InvitationId, i64),
) -> Result<Option<(Invitation, [u8; 32])>, StoreError> {
    let mut query = Query::of(tenant, SELECT);
    query.push(
        " AND accepted_at IS NULL AND revoked_at IS NULL AND expires_at > {}",
        now,
    );
    query.push(" AND invitation_id = {}", id.uuid());
    let row = sql::one(db, &query.sql, query.values).await?;
    row.as_ref()
        .map(|row| Ok((row::invitation(row)?, row::hash(row)?)))
        .transpose()
}

async fn end(
    db: &impl ConnectionTrait,
    tenant: Tenant,
    (id, now): (InvitationId, i64),
    column: &'static str,
) -> Result<(), StoreError> {
    let (organization, workspace) = sql::of(tenant);
    let sql = format!(
        "UPDATE invitations SET {column} = $4 WHERE organization_id = $1 AND workspace_id = $2 AND invitation_id = $3"
    );
    sql::run(db, &sql, values![organization, workspace, id.uuid(), now]).await?;
    Ok(())
}

async fn refuse_known(db: &impl ConnectionTrait, tenant: Tenant, email: &str) -> Result<(), StoreError> {
    let known = sql::one(
        db,
        "SELECT member_id FROM members WHERE organization_id = $1 AND email_key = $2",
        values![tenant.organization.uuid(), email.to_lowercase()],
    )
    .await?;
    match known {
        Some(_) => Err(StoreError::Conflict {
            what: "e-mail address",
        }),
        None => Ok(()),
    }
}

fn object(id: InvitationId) -> String {
    format!("invitation:{id}")
}
