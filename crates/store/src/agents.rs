//! Agents of a workspace.

use domain::{Agent, AgentId, ChangeKind, Handle, Page, PageRequest, Tenant};
use sea_orm::{ConnectionTrait, QueryResult};

use crate::core::{Policy, Writing};
use crate::sql::{self, Query, corrupt, get, values};
use crate::{Change, Store, StoreError, connections, paging};

const SELECT: &str =
    "SELECT seq, agent_id, handle, description, enabled, claimed, version, created_at, updated_at FROM agents
 WHERE organization_id = $1 AND workspace_id = $2";

impl Store {
    /// Stores a new agent; its version becomes 1.
    ///
    /// # Errors
    /// `Conflict` when the handle is taken.
    pub async fn create_agent(
        &self,
        tenant: Tenant,
        change: &Change,
        mut agent: Agent,
    ) -> Result<Agent, StoreError> {
        let writing = self.core().writing().await?;
        let seq = writing.next_seq(tenant).await?;
        refuse_taken(&writing, tenant, &agent).await?;
        agent.version = 1;
        let (organization, workspace) = sql::of(tenant);
        sql::run(
            writing.db(),
            "INSERT INTO agents (organization_id, workspace_id, agent_id, seq, handle, description, enabled, claimed, version, created_at,
             updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 1, $9, $10)",
            values![
                organization,
                workspace,
                agent.id.uuid(),
                seq,
                agent.handle.as_str(),
                agent.description.as_str(),
                agent.enabled,
                agent.claimed,
                agent.created_at.micros(),
                agent.updated_at.micros()
            ],
        )
        .await?;
        writing
            .finish(
                tenant,
                change,
                vec![(ChangeKind::Created, object(agent.id))],
                Policy::Moves,
            )
            .await?;
        Ok(agent)
    }

    /// A page of agents, in the order they were made.
    ///
    /// # Errors
    /// `BadCursor`, or when the database fails.
    pub async fn list_agents(&self, tenant: Tenant, page: &PageRequest) -> Result<Page<Agent>, StoreError> {
        let mut query = Query::of(tenant, SELECT);
        if let Some(place) = paging::begin("agents", 1, page)?.and_then(|place| place.first().copied()) {
            query.push(" AND seq > {}", place);
        }
        query.push(" ORDER BY seq LIMIT {}", paging::limit(page));
        let rows = sql::all(&self.core().db.read, &query.sql, query.values).await?;
        let rows = rows
            .iter()
            .map(|row| Ok((vec![get(row, "seq")?], agent(row)?)))
            .collect::<Result<_, StoreError>>()?;
        Ok(paging::end("agents", page, rows))
    }

    /// All agents, in the order they were made.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn all_agents(&self, tenant: Tenant) -> Result<Vec<Agent>, StoreError> {
        let query = Query::of(tenant, SELECT);
        let rows = sql::all(
            &self.core().db.read,
            &format!("{SELECT} ORDER BY seq"),
            query.values,
        )
        .await?;
        rows.iter().map(agent).collect()
    }

    /// The agent with this id.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn agent(&self, tenant: Tenant, id: AgentId) -> Result<Option<Agent>, StoreError> {
        find(&self.core().db.read, tenant, id).await
    }

    /// The agent with this handle.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn agent_by_handle(
        &self,
        tenant: Tenant,
        handle: &Handle,
    ) -> Result<Option<Agent>, StoreError> {
        let mut query = Query::of(tenant, SELECT);
        query.push(" AND handle = {}", handle.as_str());
        sql::one(&self.core().db.read, &query.sql, query.values)
            .await?
            .as_ref()
            .map(agent)
            .transpose()
    }

    /// Replaces handle, description, enabled and claimed. `agent.version` is the version the caller saw; the answer carries the next one.
    ///
    /// # Errors
    /// `NotFound`, `Version`, or `Conflict` when the handle is taken.
    pub async fn update_agent(
        &self,
        tenant: Tenant,
        change: &Change,
        agent: Agent,
    ) -> Result<Agent, StoreError> {
        let writing = self.core().writing().await?;
        writing.next_seq(tenant).await?;
        let mut now = find(writing.db(), tenant, agent.id).await?.ok_or(NOT_FOUND)?;
        if now.version != agent.version {
            return Err(StoreError::Version {
                what: "agent",
                expected: agent.version,
                current: now.version,
            });
        }
        refuse_taken(&writing, tenant, &agent).await?;
        now.version += 1;
        now.handle = agent.handle;
        now.description = agent.description;
        now.enabled = agent.enabled;
        now.claimed = agent.claimed;
        now.updated_at = self.now();
        let (organization, workspace) = sql::of(tenant);
        sql::run(
            writing.db(),
            "UPDATE agents SET handle = $4, description = $5, enabled = $6, version = $7, claimed = $8, updated_at = $9
             WHERE organization_id = $1 AND workspace_id = $2 AND agent_id = $3",
            values![
                organization,
                workspace,
                now.id.uuid(),
                now.handle.as_str(),
                now.description.as_str(),
                now.enabled,
                i64::from(now.version),
                now.claimed,
                now.updated_at.micros()
            ],
        )
        .await?;
        writing
            .finish(
                tenant,
                change,
                vec![(ChangeKind::Updated, object(now.id))],
                Policy::Moves,
            )
            .await?;
        Ok(now)
    }

    /// Removes an agent with its grants and its own connections; revokes its keys.
    ///
    /// # Errors
    /// `NotFound`, or when the database fails.
    pub async fn remove_agent(&self, tenant: Tenant, change: &Change, id: AgentId) -> Result<(), StoreError> {
        let writing = self.core().writing().await?;
        writing.next_seq(tenant).await?;
        let (organization, workspace) = sql::of(tenant);
        let mut facts = Vec::new();
        for own in connections::owned_by(writing.db(), tenant, id).await? {
            connections::remove(writing.db(), tenant, own).await?;
            facts.push((ChangeKind::Removed, connections::object(own)));
        }
        sql::run(
            writing.db(),
            "UPDATE keys SET revoked_at = $4 WHERE organization_id = $1 AND workspace_id = $2 AND agent_id = $3 AND revoked_at IS NULL",
            values![organization, workspace, id.uuid(), self.now().micros()],
        )
        .await?;
        let removed = sql::run(
            writing.db(),
            "DELETE FROM agents WHERE organization_id = $1 AND workspace_id = $2 AND agent_id = $3",
            values![organization, workspace, id.uuid()],
        )
        .await?;
        if removed == 0 {
            return Err(NOT_FOUND);
        }
        facts.push((ChangeKind::Removed, object(id)));
        writing.finish(tenant, change, facts, Policy::Moves).await
    }
}

