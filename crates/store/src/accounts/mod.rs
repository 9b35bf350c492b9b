//! Accounts with tokens: how they stand, and the tokens, which lie in the vault.

mod authorizations;
mod row;

use domain::{
    AccountState, AccountStatus, AuthorizationId, ChangeKind, ConnectionId, Party, Secret, Tenant, Timestamp,
};
use sea_orm::ConnectionTrait;

use crate::connections::{self, NOT_FOUND};
use crate::core::{Policy, Writing};
use crate::sql::{self, Query, values};
use crate::{Change, SecretOwner, SecretSlot, Store, StoreError, vault};

pub use self::authorizations::{AuthorizationSecrets, TakenAuthorization};

/// The field of an account's tokens in the vault.
const GRANT: &str = "oauth:grant";

/// What an account was given, as it lies in the vault.
#[derive(Debug, Clone)]
pub struct HeldTokens {
    /// Which tokens these are: the number of the account's state when they were put there.
    pub generation: u64,
    /// Goes into `Authorization: Bearer`.
    pub access: Secret,
    /// Gets the next ones.
    pub refresh: Option<Secret>,
    /// The secret of a client that registered itself.
    pub client_secret: Option<Secret>,
}

/// What an authorization server gave.
#[derive(Debug, Clone)]
pub struct NewTokens {
    /// Goes into `Authorization: Bearer`.
    pub access: Secret,
    /// Gets the next ones; none where nothing does.
    pub refresh: Option<Secret>,
    /// The secret of a client that registered itself.
    pub client_secret: Option<Secret>,
    /// When the access token lapses, where that is known.
    pub expires_at: Option<Timestamp>,
    /// The scopes that were given.
    pub granted: Vec<String>,
}

