//! Sign-ins that were begun: for ten minutes, once, and only while the connection stays as it was.

use domain::{
    AccountStatus, Actor, Authorization, AuthorizationId, AuthorizationStatus, ChangeKind, ConnectionId,
    Digest, Secret, Tenant,
};
use sea_orm::ConnectionTrait;

use super::{NewTokens, find as find_account, of, row, seat, waiting};
use crate::connections::{self, NOT_FOUND};
use crate::core::{Policy, Writing};
use crate::sql::{self, Query, corrupt, digest_or_none, get, values};
use crate::{Change, Store, StoreError, vault};

/// What a sign-in under way keeps to itself.
#[derive(Debug, Clone)]
pub struct AuthorizationSecrets {
    /// The verifier of the proof key.
    pub verifier: Secret,
    /// The secret of a client that registered itself for it.
    pub client_secret: Option<Secret>,
}

/// A sign-in whose answer came. It was ended by being taken: nobody else gets it.
#[derive(Debug, Clone)]
pub struct TakenAuthorization {
    /// As it was.
    pub authorization: Authorization,
    /// What it kept to itself.
    pub secrets: AuthorizationSecrets,
    /// Who opened it.
    pub opened_by: Actor,
}

const SELECT: &str = "SELECT * FROM authorizations WHERE organization_id = $1 AND workspace_id = $2";
/// What a sign-in says that was taken and not brought to its end.
const BROKEN_OFF: (&str, &str) = (
    "interrupted",
    "the sign-in was broken off after the authorization server had answered; begin again",
);

impl Store {
    /// Stores a sign-in that begins, in place of those under way for its connection.
    ///
    /// # Errors
    /// `NotFound`; `Version` where the connection is another one by now.
    pub async fn begin_authorization(
        &self,
        tenant: Tenant,
        change: &Change,
        authorization: &Authorization,
        secrets: &AuthorizationSecrets,
    ) -> Result<(), StoreError> {
        let writing = self.core().writing().await?;
        writing.next_seq(tenant).await?;
        let connection = authorization.connection;
        same_version(&writing, tenant, connection, authorization.version).await?;
        call_off(&writing, tenant, connection, "replaced").await?;
        seat(&writing, tenant, connection, AccountStatus::SetupPending).await?;
        let (organization, workspace) = sql::of(tenant);
        sql::run(
            writing.db(),
            "INSERT INTO authorizations (organization_id, workspace_id, authorization_id, connection_id, status, version, expires_at,
             requested, party, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
            values![
                organization,
                workspace,
                authorization.id.uuid(),
                connection.uuid(),
                authorization.status.as_str(),
                i64::from(authorization.version),
                authorization.expires_at.micros(),
                row::words(&authorization.requested)?,
                row::written(&authorization.party)?,
                authorization.created_at.micros()
            ],
        )
        .await?;
        let (slot, sealed) = (
            waiting(connection, authorization.id),
            row::sealed_secrets(secrets)?,
        );
        vault::put(self.core(), writing.db(), tenant, (&slot, &sealed)).await?;
        let facts = vec![(ChangeKind::Created, object(authorization.id))];
        writing.finish(tenant, change, facts, Policy::Stays).await
    }

