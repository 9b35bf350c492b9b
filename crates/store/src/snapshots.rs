//! Snapshots, once per content.

use domain::{Digest, Snapshot, Tenant};

use crate::{Store, StoreError};

impl Store {
    /// Stores a snapshot unless its content is stored already.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn put_snapshot(&self, snapshot: &Snapshot) -> Result<(), StoreError> {
        Err(StoreError::Unimplemented)
    }

    /// The snapshot with this content.
    ///
    /// # Errors
    /// `Corrupt` when what is stored cannot be read or has another digest.
    pub async fn snapshot(&self, tenant: Tenant, digest: Digest) -> Result<Option<Snapshot>, StoreError> {
        Err(StoreError::Unimplemented)
    }
}
