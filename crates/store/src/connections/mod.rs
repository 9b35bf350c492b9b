//! Connections of a workspace.

mod oauth;
mod row;

use std::sync::Arc;

use domain::{
    AccountKind, AgentId, ChangeKind, Connection, ConnectionId, ConnectionOwner, ConnectionState, Health,
    Namespace, Page, PageRequest, Tenant, Timestamp, Verified,
};
use sea_orm::{ConnectionTrait, Value};

use crate::core::{Policy, Writing};
use crate::sql::{self, Query, count, get, values, word};
use crate::{Change, Store, StoreError, accounts, agents, paging};

/// What a check or a discovery found out about a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateReport {
    /// Where discovery stands.
    pub state: ConnectionState,
    /// The health code.
    pub health: Health,
    /// In words, for people; never a secret.
    pub detail: Option<String>,
    /// When this was found.
    pub checked_at: Timestamp,
}

impl Store {
    /// Stores a new connection; its version becomes 1, its catalogue version 0.
    ///
    /// # Errors
    /// `Conflict` when label or namespace is taken; `NotFound` when the owning agent does not exist; `Full` when it has as many
    /// as it may; `Unsound` when the endpoint contradicts itself.
    pub async fn create_connection(
        &self,
        tenant: Tenant,
        change: &Change,
        mut connection: Connection,
    ) -> Result<Connection, StoreError> {
        let writing = self.core().writing().await?;
        let seq = writing.next_seq(tenant).await?;
        if let ConnectionOwner::Agent(agent) = connection.owner {
            agents::find(writing.db(), tenant, agent)
                .await?
                .ok_or(StoreError::NotFound { what: "agent" })?;
            let max = self.core().options.connections_per_agent;
            let has = owned_by(writing.db(), tenant, agent).await?.len();
            if has >= usize::try_from(max).unwrap_or(usize::MAX) {
                let what = "connections of this agent";
                return Err(StoreError::Full { what, max });
            }
        }
        refuse_taken(&writing, tenant, &connection).await?;
        connection.version = 1;
        connection.catalogue_version = 0;
        connection.catalogue_at = None;
        write_new(writing.db(), tenant, &connection, seq).await?;
        writing
            .finish(
                tenant,
                change,
                vec![(ChangeKind::Created, object(connection.id))],
                Policy::Moves,
            )
            .await?;
        Ok(connection)
    }

    /// A page of connections, in the order they were made.
    ///
    /// # Errors
    /// `BadCursor`, or when the database fails.
    pub async fn list_connections(
        &self,
        tenant: Tenant,
        page: &PageRequest,
    ) -> Result<Page<Connection>, StoreError> {
        let mut query = select(tenant);
        if let Some(place) = paging::begin("connections", 1, page)?.and_then(|place| place.first().copied()) {
            query.push(" AND seq > {}", place);
        }
        query.push(" ORDER BY seq LIMIT {}", paging::limit(page));
        let rows = sql::all(&self.core().db.read, &query.sql, query.values).await?;
        let rows = rows
            .iter()
            .map(|r| Ok((vec![get(r, "seq")?], row::read(r)?)))
            .collect::<Result<_, StoreError>>()?;
        Ok(paging::end("connections", page, rows))
    }

