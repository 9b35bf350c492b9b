//! What agents were given.

use domain::{AgentId, Grant, GrantSubject, Page, PageRequest, Tenant};

use crate::{Change, Store, StoreError};

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
        Err(StoreError::Unimplemented)
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
        Err(StoreError::Unimplemented)
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
        Err(StoreError::Unimplemented)
    }

    /// All grants, of all agents or of one.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn all_grants(&self, tenant: Tenant, agent: Option<AgentId>) -> Result<Vec<Grant>, StoreError> {
        Err(StoreError::Unimplemented)
    }
}
