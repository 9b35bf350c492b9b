//! Connections that the platform itself gives to workspaces, each once in the life of a workspace.

use domain::{ChangeKind, Connection, ConnectionId, Label, Namespace, Tenant};
use sea_orm::ConnectionTrait;

use crate::core::Policy;
use crate::sql::{self, Query, count, values};
use crate::{Catalogue, Change, Store, StoreError, ToolPin, catalogue, connections, pins};

/// A connection of the platform, with what is known of its tools without asking its server.
#[derive(Debug, Clone)]
pub struct Provided {
    /// Which of the platform's connections it is, counted from 1. A workspace is looked at for each number once.
    pub number: u32,
    /// The connection. Where its label or namespace is taken, it gets the next free one.
    pub connection: Connection,
    /// Its tools.
    pub pins: Vec<ToolPin>,
    /// Its catalogue.
    pub catalogue: Catalogue,
}

/// Names that are tried before a workspace is left without the connection.
const NAMES: u32 = 20;

impl Store {
    /// Gives a connection of the platform to a workspace that was not looked at for it yet and has none like it (`alike`). Says what
    /// was made; nothing where the workspace keeps what it has. What people do with it later is theirs: it is never given again.
    ///
    /// # Errors
    /// `NotFound`, or when the database fails.
    pub async fn provide(
        &self,
        tenant: Tenant,
        change: &Change,
        given: Provided,
        alike: impl Fn(&Connection) -> bool,
    ) -> Result<Option<ConnectionId>, StoreError> {
        if looked_at(&self.core().db.read, tenant).await? >= given.number {
            return Ok(None);
        }
        let writing = self.core().writing().await?;
        // From here on nobody else writes in this organization.
        let seq = writing.next_seq(tenant).await?;
        if looked_at(writing.db(), tenant).await? >= given.number {
            return Ok(None);
        }
        let there = connections::all(writing.db(), tenant).await?;
        let (organization, workspace) = sql::of(tenant);
        sql::run(
            writing.db(),
            "UPDATE workspaces SET provided = $3 WHERE organization_id = $1 AND workspace_id = $2",
            values![organization, workspace, i64::from(given.number)],
        )
        .await?;
        let named = (!there.iter().any(alike)).then(|| named(given.connection, &there));
        let Some(mut connection) = named.flatten() else {
            writing.commit().await?;
            return Ok(None);
        };
        connection.catalogue_version = 1;
        connection.catalogue_at = Some(given.catalogue.fetched_at);
        let id = connection.id;
        connections::write_new(writing.db(), tenant, &connection, seq).await?;
        for pin in &given.pins {
            pins::upsert(writing.db(), tenant, pin).await?;
        }
        catalogue::put(writing.db(), tenant, (id, 1), &given.catalogue).await?;
        let facts = vec![(ChangeKind::Created, connections::object(id))];
        writing.finish(tenant, change, facts, Policy::Moves).await?;
        Ok(Some(id))
    }
}

async fn looked_at(db: &impl ConnectionTrait, tenant: Tenant) -> Result<u32, StoreError> {
    let query = Query::of(
        tenant,
        "SELECT provided FROM workspaces WHERE organization_id = $1 AND workspace_id = $2",
    );
    let row = sql::one(db, &query.sql, query.values).await?;
    count(
        &row.ok_or(StoreError::NotFound { what: "workspace" })?,
        "provided",
    )
}

/// The connection under names that are free.
fn named(connection: Connection, there: &[Connection]) -> Option<Connection> {
    let free = |label: &Label, namespace: &Namespace| {
        there
            .iter()
            .all(|other| other.label != *label && other.namespace != *namespace)
    };
    (1..=NAMES).find_map(|n| {
        let (label, namespace) = if n == 1 {
            (connection.label.clone(), connection.namespace.clone())
        } else {
            (
                Label::new(&format!("{} {n}", connection.label)).ok()?,
                Namespace::new(&format!("{}-{n}", connection.namespace)).ok()?,
            )
        };
        free(&label, &namespace).then(|| Connection {
            label,
            namespace,
            ..connection.clone()
        })
    })
}
