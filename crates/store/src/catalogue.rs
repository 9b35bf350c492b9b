//! What a server said it offers, as it said it.

use std::sync::Arc;

use domain::{ConnectionId, Tenant, Timestamp};
use sea_orm::ConnectionTrait;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::core::Policy;
use crate::sql::{self, Query, corrupt, count, get, time, values};
use crate::{Store, StoreError, connections};

/// One discovery of a server. Every document is kept byte for byte as it was received.
#[derive(Debug, Clone)]
pub struct Catalogue {
    /// Grows by one with each stored discovery; given by the store.
    pub version: u32,
    /// When it was fetched.
    pub fetched_at: Timestamp,
    /// `serverInfo`.
    pub server: Option<Arc<RawValue>>,
    /// `capabilities`.
    pub capabilities: Option<Arc<RawValue>>,
    /// `instructions`.
    pub instructions: Option<String>,
    /// The well-formed items of `tools/list`, in the server's order.
    pub tools: Vec<Arc<RawValue>>,
    /// The items of `prompts/list`.
    pub prompts: Vec<Arc<RawValue>>,
    /// The items of `resources/list`.
    pub resources: Vec<Arc<RawValue>>,
    /// The items of `resources/templates/list`.
    pub templates: Vec<Arc<RawValue>>,
    /// The items of `skills/list` (SEP-2640).
    pub skills: Vec<Arc<RawValue>>,
    /// What was wrong with the rest, for people.
    pub problems: Vec<String>,
}

impl Catalogue {
    /// Most bytes of one stored catalogue.
    pub const MAX_BYTES: usize = 32 << 20;
}

/// The stored document, version 1; the items are embedded verbatim.
#[derive(Serialize)]
struct Written<'a> {
    v: u32,
    server: Option<&'a RawValue>,
    capabilities: Option<&'a RawValue>,
    instructions: Option<&'a str>,
    tools: &'a [Arc<RawValue>],
    prompts: &'a [Arc<RawValue>],
    resources: &'a [Arc<RawValue>],
    templates: &'a [Arc<RawValue>],
    skills: &'a [Arc<RawValue>],
    problems: &'a [String],
}

#[derive(Deserialize)]
struct Read {
    v: u32,
    server: Option<Box<RawValue>>,
    capabilities: Option<Box<RawValue>>,
    instructions: Option<String>,
    tools: Vec<Box<RawValue>>,
    prompts: Vec<Box<RawValue>>,
    resources: Vec<Box<RawValue>>,
    templates: Vec<Box<RawValue>>,
    #[serde(default)]
    skills: Vec<Box<RawValue>>,
    problems: Vec<String>,
}

impl Store {
    /// Replaces a connection's catalogue; returns its version. `catalogue.version` is not looked at.
    ///
    /// # Errors
    /// `NotFound`; `TooLarge` beyond [`Catalogue::MAX_BYTES`].
    pub async fn put_catalogue(
        &self,
        tenant: Tenant,
        connection: ConnectionId,
        catalogue: &Catalogue,
    ) -> Result<u32, StoreError> {
        let writing = self.core().writing().await?;
        // As every write does: two that took a connection and the organization in different order would wait for each other.
        writing.next_seq(tenant).await?;
        let (organization, workspace) = sql::of(tenant);
        let row = sql::one(
            writing.db(),
            "UPDATE connections SET catalogue_version = catalogue_version + 1, catalogue_at = $4
             WHERE organization_id = $1 AND workspace_id = $2 AND connection_id = $3 RETURNING catalogue_version",
            values![organization, workspace, connection.uuid(), catalogue.fetched_at.micros()],
        )
        .await?
        .ok_or(connections::NOT_FOUND)?;
        let version = count(&row, "catalogue_version")?;
        put(writing.db(), tenant, (connection, version), catalogue).await?;
        // From the first one on the connection counts as ready, however it is reached later.
        let policy = if version == 1 {
            Policy::Moves
        } else {
            Policy::Stays
        };
        writing.finish_with(tenant, &[], policy).await?;
        Ok(version)
    }

    /// A connection's catalogue; none before the first discovery.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn catalogue(
        &self,
        tenant: Tenant,
        connection: ConnectionId,
    ) -> Result<Option<Catalogue>, StoreError> {
        let mut query = Query::of(
            tenant,
            "SELECT version, fetched_at, document FROM catalogues WHERE organization_id = $1 AND workspace_id = $2",
        );
        query.push(" AND connection_id = {}", connection.uuid());
        let Some(row) = sql::one(&self.core().db.read, &query.sql, query.values).await? else {
            return Ok(None);
        };
        let document: String = get(&row, "document")?;
        read(&document, count(&row, "version")?, time(&row, "fetched_at")?).map(Some)
    }
}

/// Writes the document of a connection's catalogue under its version.
pub(crate) async fn put(
    db: &impl ConnectionTrait,
    tenant: Tenant,
    (connection, version): (ConnectionId, u32),
    catalogue: &Catalogue,
) -> Result<(), StoreError> {
    let (organization, workspace) = sql::of(tenant);
    sql::run(
        db,
        "INSERT INTO catalogues (organization_id, workspace_id, connection_id, version, fetched_at, document)
         VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (organization_id, workspace_id, connection_id)
         DO UPDATE SET version = excluded.version, fetched_at = excluded.fetched_at, document = excluded.document",
        values![
            organization,
            workspace,
            connection.uuid(),
            i64::from(version),
            catalogue.fetched_at.micros(),
            write(catalogue)?
        ],
    )
    .await?;
    Ok(())
}

fn write(catalogue: &Catalogue) -> Result<String, StoreError> {
    let document = Written {
        v: 1,
        server: catalogue.server.as_deref(),
        capabilities: catalogue.capabilities.as_deref(),
        instructions: catalogue.instructions.as_deref(),
        tools: &catalogue.tools,
        prompts: &catalogue.prompts,
        resources: &catalogue.resources,
        templates: &catalogue.templates,
        skills: &catalogue.skills,
        problems: &catalogue.problems,
    };
    let text = serde_json::to_string(&document).map_err(|e| corrupt("catalogue", e))?;
    if text.len() > Catalogue::MAX_BYTES {
        return Err(StoreError::TooLarge {
            what: "the catalogue",
            size: text.len(),
            max: Catalogue::MAX_BYTES,
        });
    }
    Ok(text)
}

fn read(document: &str, version: u32, fetched_at: Timestamp) -> Result<Catalogue, StoreError> {
    let read: Read = serde_json::from_str(document).map_err(|e| corrupt("catalogue", e))?;
    if read.v != 1 {
        return Err(corrupt(
            "catalogue",
            format!("it has version {}, this release reads 1", read.v),
        ));
    }
    let items = |items: Vec<Box<RawValue>>| items.into_iter().map(Arc::from).collect();
    Ok(Catalogue {
        version,
        fetched_at,
        server: read.server.map(Arc::from),
        capabilities: read.capabilities.map(Arc::from),
        instructions: read.instructions,
        tools: items(read.tools),
        prompts: items(read.prompts),
        resources: items(read.resources),
        templates: items(read.templates),
        skills: items(read.skills),
        problems: read.problems,
    })
}
