//! API keys: what is known of them, never the key itself.

use domain::{KeyId, KeyKind, Page, PageRequest, Tenant, Timestamp};

use crate::{Change, Store, StoreError};

/// An API key as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRecord {
    /// Its id.
    pub id: KeyId,
    /// What it may be.
    pub kind: KeyKind,
    /// What people call it; at most 64 characters.
    pub name: String,
    /// SHA-256 of the secret.
    pub secret_hash: [u8; 32],
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last used, within about a minute.
    pub last_used_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
}

impl Store {
    /// Stores a new key.
    ///
    /// # Errors
    /// `NotFound` when its agent does not exist, or when the database fails.
    pub async fn insert_key(
        &self,
        tenant: Tenant,
        change: &Change,
        key: KeyRecord,
    ) -> Result<(), StoreError> {
        Err(StoreError::Unimplemented)
    }

    /// A page of keys, revoked ones too, in the order they were made.
    ///
    /// # Errors
    /// `BadCursor`, or when the database fails.
    pub async fn list_keys(&self, tenant: Tenant, page: &PageRequest) -> Result<Page<KeyRecord>, StoreError> {
        Err(StoreError::Unimplemented)
    }

    /// The key with this id.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn key(&self, tenant: Tenant, id: KeyId) -> Result<Option<KeyRecord>, StoreError> {
        Err(StoreError::Unimplemented)
    }

    /// Revokes a key; once revoked it stays so.
    ///
    /// # Errors
    /// `NotFound`, or when the database fails.
    pub async fn revoke_key(
        &self,
        tenant: Tenant,
        change: &Change,
        id: KeyId,
    ) -> Result<KeyRecord, StoreError> {
        Err(StoreError::Unimplemented)
    }

    /// Every key of every tenant that is not revoked, for the table in memory.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn active_keys(&self) -> Result<Vec<(Tenant, KeyRecord)>, StoreError> {
        Err(StoreError::Unimplemented)
    }

    /// Notes when keys were last used. Losing it does no harm; earlier times never replace later ones.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn touch_keys(&self, used: &[(Tenant, KeyId, Timestamp)]) -> Result<(), StoreError> {
        Err(StoreError::Unimplemented)
    }
}
