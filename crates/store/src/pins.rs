//! Tools of connections: what a person accepted, what the server says now, and what a person said about their risk.

use std::sync::Arc;

use domain::{ChangeKind, Classification, ConnectionId, DefinitionState, Digest, Hints, Tenant, Timestamp};
use sea_orm::{ConnectionTrait, QueryResult, Value};
use serde_json::value::RawValue;

use crate::core::Policy;
use crate::sql::{self, Query, corrupt, digest_or_none, get, time, time_or_none, values, word, word_or_none};
use crate::{Change, Store, StoreError, connections};

/// A tool's definition: the bytes its server sent, and their digest.
#[derive(Debug, Clone)]
pub struct Definition {
    /// The digest of name, description and schemas.
    pub digest: Digest,
    /// The item of `tools/list`, as received.
    pub raw: Arc<RawValue>,
}

/// Which tool of which connection.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PinName {
    /// Whose tool it is.
    pub connection: ConnectionId,
    /// The upstream's own name.
    pub name: Arc<str>,
}

/// What is known about one tool of a connection.
#[derive(Debug, Clone)]
pub struct ToolPin {
    /// Whose tool it is.
    pub connection: ConnectionId,
    /// The upstream's own name.
    pub name: Arc<str>,
    /// The definition that calls are made by.
    pub accepted: Option<Definition>,
    /// What the server says now; none once it no longer lists the tool.
    pub seen: Option<Definition>,
    /// How the two stand to each other.
    pub state: DefinitionState,
    /// Why the schema cannot be compiled.
    pub unusable: Option<String>,
    /// What the server says about it.
    pub hints: Hints,
    /// What a person or preset said about it.
    pub classification: Option<Classification>,
    /// When it was first seen.
    pub first_seen: Timestamp,
    /// When its definition or state last changed.
    pub changed_at: Timestamp,
}

const COLUMNS: &str = "organization_id, workspace_id, connection_id, name, accepted_digest, accepted_raw, seen_digest, seen_raw,
 state, unusable, hint_read_only, hint_destructive, hint_idempotent, hint_open_world, risk, effect, classified_at, first_seen, changed_at";

impl Store {
    /// All tools of a workspace, or of one connection, by connection and name.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn list_pins(
        &self,
        tenant: Tenant,
        connection: Option<ConnectionId>,
    ) -> Result<Vec<ToolPin>, StoreError> {
        let mut query = select(tenant);
        if let Some(connection) = connection {
            query.push(" AND connection_id = {}", connection.uuid());
        }
        query.sql.push_str(" ORDER BY connection_id, name");
        sql::all(&self.core().db.read, &query.sql, query.values)
            .await?
            .iter()
            .map(read)
            .collect()
    }

    /// One tool.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn pin(&self, tenant: Tenant, pin: &PinName) -> Result<Option<ToolPin>, StoreError> {
        find(&self.core().db.read, tenant, pin).await
    }

    /// Stores what reconciling a discovery came to, all or nothing. For tools already known, what a person said
    /// (`classification`) and `first_seen` are left as they are.
    ///
    /// # Errors
    /// `NotFound` when a connection does not exist, or when the database fails.
    pub async fn upsert_pins(
        &self,
        tenant: Tenant,
        change: &Change,
        pins: Vec<ToolPin>,
    ) -> Result<(), StoreError> {
        let mut owners: Vec<ConnectionId> = pins.iter().map(|pin| pin.connection).collect();
        owners.sort_unstable();
        owners.dedup();
        let writing = self.core().writing().await?;
        writing.next_seq(tenant).await?;
        let mut facts = Vec::with_capacity(owners.len());
        for owner in owners {
            connections::find(writing.db(), tenant, owner)
                .await?
                .ok_or(connections::NOT_FOUND)?;
            facts.push((
                ChangeKind::Updated,
                format!("{}/tools", connections::object(owner)),
            ));
        }
        for pin in &pins {
            upsert(writing.db(), tenant, pin).await?;
        }
        writing.finish(tenant, change, facts, Policy::Moves).await
    }

    /// Stores what a person says about a tool; none takes it back.
    ///
    /// # Errors
    /// `NotFound`, or when the database fails.
    pub async fn classify(
        &self,
        tenant: Tenant,
        change: &Change,
        pin: &PinName,
        said: Option<Classification>,
    ) -> Result<ToolPin, StoreError> {
        let writing = self.core().writing().await?;
        writing.next_seq(tenant).await?;
        let mut found = find(writing.db(), tenant, pin).await?.ok_or(NOT_FOUND)?;
        found.classification = said;
        let (organization, workspace) = sql::of(tenant);
        let (risk, effect, at) = said_values(said);
        sql::run(
            writing.db(),
            "UPDATE pins SET risk = $5, effect = $6, classified_at = $7
             WHERE organization_id = $1 AND workspace_id = $2 AND connection_id = $3 AND name = $4",
            values![
                organization,
                workspace,
                pin.connection.uuid(),
                pin.name.to_string(),
                risk,
                effect,
                at
            ],
        )
        .await?;
        writing
            .finish(
                tenant,
                change,
                vec![(ChangeKind::Updated, object(pin))],
                Policy::Moves,
            )
            .await?;
        Ok(found)
    }

    /// Accepts what the server says now, provided it is what the person looked at. A quarantined tool is pinned again; one that cannot
    /// be compiled stays unusable.
    ///
    /// # Errors
    /// `NotFound`; `Conflict` when the server says something else by now.
    pub async fn accept(
        &self,
        tenant: Tenant,
        change: &Change,
        pin: &PinName,
        looked_at: Digest,
    ) -> Result<ToolPin, StoreError> {
        let writing = self.core().writing().await?;
        writing.next_seq(tenant).await?;
        let mut found = find(writing.db(), tenant, pin).await?.ok_or(NOT_FOUND)?;
        if found.seen.as_ref().map(|seen| seen.digest) != Some(looked_at) {
            return Err(StoreError::Conflict {
                what: "the definition, which changed again since it was looked at,",
            });
        }
        found.accepted = found.seen.clone();
        found.state = match found.state {
            DefinitionState::Quarantined | DefinitionState::Pinned | DefinitionState::Gone => {
                DefinitionState::Pinned
            }
            DefinitionState::Unusable => DefinitionState::Unusable,
        };
        found.changed_at = self.now();
        upsert(writing.db(), tenant, &found).await?;
        writing
            .finish(
                tenant,
                change,
                vec![(ChangeKind::Updated, object(pin))],
                Policy::Moves,
            )
            .await?;
        Ok(found)
    }
}