impl Store {
    /// How an account stands; none where nobody ever began to sign in.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn account(
        &self,
        tenant: Tenant,
        connection: ConnectionId,
    ) -> Result<Option<AccountState>, StoreError> {
        find(&self.core().db.read, tenant, connection).await
    }

    /// How all accounts of a workspace stand.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn all_accounts(&self, tenant: Tenant) -> Result<Vec<AccountState>, StoreError> {
        let query = Query::of(tenant, SELECT);
        let rows = sql::all(&self.core().db.read, &query.sql, query.values).await?;
        rows.iter().map(row::state).collect()
    }

    /// The tokens of an account.
    ///
    /// # Errors
    /// When the database fails or the record cannot be opened.
    pub async fn held_tokens(
        &self,
        tenant: Tenant,
        connection: ConnectionId,
    ) -> Result<Option<HeldTokens>, StoreError> {
        let found = vault::get(self.core(), &self.core().db.read, tenant, &grant(connection)).await?;
        found.map(|secret| row::held(&secret)).transpose()
    }

    /// Says who gives an account's tokens and to which client, for accounts that need no person. What is known of it stays.
    ///
    /// # Errors
    /// `NotFound`, or when the database fails.
    pub async fn set_party(
        &self,
        tenant: Tenant,
        connection: ConnectionId,
        party: &Party,
        requested: &[String],
    ) -> Result<(), StoreError> {
        let writing = self.core().writing().await?;
        writing.next_seq(tenant).await?;
        exists(&writing, tenant, connection).await?;
        seat(&writing, tenant, connection, AccountStatus::NotConnected).await?;
        let mut query = Query::of(tenant, "UPDATE accounts SET");
        query.push(" party = {}", row::written(party)?);
        query.push(", requested = {}", row::words(requested)?);
        of(&mut query, connection);
        sql::run(writing.db(), &query.sql, query.values).await?;
        writing.commit().await
    }

    /// Notes why nobody can sign in at an account. One that works goes on working.
    ///
    /// # Errors
    /// `NotFound`, or when the database fails.
    pub async fn account_unprepared(
        &self,
        tenant: Tenant,
        connection: ConnectionId,
        (status, code, detail): (AccountStatus, &str, &str),
    ) -> Result<(), StoreError> {
        let writing = self.core().writing().await?;
        writing.next_seq(tenant).await?;
        exists(&writing, tenant, connection).await?;
        seat(&writing, tenant, connection, status).await?;
        let mut query = Query::of(tenant, "UPDATE accounts SET");
        query.push(" error_code = {}", code);
        query.push(", error_detail = {}", detail);
        of(&mut query, connection);
        query.push(" AND status <> {}", AccountStatus::Connected.as_str());
        sql::run(writing.db(), &query.sql, query.values).await?;
        writing.commit().await
    }

    /// Puts tokens in place of those of the generation `replaced`; the number of the new ones, or none where others were put there
    /// meanwhile, which then stay.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn renew_tokens(
        &self,
        tenant: Tenant,
        connection: ConnectionId,
        replaced: u64,
        tokens: &NewTokens,
    ) -> Result<Option<u64>, StoreError> {
        let writing = self.core().writing().await?;
        writing.next_seq(tenant).await?;
        let Some(now) = find(writing.db(), tenant, connection).await? else {
            return Ok(None);
        };
        if now.generation != replaced {
            return Ok(None);
        }
        let generation = replaced + 1;
        self.put_tokens(&writing, tenant, connection, (generation, now.sign_ins, tokens))
            .await?;
        let change = Change::by_system("accounts.renew");
        writing
            .finish(
                tenant,
                &change,
                vec![(ChangeKind::Updated, account(connection))],
                Policy::Stays,
            )
            .await?;
        Ok(Some(generation))
    }

    /// Notes that an account with the tokens of this generation does not work, and why; says whether it still had those.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn account_failed(
        &self,
        tenant: Tenant,
        connection: ConnectionId,
        generation: u64,
        failure: (AccountStatus, &str, &str),
    ) -> Result<bool, StoreError> {
        let (status, code, detail) = failure;
        let writing = self.core().writing().await?;
        writing.next_seq(tenant).await?;
        let mut query = Query::of(tenant, "UPDATE accounts SET");
        query.push(" status = {}", status.as_str());
        query.push(", error_code = {}", code);
        query.push(", error_detail = {}", detail);
        if status != AccountStatus::Connected {
            query.push(", refreshable = {}", false);
        }
        of(&mut query, connection);
        query.push(" AND generation = {}", number(generation));
        if sql::run(writing.db(), &query.sql, query.values).await? == 0 {
            return Ok(false);
        }
        let change = Change::by_system("accounts.failed");
        writing
            .finish(
                tenant,
                &change,
                vec![(ChangeKind::Updated, account(connection))],
                Policy::Stays,
            )
            .await?;
        Ok(true)
    }

    /// Notes that the tokens of this generation are good for less than the server wants: what the next sign-in asks for, and why. They go on
    /// being used for what they are good for. Says whether it still had those.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn account_wants(
        &self,
        tenant: Tenant,
        connection: ConnectionId,
        generation: u64,
        (scopes, code, detail): (&[String], &str, &str),
    ) -> Result<bool, StoreError> {
        let writing = self.core().writing().await?;
        writing.next_seq(tenant).await?;
        let mut query = Query::of(tenant, "UPDATE accounts SET");
        query.push(" requested = {}", row::words(scopes)?);
        query.push(", error_code = {}", code);
        query.push(", error_detail = {}", detail);
        of(&mut query, connection);
        query.push(" AND generation = {}", number(generation));
        let noted = sql::run(writing.db(), &query.sql, query.values).await? > 0;
        writing.commit().await?;
        Ok(noted)
    }

    /// Forgets an account's tokens and calls off its sign-ins; the settings stay, and so does the connection's version.
    ///
    /// # Errors
    /// `NotFound`, or `Version` where the connection is another one by now.
    pub async fn disconnect_account(
        &self,
        tenant: Tenant,
        change: &Change,
        connection: ConnectionId,
        expected: u32,
    ) -> Result<(), StoreError> {
        let writing = self.core().writing().await?;
        writing.next_seq(tenant).await?;
        let now = connections::find(writing.db(), tenant, connection)
            .await?
            .ok_or(NOT_FOUND)?;
        if now.version != expected {
            return Err(StoreError::Version {
                what: "connection",
                expected,
                current: now.version,
            });
        }
        forget(writing.db(), tenant, connection).await?;
        authorizations::call_off(&writing, tenant, connection, "disconnected").await?;
        writing
            .finish(
                tenant,
                change,
                vec![(ChangeKind::Removed, account(connection))],
                Policy::Stays,
            )
            .await
    }

    /// Puts the tokens of an account's state of this generation there, in a write that looked at it.
    async fn put_tokens(
        &self,
        writing: &Writing<'_>,
        tenant: Tenant,
        connection: ConnectionId,
        (generation, sign_ins, tokens): (u64, u64, &NewTokens),
    ) -> Result<(), StoreError> {
        let sealed = row::sealed(generation, tokens)?;
        vault::put(self.core(), writing.db(), tenant, (&grant(connection), &sealed)).await?;
        let mut query = Query::of(tenant, "UPDATE accounts SET");
        query.push(" status = {}", AccountStatus::Connected.as_str());
        query.push(", generation = {}", number(generation));
        query.push(", sign_ins = {}", number(sign_ins));
        query.push(", expires_at = {}", tokens.expires_at.map(Timestamp::micros));
        query.push(", refreshable = {}", tokens.refresh.is_some());
        query.push(", granted = {}", row::words(&tokens.granted)?);
        query.sql.push_str(", error_code = NULL, error_detail = NULL");
        of(&mut query, connection);
        sql::run(writing.db(), &query.sql, query.values).await?;
        configured(writing.db(), tenant, connection, true).await
    }
}

