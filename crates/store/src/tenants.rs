//! The organization and workspace a new database starts with.

use domain::Tenant;

use crate::{Store, StoreError};

/// The first tenant, and whether it was made just now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bootstrap {
    /// Organization and workspace `default`.
    pub tenant: Tenant,
    /// True exactly once in the life of a database.
    pub first_start: bool,
}

impl Store {
    /// Makes organization and workspace `default` if the database has none.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn bootstrap(&self) -> Result<Bootstrap, StoreError> {
        Err(StoreError::Unimplemented)
    }

    /// Every organization and workspace.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn tenants(&self) -> Result<Vec<Tenant>, StoreError> {
        Err(StoreError::Unimplemented)
    }
}