const NOT_FOUND: StoreError = StoreError::NotFound { what: "tool" };

fn object(pin: &PinName) -> String {
    format!("{}/tool:{}", connections::object(pin.connection), pin.name)
}

fn select(tenant: Tenant) -> Query {
    Query::of(
        tenant,
        &format!("SELECT {COLUMNS} FROM pins WHERE organization_id = $1 AND workspace_id = $2"),
    )
}

async fn find(
    db: &impl ConnectionTrait,
    tenant: Tenant,
    pin: &PinName,
) -> Result<Option<ToolPin>, StoreError> {
    let mut query = select(tenant);
    query.push(" AND connection_id = {}", pin.connection.uuid());
    query.push(" AND name = {}", pin.name.to_string());
    sql::one(db, &query.sql, query.values)
        .await?
        .as_ref()
        .map(read)
        .transpose()
}

pub(crate) async fn upsert(
    db: &impl ConnectionTrait,
    tenant: Tenant,
    pin: &ToolPin,
) -> Result<(), StoreError> {
    let text = format!(
        "INSERT INTO pins ({COLUMNS})
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)
         ON CONFLICT (organization_id, workspace_id, connection_id, name) DO UPDATE SET
         accepted_digest = excluded.accepted_digest, accepted_raw = excluded.accepted_raw,
         seen_digest = excluded.seen_digest, seen_raw = excluded.seen_raw, state = excluded.state, unusable = excluded.unusable,
         hint_read_only = excluded.hint_read_only, hint_destructive = excluded.hint_destructive,
         hint_idempotent = excluded.hint_idempotent, hint_open_world = excluded.hint_open_world, changed_at = excluded.changed_at"
    );
    let (organization, workspace) = sql::of(tenant);
    let (accepted_digest, accepted_raw) = definition_values(pin.accepted.as_ref());
    let (seen_digest, seen_raw) = definition_values(pin.seen.as_ref());
    let (risk, effect, classified_at) = said_values(pin.classification);
    let values = values![
        organization,
        workspace,
        pin.connection.uuid(),
        pin.name.to_string(),
        accepted_digest,
        accepted_raw,
        seen_digest,
        seen_raw,
        pin.state.as_str(),
        pin.unusable.clone(),
        pin.hints.read_only,
        pin.hints.destructive,
        pin.hints.idempotent,
        pin.hints.open_world,
        risk,
        effect,
        classified_at,
        pin.first_seen.micros(),
        pin.changed_at.micros(),
    ];
    sql::run(db, &text, values).await?;
    Ok(())
}

fn definition_values(definition: Option<&Definition>) -> (Value, Value) {
    (
        definition
            .map(|definition| definition.digest.bytes().to_vec())
            .into(),
        definition
            .map(|definition| definition.raw.get().to_owned())
            .into(),
    )
}

fn said_values(said: Option<Classification>) -> (Value, Value, Value) {
    (
        said.map(|said| said.risk.as_str().to_owned()).into(),
        said.map(|said| said.effect.as_str().to_owned()).into(),
        said.map(|said| said.at.micros()).into(),
    )
}

fn read(row: &QueryResult) -> Result<ToolPin, StoreError> {
    let said = (
        word_or_none(row, "risk")?,
        word_or_none(row, "effect")?,
        time_or_none(row, "classified_at")?,
    );
    Ok(ToolPin {
        connection: ConnectionId::from_uuid(get(row, "connection_id")?),
        name: get::<String>(row, "name")?.into(),
        accepted: definition(row, "accepted_digest", "accepted_raw")?,
        seen: definition(row, "seen_digest", "seen_raw")?,
        state: word(row, "state")?,
        unusable: get(row, "unusable")?,
        hints: Hints {
            read_only: get(row, "hint_read_only")?,
            destructive: get(row, "hint_destructive")?,
            idempotent: get(row, "hint_idempotent")?,
            open_world: get(row, "hint_open_world")?,
        },
        classification: match said {
            (Some(risk), Some(effect), Some(at)) => Some(Classification { risk, effect, at }),
            _ => None,
        },
        first_seen: time(row, "first_seen")?,
        changed_at: time(row, "changed_at")?,
    })
}

fn definition(
    row: &QueryResult,
    digest: &'static str,
    raw: &'static str,
) -> Result<Option<Definition>, StoreError> {
    let (Some(digest), Some(raw)) = (digest_or_none(row, digest)?, get::<Option<String>>(row, raw)?) else {
        return Ok(None);
    };
    let raw = RawValue::from_string(raw).map_err(|e| corrupt("definition", e))?;
    Ok(Some(Definition {
        digest,
        raw: Arc::from(raw),
    }))
}
