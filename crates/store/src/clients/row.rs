//! Rows of clients, consents and tokens.

use domain::{
    AgentId, Client, ClientId, Consent, ConsentId, MemberId, OrganizationId, Tenant, TokenId, WorkspaceId,
};
use sea_orm::QueryResult;
use uuid::Uuid;

use super::{AccessToken, HeldToken};
use crate::StoreError;
use crate::sql::{corrupt, get, time, time_or_none, word};

/// Columns of a token with its consent's.
pub(super) const JOINED: &str = "t.token_id, t.kind, t.hash, t.redirect_uri, t.challenge, t.expires_at, t.spent_at, c.*
 FROM tokens t JOIN consents c ON c.organization_id = t.organization_id AND c.workspace_id = t.workspace_id AND c.consent_id = t.consent_id";

pub(super) fn written(texts: &[String]) -> Result<String, StoreError> {
    serde_json::to_string(texts).map_err(|error| corrupt("list of addresses", error))
}

pub(super) fn client(row: &QueryResult) -> Result<Client, StoreError> {
    let redirect_uris: String = get(row, "redirect_uris")?;
    Ok(Client {
        id: ClientId::from_uuid(get(row, "client_id")?),
        name: get(row, "name")?,
        redirect_uris: serde_json::from_str(&redirect_uris).map_err(|error| corrupt("client", error))?,
        created_at: time(row, "created_at")?,
    })
}

pub(super) fn tenant(row: &QueryResult) -> Result<Tenant, StoreError> {
    Ok(Tenant {
        organization: OrganizationId::from_uuid(get(row, "organization_id")?),
        workspace: WorkspaceId::from_uuid(get(row, "workspace_id")?),
    })
}

pub(super) fn consent(row: &QueryResult) -> Result<Consent, StoreError> {
    Ok(Consent {
        id: ConsentId::from_uuid(get(row, "consent_id")?),
        member: get::<Option<Uuid>>(row, "member_id")?.map(MemberId::from_uuid),
        agent: AgentId::from_uuid(get(row, "agent_id")?),
        client: get::<String>(row, "client")?.into(),
        client_name: get::<String>(row, "client_name")?.into(),
        resource: get::<String>(row, "resource")?.into(),
        created_at: time(row, "created_at")?,
        last_used_at: time_or_none(row, "last_used_at")?,
        ended_at: time_or_none(row, "ended_at")?,
        ended_by: get::<Option<String>>(row, "ended_by")?.map(Into::into),
    })
}

pub(super) fn held(row: &QueryResult) -> Result<HeldToken, StoreError> {
    Ok(HeldToken {
        id: TokenId::from_uuid(get(row, "token_id")?),
        tenant: tenant(row)?,
        kind: word(row, "kind")?,
        hash: hash(row)?,
        redirect_uri: get(row, "redirect_uri")?,
        challenge: get(row, "challenge")?,
        expires_at: time(row, "expires_at")?,
        spent: get::<Option<i64>>(row, "spent_at")?.is_some(),
        consent: consent(row)?,
    })
}

pub(super) fn access(row: &QueryResult) -> Result<AccessToken, StoreError> {
    Ok(AccessToken {
        id: TokenId::from_uuid(get(row, "token_id")?),
        tenant: tenant(row)?,
        consent: ConsentId::from_uuid(get(row, "consent_id")?),
        agent: AgentId::from_uuid(get(row, "agent_id")?),
        hash: hash(row)?,
        resource: get::<String>(row, "resource")?.into(),
        expires_at: time(row, "expires_at")?,
    })
}

fn hash(row: &QueryResult) -> Result<[u8; 32], StoreError> {
    get::<Vec<u8>>(row, "hash")?
        .try_into()
        .map_err(|_| corrupt("token", "its hash is not 32 bytes long"))
}
