//! Agents of a workspace.

use domain::{Agent, AgentId, Handle, Page, PageRequest, Tenant};

use crate::{Change, Store, StoreError};

impl Store {
    /// Stores a new agent; its version becomes 1.
    ///
    /// # Errors
    /// `Conflict` when the handle is taken.
    pub async fn create_agent(
        &self,
        tenant: Tenant,
        change: &Change,
        agent: Agent,
    ) -> Result<Agent, StoreError> {
        Err(StoreError::Unimplemented)
    }

    /// A page of agents, in the order they were made.
    ///
    /// # Errors
    /// `BadCursor`, or when the database fails.
    pub async fn list_agents(&self, tenant: Tenant, page: &PageRequest) -> Result<Page<Agent>, StoreError> {
        Err(StoreError::Unimplemented)
    }

    /// All agents, in the order they were made.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn all_agents(&self, tenant: Tenant) -> Result<Vec<Agent>, StoreError> {
        Err(StoreError::Unimplemented)
    }

    /// The agent with this id.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn agent(&self, tenant: Tenant, id: AgentId) -> Result<Option<Agent>, StoreError> {
        Err(StoreError::Unimplemented)
    }

    /// The agent with this handle.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn agent_by_handle(
        &self,
        tenant: Tenant,
        handle: &Handle,
    ) -> Result<Option<Agent>, StoreError> {
        Err(StoreError::Unimplemented)
    }

    /// Replaces handle, description and enabled. `agent.version` is the version the caller saw; the answer carries the next one.
    ///
    /// # Errors
    /// `NotFound`, `Version`, or `Conflict` when the handle is taken.
    pub async fn update_agent(
        &self,
        tenant: Tenant,
        change: &Change,
        agent: Agent,
    ) -> Result<Agent, StoreError> {
        Err(StoreError::Unimplemented)
    }

    /// Removes an agent with its grants; revokes its keys.
    ///
    /// # Errors
    /// `NotFound`, or when the database fails.
    pub async fn remove_agent(&self, tenant: Tenant, change: &Change, id: AgentId) -> Result<(), StoreError> {
        Err(StoreError::Unimplemented)
    }
}
