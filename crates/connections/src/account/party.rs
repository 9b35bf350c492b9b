//! Who gives the tokens of a connection, and which of their clients we are.

use std::sync::Arc;
use std::time::Duration;

use domain::{
    AccountKind, ClientMethod, Connection, ConnectionId, Endpoint, Party, Secret, SignInProfile, Tenant,
};
use mcp::oauth::{
    Challenge, Choice, Client, ClientAuth, Discovered, Discovery, OAuthError, Registration, ServerMetadata,
    SigningKey,
};
use store::{SecretOwner, SecretSlot};
use tokio::time::Instant;
use url::Url;

use super::{CLIENT_SECRET, PRIVATE_KEY, SignInError};
use crate::ConnectionError;
use crate::connections::Inner;

/// Longest time for finding an authorization server and becoming its client.
pub(super) const FINDING: Duration = Duration::from_secs(25);
/// What makes many authorization servers give a refresh token (OpenID Connect Core section 11).
const OFFLINE: &str = "offline_access";
/// What people are shown who is asking.
const NAME: &str = "Switchboard";

/// An authorization server, the client of it that we are, and what is asked of it.
pub(super) struct Found {
    pub(super) party: Party,
    pub(super) server: ServerMetadata,
    pub(super) scopes: Vec<String>,
    /// The secret of a client that registered itself just now.
    pub(super) client_secret: Option<Secret>,
}

impl Inner {
    /// Finds the authorization server of a connection and becomes its client: the one that was given, else the one whose ID is our
    /// metadata's address, else one that registers itself.
    pub(super) async fn find_party(
        &self,
        tenant: Tenant,
        connection: &Connection,
    ) -> Result<Found, SignInError> {
        let deadline = Instant::now() + FINDING;
        let discovered = self.discover(connection, deadline).await?;
        let (client, registered) = self
            .become_client(tenant, connection, &discovered.server, deadline)
            .await?;
        let server = serde_json::to_string(&discovered.server).map_err(|error| OAuthError::Malformed {
            what: "the authorization server's metadata",
            why: error.to_string(),
        })?;
        let method = match client.auth {
            ClientAuth::None => ClientMethod::None,
            ClientAuth::Basic(_) => ClientMethod::SecretBasic,
            ClientAuth::Post(_) => ClientMethod::SecretPost,
            ClientAuth::Key(_) => ClientMethod::PrivateKeyJwt,
        };
        let client_secret = match client.auth {
            ClientAuth::Basic(secret) | ClientAuth::Post(secret) if registered => Some(secret),
            _ => None,
        };
        let scopes = self
            .more_scopes(tenant, connection, scopes(connection, &discovered))
            .await?;
        Ok(Found {
            scopes,
            party: Party {
                resource: discovered.resource,
                server: server.into(),
                issuer: discovered.server.issuer.clone(),
                client_id: client.id,
                method,
            },
            server: discovered.server,
            client_secret,
        })
    }

    async fn discover(&self, connection: &Connection, deadline: Instant) -> Result<Discovered, SignInError> {
        let Endpoint::Url { url, .. } = &connection.endpoint else {
            return Err(SignInError::NotOauth);
        };
        let endpoint = Url::parse(url).map_err(|_| SignInError::NotOauth)?;
        let challenge = Challenge::of_endpoint(&self.http, &endpoint, deadline).await;
        let settings = connection.account.oauth.as_deref();
        let issuer = settings.and_then(|settings| settings.issuer.as_deref());
        let discovery = Discovery {
            http: &self.sign_in_http,
            deadline,
        };
        Ok(discovery.run(&endpoint, challenge.as_ref(), issuer).await?)
    }

    /// The client, and whether it registered itself.
    async fn become_client(
        &self,
        tenant: Tenant,
        connection: &Connection,
        server: &ServerMetadata,
        deadline: Instant,
    ) -> Result<(Client, bool), SignInError> {
        let settings = connection.account.oauth.as_deref();
        let given = settings.and_then(|settings| settings.client_id.clone());
        let document = connection.account.kind == AccountKind::Oauth && self.sign_in.has_document();
        match (Choice::of(server, given.is_some(), document)?, given) {
            (Choice::Given, Some(id)) => {
                let auth = self.given_auth(tenant, connection, server).await?;
                Ok((
                    Client {
                        id: (*id).to_owned(),
                        auth,
                    },
                    false,
                ))
            }
            (Choice::MetadataDocument, _) => Ok((
                Client {
                    id: self.sign_in.document().into(),
                    auth: ClientAuth::None,
                },
                false,
            )),
            (Choice::Register | Choice::Given, _) => {
                let registration = Registration {
                    name: NAME.to_owned(),
                    redirect_uri: self.sign_in.callback(),
                    uri: None,
                };
                let client = registration.send(&self.sign_in_http, server, deadline).await?;
                Ok((client, true))
            }
        }
    }

