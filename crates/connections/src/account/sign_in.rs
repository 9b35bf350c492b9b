//! Signing in: begun by whoever may ask for the link, gone through by a person in a browser, finished by what comes back with it.

use std::time::Duration;

use domain::{
    AccountKind, AccountStatus, Authorization, AuthorizationId, AuthorizationStatus, Connection,
    ConnectionId, Digest, Secret, SignInProfile, Tenant,
};
use mcp::oauth::{Answer, AuthorizationRequest, Grant, Pkce, TokenRequest, Waiting, unguessable};
use store::{AuthorizationSecrets, Change, StoreError, TakenAuthorization};
use tokio::time::Instant;
use url::Url;

use super::party::{FINDING, server_of};
use super::renew::{lifetime, next_of};
use super::{SignInError, state};
use crate::{ConnectionError, Connections};

/// How long a sign-in may take.
const INTENT: Duration = Duration::from_secs(600);

/// A sign-in a person goes through now.
#[derive(Debug)]
pub struct Opened {
    /// Where the browser is sent.
    pub url: Url,
    /// What the browser keeps, as a cookie, and brings back.
    pub browser: Secret,
}

/// A sign-in that came to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedIn {
    /// In which workspace.
    pub tenant: Tenant,
    /// At which connection.
    pub connection: ConnectionId,
}

impl Connections {
    /// Begins a sign-in: finds the authorization server and becomes its client. It waits ten minutes for a person, and any edit of the
    /// connection calls it off.
    ///
    /// # Errors
    /// What stands in the way, which is noted at the account too.
    pub async fn begin_sign_in(
        &self,
        tenant: Tenant,
        connection: ConnectionId,
        expected: u32,
        change: &Change,
    ) -> Result<Authorization, SignInError> {
        let inner = &self.inner;
        let connection = self.for_person(tenant, connection).await?;
        if connection.version != expected {
            return Err(SignInError::Store(StoreError::Version {
                what: "connection",
                expected,
                current: connection.version,
            }));
        }
        if inner.sign_in.state_key.is_none() {
            return Err(SignInError::NoStateKey);
        }
        let found = match inner.find_party(tenant, &connection).await {
            Ok(found) => found,
            Err(error) => {
                let status = match error.code() {
                    "client_configuration_required" => AccountStatus::ClientConfigurationRequired,
                    _ => AccountStatus::Error,
                };
                let detail = error.to_string();
                let failure = (status, error.code(), detail.as_str());
                inner
                    .store
                    .account_unprepared(tenant, connection.id, failure)
                    .await?;
                return Err(error);
            }
        };
        // Better known now than when a person comes back.
        found.server.sign_in()?;
        found.server.token_endpoint()?;
        let now = inner.clock.now();
        let authorization = Authorization {
            id: AuthorizationId::generate(),
            connection: connection.id,
            status: AuthorizationStatus::Pending,
            version: expected,
            expires_at: now.plus(INTENT),
            requested: found.scopes,
            error_code: None,
            error_detail: None,
            party: found.party,
            created_at: now,
        };
        let secrets = AuthorizationSecrets {
            verifier: Pkce::generate()?.verifier,
            client_secret: found.client_secret,
        };
        inner
            .store
            .begin_authorization(tenant, change, &authorization, &secrets)
            .await?;
        Ok(authorization)
    }

    /// The page on which a person goes through a sign-in.
    #[must_use]
    pub fn sign_in_page(&self, id: AuthorizationId) -> Url {
        self.inner.sign_in.page(id)
    }

    /// What signing in knows of this server.
    #[must_use]
    pub fn sign_in(&self) -> &super::SignInOptions {
        &self.inner.sign_in
    }

    /// A person goes through a sign-in with this browser; `kept` is what it has kept from another one, so that several can go on in one
    /// browser.
    ///
    /// # Errors
    /// `Gone` where it does not wait any more.
    pub async fn open_sign_in(
        &self,
        tenant: Tenant,
        id: AuthorizationId,
        kept: Option<String>,
        change: &Change,
    ) -> Result<Opened, SignInError> {
        let inner = &self.inner;
        let waiting = inner.store.waiting_authorization(tenant, id).await?;
        let (authorization, secrets) = waiting.ok_or(SignInError::Gone)?;
        let key = inner.sign_in.state_key.as_ref().ok_or(SignInError::NoStateKey)?;
        let connection = self.for_person(tenant, authorization.connection).await?;
        let settings = connection.account.oauth.as_deref();
        let party = &authorization.party;
        let request = AuthorizationRequest {
            client_id: &party.client_id,
            redirect_uri: &inner.sign_in.callback(),
            resource: &party.resource,
            scopes: &authorization.requested,
            state: &state::write(key, tenant, id),
            consent: settings.is_some_and(|settings| settings.profile == SignInProfile::OfflineConsent),
            more: &[],
        };
        let pkce = Pkce {
            verifier: secrets.verifier,
        };
        let url = request.url(&server_of(party)?, &pkce)?;
        let browser = match kept.filter(|kept| (43..=128).contains(&kept.len())) {
            Some(kept) => Secret::new(kept),
            None => unguessable()?,
        };
        let digest = Digest::of(browser.expose().as_bytes());
        inner.store.open_authorization(tenant, change, id, digest).await?;
        Ok(Opened { url, browser })
    }