    /// The connections that are this agent's own, in the order they were made.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn connections_of(
        &self,
        tenant: Tenant,
        agent: AgentId,
    ) -> Result<Vec<Connection>, StoreError> {
        let mut query = select(tenant);
        query.push(" AND owner_agent = {} ORDER BY seq", agent.uuid());
        sql::all(&self.core().db.read, &query.sql, query.values)
            .await?
            .iter()
            .map(row::read)
            .collect()
    }

    /// All connections, in the order they were made.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn all_connections(&self, tenant: Tenant) -> Result<Vec<Connection>, StoreError> {
        all(&self.core().db.read, tenant).await
    }

    /// The connection with this id.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn connection(
        &self,
        tenant: Tenant,
        id: ConnectionId,
    ) -> Result<Option<Connection>, StoreError> {
        find(&self.core().db.read, tenant, id).await
    }

    /// The connection with this namespace.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn connection_by_namespace(
        &self,
        tenant: Tenant,
        namespace: &Namespace,
    ) -> Result<Option<Connection>, StoreError> {
        let mut query = select(tenant);
        query.push(" AND namespace = {}", namespace.as_str());
        sql::one(&self.core().db.read, &query.sql, query.values)
            .await?
            .as_ref()
            .map(row::read)
            .transpose()
    }

    /// Replaces the settings (label, endpoint, account, header names, sharing, allowed tools, context, enabled, trusted, timeout).
    /// `connection.version` is the version the caller saw; the answer carries the next one. Owner, namespace, what was found out
    /// and the catalogue are left as they are.
    ///
    /// # Errors
    /// `NotFound`, `Version`, `Conflict` when the label is taken, or `Unsound` when the endpoint contradicts itself.
    pub async fn update_connection(
        &self,
        tenant: Tenant,
        change: &Change,
        mut connection: Connection,
    ) -> Result<Connection, StoreError> {
        let writing = self.core().writing().await?;
        writing.next_seq(tenant).await?;
        let now = find(writing.db(), tenant, connection.id)
            .await?
            .ok_or(NOT_FOUND)?;
        if now.version != connection.version {
            return Err(StoreError::Version {
                what: "connection",
                expected: connection.version,
                current: now.version,
            });
        }
        connection.namespace = now.namespace.clone();
        refuse_taken(&writing, tenant, &connection).await?;
        let (was, is) = (&now.account, &connection.account);
        let other = now.endpoint != connection.endpoint || was.kind != is.kind || was.oauth != is.oauth;
        accounts::edited(&writing, tenant, connection.id, other).await?;
        if connection.account.kind == AccountKind::Oauth {
            // Whether somebody is signed in is not a setting.
            connection.account.configured = now.account.configured && !other;
        }
        if other || now.header_names != connection.header_names {
            // What was proven was proven of another account.
            connection.verified = None;
        }
        connection.version += 1;
        let mut query = Query::of(tenant, "");
        update(&mut query, connection.id, row::settings(&connection)?);
        sql::run(writing.db(), &query.sql, query.values).await?;
        let stored = find(writing.db(), tenant, connection.id)
            .await?
            .ok_or(NOT_FOUND)?;
        writing
            .finish(
                tenant,
                change,
                vec![(ChangeKind::Updated, object(connection.id))],
                Policy::Moves,
            )
            .await?;
        Ok(stored)
    }

    /// Removes a connection with its secrets, catalogue, pins and grants.
    ///
    /// # Errors
    /// `NotFound`, or when the database fails.
    pub async fn remove_connection(
        &self,
        tenant: Tenant,
        change: &Change,
        id: ConnectionId,
    ) -> Result<(), StoreError> {
        let writing = self.core().writing().await?;
        writing.next_seq(tenant).await?;
        if !remove(writing.db(), tenant, id).await? {
            return Err(NOT_FOUND);
        }
        writing
            .finish(
                tenant,
                change,
                vec![(ChangeKind::Removed, object(id))],
                Policy::Moves,
            )
            .await
    }

    /// Notes what a check found out. Leaves a fact only when the state changes, and raises the epoch only where that decides whether
    /// the connection counts as ready: a server that comes and goes holds up nobody's calls.
    ///
    /// # Errors
    /// `NotFound`, or when the database fails.
    pub async fn set_connection_state(
        &self,
        tenant: Tenant,
        id: ConnectionId,
        report: StateReport,
    ) -> Result<(), StoreError> {
        let writing = self.core().writing().await?;
        writing.next_seq(tenant).await?;
        let mut query = Query::of(
            tenant,
            "SELECT state, catalogue_version FROM connections WHERE organization_id = $1 AND workspace_id = $2",
        );
        query.push(" AND connection_id = {}", id.uuid());
        let row = sql::one(writing.db(), &query.sql, query.values)
            .await?
            .ok_or(NOT_FOUND)?;
        let before: ConnectionState = word(&row, "state")?;
        let listed = count(&row, "catalogue_version")? > 0;
        let ready = |state| listed || state == ConnectionState::Ready;
        let policy = if ready(before) == ready(report.state) {
            Policy::Stays
        } else {
            Policy::Moves
        };
        let mut query = Query::of(tenant, "");
        update(
            &mut query,
            id,
            vec![
                ("state", report.state.as_str().into()),
                ("health", report.health.as_str().into()),
                ("health_detail", report.detail.into()),
                ("checked_at", report.checked_at.micros().into()),
            ],
        );
        sql::run(writing.db(), &query.sql, query.values).await?;
        if before == report.state {
            return writing.commit().await;
        }
        let change = Change::by_system("connections.state");
        writing
            .finish(tenant, &change, vec![(ChangeKind::Updated, object(id))], policy)
            .await
    }

    /// Remembers what verifying a connection found. What was found of older settings than the present ones is dropped.
    ///
    /// # Errors
    /// `NotFound`, or when the database fails.
    pub async fn set_verified(
        &self,
        tenant: Tenant,
        (id, version): (ConnectionId, u32),
        found: Verified,
    ) -> Result<(), StoreError> {
        let writing = self.core().writing().await?;
        let now = find(writing.db(), tenant, id).await?.ok_or(NOT_FOUND)?;
        if now.version != version {
            return Ok(());
        }
        let mut query = Query::of(tenant, "");
        update(
            &mut query,
            id,
            vec![
                ("proof", found.proof.as_str().into()),
                ("proven_at", found.at.micros().into()),
            ],
        );
        sql::run(writing.db(), &query.sql, query.values).await?;
        writing.commit().await
    }

    /// Remembers the protocol version and transport a server answered to.
    ///
    /// # Errors
    /// `NotFound`, or when the database fails.
    pub async fn set_negotiated(
        &self,
        tenant: Tenant,
        id: ConnectionId,
        negotiated: Option<Arc<str>>,
    ) -> Result<(), StoreError> {
        let writing = self.core().writing().await?;
        let mut query = Query::of(tenant, "");
        update(
            &mut query,
            id,
            vec![("negotiated", negotiated.as_deref().map(str::to_owned).into())],
        );
        if sql::run(writing.db(), &query.sql, query.values).await? == 0 {
            return Err(NOT_FOUND);
        }
        writing.commit().await
    }
}

