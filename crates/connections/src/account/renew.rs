//! The next token of an account: one request to its authorization server, whoever of all replicas makes it.

use std::sync::Arc;
use std::time::Duration;

use domain::{AccountKind, AccountState, AccountStatus, ConnectionId, Health, Secret, Timestamp};
use mcp::TokenError;
use mcp::oauth::{Grant, OAuthError, TokenRequest, Tokens as Given};
use store::{HeldTokens, NewTokens, StoreError};
use tokio::time::{Instant, sleep};

use super::SignInError;
use super::party::{FINDING, server_of};
use super::source::{Held, Tokens, good};
use crate::connections::Inner;
use crate::pool::hide;

/// Longest wait for a token endpoint.
const ASKING: Duration = Duration::from_secs(20);
/// How long whoever renews may take, beyond which another one begins: longer than finding and asking.
const LEASE: Duration = Duration::from_secs(60);
/// Pause between looks at whether another process has renewed.
const LOOK: Duration = Duration::from_millis(100);
/// A token has to live longer than this.
const SHORTEST: Duration = Duration::from_secs(150);

/// An account and its tokens as they are stored.
struct Stored {
    state: Option<AccountState>,
    held: Option<HeldTokens>,
}

impl Inner {
    /// A good token other than that of the number `stale`.
    pub(super) async fn renew(
        self: &Arc<Self>,
        tokens: &Tokens,
        stale: Option<u64>,
    ) -> Result<Held, TokenError> {
        let longest = Instant::now() + ASKING;
        let name = format!("account:{}", tokens.connection.id);
        loop {
            if let Some(held) = self.usable(tokens, stale).await? {
                return Ok(held);
            }
            let held = self
                .store
                .hold(tokens.tenant, &name, LEASE)
                .await
                .map_err(later)?;
            if held {
                break;
            }
            if Instant::now() >= longest {
                let why = "another replica has been renewing it for too long; try again";
                return Err(TokenError::Later(why.to_owned()));
            }
            sleep(LOOK).await;
        }
        let renewed = self.renew_alone(tokens, stale).await;
        if let Err(error) = self.store.let_go(tokens.tenant, &name).await {
            tracing::debug!(%error, connection = %tokens.connection.id, "a lease ends by itself");
        }
        renewed
    }

    /// The stored token, if it can be sent and is another one.
    async fn usable(
        self: &Arc<Self>,
        tokens: &Tokens,
        stale: Option<u64>,
    ) -> Result<Option<Held>, TokenError> {
        let Stored { state, held } = self.stored(tokens).await?;
        let (Some(state), Some(held)) = (state, held) else {
            return Ok(None);
        };
        let now = self.clock.now();
        let same = state.generation == held.generation && Some(held.generation) != stale;
        Ok((same && good(state.expires_at, now))
            .then(|| Held::new(held.generation, held.access, state.expires_at, now)))
    }

    async fn stored(self: &Arc<Self>, tokens: &Tokens) -> Result<Stored, TokenError> {
        let (tenant, id) = (tokens.tenant, tokens.connection.id);
        let state = self.store.account(tenant, id).await.map_err(later)?;
        if state.as_ref().map_or(0, |state| state.sign_ins) != tokens.sign_ins {
            let why = "somebody else may have signed in meanwhile; call again";
            return Err(TokenError::Later(why.to_owned()));
        }
        let held = self.store.held_tokens(tenant, id).await.map_err(later)?;
        Ok(Stored { state, held })
    }

    /// The same, by the one process that may ask.
    async fn renew_alone(self: &Arc<Self>, tokens: &Tokens, stale: Option<u64>) -> Result<Held, TokenError> {
        // Another one may have renewed before this one's turn came.
        if let Some(held) = self.usable(tokens, stale).await? {
            return Ok(held);
        }
        let stored = self.stored(tokens).await?;
        if tokens.connection.account.kind != AccountKind::Oauth {
            return self.ask_as_client(tokens, stored).await;
        }
        let (Some(state), Some(held)) = (stored.state, stored.held) else {
            let why = "nobody has signed in yet; begin with `connections authorize`";
            return Err(TokenError::SignIn(why.to_owned()));
        };
        if matches!(
            state.status,
            AccountStatus::ReauthorizationRequired | AccountStatus::Expired
        ) {
            return Err(TokenError::SignIn(again(state.error_detail.as_deref())));
        }
        let Some(refresh) = held.refresh.clone() else {
            let why = "the token lapsed or was refused, and there is no refresh token";
            let failure = (AccountStatus::Expired, "token_expired", why);
            return Err(self.give_up(tokens, held.generation, failure).await);
        };
        let asked = self
            .ask(
                tokens,
                &state,
                held.client_secret.as_ref(),
                Grant::Refresh(&refresh),
            )
            .await;
        match asked {
            Ok((given, at)) => {
                let next = next_of(
                    given,
                    at,
                    (&state.granted, Some(refresh.clone()), held.client_secret),
                );
                self.keep_tokens(tokens, held.generation, next).await
            }
            Err(SignInError::OAuth(error)) if error.grant_is_gone() => {
                // Some repeat what they were sent.
                let text = hide(&error.to_string(), [&refresh, &held.access]);
                let failure = (
                    AccountStatus::ReauthorizationRequired,
                    "grant_gone",
                    text.as_str(),
                );
                Err(self.give_up(tokens, held.generation, failure).await)
            }
            Err(error) => Err(TokenError::Later(hide(
                &error.to_string(),
                [&refresh, &held.access],
            ))),
        }
    }

