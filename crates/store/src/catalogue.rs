//! What a server said it offers, as it said it.

use std::sync::Arc;

use domain::{ConnectionId, Tenant, Timestamp};
use serde_json::value::RawValue;

use crate::{Store, StoreError};

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
    /// What was wrong with the rest, for people.
    pub problems: Vec<String>,
}

impl Catalogue {
    /// Most bytes of one stored catalogue.
    pub const MAX_BYTES: usize = 32 << 20;
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
        Err(StoreError::Unimplemented)
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
        Err(StoreError::Unimplemented)
    }
}
