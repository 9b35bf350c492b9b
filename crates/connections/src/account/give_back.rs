//! Giving tokens back to the authorization server that gave them (RFC 7009).

use std::sync::Arc;
use std::time::Duration;

use domain::{Connection, Party, Secret, Tenant};
use mcp::oauth::TokenRequest;
use tokio::time::Instant;

use super::SignInError;
use super::party::server_of;
use crate::connections::Inner;

/// Longest wait for the authorization server.
const GIVING: Duration = Duration::from_secs(10);

/// Tokens that are not held any more.
pub(super) struct GiveBack {
    inner: Arc<Inner>,
    tenant: Tenant,
    connection: Connection,
    party: Party,
    refresh: Secret,
    client_secret: Option<Secret>,
}

impl Inner {
    /// What is to be given back when an account is disconnected; nothing where there is no refresh token, or no place for it.
    pub(super) async fn to_give_back(
        self: &Arc<Self>,
        tenant: Tenant,
        connection: &Connection,
    ) -> Result<Option<GiveBack>, SignInError> {
        let state = self.store.account(tenant, connection.id).await?;
        let held = self.store.held_tokens(tenant, connection.id).await?;
        let (Some(party), Some(held)) = (state.and_then(|state| state.party), held) else {
            return Ok(None);
        };
        Ok(held.refresh.map(|refresh| GiveBack {
            inner: self.clone(),
            tenant,
            connection: connection.clone(),
            party,
            refresh,
            client_secret: held.client_secret,
        }))
    }
}

impl GiveBack {
    /// Gives them back. That it did not work is noted and nothing else.
    pub(super) async fn send(self) {
        let id = self.connection.id;
        match self.ask().await {
            Ok(true) => tracing::debug!(connection = %id, "the tokens were given back"),
            Ok(false) => {}
            Err(error) => {
                tracing::warn!(%error, connection = %id, "the authorization server did not take the tokens back");
            }
        }
    }

    async fn ask(&self) -> Result<bool, SignInError> {
        let server = server_of(&self.party)?;
        let client = self.inner.client_of(
            self.tenant,
            &self.connection,
            &self.party,
            self.client_secret.as_ref(),
        );
        let request = TokenRequest {
            http: &self.inner.sign_in_http,
            server: &server,
            client: &client.await?,
            resource: &self.party.resource,
            scopes: &[],
            now: self.inner.clock.now(),
            deadline: Instant::now() + GIVING,
        };
        Ok(request.give_back(&self.refresh).await?)
    }
}