    /// The token of an account that is the client's own.
    async fn ask_as_client(self: &Arc<Self>, tokens: &Tokens, stored: Stored) -> Result<Held, TokenError> {
        let (tenant, id) = (tokens.tenant, tokens.connection.id);
        let state = match stored.state {
            Some(state) if state.party.is_some() => state,
            Some(_) | None => {
                let found = self.find_party(tenant, &tokens.connection).await;
                let found = found.map_err(|error| refused(&error))?;
                self.store
                    .set_party(tenant, id, &found.party, &found.scopes)
                    .await
                    .map_err(later)?;
                let state = self.store.account(tenant, id).await.map_err(later)?;
                state.ok_or_else(|| later(StoreError::NotFound { what: "account" }))?
            }
        };
        match self.ask(tokens, &state, None, Grant::ClientCredentials).await {
            Ok((given, at)) => {
                let next = next_of(given, at, (&state.requested, None, None));
                self.keep_tokens(tokens, state.generation, next).await
            }
            Err(error) => {
                let error_text = error.to_string();
                if matches!(&error, SignInError::OAuth(error) if error.grant_is_gone()) {
                    let failure = (AccountStatus::Error, error.code(), error_text.as_str());
                    return Err(self.give_up(tokens, state.generation, failure).await);
                }
                Err(refused(&error))
            }
        }
    }

    /// Asks the authorization server; also says when.
    async fn ask(
        self: &Arc<Self>,
        tokens: &Tokens,
        state: &AccountState,
        registered: Option<&Secret>,
        grant: Grant<'_>,
    ) -> Result<(Given, Timestamp), SignInError> {
        let party = state.party.as_ref().ok_or(SignInError::Gone)?;
        let client = self
            .client_of(tokens.tenant, &tokens.connection, party, registered)
            .await?;
        let now = self.clock.now();
        let request = TokenRequest {
            http: &self.sign_in_http,
            server: &server_of(party)?,
            client: &client,
            resource: &party.resource,
            scopes: &state.requested,
            now,
            deadline: Instant::now() + ASKING,
        };
        Ok((request.send(grant).await?, now))
    }

    async fn keep_tokens(
        self: &Arc<Self>,
        tokens: &Tokens,
        replaced: u64,
        next: NewTokens,
    ) -> Result<Held, TokenError> {
        let (tenant, id) = (tokens.tenant, tokens.connection.id);
        let kept = self.store.renew_tokens(tenant, id, replaced, &next).await;
        match kept.map_err(later)? {
            Some(generation) => Ok(Held::new(
                generation,
                next.access,
                next.expires_at,
                self.clock.now(),
            )),
            // A person was faster: what is stored is newer.
            None => self
                .usable(tokens, Some(replaced))
                .await?
                .ok_or_else(|| TokenError::Later("the account was changed meanwhile; call again".to_owned())),
        }
    }

    /// Notes that only a person can help.
    async fn give_up(
        self: &Arc<Self>,
        tokens: &Tokens,
        generation: u64,
        failure: (AccountStatus, &str, &str),
    ) -> TokenError {
        let (tenant, id) = (tokens.tenant, tokens.connection.id);
        match self.store.account_failed(tenant, id, generation, failure).await {
            Ok(true) => self.signed_out(id, failure.2),
            // Somebody signed in meanwhile.
            Ok(false) => {}
            Err(error) => {
                tracing::warn!(%error, connection = %id, "that an account does not work could not be stored");
            }
        }
        TokenError::SignIn(again(Some(failure.2)))
    }

    fn signed_out(self: &Arc<Self>, id: ConnectionId, why: &str) {
        tracing::warn!(connection = %id, why, "a person has to sign in again");
        let Some(line) = self.lines.get(&id).map(|line| line.clone()) else {
            return;
        };
        self.observed(&line, Health::SignInRequired, &again(Some(why)));
    }
}

fn again(why: Option<&str>) -> String {
    match why {
        Some(why) => format!("a person has to sign in again: {why}"),
        None => "a person has to sign in again".to_owned(),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is what map_err hands over")]
fn later(error: StoreError) -> TokenError {
    TokenError::Later(error.to_string())
}

/// What a person has to change is told apart from what may pass.
fn refused(error: &SignInError) -> TokenError {
    match error {
        SignInError::OAuth(OAuthError::Http { .. } | OAuthError::Status { .. }) | SignInError::Store(_) => {
            TokenError::Later(error.to_string())
        }
        _ => TokenError::SignIn(error.to_string()),
    }
}

/// What is kept of tokens: what was not given anew stays as it was.
pub(super) fn next_of(
    given: Given,
    at: Timestamp,
    (granted, refresh, client_secret): (&[String], Option<Secret>, Option<Secret>),
) -> NewTokens {
    NewTokens {
        expires_at: given.lifetime.map(|lifetime| at.plus(lifetime)),
        granted: given.scopes.unwrap_or_else(|| granted.to_vec()),
        access: given.access,
        refresh: given.refresh.or(refresh),
        client_secret,
    }
}

/// Refuses tokens nobody can work with.
pub(super) fn lifetime(given: &Given, unreported: bool) -> Result<(), SignInError> {
    match given.lifetime {
        None if unreported => Ok(()),
        None => Err(SignInError::UnreportedLifetime),
        Some(lifetime) if lifetime > SHORTEST => Ok(()),
        Some(lifetime) => Err(SignInError::ShortLived(lifetime.as_secs())),
    }
}

const _: () = assert!(LEASE.as_secs() > FINDING.as_secs() + ASKING.as_secs());
