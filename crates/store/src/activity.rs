//! What happened, for users: each call with its decision and its outcome.

use std::sync::Arc;

use domain::{AgentId, CallId, ConnectionId, Entry, Page, PageRequest, Status, Tenant, Timestamp};

use crate::{Store, StoreError};

/// Which calls a list holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ActivityFilter {
    /// Only of this agent.
    pub agent: Option<AgentId>,
    /// Only to this connection.
    pub connection: Option<ConnectionId>,
    /// Only under this exposed name, or to this tool by its own name.
    pub tool: Option<Arc<str>>,
    /// Only those that ended so.
    pub status: Option<Status>,
    /// `allow`, `ask` or `deny`.
    pub decision: Option<Arc<str>>,
    /// Only this call.
    pub call: Option<CallId>,
    /// Only entries after this one.
    pub since_seq: Option<i64>,
}

/// One call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActivityItem {
    /// Its place in the record.
    pub seq: i64,
    /// The decision (`Fact::Decided`).
    pub decided: Entry,
    /// How it ended (`Fact::Ended`), once it has.
    pub ended: Option<Entry>,
    /// The status people see; none while it runs.
    pub status: Option<Status>,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
}

impl Store {
    /// A page of calls, newest first.
    ///
    /// # Errors
    /// `BadCursor`, or when the database fails.
    pub async fn list_activity(
        &self,
        tenant: Tenant,
        filter: &ActivityFilter,
        page: &PageRequest,
    ) -> Result<Page<ActivityItem>, StoreError> {
        Err(StoreError::Unimplemented)
    }

    /// One call.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn activity(&self, tenant: Tenant, call: CallId) -> Result<Option<ActivityItem>, StoreError> {
        Err(StoreError::Unimplemented)
    }
}
