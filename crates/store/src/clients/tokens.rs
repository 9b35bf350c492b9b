//! Tokens of clients: their hashes, and each exchanged once.

use std::sync::Arc;

use domain::{AgentId, ChangeKind, Consent, ConsentId, Tenant, Timestamp, TokenId, TokenKind};
use sea_orm::ConnectionTrait;

use super::{consents, row};
use crate::core::Policy;
use crate::sql::{self, values};
use crate::{Change, Store, StoreError};

/// A new token's id, hash and end.
#[derive(Debug, Clone, Copy)]
pub struct NewToken {
    /// Its id.
    pub id: TokenId,
    /// SHA-256 of its text.
    pub hash: [u8; 32],
    /// When it lapses.
    pub expires_at: Timestamp,
}

/// A new code, and what it is bound to.
#[derive(Debug, Clone)]
pub struct NewCode {
    /// The code.
    pub token: NewToken,
    /// Where the person is sent back to.
    pub redirect_uri: String,
    /// The challenge of RFC 7636, by S256.
    pub challenge: String,
}

/// A token with what it stands for.
#[derive(Debug, Clone)]
pub struct HeldToken {
    /// Its id.
    pub id: TokenId,
    /// Whose data it is about.
    pub tenant: Tenant,
    /// What it is good for.
    pub kind: TokenKind,
    /// SHA-256 of its text.
    pub hash: [u8; 32],
    /// For a code: where the person was sent back to.
    pub redirect_uri: Option<String>,
    /// For a code: its challenge.
    pub challenge: Option<String>,
    /// When it lapses.
    pub expires_at: Timestamp,
    /// Whether it was exchanged already.
    pub spent: bool,
    /// What it stands for.
    pub consent: Consent,
}

/// A token to be sent with requests, for the table in memory.
#[derive(Debug, Clone)]
pub struct AccessToken {
    /// Its id.
    pub id: TokenId,
    /// Whose data it may touch.
    pub tenant: Tenant,
    /// By which consent.
    pub consent: ConsentId,
    /// As whom its client acts.
    pub agent: AgentId,
    /// SHA-256 of its text.
    pub hash: [u8; 32],
    /// The path of the endpoint it is for.
    pub resource: Arc<str>,
    /// When it lapses.
    pub expires_at: Timestamp,
}

/// What came of exchanging a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exchanged {
    /// The new ones are valid.
    Done,
    /// It had been exchanged before: somebody else has it, so its consent was ended.
    Replayed,
    /// Its consent had ended, or it is gone.
    Ended,
}

const LIVE: &str = "t.kind = 'access' AND t.spent_at IS NULL AND c.ended_at IS NULL AND t.expires_at > $1";

