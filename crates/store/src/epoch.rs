//! The policy epoch: a count of what can alter a decision.

use domain::{Epoch, Tenant};

use crate::{Change, Store, StoreError};

impl Store {
    /// The epoch that holds now.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn epoch(&self, tenant: Tenant) -> Result<Epoch, StoreError> {
        Err(StoreError::Unimplemented)
    }

    /// Raises the epoch for a change of policy that is not stored here, as of the rules in the configuration.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn raise_epoch(&self, tenant: Tenant, change: &Change) -> Result<Epoch, StoreError> {
        Err(StoreError::Unimplemented)
    }
}