    /// How a client that was registered by hand authenticates.
    async fn given_auth(
        &self,
        tenant: Tenant,
        connection: &Connection,
        server: &ServerMetadata,
    ) -> Result<ClientAuth, SignInError> {
        let method = connection
            .account
            .oauth
            .as_deref()
            .map_or(ClientMethod::None, |settings| settings.method);
        let secret = match method {
            ClientMethod::PrivateKeyJwt => None,
            _ => self.secret(tenant, connection.id, CLIENT_SECRET).await?,
        };
        match (method, secret) {
            // Whoever gave a secret and did not say how it is sent leaves that to the server.
            (ClientMethod::None, Some(secret)) => Ok(ClientAuth::secret(server, secret)),
            (method, secret) => self.auth(tenant, connection, method, secret).await,
        }
    }

    async fn auth(
        &self,
        tenant: Tenant,
        connection: &Connection,
        method: ClientMethod,
        secret: Option<Secret>,
    ) -> Result<ClientAuth, SignInError> {
        let missing = |what: &str| {
            SignInError::Connection(ConnectionError::SecretMissing {
                what: what.to_owned(),
            })
        };
        match method {
            ClientMethod::None => Ok(ClientAuth::None),
            ClientMethod::SecretBasic => secret
                .map(ClientAuth::Basic)
                .ok_or_else(|| missing("client secret")),
            ClientMethod::SecretPost => secret
                .map(ClientAuth::Post)
                .ok_or_else(|| missing("client secret")),
            ClientMethod::PrivateKeyJwt => {
                let pem = self.secret(tenant, connection.id, PRIVATE_KEY).await?;
                let pem = pem.ok_or_else(|| missing("private key"))?;
                let settings = connection.account.oauth.as_deref();
                let signing = settings.and_then(|settings| settings.signing.as_ref());
                let (algorithm, id) = signing.ok_or_else(|| missing("algorithm of the private key"))?;
                let key = SigningKey::from_pem(&pem, algorithm, id.as_deref().map(str::to_owned))?;
                Ok(ClientAuth::Key(key))
            }
        }
    }

    /// The client that a party's tokens are given to. `registered` is its secret where it registered itself.
    pub(super) async fn client_of(
        &self,
        tenant: Tenant,
        connection: &Connection,
        party: &Party,
        registered: Option<&Secret>,
    ) -> Result<Client, SignInError> {
        let secret = match (registered, party.method) {
            (Some(secret), _) => Some(secret.clone()),
            (None, ClientMethod::SecretBasic | ClientMethod::SecretPost) => {
                self.secret(tenant, connection.id, CLIENT_SECRET).await?
            }
            (None, ClientMethod::None | ClientMethod::PrivateKeyJwt) => None,
        };
        Ok(Client {
            id: party.client_id.clone(),
            auth: self.auth(tenant, connection, party.method, secret).await?,
        })
    }

    async fn secret(
        &self,
        tenant: Tenant,
        connection: ConnectionId,
        field: &str,
    ) -> Result<Option<Secret>, SignInError> {
        let slot = SecretSlot {
            owner: SecretOwner::Connection(connection),
            field: field.to_owned(),
        };
        Ok(self.store.vault().get(tenant, &slot).await?)
    }
}

/// The metadata a party was kept with.
pub(super) fn server_of(party: &Party) -> Result<ServerMetadata, OAuthError> {
    serde_json::from_str(&party.server).map_err(|error| OAuthError::Malformed {
        what: "the stored metadata of the authorization server",
        why: error.to_string(),
    })
}

/// What is asked for: what a person said, else what the server asks for; and a refresh token where the authorization server has a
/// scope for that.
fn scopes(connection: &Connection, discovered: &Discovered) -> Vec<String> {
    let settings = connection.account.oauth.as_deref();
    let given: Option<&Vec<Arc<str>>> = settings.and_then(|settings| settings.scopes.as_ref());
    let mut scopes: Vec<String> = match given {
        Some(given) => given.iter().map(ToString::to_string).collect(),
        None => discovered.scopes.clone(),
    };
    let known = discovered
        .server
        .scopes_supported
        .iter()
        .any(|scope| scope == OFFLINE);
    let asked = settings.is_some_and(|settings| settings.profile == SignInProfile::OfflineConsent);
    let person = connection.account.kind == AccountKind::Oauth;
    if person && known && (given.is_none() || asked) && scopes.iter().all(|scope| scope != OFFLINE) {
        scopes.push(OFFLINE.to_owned());
    }
    scopes
}
