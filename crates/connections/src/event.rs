//! What happens at connections, for whoever keeps views, clients or a screen up to date.

use std::sync::Arc;

use domain::{ConnectionId, ConnectionState, Health, Tenant};

/// Something happened at a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionEvent {
    /// Whose connection it is.
    pub tenant: Tenant,
    /// Which.
    pub id: ConnectionId,
    /// What.
    pub kind: ConnectionEventKind,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConnectionEventKind {
    /// A new catalogue is stored, or the state of a tool's definition changed.
    CatalogueChanged {
        /// Tools came, went, changed, or changed their state.
        tools: bool,
        /// Prompts came, went or changed.
        prompts: bool,
        /// Resources or templates came, went or changed.
        resources: bool,
    },
    /// Where discovery stands, or the health, is another.
    StateChanged {
        /// Where discovery stands.
        state: ConnectionState,
        /// The health code.
        health: Health,
    },
    /// A resource somebody subscribed to changed.
    ResourceUpdated {
        /// Its URI, as the server gives it.
        uri: Arc<str>,
    },
}