pub(crate) const NOT_FOUND: StoreError = StoreError::NotFound { what: "connection" };

/// How facts name a connection.
pub(crate) fn object(id: ConnectionId) -> String {
    format!("connection:{id}")
}

/// The connection with this id, as this transaction sees it.
pub(crate) async fn find(
    db: &impl ConnectionTrait,
    tenant: Tenant,
    id: ConnectionId,
) -> Result<Option<Connection>, StoreError> {
    let mut query = select(tenant);
    query.push(" AND connection_id = {}", id.uuid());
    sql::one(db, &query.sql, query.values)
        .await?
        .as_ref()
        .map(row::read)
        .transpose()
}

/// All connections, as this transaction sees them.
pub(crate) async fn all(db: &impl ConnectionTrait, tenant: Tenant) -> Result<Vec<Connection>, StoreError> {
    let mut query = select(tenant);
    query.sql.push_str(" ORDER BY seq");
    let rows = sql::all(db, &query.sql, query.values).await?;
    rows.iter().map(row::read).collect()
}

/// Writes a new row.
pub(crate) async fn write_new(
    db: &impl ConnectionTrait,
    tenant: Tenant,
    connection: &Connection,
    seq: i64,
) -> Result<(), StoreError> {
    let mut query = Query::of(tenant, "");
    let fixed = row::fixed(connection, seq);
    let settings = row::settings(connection)?;
    let found = row::found(connection);
    insert(&mut query, fixed.into_iter().chain(settings).chain(found));
    sql::run(db, &query.sql, query.values).await?;
    Ok(())
}

