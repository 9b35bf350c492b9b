//! Secrets, sealed: each under a key of its own, those keys under a root key that is not in the database.

mod key;
mod records;
mod seal;

use std::sync::Arc;

use domain::{ApprovalId, ChangeKind, ConnectionId, Secret, SecretId, Tenant};
use uuid::Uuid;

use crate::core::{Core, Policy};
use crate::{Change, StoreError};

pub use key::{RootKey, RootKeys};
pub(crate) use records::{check_key, get, made_with, put, remove};
pub(crate) use seal::Seals;

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
    pub(crate) core: Arc<Core>,
}

impl SecretOwner {
    /// The word it is stored under.
    const fn kind(self) -> &'static str {
        match self {
            Self::Workspace => "workspace",
            Self::Connection(_) => "connection",
            Self::Approval(_) => "approval",
        }
    }

    const fn id(self, tenant: Tenant) -> Uuid {
        match self {
            Self::Workspace => tenant.workspace.uuid(),
            Self::Connection(id) => id.uuid(),
            Self::Approval(id) => id.uuid(),
        }
    }
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
        let writing = self.core.writing().await?;
        writing.next_seq(tenant).await?;
        let id = put(&self.core, writing.db(), tenant, (slot, secret)).await?;
        writing
            .finish(
                tenant,
                change,
                vec![(ChangeKind::Updated, object(tenant, slot))],
                Policy::Stays,
            )
            .await?;
        Ok(SecretRef {
            id,
            slot: slot.clone(),
        })
    }

    /// The secret that lies there.
    ///
    /// # Errors
    /// `Vault` when the record was changed, moved from elsewhere, or sealed with a key that is not known.
    pub async fn get(&self, tenant: Tenant, slot: &SecretSlot) -> Result<Option<Secret>, StoreError> {
        get(&self.core, &self.core.db.read, tenant, slot).await
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
        let writing = self.core.writing().await?;
        writing.next_seq(tenant).await?;
        if remove(writing.db(), tenant, slot.owner, Some(&slot.field)).await? == 0 {
            return Ok(false);
        }
        writing
            .finish(
                tenant,
                change,
                vec![(ChangeKind::Removed, object(tenant, slot))],
                Policy::Stays,
            )
            .await?;
        Ok(true)
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
        let writing = self.core.writing().await?;
        writing.next_seq(tenant).await?;
        let removed = remove(writing.db(), tenant, owner, None).await?;
        if removed > 0 {
            let slot = SecretSlot {
                owner,
                field: "*".to_owned(),
            };
            writing
                .finish(
                    tenant,
                    change,
                    vec![(ChangeKind::Removed, object(tenant, &slot))],
                    Policy::Stays,
                )
                .await?;
        }
        Ok(removed)
    }

    /// What an owner has, without the values, by field.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn list(&self, tenant: Tenant, owner: SecretOwner) -> Result<Vec<SecretRef>, StoreError> {
        records::list(&self.core, tenant, owner).await
    }

    /// Seals everything that lies under a previous root key under the current one. Can be stopped and begun again at any point.
    ///
    /// # Errors
    /// When a record does not open or the database fails; what was done stays done.
    pub async fn rotate(&self, progress: impl FnMut(Rotation) + Send) -> Result<Rotation, StoreError> {
        records::rotate(&self.core, progress).await
    }
}

fn object(tenant: Tenant, slot: &SecretSlot) -> String {
    format!(
        "secret:{}:{}/{}",
        slot.owner.kind(),
        slot.owner.id(tenant),
        slot.field
    )
}
