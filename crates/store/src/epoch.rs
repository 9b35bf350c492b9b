//! The policy epoch: a count of what can alter a decision.

use domain::{ChangeKind, Epoch, Tenant};
use sea_orm::ConnectionTrait;

use crate::core::Policy;
use crate::sql::{self, corrupt, get, values};
use crate::{Change, Store, StoreError};

impl Store {
    /// The epoch that holds now.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn epoch(&self, tenant: Tenant) -> Result<Epoch, StoreError> {
        read(&self.core().db.read, tenant).await
    }

    /// Raises the epoch for a change of policy that is not stored here, as of the rules in the configuration.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn raise_epoch(&self, tenant: Tenant, change: &Change) -> Result<Epoch, StoreError> {
        let writing = self.core().writing().await?;
        writing.next_seq(tenant).await?;
        let before = read(writing.db(), tenant).await?;
        writing
            .finish(
                tenant,
                change,
                vec![(ChangeKind::Updated, "policy".to_owned())],
                Policy::Moves,
            )
            .await?;
        Ok(Epoch(before.0 + 1))
    }
}

async fn read(db: &impl ConnectionTrait, tenant: Tenant) -> Result<Epoch, StoreError> {
    let row = sql::one(
        db,
        "SELECT epoch FROM counters WHERE organization_id = $1",
        values![tenant.organization.uuid()],
    )
    .await?;
    let row = row.ok_or(StoreError::NotFound { what: "organization" })?;
    u64::try_from(get::<i64>(&row, "epoch")?)
        .map(Epoch)
        .map_err(|e| corrupt("epoch", e))
}
