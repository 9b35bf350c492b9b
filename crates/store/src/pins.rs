//! Tools of connections: what a person accepted, what the server says now, and what a person said about their risk.

use std::sync::Arc;

use domain::{Classification, ConnectionId, DefinitionState, Digest, Hints, Tenant, Timestamp};
use serde_json::value::RawValue;

use crate::{Change, Store, StoreError};

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
        Err(StoreError::Unimplemented)
    }

    /// One tool.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn pin(&self, tenant: Tenant, pin: &PinName) -> Result<Option<ToolPin>, StoreError> {
        Err(StoreError::Unimplemented)
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
        Err(StoreError::Unimplemented)
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
        Err(StoreError::Unimplemented)
    }

    /// Accepts what the server says now, provided it is what the person looked at.
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
        Err(StoreError::Unimplemented)
    }
}
