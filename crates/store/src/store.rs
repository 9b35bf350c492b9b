//! The store itself: opening, closing, health.

use std::sync::Arc;

use crate::{Options, StoreError, Vault};

/// One database and its writer. Cheap to clone.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {}

impl Store {
    /// Opens the database: makes what is missing, migrates under a lock, starts the writer.
    ///
    /// # Errors
    /// When the database cannot be reached, was written by a newer release, is served by another process (SQLite), or the vault's
    /// root key is not the right one.
    pub async fn open(options: Options) -> Result<Self, StoreError> {
        Err(StoreError::Unimplemented)
    }

    /// Writes what is queued and closes the database.
    pub async fn close(self) {}

    /// Whether the database answers and the writer writes.
    pub async fn healthy(&self) -> bool {
        false
    }

    /// The vault.
    #[must_use]
    pub fn vault(&self) -> Vault {
        Vault { store: self.clone() }
    }
}
