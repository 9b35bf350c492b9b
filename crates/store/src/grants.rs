//! What agents were given.

use std::sync::Arc;

use domain::{AgentId, ChangeKind, ConnectionId, Grant, GrantSubject, Page, PageRequest, Tenant, ToolRef};
use sea_orm::{ConnectionTrait, QueryResult};
use uuid::Uuid;

use crate::core::Policy;
use crate::sql::{self, Query, corrupt, get, time, values, word};
use crate::{Change, Store, StoreError, agents, connections, paging};

const COLUMNS: &str =
    "organization_id, workspace_id, agent_id, subject, seq, kind, connection_id, name, permission, at";

impl Store {
    /// Sets grants, all or nothing; each replaces an earlier one of the same agent and subject.
    ///
    /// # Errors
    /// `NotFound` when an agent or connection does not exist.
    pub async fn set_grants(
        &self,
        tenant: Tenant,
        change: &Change,
        grants: &[Grant],
    ) -> Result<(), StoreError> {
        let writing = self.core().writing().await?;
        let mut facts = Vec::with_capacity(grants.len());
        for grant in grants {
            let seq = writing.next_seq(tenant).await?;
            agents::find(writing.db(), tenant, grant.agent)
                .await?
                .ok_or(StoreError::NotFound { what: "agent" })?;
            if let Some(connection) = grant.subject.connection() {
                connections::find(writing.db(), tenant, connection)
                    .await?
                    .ok_or(connections::NOT_FOUND)?;
            }
            set(writing.db(), tenant, seq, grant).await?;
            facts.push((ChangeKind::Updated, object(grant.agent, &grant.subject)));
        }
        writing.finish(tenant, change, facts, Policy::Moves).await
    }

    /// Takes a grant back. Says whether there was one.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn remove_grant(
        &self,
        tenant: Tenant,
        change: &Change,
        agent: AgentId,
        subject: &GrantSubject,
    ) -> Result<bool, StoreError> {
        let writing = self.core().writing().await?;
        writing.next_seq(tenant).await?;
        let (organization, workspace) = sql::of(tenant);
        let removed = sql::run(
            writing.db(),
            "DELETE FROM grants WHERE organization_id = $1 AND workspace_id = $2 AND agent_id = $3 AND subject = $4",
            values![organization, workspace, agent.uuid(), key(subject)],
        )
        .await?;
        if removed == 0 {
            return Ok(false);
        }
        writing
            .finish(
                tenant,
                change,
                vec![(ChangeKind::Removed, object(agent, subject))],
                Policy::Moves,
            )
            .await?;
        Ok(true)
    }

    /// A page of grants, of all agents or of one, in the order they were first set.
    ///
    /// # Errors
    /// `BadCursor`, or when the database fails.
    pub async fn list_grants(
        &self,
        tenant: Tenant,
        agent: Option<AgentId>,
        page: &PageRequest,
    ) -> Result<Page<Grant>, StoreError> {
        let mut query = select(tenant, agent);
        if let Some(place) = paging::begin("grants", 1, page)?.and_then(|place| place.first().copied()) {
            query.push(" AND seq > {}", place);
        }
        query.push(" ORDER BY seq LIMIT {}", paging::limit(page));
        let rows = sql::all(&self.core().db.read, &query.sql, query.values).await?;
        let rows = rows
            .iter()
            .map(|row| Ok((vec![get(row, "seq")?], read(row)?)))
            .collect::<Result<_, StoreError>>()?;
        Ok(paging::end("grants", page, rows))
    }

    /// All grants, of all agents or of one.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn all_grants(&self, tenant: Tenant, agent: Option<AgentId>) -> Result<Vec<Grant>, StoreError> {
        let mut query = select(tenant, agent);
        query.sql.push_str(" ORDER BY seq");
        sql::all(&self.core().db.read, &query.sql, query.values)
            .await?
            .iter()
            .map(read)
            .collect()
    }
}

async fn set(db: &impl ConnectionTrait, tenant: Tenant, seq: i64, grant: &Grant) -> Result<(), StoreError> {
    let (organization, workspace) = sql::of(tenant);
    sql::run(
        db,
        &format!(
            "INSERT INTO grants ({COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
             ON CONFLICT (organization_id, workspace_id, agent_id, subject)
             DO UPDATE SET permission = excluded.permission, at = excluded.at"
        ),
        values![
            organization,
            workspace,
            grant.agent.uuid(),
            key(&grant.subject),
            seq,
            grant.subject.kind(),
            grant.subject.connection().map(ConnectionId::uuid),
            grant.subject.tool_name().map(ToString::to_string),
            grant.permission.as_str(),
            grant.at.micros()
        ],
    )
    .await?;
    Ok(())
}

/// What makes a subject unique for an agent.
fn key(subject: &GrantSubject) -> String {
    match subject {
        GrantSubject::Tool(ToolRef::Capability(name)) => format!("capability:{name}"),
        GrantSubject::Tool(ToolRef::Upstream { connection, name }) => format!("tool:{connection}/{name}"),
        GrantSubject::Prompts(connection) => format!("prompts:{connection}"),
        GrantSubject::Resources(connection) => format!("resources:{connection}"),
        GrantSubject::Skills(connection) => format!("skills:{connection}"),
    }
}

fn object(agent: AgentId, subject: &GrantSubject) -> String {
    format!("grant:{agent}/{}", key(subject))
}

fn select(tenant: Tenant, agent: Option<AgentId>) -> Query {
    let mut query = Query::of(
        tenant,
        &format!("SELECT {COLUMNS} FROM grants WHERE organization_id = $1 AND workspace_id = $2"),
    );
    if let Some(agent) = agent {
        query.push(" AND agent_id = {}", agent.uuid());
    }
    query
}

fn read(row: &QueryResult) -> Result<Grant, StoreError> {
    let connection = get::<Option<Uuid>>(row, "connection_id")?.map(ConnectionId::from_uuid);
    let name: Option<Arc<str>> = get::<Option<String>>(row, "name")?.map(Into::into);
    let kind: String = get(row, "kind")?;
    let subject = match (kind.as_str(), connection, name) {
        ("tool", None, Some(name)) => GrantSubject::Tool(ToolRef::Capability(name)),
        ("tool", Some(connection), Some(name)) => GrantSubject::Tool(ToolRef::Upstream { connection, name }),
        ("prompts", Some(connection), _) => GrantSubject::Prompts(connection),
        ("resources", Some(connection), _) => GrantSubject::Resources(connection),
        ("skills", Some(connection), _) => GrantSubject::Skills(connection),
        _ => return Err(corrupt("grant", "its subject is not known")),
    };
    Ok(Grant {
        agent: AgentId::from_uuid(get(row, "agent_id")?),
        subject,
        permission: word(row, "permission")?,
        at: time(row, "at")?,
    })
}
