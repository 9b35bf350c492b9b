//! Connections of a workspace.

use std::sync::Arc;

use domain::{
    Connection, ConnectionId, ConnectionState, Health, Namespace, Page, PageRequest, Tenant, Timestamp,
};

use crate::{Change, Store, StoreError};

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
    /// `Conflict` when label or namespace is taken.
    pub async fn create_connection(
        &self,
        tenant: Tenant,
        change: &Change,
        connection: Connection,
    ) -> Result<Connection, StoreError> {
        Err(StoreError::Unimplemented)
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
        Err(StoreError::Unimplemented)
    }

    /// All connections, in the order they were made.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn all_connections(&self, tenant: Tenant) -> Result<Vec<Connection>, StoreError> {
        Err(StoreError::Unimplemented)
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
        Err(StoreError::Unimplemented)
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
        Err(StoreError::Unimplemented)
    }

    /// Replaces the settings (label, endpoint, account, header names, sharing, allowed tools, enabled, trusted, timeout).
    /// `connection.version` is the version the caller saw; the answer carries the next one. Owner, namespace, what was found out
    /// and the catalogue are left as they are.
    ///
    /// # Errors
    /// `NotFound`, `Version`, or `Conflict` when the label is taken.
    pub async fn update_connection(
        &self,
        tenant: Tenant,
        change: &Change,
        connection: Connection,
    ) -> Result<Connection, StoreError> {
        Err(StoreError::Unimplemented)
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
        Err(StoreError::Unimplemented)
    }

    /// Notes what a check found out. Raises the epoch only when the state changes.
    ///
    /// # Errors
    /// `NotFound`, or when the database fails.
    pub async fn set_connection_state(
        &self,
        tenant: Tenant,
        id: ConnectionId,
        report: StateReport,
    ) -> Result<(), StoreError> {
        Err(StoreError::Unimplemented)
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
        Err(StoreError::Unimplemented)
    }
}