const NOT_FOUND: StoreError = StoreError::NotFound { what: "agent" };

/// The agent with this id, as this transaction sees it.
pub(crate) async fn find(
    db: &impl ConnectionTrait,
    tenant: Tenant,
    id: AgentId,
) -> Result<Option<Agent>, StoreError> {
    let mut query = Query::of(tenant, SELECT);
    query.push(" AND agent_id = {}", id.uuid());
    sql::one(db, &query.sql, query.values)
        .await?
        .as_ref()
        .map(agent)
        .transpose()
}

async fn refuse_taken(writing: &Writing<'_>, tenant: Tenant, agent: &Agent) -> Result<(), StoreError> {
    let mut query = Query::of(tenant, SELECT);
    query.push(" AND handle = {}", agent.handle.as_str());
    query.push(" AND agent_id <> {}", agent.id.uuid());
    match sql::one(writing.db(), &query.sql, query.values).await? {
        Some(_) => Err(StoreError::Conflict { what: "agent handle" }),
        None => Ok(()),
    }
}

fn object(id: AgentId) -> String {
    format!("agent:{id}")
}

fn agent(row: &QueryResult) -> Result<Agent, StoreError> {
    let created_at = sql::time(row, "created_at")?;
    Ok(Agent {
        id: AgentId::from_uuid(get(row, "agent_id")?),
        handle: Handle::new(&get::<String>(row, "handle")?).map_err(|e| corrupt("agent", e))?,
        description: get(row, "description")?,
        enabled: get(row, "enabled")?,
        claimed: get(row, "claimed")?,
        version: sql::count(row, "version")?,
        created_at,
        updated_at: sql::time_or_none(row, "updated_at")?.unwrap_or(created_at),
    })
}
