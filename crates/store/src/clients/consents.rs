//! What people allowed clients.

use domain::{ChangeKind, Consent, ConsentId, Page, PageRequest, Tenant};

use super::tokens::{self, NewCode};
use super::{row, used};
use crate::core::{Policy, Writing};
use crate::sql::{self, Query, get, values};
use crate::{Change, Store, StoreError, agents, paging};

const SELECT: &str = "SELECT * FROM consents WHERE organization_id = $1 AND workspace_id = $2";
const NOT_FOUND: StoreError = StoreError::NotFound { what: "client" };

impl Store {
    /// Stores what a person allows a client, with the code the client gets its tokens for.
    ///
    /// # Errors
    /// `NotFound` when there is no such agent.
    pub async fn insert_consent(
        &self,
        tenant: Tenant,
        change: &Change,
        consent: &Consent,
        code: &NewCode,
    ) -> Result<(), StoreError> {
        let writing = self.core().writing().await?;
        let seq = writing.next_seq(tenant).await?;
        agents::find(writing.db(), tenant, consent.agent)
            .await?
            .ok_or(StoreError::NotFound { what: "agent" })?;
        let (organization, workspace) = sql::of(tenant);
        sql::run(
            writing.db(),
            "INSERT INTO consents (organization_id, workspace_id, consent_id, seq, member_id, agent_id, client, client_name, resource,
             created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
            values![
                organization,
                workspace,
                consent.id.uuid(),
                seq,
                consent.member.map(domain::MemberId::uuid),
                consent.agent.uuid(),
                &*consent.client,
                &*consent.client_name,
                &*consent.resource,
                consent.created_at.micros()
            ],
        )
        .await?;
        used(
            writing.db(),
            tenant.organization,
            &consent.client,
            consent.created_at.micros(),
        )
        .await?;
        tokens::insert_code(writing.db(), tenant, consent, code).await?;
        let facts = vec![(ChangeKind::Created, object(consent.id))];
        // Nobody acts by it before there is a token, and a token is asked for where it is not known.
        writing.finish(tenant, change, facts, Policy::Stays).await
    }

    /// A page of consents, ended ones too, in the order they were given.
    ///
    /// # Errors
    /// `BadCursor`, or when the database fails.
    pub async fn list_consents(
        &self,
        tenant: Tenant,
        page: &PageRequest,
    ) -> Result<Page<Consent>, StoreError> {
        let mut query = Query::of(tenant, SELECT);
        if let Some(place) = paging::begin("clients", 1, page)?.and_then(|place| place.first().copied()) {
            query.push(" AND seq > {}", place);
        }
        query.push(" ORDER BY seq LIMIT {}", paging::limit(page));
        let rows = sql::all(&self.core().db.read, &query.sql, query.values).await?;
        let rows = rows
            .iter()
            .map(|row| Ok((vec![get(row, "seq")?], row::consent(row)?)))
            .collect::<Result<_, StoreError>>()?;
        Ok(paging::end("clients", page, rows))
    }

    /// The consent with this id.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn consent(&self, tenant: Tenant, id: ConsentId) -> Result<Option<Consent>, StoreError> {
        let mut query = Query::of(tenant, SELECT);
        query.push(" AND consent_id = {}", id.uuid());
        let row = sql::one(&self.core().db.read, &query.sql, query.values).await?;
        row.as_ref().map(row::consent).transpose()
    }

    /// Ends a consent: its tokens are worth nothing from now on. One that has ended stays as it is.
    ///
    /// # Errors
    /// `NotFound`, or when the database fails.
    pub async fn end_consent(
        &self,
        tenant: Tenant,
        change: &Change,
        id: ConsentId,
        by: &str,
    ) -> Result<(), StoreError> {
        let writing = self.core().writing().await?;
        writing.next_seq(tenant).await?;
        if end(&writing, tenant, (id, self.now().micros()), by).await? {
            let facts = vec![(ChangeKind::Removed, object(id))];
            return writing.finish(tenant, change, facts, Policy::Moves).await;
        }
        let known = self.consent(tenant, id).await?;
        known.map(|_| ()).ok_or(NOT_FOUND)
    }
}

/// Whether there was something to end.
pub(super) async fn end(
    writing: &Writing<'_>,
    tenant: Tenant,
    (id, now): (ConsentId, i64),
    by: &str,
) -> Result<bool, StoreError> {
    let (organization, workspace) = sql::of(tenant);
    let ended = sql::run(
        writing.db(),
        "UPDATE consents SET ended_at = $4, ended_by = $5
         WHERE organization_id = $1 AND workspace_id = $2 AND consent_id = $3 AND ended_at IS NULL",
        values![organization, workspace, id.uuid(), now, by],
    )
    .await?;
    Ok(ended > 0)
}

pub(super) fn object(id: ConsentId) -> String {
    format!("client:{id}")
}
