//! Secrets, sealed: each under a key of its own, those keys under a root key that is not in the database.

mod key;

use domain::{ApprovalId, ConnectionId, Secret, SecretId, Tenant};

use crate::{Change, Store, StoreError};

pub use key::{RootKey, RootKeys};

/// Whose secret it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SecretOwner {
    /// The workspace's: named secrets that the configuration refers to.
    Workspace,
    /// A connection's.
    Connection(ConnectionId),
    /// The arguments of a parked call.
    Approval(ApprovalId),
}

/// Where a secret lies: whose it is, and which one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SecretSlot {
    /// Whose.
    pub owner: SecretOwner,
    /// Which: `credential`, `header:<name>`, or the name of a workspace's secret.
    pub field: String,
}

/// A stored secret, without its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretRef {
    /// Its id; another one after each replacement.
    pub id: SecretId,
    /// Where it lies.
    pub slot: SecretSlot,
}

/// How far a rotation has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rotation {
    /// Records that are sealed under the current key.
    pub done: u64,
    /// Records there are.
    pub total: u64,
}

/// The vault of a store.
#[derive(Clone)]
pub struct Vault {
    pub(crate) store: Store,
}

impl Vault {
    /// Stores a secret in place of an earlier one.
    ///
    /// # Errors
    /// When it cannot be sealed or the database fails.
    pub async fn put(
        &self,
        tenant: Tenant,
        change: &Change,
        slot: &SecretSlot,
        secret: &Secret,
    ) -> Result<SecretRef, StoreError> {
        Err(StoreError::Unimplemented)
    }

    /// The secret that lies there.
    ///
    /// # Errors
    /// `Vault` when the record was changed, moved from elsewhere, or sealed with a key that is not known.
    pub async fn get(&self, tenant: Tenant, slot: &SecretSlot) -> Result<Option<Secret>, StoreError> {
        Err(StoreError::Unimplemented)
    }

    /// Removes one secret; says whether there was one.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn remove(
        &self,
        tenant: Tenant,
        change: &Change,
        slot: &SecretSlot,
    ) -> Result<bool, StoreError> {
        Err(StoreError::Unimplemented)
    }

    /// Removes all secrets of an owner; says how many.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn remove_all(
        &self,
        tenant: Tenant,
        change: &Change,
        owner: SecretOwner,
    ) -> Result<u64, StoreError> {
        Err(StoreError::Unimplemented)
    }

    /// What an owner has, without the values, by field.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn list(&self, tenant: Tenant, owner: SecretOwner) -> Result<Vec<SecretRef>, StoreError> {
        Err(StoreError::Unimplemented)
    }

    /// Seals everything that lies under a previous root key under the current one. Can be stopped and begun again at any point.
    ///
    /// # Errors
    /// When a record does not open or the database fails; what was done stays done.
    pub async fn rotate(&self, progress: impl FnMut(Rotation) + Send) -> Result<Rotation, StoreError> {
        Err(StoreError::Unimplemented)
    }
}