impl Store {
    /// The token with this id, of whatever kind and tenant, valid or not.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn held_token(&self, id: TokenId) -> Result<Option<HeldToken>, StoreError> {
        let sql = format!("SELECT {} WHERE t.token_id = $1", row::JOINED);
        let row = sql::one(&self.core().db.read, &sql, values![id.uuid()]).await?;
        row.as_ref().map(row::held).transpose()
    }

    /// Exchanges a code or refresh token for new tokens, once: of two that do, one has [`Exchanged::Replayed`], and the consent is over.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn exchange_token(
        &self,
        change: &Change,
        held: &HeldToken,
        new: &[(TokenKind, NewToken)],
    ) -> Result<Exchanged, StoreError> {
        let (tenant, now) = (held.tenant, self.now().micros());
        let writing = self.core().writing().await?;
        writing.next_seq(tenant).await?;
        let (organization, workspace) = sql::of(tenant);
        let spent = sql::run(
            writing.db(),
            "UPDATE tokens SET spent_at = $4 WHERE organization_id = $1 AND workspace_id = $2 AND token_id = $3 AND spent_at IS NULL",
            values![organization, workspace, held.id.uuid(), now],
        )
        .await?;
        let consent = held.consent.id;
        if spent == 0 {
            let ended = consents::end(&writing, tenant, (consent, now), "replayed").await?;
            if !ended {
                return Ok(Exchanged::Ended);
            }
            let facts = vec![(ChangeKind::Removed, consents::object(consent))];
            writing.finish(tenant, change, facts, Policy::Moves).await?;
            return Ok(Exchanged::Replayed);
        }
        let stands = sql::run(
            writing.db(),
            "UPDATE consents SET last_used_at = $4
             WHERE organization_id = $1 AND workspace_id = $2 AND consent_id = $3 AND ended_at IS NULL",
            values![organization, workspace, consent.uuid(), now],
        )
        .await?;
        if stands == 0 {
            return Ok(Exchanged::Ended);
        }
        for (kind, token) in new {
            insert(writing.db(), tenant, consent, (*kind, token, None)).await?;
        }
        let facts = vec![(ChangeKind::Updated, consents::object(consent))];
        writing.finish(tenant, change, facts, Policy::Stays).await?;
        Ok(Exchanged::Done)
    }

    /// Every token of every tenant that may be sent with requests.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn access_tokens(&self) -> Result<Vec<AccessToken>, StoreError> {
        let sql = format!("SELECT {} WHERE {LIVE}", row::JOINED);
        let rows = sql::all(&self.core().db.read, &sql, values![self.now().micros()]).await?;
        rows.iter().map(row::access).collect()
    }

    /// The one with this id, where it may be sent with requests.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn access_token(&self, id: TokenId) -> Result<Option<AccessToken>, StoreError> {
        let sql = format!("SELECT {} WHERE {LIVE} AND t.token_id = $2", row::JOINED);
        let row = sql::one(
            &self.core().db.read,
            &sql,
            values![self.now().micros(), id.uuid()],
        )
        .await?;
        row.as_ref().map(row::access).transpose()
    }

    /// Drops tokens that have lapsed; a consent without a token left has ended with them. Says how many tokens.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn purge_tokens(&self) -> Result<u64, StoreError> {
        let writing = self.core().writing().await?;
        let now = self.now().micros();
        let dropped = sql::run(
            writing.db(),
            "DELETE FROM tokens WHERE expires_at <= $1",
            values![now],
        )
        .await?;
        if dropped > 0 {
            sql::run(
                writing.db(),
                "UPDATE consents SET ended_at = $1, ended_by = 'lapsed' WHERE ended_at IS NULL AND NOT EXISTS
                 (SELECT 1 FROM tokens t WHERE t.organization_id = consents.organization_id
                  AND t.workspace_id = consents.workspace_id AND t.consent_id = consents.consent_id)",
                values![now],
            )
            .await?;
        }
        writing.commit().await?;
        Ok(dropped)
    }
}

/// Stores the code that a consent begins with.
pub(super) async fn insert_code(
    db: &impl ConnectionTrait,
    tenant: Tenant,
    consent: &Consent,
    code: &NewCode,
) -> Result<(), StoreError> {
    let bound = Some((code.redirect_uri.as_str(), code.challenge.as_str()));
    insert(db, tenant, consent.id, (TokenKind::Code, &code.token, bound)).await
}

async fn insert(
    db: &impl ConnectionTrait,
    tenant: Tenant,
    consent: ConsentId,
    (kind, token, bound): (TokenKind, &NewToken, Option<(&str, &str)>),
) -> Result<(), StoreError> {
    let (organization, workspace) = sql::of(tenant);
    sql::run(
        db,
        "INSERT INTO tokens (organization_id, workspace_id, token_id, consent_id, kind, hash, redirect_uri, challenge, created_at,
         expires_at) SELECT $1, $2, $3, $4, $5, $6, $7, $8, COALESCE(last_used_at, created_at), $9 FROM consents
         WHERE organization_id = $1 AND workspace_id = $2 AND consent_id = $4",
        values![
            organization,
            workspace,
            token.id.uuid(),
            consent.uuid(),
            kind.as_str(),
            token.hash.to_vec(),
            bound.map(|(uri, _)| uri.to_owned()),
            bound.map(|(_, challenge)| challenge.to_owned()),
            token.expires_at.micros()
        ],
    )
    .await?;
    Ok(())
}
