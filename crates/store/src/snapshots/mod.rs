//! Snapshots, once per content.

mod encoding;

use domain::{Digest, Snapshot, Tenant};

use crate::sql::{self, Query, corrupt, get, values};
use crate::{Store, StoreError};

impl Store {
    /// Stores a snapshot unless its content is stored already.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn put_snapshot(&self, snapshot: &Snapshot) -> Result<(), StoreError> {
        let document = encoding::write(snapshot)?;
        let (organization, workspace) = sql::of(snapshot.tenant);
        let writing = self.core().writing().await?;
        sql::run(
            writing.db(),
            "INSERT INTO snapshots (organization_id, workspace_id, digest, document, created_at) VALUES ($1, $2, $3, $4, $5)
             ON CONFLICT (organization_id, workspace_id, digest) DO NOTHING",
            values![organization, workspace, snapshot.digest.bytes().to_vec(), document, self.now().micros()],
        )
        .await?;
        writing.commit().await
    }

    /// The snapshot with this content.
    ///
    /// # Errors
    /// `Corrupt` when what is stored cannot be read or has another digest.
    pub async fn snapshot(&self, tenant: Tenant, digest: Digest) -> Result<Option<Snapshot>, StoreError> {
        let mut query = Query::of(
            tenant,
            "SELECT document FROM snapshots WHERE organization_id = $1 AND workspace_id = $2",
        );
        query.push(" AND digest = {}", digest.bytes().to_vec());
        let Some(row) = sql::one(&self.core().db.read, &query.sql, query.values).await? else {
            return Ok(None);
        };
        let snapshot = encoding::read(tenant, &get::<String>(&row, "document")?)?;
        if snapshot.digest != digest {
            return Err(corrupt("snapshot", "its content has another digest"));
        }
        Ok(Some(snapshot))
    }
}
