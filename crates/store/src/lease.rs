//! What only one process may do at a time: a lease in the database, which ends by itself when its holder is gone.

use std::time::Duration;

use domain::Tenant;
use sea_orm::{ConnectionTrait, DbBackend};
use uuid::Uuid;

use crate::sql::{self, values};
use crate::{Store, StoreError};

/// What is held: a name within an organization, and for how long at most.
pub(crate) struct Lease<'a> {
    pub(crate) tenant: Tenant,
    pub(crate) name: &'a str,
    pub(crate) holder: Uuid,
    pub(crate) longest: Duration,
}

impl Lease<'_> {
    /// Takes or renews it in this transaction, which then is the only one that can until it ends. The token grows with each new
    /// holder. A lease that ends later than any can is from before the clock was set back: nobody holds it.
    pub(crate) async fn hold(&self, db: &impl ConnectionTrait) -> Result<bool, StoreError> {
        let now = match db.get_database_backend() {
            DbBackend::Postgres => "(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000)::BIGINT",
            _ => "CAST(unixepoch('subsec') * 1000000 AS INTEGER)",
        };
        let text = format!(
            "INSERT INTO leases (organization_id, name, holder, token, expires_at) VALUES ($1, $2, $3, 1, {now} + $4)
             ON CONFLICT (organization_id, name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at,
             token = leases.token + CASE WHEN leases.holder = excluded.holder THEN 0 ELSE 1 END
             WHERE leases.holder = excluded.holder OR leases.expires_at < {now} OR leases.expires_at > {now} + 2 * $4 RETURNING token"
        );
        let longest = i64::try_from(self.longest.as_micros()).unwrap_or(i64::MAX);
        let (organization, _) = sql::of(self.tenant);
        let values = values![organization, self.name, self.holder, longest];
        Ok(sql::one(db, &text, values).await?.is_some())
    }

    async fn release(&self, db: &impl ConnectionTrait) -> Result<(), StoreError> {
        let (organization, _) = sql::of(self.tenant);
        sql::run(
            db,
            "DELETE FROM leases WHERE organization_id = $1 AND name = $2 AND holder = $3",
            values![organization, self.name, self.holder],
        )
        .await?;
        Ok(())
    }
}

impl Store {
    /// Takes or renews a lease of this process on a name, unless another holds it; says whether it did.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn hold(&self, tenant: Tenant, name: &str, longest: Duration) -> Result<bool, StoreError> {
        let writing = self.core().writing().await?;
        let held = self.lease(tenant, name, longest).hold(writing.db()).await?;
        writing.commit().await?;
        Ok(held)
    }

    /// Lets go of a lease of this process.
    ///
    /// # Errors
    /// When the database fails; then it ends by itself.
    pub async fn let_go(&self, tenant: Tenant, name: &str) -> Result<(), StoreError> {
        let writing = self.core().writing().await?;
        self.lease(tenant, name, Duration::ZERO)
            .release(writing.db())
            .await?;
        writing.commit().await
    }

    fn lease<'a>(&self, tenant: Tenant, name: &'a str, longest: Duration) -> Lease<'a> {
        Lease {
            tenant,
            name,
            holder: self.holder(),
            longest,
        }
    }
}