    /// Finishes a sign-in with what came back: the query, and what the browser kept.
    ///
    /// # Errors
    /// Why there is no account now; nothing of an answer is believed that is not shown to belong to this sign-in and this browser.
    pub async fn finish_sign_in(&self, query: &str, browser: Option<&str>) -> Result<SignedIn, SignInError> {
        let inner = &self.inner;
        let key = inner.sign_in.state_key.as_ref().ok_or(SignInError::NoStateKey)?;
        let answer = Answer::of_query(query).ok_or(SignInError::Gone)?;
        let given = answer.state.clone().unwrap_or_default();
        let (tenant, id) = state::read(key, &given).ok_or(SignInError::Gone)?;
        let digest = Digest::of(browser.ok_or(SignInError::Gone)?.as_bytes());
        let taken = inner.store.take_authorization(tenant, id, digest).await?;
        let change = Change {
            actor: taken.opened_by.clone(),
            ..Change::by_system("authorize_mcp_server")
        };
        let connection = taken.authorization.connection;
        match self.exchange(tenant, taken, (answer, &given), &change).await {
            Ok(()) => {
                self.changed(connection);
                self.schedule(tenant, connection);
                Ok(SignedIn { tenant, connection })
            }
            Err(error) => {
                let status = match &error {
                    SignInError::Changed => AuthorizationStatus::Cancelled,
                    error if error.is_denial() => AuthorizationStatus::Denied,
                    _ => AuthorizationStatus::Failed,
                };
                let detail = error.to_string();
                let why = Some((error.code(), detail.as_str()));
                let ended = inner.store.end_authorization(tenant, &change, id, (status, why));
                if let Err(error) = ended.await {
                    tracing::debug!(%error, authorization = %id, "a failed sign-in stays as it was");
                }
                Err(error)
            }
        }
    }

    async fn exchange(
        &self,
        tenant: Tenant,
        taken: TakenAuthorization,
        (answer, given): (Answer, &str),
        change: &Change,
    ) -> Result<(), SignInError> {
        let inner = &self.inner;
        let TakenAuthorization {
            authorization,
            secrets,
            ..
        } = taken;
        let connection = self.for_person(tenant, authorization.connection).await?;
        let party = &authorization.party;
        let server = server_of(party)?;
        let code = answer.code(&Waiting {
            state: given,
            issuer: &party.issuer,
            names_itself: server.authorization_response_iss_parameter_supported,
        })?;
        let client = inner
            .client_of(tenant, &connection, party, secrets.client_secret.as_ref())
            .await?;
        let now = inner.clock.now();
        let request = TokenRequest {
            http: &inner.sign_in_http,
            server: &server,
            client: &client,
            resource: &party.resource,
            scopes: &authorization.requested,
            now,
            deadline: Instant::now() + FINDING,
        };
        let grant = Grant::Code {
            code: &code,
            verifier: &secrets.verifier,
            redirect_uri: &inner.sign_in.callback(),
        };
        let tokens = request.send(grant).await?;
        let settings = connection.account.oauth.as_deref();
        lifetime(
            &tokens,
            settings.is_some_and(|settings| settings.unreported_lifetime),
        )?;
        let tokens = next_of(
            tokens,
            now,
            (&authorization.requested, None, secrets.client_secret),
        );
        let completed = inner
            .store
            .complete_authorization(tenant, change, &authorization, &tokens);
        match completed.await {
            Ok(_) => Ok(()),
            Err(StoreError::Version { .. }) => Err(SignInError::Changed),
            Err(error) => Err(error.into()),
        }
    }

    /// Calls a sign-in off.
    ///
    /// # Errors
    /// `Gone` where it does not wait any more.
    pub async fn cancel_sign_in(
        &self,
        tenant: Tenant,
        id: AuthorizationId,
        change: &Change,
    ) -> Result<(), SignInError> {
        let why = Some(("cancelled", "it was called off"));
        let cancelled = (AuthorizationStatus::Cancelled, why);
        let ended = self.inner.store.end_authorization(tenant, change, id, cancelled);
        Ok(ended.await?)
    }

    /// Forgets an account's tokens, and gives them back where the authorization server takes that. Sessions that use them end after the
    /// calls under way; the settings stay.
    ///
    /// # Errors
    /// `NotOauth`; the connection is another one by now.
    pub async fn disconnect_account(
        &self,
        tenant: Tenant,
        connection: ConnectionId,
        expected: u32,
        change: &Change,
    ) -> Result<(), SignInError> {
        let settings = self.for_person(tenant, connection).await?;
        let given_back = self.inner.to_give_back(tenant, &settings).await?;
        self.inner
            .store
            .disconnect_account(tenant, change, connection, expected)
            .await?;
        if let Some(given_back) = given_back {
            // What is forgotten here is forgotten whatever the authorization server says.
            self.inner.tasks.spawn_on(given_back.send(), &self.inner.runtime);
        }
        self.changed(connection);
        self.schedule(tenant, connection);
        Ok(())
    }

    /// A connection whose account people sign in to.
    async fn for_person(&self, tenant: Tenant, id: ConnectionId) -> Result<Connection, SignInError> {
        let found = self.inner.store.connection(tenant, id).await?;
        let connection = found.ok_or(SignInError::Connection(ConnectionError::NotFound))?;
        if connection.account.kind == AccountKind::Oauth {
            Ok(connection)
        } else {
            Err(SignInError::NotOauth)
        }
    }
}
