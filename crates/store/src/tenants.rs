//! The organization and workspace a new database starts with.

use domain::{OrganizationId, Tenant, WorkspaceId};
use sea_orm::{ConnectionTrait, QueryResult};

use crate::core::Core;
use crate::sql::{self, get, values};
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
        let writing = self.core().writing().await?;
        // Two processes that start at once: on PostgreSQL the lock makes the second see what the first made.
        if self.core().db.lazy.is_some() {
            sql::run(
                writing.db(),
                "LOCK TABLE organizations IN SHARE ROW EXCLUSIVE MODE",
                Vec::new(),
            )
            .await?;
        }
        if let Some(tenant) = first(writing.db()).await? {
            return Ok(Bootstrap {
                tenant,
                first_start: false,
            });
        }
        let tenant = self.make(writing.db(), "default").await?;
        writing.commit().await?;
        Ok(Bootstrap {
            tenant,
            first_start: true,
        })
    }

    /// Makes another organization with one workspace, both with this name.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn create_organization(&self, name: &str) -> Result<Tenant, StoreError> {
        let writing = self.core().writing().await?;
        let tenant = self.make(writing.db(), name).await?;
        writing.commit().await?;
        Ok(tenant)
    }

    /// Every organization and workspace.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn tenants(&self) -> Result<Vec<Tenant>, StoreError> {
        all(self.core()).await
    }

    async fn make(&self, db: &impl ConnectionTrait, name: &str) -> Result<Tenant, StoreError> {
        let tenant = Tenant {
            organization: OrganizationId::generate(),
            workspace: WorkspaceId::generate(),
        };
        let (organization, workspace) = sql::of(tenant);
        let now = self.now().micros();
        let statements = [
            (
                "INSERT INTO organizations (organization_id, name, created_at) VALUES ($1, $2, $3)",
                values![organization, name, now],
            ),
            (
                "INSERT INTO workspaces (organization_id, workspace_id, name, created_at) VALUES ($1, $2, $3, $4)",
                values![organization, workspace, name, now],
            ),
            (
                "INSERT INTO counters (organization_id, seq, epoch) VALUES ($1, 0, 1)",
                values![organization],
            ),
        ];
        for (sql, values) in statements {
            sql::run(db, sql, values).await?;
        }
        Ok(tenant)
    }
}

/// Every organization and workspace.
pub(crate) async fn all(core: &Core) -> Result<Vec<Tenant>, StoreError> {
    let rows = sql::all(
        &core.db.read,
        "SELECT organization_id, workspace_id FROM workspaces ORDER BY created_at, workspace_id",
        Vec::new(),
    )
    .await?;
    rows.iter().map(tenant).collect()
}

async fn first(db: &impl ConnectionTrait) -> Result<Option<Tenant>, StoreError> {
    let row = sql::one(
        db,
        "SELECT organization_id, workspace_id FROM workspaces ORDER BY created_at, workspace_id LIMIT 1",
        Vec::new(),
    )
    .await?;
    row.as_ref().map(tenant).transpose()
}

fn tenant(row: &QueryResult) -> Result<Tenant, StoreError> {
    Ok(Tenant {
        organization: OrganizationId::from_uuid(get(row, "organization_id")?),
        workspace: WorkspaceId::from_uuid(get(row, "workspace_id")?),
    })
}