    /// How a sign-in stands.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn authorization(
        &self,
        tenant: Tenant,
        id: AuthorizationId,
    ) -> Result<Option<Authorization>, StoreError> {
        let mut found = find(&self.core().db.read, tenant, id).await?;
        if let Some(found) = &mut found
            && found.status == AuthorizationStatus::Pending
            && found.expires_at <= self.now()
        {
            found.status = AuthorizationStatus::Expired;
        }
        Ok(found)
    }

    /// A sign-in that waits, with what it keeps to itself.
    ///
    /// # Errors
    /// When the database fails or the record cannot be opened.
    pub async fn waiting_authorization(
        &self,
        tenant: Tenant,
        id: AuthorizationId,
    ) -> Result<Option<(Authorization, AuthorizationSecrets)>, StoreError> {
        let Some(found) = self.authorization(tenant, id).await? else {
            return Ok(None);
        };
        if found.status != AuthorizationStatus::Pending {
            return Ok(None);
        }
        let slot = waiting(found.connection, id);
        let sealed = vault::get(self.core(), &self.core().db.read, tenant, &slot).await?;
        sealed
            .map(|sealed| Ok((found, row::secrets(&sealed)?)))
            .transpose()
    }

    /// Notes who goes through a sign-in with which browser; its answer is taken from no other.
    ///
    /// # Errors
    /// `NotFound` where there is none that waits.
    pub async fn open_authorization(
        &self,
        tenant: Tenant,
        change: &Change,
        id: AuthorizationId,
        browser: Digest,
    ) -> Result<(), StoreError> {
        let writing = self.core().writing().await?;
        writing.next_seq(tenant).await?;
        let mut query = Query::of(tenant, "UPDATE authorizations SET");
        query.push(" browser = {}", browser.bytes().to_vec());
        query.push(
            ", opened_by = {}",
            format!("{} {}", change.actor.kind, change.actor.id),
        );
        self.pending(&mut query, id);
        if sql::run(writing.db(), &query.sql, query.values).await? == 0 {
            return Err(GONE);
        }
        let facts = vec![(ChangeKind::Updated, object(id))];
        writing.finish(tenant, change, facts, Policy::Stays).await
    }

    /// Takes a sign-in whose answer came with this browser: it is over by that, and can be completed once.
    ///
    /// # Errors
    /// `NotFound` where there is none that waits for that browser.
    pub async fn take_authorization(
        &self,
        tenant: Tenant,
        id: AuthorizationId,
        browser: Digest,
    ) -> Result<TakenAuthorization, StoreError> {
        let writing = self.core().writing().await?;
        writing.next_seq(tenant).await?;
        let mut query = Query::of(tenant, SELECT);
        query.push(" AND authorization_id = {}", id.uuid());
        let row = sql::one(writing.db(), &query.sql, query.values)
            .await?
            .ok_or(GONE)?;
        let mut query = Query::of(tenant, "UPDATE authorizations SET");
        query.push(" status = {}", AuthorizationStatus::Failed.as_str());
        query.push(", error_code = {}", BROKEN_OFF.0);
        query.push(", error_detail = {}", BROKEN_OFF.1);
        self.pending(&mut query, id);
        query.push(" AND browser = {}", browser.bytes().to_vec());
        if digest_or_none(&row, "browser")? != Some(browser)
            || sql::run(writing.db(), &query.sql, query.values).await? == 0
        {
            return Err(GONE);
        }
        let authorization = row::authorization(&row)?;
        let slot = waiting(authorization.connection, id);
        let sealed = vault::get(self.core(), writing.db(), tenant, &slot)
            .await?
            .ok_or(GONE)?;
        vault::remove(writing.db(), tenant, slot.owner, Some(&slot.field)).await?;
        writing.commit().await?;
        Ok(TakenAuthorization {
            authorization,
            secrets: row::secrets(&sealed)?,
            opened_by: actor(&get::<String>(&row, "opened_by")?)?,
        })
    }

    /// Ends a taken sign-in well: its connection has these tokens now, and is another account's. The connection's version.
    ///
    /// # Errors
    /// `NotFound`, or `Version` where the connection was changed meanwhile; then the tokens are of no use.
    pub async fn complete_authorization(
        &self,
        tenant: Tenant,
        change: &Change,
        authorization: &Authorization,
        tokens: &NewTokens,
    ) -> Result<u32, StoreError> {
        let connection = authorization.connection;
        let writing = self.core().writing().await?;
        writing.next_seq(tenant).await?;
        same_version(&writing, tenant, connection, authorization.version).await?;
        seat(&writing, tenant, connection, AccountStatus::SetupPending).await?;
        let now = find_account(writing.db(), tenant, connection)
            .await?
            .ok_or(NOT_FOUND)?;
        let mut query = Query::of(tenant, "UPDATE accounts SET");
        query.push(" party = {}", row::written(&authorization.party)?);
        query.push(", requested = {}", row::words(&authorization.requested)?);
        of(&mut query, connection);
        sql::run(writing.db(), &query.sql, query.values).await?;
        let next = (now.generation + 1, now.sign_ins + 1, tokens);
        self.put_tokens(&writing, tenant, connection, next).await?;
        end(
            writing.db(),
            tenant,
            authorization.id,
            (AuthorizationStatus::Completed, None),
        )
        .await?;
        let facts = vec![
            (ChangeKind::Updated, object(authorization.id)),
            (ChangeKind::Updated, super::account(connection)),
        ];
        writing.finish(tenant, change, facts, Policy::Stays).await?;
        Ok(authorization.version)
    }

    /// Ends a sign-in otherwise; one that has ended stays as it is, but for one that was taken.
    ///
    /// # Errors
    /// `NotFound` where there is none to end.
    pub async fn end_authorization(
        &self,
        tenant: Tenant,
        change: &Change,
        id: AuthorizationId,
        (status, why): (AuthorizationStatus, Option<(&str, &str)>),
    ) -> Result<(), StoreError> {
        let writing = self.core().writing().await?;
        writing.next_seq(tenant).await?;
        let found = find(writing.db(), tenant, id).await?.ok_or(GONE)?;
        let taken = found.error_code.as_deref() == Some(BROKEN_OFF.0);
        let lapsed = found.status == AuthorizationStatus::Pending && found.expires_at <= self.now();
        if lapsed || (found.status != AuthorizationStatus::Pending && !taken) {
            return Err(GONE);
        }
        end(writing.db(), tenant, id, (status, why)).await?;
        let slot = waiting(found.connection, id);
        vault::remove(writing.db(), tenant, slot.owner, Some(&slot.field)).await?;
        settle(&writing, tenant, found.connection, (status, why)).await?;
        let facts = vec![(ChangeKind::Updated, object(id))];
        writing.finish(tenant, change, facts, Policy::Stays).await
    }

    /// Ends a statement about one sign-in that waits.
    fn pending(&self, query: &mut Query, id: AuthorizationId) {
        query.push(
            " WHERE organization_id = $1 AND workspace_id = $2 AND authorization_id = {}",
            id.uuid(),
        );
        query.push(" AND status = {}", AuthorizationStatus::Pending.as_str());
        query.push(" AND expires_at > {}", self.now().micros());
    }
}

