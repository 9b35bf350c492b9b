//! Requests that may be repeated without happening twice.

use std::time::Duration;

use domain::{Digest, Tenant};
use sea_orm::QueryResult;

use crate::sql::{self, Query, corrupt, digest, get, values};
use crate::{Store, StoreError};

/// A request that carries an idempotency key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotentRequest {
    /// Who asks: the member's or key's id.
    pub principal: String,
    /// The key the caller chose; 1 to 255 printable ASCII characters.
    pub key: String,
    /// The operation's id.
    pub operation: String,
    /// The digest of the request's body.
    pub body: Digest,
}

/// What is known about such a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Idempotency {
    /// Nothing: go on, then complete or abandon it.
    Fresh,
    /// It was answered so.
    Replay {
        /// The HTTP status.
        status: u16,
        /// The body.
        body: Vec<u8>,
    },
    /// The key was used for another request.
    Conflict,
    /// It is being worked on.
    InProgress,
}

/// How long a claim holds without an answer: longer than any request may take.
const CLAIM: Duration = Duration::from_secs(5 * 60);
/// How long an answer is kept.
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);

impl Store {
    /// Asks what is known about a request and claims it when that is nothing. A claim lapses after five minutes, an answer after 24 hours.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn idempotent(
        &self,
        tenant: Tenant,
        request: &IdempotentRequest,
    ) -> Result<Idempotency, StoreError> {
        let now = self.now();
        let (organization, workspace) = sql::of(tenant);
        let writing = self.core().writing().await?;
        let claimed = sql::run(
            writing.db(),
            "INSERT INTO requests (organization_id, workspace_id, principal, key, operation, body_digest, expires_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7)
             ON CONFLICT (organization_id, workspace_id, principal, key) DO UPDATE SET operation = excluded.operation,
             body_digest = excluded.body_digest, expires_at = excluded.expires_at, status = NULL, answer = NULL
             WHERE requests.expires_at <= $8",
            values![
                organization,
                workspace,
                request.principal.as_str(),
                request.key.as_str(),
                request.operation.as_str(),
                request.body.bytes().to_vec(),
                now.plus(CLAIM).micros(),
                now.micros()
            ],
        )
        .await?;
        if claimed > 0 {
            writing.commit().await?;
            return Ok(Idempotency::Fresh);
        }
        let query = of_request(
            Query::of(
                tenant,
                "SELECT operation, body_digest, status, answer FROM requests WHERE organization_id = $1 AND workspace_id = $2",
            ),
            request,
        );
        match sql::one(writing.db(), &query.sql, query.values).await? {
            Some(row) => known(&row, request),
            // Given up in between, on PostgreSQL.
            None => Ok(Idempotency::InProgress),
        }
    }

    /// Stores the answer of a claimed request.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn complete_idempotent(
        &self,
        tenant: Tenant,
        request: &IdempotentRequest,
        status: u16,
        body: &[u8],
    ) -> Result<(), StoreError> {
        let (organization, workspace) = sql::of(tenant);
        let writing = self.core().writing().await?;
        sql::run(
            writing.db(),
            "UPDATE requests SET status = $5, answer = $6, expires_at = $7
             WHERE organization_id = $1 AND workspace_id = $2 AND principal = $3 AND key = $4 AND status IS NULL",
            values![
                organization,
                workspace,
                request.principal.as_str(),
                request.key.as_str(),
                i64::from(status),
                body.to_vec(),
                self.now().plus(KEPT).micros()
            ],
        )
        .await?;
        writing.commit().await
    }

    /// Gives a claimed request up, so that it can be made again.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn abandon_idempotent(
        &self,
        tenant: Tenant,
        request: &IdempotentRequest,
    ) -> Result<(), StoreError> {
        let writing = self.core().writing().await?;
        let mut query = of_request(
            Query::of(
                tenant,
                "DELETE FROM requests WHERE organization_id = $1 AND workspace_id = $2",
            ),
            request,
        );
        query.sql.push_str(" AND status IS NULL");
        sql::run(writing.db(), &query.sql, query.values).await?;
        writing.commit().await
    }

    /// Drops what has lapsed; says how many.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn purge_idempotent(&self) -> Result<u64, StoreError> {
        let writing = self.core().writing().await?;
        let sql = "DELETE FROM requests WHERE expires_at <= $1";
        let dropped = sql::run(writing.db(), sql, values![self.now().micros()]).await?;
        writing.commit().await?;
        Ok(dropped)
    }
}

fn of_request(mut query: Query, request: &IdempotentRequest) -> Query {
    query.push(" AND principal = {}", request.principal.as_str());
    query.push(" AND key = {}", request.key.as_str());
    query
}

fn known(row: &QueryResult, request: &IdempotentRequest) -> Result<Idempotency, StoreError> {
    if get::<String>(row, "operation")? != request.operation || digest(row, "body_digest")? != request.body {
        return Ok(Idempotency::Conflict);
    }
    let Some(status) = get::<Option<i64>>(row, "status")? else {
        return Ok(Idempotency::InProgress);
    };
    let status = u16::try_from(status).map_err(|e| corrupt("answer", e))?;
    Ok(Idempotency::Replay {
        status,
        body: get::<Option<Vec<u8>>>(row, "answer")?.unwrap_or_default(),
    })
}
