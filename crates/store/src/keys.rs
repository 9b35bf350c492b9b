//! API keys: what is known of them, never the key itself.

use domain::{
    AgentId, ChangeKind, KeyId, KeyKind, OrganizationId, Page, PageRequest, Tenant, Timestamp, WorkspaceId,
};
use sea_orm::{ConnectionTrait, QueryResult};

use crate::core::Policy;
use crate::sql::{self, Query, corrupt, get, values};
use crate::{Change, Store, StoreError, agents, paging};

/// An API key as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRecord {
    /// Its id.
    pub id: KeyId,
    /// What it may be.
    pub kind: KeyKind,
    /// What people call it; at most 64 characters.
    pub name: String,
    /// SHA-256 of the secret.
    pub secret_hash: [u8; 32],
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last used, within about a minute.
    pub last_used_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
}

const COLUMNS: &str = "organization_id, workspace_id, seq, key_id, agent_id, name, secret_hash, created_at, last_used_at, revoked_at";

impl Store {
    /// Stores a new key.
    ///
    /// # Errors
    /// `NotFound` when its agent does not exist, or when the database fails.
    pub async fn insert_key(
        &self,
        tenant: Tenant,
        change: &Change,
        key: KeyRecord,
    ) -> Result<(), StoreError> {
        let writing = self.core().writing().await?;
        let seq = writing.next_seq(tenant).await?;
        let agent = bound(key.kind);
        if let Some(agent) = agent {
            agents::find(writing.db(), tenant, agent)
                .await?
                .ok_or(StoreError::NotFound { what: "agent" })?;
        }
        let (organization, workspace) = sql::of(tenant);
        sql::run(
            writing.db(),
            &format!("INSERT INTO keys ({COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"),
            values![
                organization,
                workspace,
                seq,
                key.id.uuid(),
                agent.map(AgentId::uuid),
                key.name,
                key.secret_hash.to_vec(),
                key.created_at.micros(),
                key.last_used_at.map(Timestamp::micros),
                key.revoked_at.map(Timestamp::micros)
            ],
        )
        .await?;
        writing
            .finish(
                tenant,
                change,
                vec![(ChangeKind::Created, object(key.id))],
                // Every process has to know it.
                Policy::Moves,
            )
            .await
    }

    /// A page of keys, revoked ones too, in the order they were made.
    ///
    /// # Errors
    /// `BadCursor`, or when the database fails.
    pub async fn list_keys(&self, tenant: Tenant, page: &PageRequest) -> Result<Page<KeyRecord>, StoreError> {
        let mut query = select(tenant);
        if let Some(place) = paging::begin("keys", 1, page)?.and_then(|place| place.first().copied()) {
            query.push(" AND seq > {}", place);
        }
        query.push(" ORDER BY seq LIMIT {}", paging::limit(page));
        let rows = sql::all(&self.core().db.read, &query.sql, query.values).await?;
        let rows = rows
            .iter()
            .map(|row| Ok((vec![get(row, "seq")?], key(row)?)))
            .collect::<Result<_, StoreError>>()?;
        Ok(paging::end("keys", page, rows))
    }

    /// The key with this id.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn key(&self, tenant: Tenant, id: KeyId) -> Result<Option<KeyRecord>, StoreError> {
        find(&self.core().db.read, tenant, id).await
    }

    /// Revokes a key; once revoked it stays so.
    ///
    /// # Errors
    /// `NotFound`, or when the database fails.
    pub async fn revoke_key(
        &self,
        tenant: Tenant,
        change: &Change,
        id: KeyId,
    ) -> Result<KeyRecord, StoreError> {
        let writing = self.core().writing().await?;
        writing.next_seq(tenant).await?;
        let mut key = find(writing.db(), tenant, id)
            .await?
            .ok_or(StoreError::NotFound { what: "key" })?;
        let now = self.now();
        let revoked_at = *key.revoked_at.get_or_insert(now);
        let (organization, workspace) = sql::of(tenant);
        sql::run(
            writing.db(),
            "UPDATE keys SET revoked_at = $4 WHERE organization_id = $1 AND workspace_id = $2 AND key_id = $3",
            values![organization, workspace, id.uuid(), revoked_at.micros()],
        )
        .await?;
        writing
            .finish(
                tenant,
                change,
                vec![(ChangeKind::Removed, object(id))],
                Policy::Moves,
            )
            .await?;
        Ok(key)
    }

    /// Every key of every tenant that is not revoked, for the table in memory.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn active_keys(&self) -> Result<Vec<(Tenant, KeyRecord)>, StoreError> {
        let sql =
            format!("SELECT {COLUMNS} FROM keys WHERE revoked_at IS NULL ORDER BY organization_id, seq");
        let rows = sql::all(&self.core().db.read, &sql, Vec::new()).await?;
        rows.iter()
            .map(|row| {
                let tenant = Tenant {
                    organization: OrganizationId::from_uuid(get(row, "organization_id")?),
                    workspace: WorkspaceId::from_uuid(get(row, "workspace_id")?),
                };
                Ok((tenant, key(row)?))
            })
            .collect()
    }

    /// Notes when keys were last used. Losing it does no harm; earlier times never replace later ones.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn touch_keys(&self, used: &[(Tenant, KeyId, Timestamp)]) -> Result<(), StoreError> {
        if used.is_empty() {
            return Ok(());
        }
        let writing = self.core().writing().await?;
        for (tenant, id, at) in used {
            let (organization, workspace) = sql::of(*tenant);
            sql::run(
                writing.db(),
                "UPDATE keys SET last_used_at = $4 WHERE organization_id = $1 AND workspace_id = $2 AND key_id = $3
                 AND COALESCE(last_used_at, 0) < $4",
                values![organization, workspace, id.uuid(), at.micros()],
            )
            .await?;
        }
        writing.commit().await
    }
}

fn select(tenant: Tenant) -> Query {
    Query::of(
        tenant,
        &format!("SELECT {COLUMNS} FROM keys WHERE organization_id = $1 AND workspace_id = $2"),
    )
}

async fn find(db: &impl ConnectionTrait, tenant: Tenant, id: KeyId) -> Result<Option<KeyRecord>, StoreError> {
    let mut query = select(tenant);
    query.push(" AND key_id = {}", id.uuid());
    sql::one(db, &query.sql, query.values)
        .await?
        .as_ref()
        .map(key)
        .transpose()
}

const fn bound(kind: KeyKind) -> Option<AgentId> {
    match kind {
        KeyKind::Admin => None,
        KeyKind::Agent(agent) => Some(agent),
    }
}

fn object(id: KeyId) -> String {
    format!("key:{id}")
}

fn key(row: &QueryResult) -> Result<KeyRecord, StoreError> {
    let agent: Option<uuid::Uuid> = get(row, "agent_id")?;
    let hash: Vec<u8> = get(row, "secret_hash")?;
    Ok(KeyRecord {
        id: KeyId::from_uuid(get(row, "key_id")?),
        kind: agent.map_or(KeyKind::Admin, |agent| KeyKind::Agent(AgentId::from_uuid(agent))),
        name: get(row, "name")?,
        secret_hash: hash
            .try_into()
            .map_err(|_| corrupt("key", "its hash is not 32 bytes long"))?,
        created_at: sql::time(row, "created_at")?,
        last_used_at: sql::time_or_none(row, "last_used_at")?,
        revoked_at: sql::time_or_none(row, "revoked_at")?,
    })
}