const GONE: StoreError = StoreError::NotFound {
    what: "sign-in that waits",
};

fn object(id: AuthorizationId) -> String {
    format!("authorization:{id}")
}

async fn find(
    db: &impl ConnectionTrait,
    tenant: Tenant,
    id: AuthorizationId,
) -> Result<Option<Authorization>, StoreError> {
    let mut query = Query::of(tenant, SELECT);
    query.push(" AND authorization_id = {}", id.uuid());
    let row = sql::one(db, &query.sql, query.values).await?;
    row.as_ref().map(row::authorization).transpose()
}

async fn same_version(
    writing: &Writing<'_>,
    tenant: Tenant,
    connection: ConnectionId,
    expected: u32,
) -> Result<(), StoreError> {
    let now = connections::find(writing.db(), tenant, connection)
        .await?
        .ok_or(NOT_FOUND)?;
    if now.version == expected {
        return Ok(());
    }
    Err(StoreError::Version {
        what: "connection",
        expected,
        current: now.version,
    })
}

/// Calls off the sign-ins under way for a connection.
pub(super) async fn call_off(
    writing: &Writing<'_>,
    tenant: Tenant,
    connection: ConnectionId,
    why: &str,
) -> Result<(), StoreError> {
    let mut query = Query::of(tenant, SELECT);
    query.push(" AND connection_id = {}", connection.uuid());
    query.push(" AND status = {}", AuthorizationStatus::Pending.as_str());
    for row in sql::all(writing.db(), &query.sql, query.values).await? {
        let id = row::authorization(&row)?.id;
        let why = (
            why,
            "another sign-in or a change of the connection took its place",
        );
        end(
            writing.db(),
            tenant,
            id,
            (AuthorizationStatus::Cancelled, Some(why)),
        )
        .await?;
        let slot = waiting(connection, id);
        vault::remove(writing.db(), tenant, slot.owner, Some(&slot.field)).await?;
        settle(
            writing,
            tenant,
            connection,
            (AuthorizationStatus::Cancelled, None),
        )
        .await?;
    }
    Ok(())
}

async fn end(
    db: &impl ConnectionTrait,
    tenant: Tenant,
    id: AuthorizationId,
    (status, why): (AuthorizationStatus, Option<(&str, &str)>),
) -> Result<(), StoreError> {
    let mut query = Query::of(tenant, "UPDATE authorizations SET");
    query.push(" status = {}", status.as_str());
    query.push(", error_code = {}", why.map(|(code, _)| code.to_owned()));
    query.push(", error_detail = {}", why.map(|(_, detail)| detail.to_owned()));
    query.push(
        " WHERE organization_id = $1 AND workspace_id = $2 AND authorization_id = {}",
        id.uuid(),
    );
    sql::run(db, &query.sql, query.values).await?;
    Ok(())
}

/// An account that only waited for a sign-in does not wait any more.
async fn settle(
    writing: &Writing<'_>,
    tenant: Tenant,
    connection: ConnectionId,
    (status, why): (AuthorizationStatus, Option<(&str, &str)>),
) -> Result<(), StoreError> {
    let now = match status {
        AuthorizationStatus::Failed => AccountStatus::Error,
        _ => AccountStatus::NotConnected,
    };
    let mut query = Query::of(tenant, "UPDATE accounts SET");
    query.push(" status = {}", now.as_str());
    query.push(", error_code = {}", why.map(|(code, _)| code.to_owned()));
    query.push(", error_detail = {}", why.map(|(_, detail)| detail.to_owned()));
    of(&mut query, connection);
    query.push(" AND status = {}", AccountStatus::SetupPending.as_str());
    sql::run(writing.db(), &query.sql, query.values).await?;
    Ok(())
}

fn actor(text: &str) -> Result<Actor, StoreError> {
    let (kind, id) = text
        .split_once(' ')
        .ok_or_else(|| corrupt("sign-in", "it does not say who opened it"))?;
    Ok(Actor {
        kind: kind.into(),
        id: id.into(),
        agent: None,
    })
}