/// The connections that are this agent's own.
pub(crate) async fn owned_by(
    db: &impl ConnectionTrait,
    tenant: Tenant,
    agent: AgentId,
) -> Result<Vec<ConnectionId>, StoreError> {
    let mut query = select(tenant);
    query.push(" AND owner_agent = {}", agent.uuid());
    let rows = sql::all(db, &query.sql, query.values).await?;
    rows.iter()
        .map(|row| Ok(ConnectionId::from_uuid(get(row, "connection_id")?)))
        .collect()
}

/// Removes a connection and all that is its; says whether there was one.
pub(crate) async fn remove(
    db: &impl ConnectionTrait,
    tenant: Tenant,
    id: ConnectionId,
) -> Result<bool, StoreError> {
    let (organization, workspace) = sql::of(tenant);
    sql::run(
        db,
        "DELETE FROM secrets WHERE organization_id = $1 AND workspace_id = $2 AND owner_kind = 'connection' AND owner = $3",
        values![organization, workspace, id.uuid()],
    )
    .await?;
    // Catalogue, pins and grants go with it by their foreign keys.
    let removed = sql::run(
        db,
        "DELETE FROM connections WHERE organization_id = $1 AND workspace_id = $2 AND connection_id = $3",
        values![organization, workspace, id.uuid()],
    )
    .await?;
    Ok(removed > 0)
}

fn select(tenant: Tenant) -> Query {
    Query::of(
        tenant,
        "SELECT * FROM connections WHERE organization_id = $1 AND workspace_id = $2",
    )
}

async fn refuse_taken(
    writing: &Writing<'_>,
    tenant: Tenant,
    connection: &Connection,
) -> Result<(), StoreError> {
    let label = connection.label.as_str();
    let (owner, label) = match connection.owner {
        ConnectionOwner::Workspace => (None, (" AND label = {}", label)),
        ConnectionOwner::Agent(agent) => (Some(agent), (" AND own_label = {}", label)),
    };
    let namespace = (" AND namespace = {}", connection.namespace.as_str());
    for (what, owner, (condition, value)) in [
        ("connection label", owner, label),
        ("connection namespace", None, namespace),
    ] {
        let mut query = select(tenant);
        query.push(condition, value);
        if let Some(agent) = owner {
            query.push(" AND owner_agent = {}", agent.uuid());
        }
        query.push(" AND connection_id <> {}", connection.id.uuid());
        if sql::one(writing.db(), &query.sql, query.values).await?.is_some() {
            return Err(StoreError::Conflict { what });
        }
    }
    Ok(())
}

fn insert(query: &mut Query, columns: impl Iterator<Item = (&'static str, Value)>) {
    let (names, values): (Vec<_>, Vec<_>) = columns.unzip();
    query.sql = format!(
        "INSERT INTO connections (organization_id, workspace_id, {}) VALUES ($1, $2",
        names.join(", ")
    );
    for value in values {
        query.push(", {}", value);
    }
    query.sql.push(')');
}

fn update(query: &mut Query, id: ConnectionId, columns: Vec<(&'static str, Value)>) {
    query.sql = "UPDATE connections SET".to_owned();
    for (i, (name, value)) in columns.into_iter().enumerate() {
        query.push(&format!("{} {name} = {{}}", if i == 0 { "" } else { "," }), value);
    }
    query.push(
        " WHERE organization_id = $1 AND workspace_id = $2 AND connection_id = {}",
        id.uuid(),
    );
}