const SELECT: &str = "SELECT * FROM accounts WHERE organization_id = $1 AND workspace_id = $2";

/// How facts name an account.
fn account(connection: ConnectionId) -> String {
    format!("account:{connection}")
}

fn grant(connection: ConnectionId) -> SecretSlot {
    SecretSlot {
        owner: SecretOwner::Connection(connection),
        field: GRANT.to_owned(),
    }
}

fn waiting(connection: ConnectionId, id: AuthorizationId) -> SecretSlot {
    SecretSlot {
        owner: SecretOwner::Connection(connection),
        field: format!("authorization:{id}"),
    }
}

fn number(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Ends a statement about one connection's account.
fn of(query: &mut Query, connection: ConnectionId) {
    query.push(
        " WHERE organization_id = $1 AND workspace_id = $2 AND connection_id = {}",
        connection.uuid(),
    );
}

async fn find(
    db: &impl ConnectionTrait,
    tenant: Tenant,
    connection: ConnectionId,
) -> Result<Option<AccountState>, StoreError> {
    let mut query = Query::of(tenant, SELECT);
    query.push(" AND connection_id = {}", connection.uuid());
    let row = sql::one(db, &query.sql, query.values).await?;
    row.as_ref().map(row::state).transpose()
}

async fn exists(writing: &Writing<'_>, tenant: Tenant, connection: ConnectionId) -> Result<(), StoreError> {
    let found = connections::find(writing.db(), tenant, connection).await?;
    found.map(|_| ()).ok_or(NOT_FOUND)
}

/// Makes an account where there is none. One that had tokens keeps its status until it has others.
async fn seat(
    writing: &Writing<'_>,
    tenant: Tenant,
    connection: ConnectionId,
    status: AccountStatus,
) -> Result<(), StoreError> {
    let (organization, workspace) = sql::of(tenant);
    sql::run(
        writing.db(),
        "INSERT INTO accounts (organization_id, workspace_id, connection_id, status, generation, sign_ins, refreshable, requested, granted)
         VALUES ($1, $2, $3, $4, 0, 0, $5, '[]', '[]') ON CONFLICT (organization_id, workspace_id, connection_id)
         DO UPDATE SET status = CASE WHEN accounts.generation > 0 THEN accounts.status ELSE excluded.status END",
        values![
            organization,
            workspace,
            connection.uuid(),
            status.as_str(),
            false
        ],
    )
    .await?;
    Ok(())
}

/// Takes an account's tokens away.
async fn forget(
    db: &impl ConnectionTrait,
    tenant: Tenant,
    connection: ConnectionId,
) -> Result<(), StoreError> {
    let slot = grant(connection);
    vault::remove(db, tenant, slot.owner, Some(&slot.field)).await?;
    let mut query = Query::of(tenant, "UPDATE accounts SET");
    query.push(" status = {}", AccountStatus::NotConnected.as_str());
    query.push(", refreshable = {}", false);
    query.sql.push_str(
        ", generation = generation + 1, sign_ins = sign_ins + 1, expires_at = NULL, granted = '[]', requested = '[]', error_code = NULL,
         error_detail = NULL, party = NULL",
    );
    of(&mut query, connection);
    sql::run(db, &query.sql, query.values).await?;
    configured(db, tenant, connection, false).await
}

async fn configured(
    db: &impl ConnectionTrait,
    tenant: Tenant,
    connection: ConnectionId,
    configured: bool,
) -> Result<(), StoreError> {
    let mut query = Query::of(tenant, "UPDATE connections SET");
    query.push(" configured = {}", configured);
    // Whatever was proven was proven of other tokens.
    query.sql.push_str(", proof = NULL, proven_at = NULL");
    of(&mut query, connection);
    sql::run(db, &query.sql, query.values).await?;
    Ok(())
}

/// An edit of a connection calls its sign-ins off; where its account or its place is another one, the tokens go too.
pub(crate) async fn edited(
    writing: &Writing<'_>,
    tenant: Tenant,
    connection: ConnectionId,
    other: bool,
) -> Result<(), StoreError> {
    authorizations::call_off(writing, tenant, connection, "connection_changed").await?;
    if other {
        let slot = grant(connection);
        vault::remove(writing.db(), tenant, slot.owner, Some(&slot.field)).await?;
        let mut query = Query::of(tenant, "DELETE FROM accounts");
        of(&mut query, connection);
        sql::run(writing.db(), &query.sql, query.values).await?;
    }
    Ok(())
}
